package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Making room on a full disk must not take what the database still needs.
func TestMakingRoomKeepsWhatIsNeeded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s, 100)
	closed(t, s) // what is in table files now
	s = open(t, dir)
	set(t, s, "later", "1") // what is in the log
	to := crash(t, dir)
	closed(t, s)
	files(t, to, "*.sst") // there is something to be taken by mistake
	orphan := filepath.Join(to, dbDir, "999999.sst")
	if err := os.WriteFile(orphan, make([]byte, mb), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, Options{Dir: to, Reserve: -1, FS: newGauged(8*mb, mb/2)})
	defer closed(t, s)
	if _, err := os.Stat(orphan); err == nil {
		t.Error("no room was made")
	}
	for i := range 100 {
		if got := get(t, s.View, fmt.Sprintf("%06d", i)); len(got) != 100 {
			t.Errorf("%06d is %s", i, got)
		}
	}
	if got := get(t, s.View, "later"); got != "1" {
		t.Errorf("later is %s, want 1", got)
	}
}

// Opening moves what all logs hold together to table files.
func TestOpeningTakesSpaceForAllLogs(t *testing.T) {
	s := open(t, t.TempDir())
	defer closed(t, s)
	dir := t.TempDir()
	for name, size := range map[string]int{"000001.log": 3 * mb, "000002.log": 2 * mb, "000003.log": mb, "000004.sst": 7 * mb} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.toOpen(dir); err != nil || got != 6*mb+openSpace {
		t.Errorf("got %d, %v, want %d", got, err, 6*mb+openSpace)
	}
}

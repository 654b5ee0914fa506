package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Logs have space behind their ends from their start, which a full disk needs back
// before anything is written.
func TestStartTakesBackSpaceBehindLogs(t *testing.T) {
	dir := unsettled(t)
	const keepSize, more = 1, 4 * mb
	var log string
	for path := range files(t, dir, "*.log") {
		log = max(log, path)
	}
	f, err := os.OpenFile(log, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Fallocate(int(f.Fd()), keepSize, 0, more); err != nil {
		t.Fatalf("this disk gives no space ahead: set TMPDIR to a directory on one that does: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	blocks := func() int64 {
		var stat syscall.Stat_t
		if err := syscall.Stat(log, &stat); err != nil {
			t.Fatal(err)
		}
		return stat.Blocks * 512
	}
	if got := blocks(); got < more {
		t.Fatalf("the log takes %d bytes, want %d or more to begin with", got, more)
	}
	var then int64
	disk := newGauged(8*mb, mb/2)
	s := openWith(t, Options{Dir: dir, Reserve: -1, FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if tableCreation(op) && then == 0 {
			then = blocks()
		}
		return nil
	}))})
	defer closed(t, s)
	if then == 0 || then >= more {
		t.Errorf("%s takes %d bytes when the first table file is written", filepath.Base(log), then)
	}
	if got := get(t, s.View, "000099"); len(got) != 100 {
		t.Errorf("the last item is %q", got)
	}
}

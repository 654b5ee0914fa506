package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// manyLogs returns a directory as after a crash, with several logs that hold
// writes, and their paths in order. Nothing could be flushed.
func manyLogs(t *testing.T) (dir string, logs []string) {
	t.Helper()
	var full atomic.Bool
	full.Store(true)
	dir = t.TempDir()
	s := openWith(t, Options{Dir: dir, FS: broken(func(op errorfs.Op) error {
		if full.Load() && tableCreation(op) {
			return errors.New("not now")
		}
		return nil
	})})
	for i := range 4 {
		if i > 0 {
			if _, err := s.db.AsyncFlush(); err != nil { // which begins a log
				t.Fatal(err)
			}
		}
		b := s.NewBatch()
		b.Set(fmt.Appendf(nil, "%06d", i), []byte("x"))
		b.Upkeep() // so that it is taken while flushes fail
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	to := crash(t, dir)
	full.Store(false)
	closed(t, s)
	for path := range files(t, to, "*.log") {
		logs = append(logs, path)
	}
	slices.Sort(logs)
	if len(logs) < 4 {
		t.Fatalf("there are only %d logs", len(logs))
	}
	return to, logs
}

func TestMissingLogIsNoticed(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"deleted": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		for i := range 3 {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				dir, logs := manyLogs(t)
				if err := spoil(logs[i]); err != nil {
					t.Fatal(err)
				}
				before := contents(t, dir)
				_, err := Open(context.Background(), Options{Dir: dir})
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(logs[i+1])) {
					t.Errorf("got %v, want %v and the log after it, %s", err, ErrDamaged, filepath.Base(logs[i+1]))
				}
				if after := contents(t, dir); len(before) != len(after) {
					t.Errorf("%d files became %d", len(before), len(after))
				}
			})
		}
	}
}

func TestWholeLogsOpen(t *testing.T) {
	dir, _ := manyLogs(t)
	s := open(t, dir)
	defer closed(t, s)
	for i := range 4 {
		if got := get(t, s.View, fmt.Sprintf("%06d", i)); got != "x" {
			t.Errorf("%06d is %s", i, got)
		}
	}
}

// A store that was never damaged is never taken for damaged, whenever it crashes:
// while it rotates its logs, flushes, compacts, and is opened after an earlier
// crash.
func TestCrashIsNoDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	dir, memory := t.TempDir(), vfs.NewCrashableMem()
	path := filepath.Join(dir, dbDir)
	for round := range 6 {
		s := openWith(t, Options{Dir: dir, FS: memory})
		path := filepath.Join(s.space.dir, dbDir)
		var writers sync.WaitGroup
		stop := make(chan struct{})
		for w := range 4 {
			writers.Go(func() { write(t, s, fmt.Sprint(round, w), stop) })
		}
		for range 20 {
			time.Sleep(5 * time.Millisecond)
			crashed := memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random})
			if err := checkLogs(crashed, path); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
		after := memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: random})
		close(stop)
		writers.Wait()
		closed(t, s)
		if round%2 == 0 {
			memory = after // the next opens what a crash left
		}
	}
	if from, err := firstLog(memory, path); err != nil || from.log == 0 {
		t.Errorf("the manifest does not say where the logs begin: %v, %v", from, err)
	}
}

// Where the logs begin is what the manifest's last entry about them says. Of an
// entry that names no last write, and of one that sums up others, nothing is known
// of the first write.
func TestManifestSaysWhereLogsBegin(t *testing.T) {
	entry := func(numbers ...uint64) (text []byte) {
		for _, n := range numbers {
			text = binary.AppendUvarint(text, n)
		}
		return text
	}
	comparer := append(entry(fieldComparer, 4), "name"...)
	for name, c := range map[string]struct {
		entries [][]byte
		want    logStart
	}{
		"log and write":      {[][]byte{entry(fieldLog, 5, fieldNextFile, 7, fieldLastSequence, 10)}, logStart{5, 11}},
		"then a log alone":   {[][]byte{entry(fieldLog, 5, fieldLastSequence, 10), entry(fieldLog, 7)}, logStart{7, 0}},
		"then a write alone": {[][]byte{entry(fieldLog, 5, fieldLastSequence, 10), entry(fieldLastSequence, 20)}, logStart{5, 11}},
		"then the same log":  {[][]byte{entry(fieldLog, 5, fieldLastSequence, 10), entry(fieldLog, 5, fieldLastSequence, 20)}, logStart{5, 11}},
		"summary":            {[][]byte{append(comparer, entry(fieldLog, 5, fieldLastSequence, 10)...)}, logStart{5, 0}},
		"cut off":            {[][]byte{entry(fieldLog, 5, fieldLastSequence)}, logStart{5, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var got logStart
			for _, text := range c.entries {
				got.read(text)
			}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// write writes until stop, and begins new logs meanwhile.
func write(t *testing.T, s *Store, prefix string, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		b := s.NewBatch()
		b.Set(fmt.Appendf(nil, "%s-%d", prefix, i%500), make([]byte, 300))
		if i%7 == 0 {
			b.Delete(fmt.Appendf(nil, "%s-%d", prefix, i%11))
		}
		if i%50 == 49 {
			s.flush()
		}
		if err := b.Commit(); err != nil {
			t.Error(err)
			return
		}
	}
}

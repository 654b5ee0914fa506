package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// gauged is the real disk, which says that it has as much free as it is told.
type gauged struct {
	vfs.FS
	total, free atomic.Int64
}

func newGauged(total, free int64) *gauged {
	g := &gauged{FS: vfs.Default}
	g.total.Store(total)
	g.free.Store(free)
	return g
}

func (g *gauged) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: uint64(g.free.Load()), TotalBytes: uint64(g.total.Load())}, nil
}

// has makes the disk have so much free, for a store that last looked long ago.
func (g *gauged) has(free int64, s *Store) {
	g.free.Store(free)
	s.space.looked.Store(-int64(lookInterval))
}

func (g *gauged) Unwrap() vfs.FS { return g.FS }

const mb = 1 << 20

// logged returns a logger, and what it was told.
func logged() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, nil)), &text
}

func openWith(t *testing.T, options Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWritesLeaveTheReserve(t *testing.T) {
	disk := newGauged(800*mb, 800*mb) // of which a reserve of 100 MB is kept
	logger, log := logged()
	s := openWith(t, Options{Dir: t.TempDir(), FS: disk, Logger: logger})
	defer closed(t, s)
	set(t, s, "a", "1")
	for _, c := range []struct {
		name                       string
		free                       int64
		growth, deletions, upkeeps bool
	}{
		{"enough", 101, true, true, true},
		{"just below the reserve", 99, false, true, true},
		{"not much more", 103, false, true, true},
		{"below its half", 49, false, false, true},
		{"below its quarter", 24, false, false, false},
		{"none", 0, false, false, false},
		{"enough again", 110, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk.has(c.free*mb, s)
			growing, deleting, freeing, upkeep := s.NewBatch(), s.NewBatch(), s.NewBatch(), s.NewBatch()
			growing.Set([]byte("b"), []byte(c.name))
			deleting.Delete([]byte("none"))
			freeing.Set([]byte("d"), nil)
			freeing.Frees()
			upkeep.Set([]byte("c"), nil)
			upkeep.Upkeep()
			for name, b := range map[string]struct {
				batch *Batch
				want  bool
			}{"growth": {growing, c.growth}, "deletions": {deleting, c.deletions}, "freeing": {freeing, c.deletions}, "upkeep": {upkeep, c.upkeeps}} {
				err := b.batch.Commit()
				if (err == nil) != b.want || err != nil && !errors.Is(err, ErrNoWrites) {
					t.Errorf("%s: got %v, want it to be taken: %t", name, err, b.want)
				}
				if b.batch.b != nil {
					t.Errorf("%s: the batch is not released", name)
				}
			}
			if got := get(t, s.View, "b"); (got == c.name) != c.growth {
				t.Errorf("b is %s", got)
			}
			if got := get(t, s.View, "a"); got != "1" {
				t.Errorf("a is %s, want 1: reads go on", got)
			}
		})
	}
	told := func() [2]int {
		return [2]int{strings.Count(log.String(), "writes are refused"), strings.Count(log.String(), "writes are accepted again")}
	}
	if got, want := told(), [2]int{1, 0}; got != want {
		t.Errorf("it was told %d times that writes are refused and that they go on, want %d within %v: %s", got, want, tellInterval, log)
	}
	s.space.toldAt.Store(-int64(tellInterval)) // long ago
	for range 2 {
		if err := s.Room(false); err != nil {
			t.Error(err)
		}
	}
	if got, want := told(), [2]int{1, 1}; got != want {
		t.Errorf("it was told %d times that writes are refused and that they go on, want %d at last: %s", got, want, log)
	}
}

func TestRefusalSaysWhatToDo(t *testing.T) {
	disk := newGauged(800*mb, 800*mb)
	dir := t.TempDir()
	s := openWith(t, Options{Dir: dir, FS: disk})
	defer closed(t, s)
	disk.has(3*mb, s)
	err := setOne(s)
	if err == nil {
		t.Fatal("it was not refused")
	}
	for _, want := range []string{s.space.dir, "3.0 MB free", "97.0 MB more are needed", "free space on that disk", "turn off point-in-time recovery", "without a restart"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, err)
		}
	}
}

func TestReserve(t *testing.T) {
	for _, c := range []struct {
		name        string
		total       int64 // MB
		reserve     int64 // as given
		want, table int64 // bytes, 0: refused
	}{
		{"large disk", 1 << 20, 0, 256 * mb, 32 * mb},
		{"small disk", 128, 0, 16 * mb, 2 * mb},
		{"tiny disk", 8, 0, 1 * mb, 1 * mb},
		{"given", 1000, 10 * mb, 10 * mb, 1000 * mb / 64},
		{"none", 1000, -1, 0, 1000 * mb / 64},
		{"more than there is", 100, 100 * mb, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(context.Background(), Options{Dir: t.TempDir(), Reserve: c.reserve, FS: newGauged(c.total*mb, c.total*mb)})
			if c.table == 0 {
				if err == nil || !strings.Contains(err.Error(), "100.0 MB") {
					t.Errorf("got %v, want an error that names the size", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, s)
			if s.space.reserve != c.want || int64(s.table) != c.table {
				t.Errorf("a reserve of %d and memtables of %d, want %d and %d", s.space.reserve, s.table, c.want, c.table)
			}
			set(t, s, "a", "1")
		})
	}
}

// A file system that does not tell how much is free has no reserve, and none can be asked of it.
func TestReserveOfADiskThatDoesNotTell(t *testing.T) {
	s, err := Open(context.Background(), Options{Dir: t.TempDir(), FS: newGauged(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "a", "1")
	closed(t, s)
	if _, err := Open(context.Background(), Options{Dir: t.TempDir(), Reserve: 10 * mb, FS: newGauged(0, 0)}); err == nil || !strings.Contains(err.Error(), "does not report its free space") {
		t.Errorf("got %v", err)
	}
}

// Near the reserve the disk is asked each time: what the store counts between two
// looks may be wrong in either direction.
func TestNearTheReserveTheDiskIsAsked(t *testing.T) {
	disk := newGauged(800*mb, 105*mb) // of which a reserve of 100 MB is kept
	s := openWith(t, Options{Dir: t.TempDir(), FS: disk})
	defer closed(t, s)
	lookedJustNow := func() { s.space.looked.Store(int64(time.Since(s.space.start)) + int64(time.Hour)) }
	lookedJustNow()
	s.space.took(6 * mb) // into space that the log had already
	if err := s.Room(false); err != nil {
		t.Errorf("the disk has enough: %v", err)
	}
	lookedJustNow()
	disk.free.Store(95 * mb) // somebody else took some
	if err := s.Room(false); !errors.Is(err, ErrNoWrites) {
		t.Errorf("got %v, want %v", err, ErrNoWrites)
	}
}

// What the store writes counts at once, whenever the disk was last asked.
func TestOwnWritesCountBetweenLooks(t *testing.T) {
	disk := newGauged(800*mb, 130*mb)
	s := openWith(t, Options{Dir: t.TempDir(), FS: disk})
	defer closed(t, s)
	before := s.space.left.Load()
	b := s.NewBatch()
	b.Set([]byte("a"), make([]byte, mb))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if after := s.space.left.Load(); after > before-mb {
		t.Errorf("%d bytes are left of %d after a write of %d", after, before, mb)
	}
}

func TestAskingForSpaceIsFree(t *testing.T) {
	s := openWith(t, Options{Dir: t.TempDir(), FS: newGauged(800*mb, 800*mb)})
	defer closed(t, s)
	if n := testing.AllocsPerRun(100, func() {
		if err := s.Room(false); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("it takes %v allocations, want none", n)
	}
}

func BenchmarkRoom(b *testing.B) {
	s, err := Open(context.Background(), Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for b.Loop() {
		if err := s.Room(false); err != nil {
			b.Fatal(err)
		}
	}
}

// fullFor refuses to write what is chosen while it is full.
func fullFor(full *atomic.Bool, attempts *atomic.Int64, chosen func(errorfs.Op) bool) FS {
	return broken(func(op errorfs.Op) error {
		if full.Load() && chosen(op) {
			attempts.Add(1)
			return syscall.ENOSPC
		}
		return nil
	})
}

func tableCreation(op errorfs.Op) bool {
	return op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst")
}

// What is deleted gives its space back, also if nobody writes any more.
func TestDeletedRangesGiveSpaceBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer closed(t, s)
	random := rand.NewChaCha8([32]byte{})
	for i := range 64 {
		value := make([]byte, mb/16)
		_, _ = random.Read(value)
		b := s.NewBatch()
		b.Set(AppendIndex(nil, uint32(1+i%2), BaseIndex), value)
		if i%2 == 0 {
			b.Set(append(AppendIndex(nil, 1, BaseIndex), byte(i)), value)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	s.settle()
	before := sizeOf(t, dir)
	b := s.NewBatch()
	b.DeleteRange(Items(1))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 6000 { // a minute: it takes a second
		if sizeOf(t, dir) <= before-mb {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes are still there of %d", sizeOf(t, dir), before)
}

// sizeOf is how large the table files in a directory are.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.sst"))
	more, err2 := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		if info, err := os.Stat(file); err == nil { // else it is gone by now
			size += info.Size()
		}
	}
	return size
}

package store

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// newTestDisk returns a disk of 800 MB, of which a reserve of 100 MB is kept.
func newTestDisk(t *testing.T, on FS, dir string) *disk {
	t.Helper()
	space, _, err := newSpace(on, dir, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return newDisk(on, space, newTrouble(nil))
}

// A compaction stops before it takes the space that flushes and logs need.
func TestCompactionLeavesTheLastSpace(t *testing.T) {
	for _, c := range []struct {
		name     string
		category vfs.DiskWriteCategory
		free     int64 // MB
		taken    bool
	}{
		{"compaction with space", compactionWrites, 26, true},
		{"compaction without", compactionWrites, 24, false},
		{"flush without", flushWrites, 24, true},
		{"log without", "pebble-wal", 24, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, gauge := t.TempDir(), newGauged(800*mb, c.free*mb)
			f, err := newTestDisk(t, gauge, dir).Create(filepath.Join(dir, "a"), c.category)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}()
			n, err := f.Write([]byte("content"))
			if c.taken && (n != 7 || err != nil) || !c.taken && (n != 0 || !errors.Is(err, ErrNoWrites)) {
				t.Errorf("got %d, %v, want it to be taken: %t", n, err, c.taken)
			}
		})
	}
}

// What Pebble does on a disk that was given up seems to succeed and changes no
// file.
func TestDiskGivenUpStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(at(name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := newTestDisk(t, newGauged(800*mb, 800*mb), dir)
	early, err := d.OpenReadWrite(at("a"), "early")
	if err != nil {
		t.Fatal(err)
	}
	read := func() map[string]string {
		t.Helper()
		found := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := os.ReadFile(at(e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found[e.Name()] = string(text)
		}
		return found
	}
	before, why := read(), errors.New("enough")
	d.giveUp(why)
	write := func(f vfs.File, err error) error {
		if err != nil {
			return err
		}
		_, err = f.Write([]byte("more"))
		return errors.Join(err, f.Sync(), f.Close())
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"Create", func() error { return write(d.Create(at("c"), flushWrites)) }},
		{"Create again", func() error { return write(d.Create(at("a"), flushWrites)) }},
		{"ReuseForWrite", func() error { return write(d.ReuseForWrite(at("a"), at("c"), flushWrites)) }},
		{"OpenReadWrite", func() error { return write(d.OpenReadWrite(at("b"), flushWrites)) }},
		{"MkdirAll", func() error { return d.MkdirAll(at("d"), 0o700) }},
		{"Link", func() error { return d.Link(at("a"), at("c")) }},
		{"Rename", func() error { return d.Rename(at("a"), at("c")) }},
		{"Remove", func() error { return d.Remove(at("a")) }},
		{"RemoveAll", func() error { return d.RemoveAll(at("a")) }},
		{"Write", func() error { _, err := early.Write([]byte("more")); return err }},
		{"WriteAt", func() error { _, err := early.WriteAt([]byte("more"), 0); return err }},
		{"Preallocate", func() error { return early.Preallocate(0, mb) }},
	} {
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if after := read(); !maps.Equal(before, after) {
			t.Fatalf("%s: the files were %q and are %q", c.name, before, after)
		}
	}
	if err := early.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Open(at("a")); !errors.Is(err, why) {
		t.Errorf("Open: got %v, want %v", err, why)
	}
}

// After a failure the next table file of the same kind of work waits.
func TestTableFilesWaitAfterFailures(t *testing.T) {
	for _, c := range []struct {
		name     string
		failing  func(*trouble) *failing
		category vfs.DiskWriteCategory
		want     time.Duration
	}{
		{"flush after a flush", func(t *trouble) *failing { return &t.flush }, flushWrites, firstPause},
		{"compaction after a compaction", func(t *trouble) *failing { return &t.compaction }, compactionWrites, firstPause},
		{"compaction after a flush", func(t *trouble) *failing { return &t.flush }, compactionWrites, 0},
		{"flush after a compaction", func(t *trouble) *failing { return &t.compaction }, flushWrites, 0},
		{"log after a flush", func(t *trouble) *failing { return &t.flush }, "pebble-wal", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				d := newDisk(vfs.NewMem(), &space{}, newTrouble(nil))
				c.failing(d.trouble).again(errors.New("no"))
				start := time.Now()
				f, err := d.Create("a", c.category)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != c.want {
					t.Errorf("it waits for %v, want %v", took, c.want)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

package store

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A tally is the sum of what was counted, wherever Pebble has the differences: in a
// memtable, in table files, or in a log after a crash.
func TestTalliesAddUp(t *testing.T) {
	type place struct {
		table uint32
		index uint16
	}
	random := rand.New(rand.NewPCG(3, 4))
	dir, disk := t.TempDir(), vfs.NewCrashableMem()
	s := openWith(t, Options{Dir: dir, FS: disk})
	defer func() { closed(t, s) }()
	want := map[place]Tally{}
	for step := range 150 {
		b := s.NewBatch()
		switch kind := random.IntN(16); kind {
		case 0: // it is never applied
			b.Count(1, 0, Tally{1, 1})
		case 1:
			b.DeleteRange(Items(1))
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			delete(want, place{1, 0})
			delete(want, place{1, 1})
		case 2, 3:
			s.flush()
		case 4, 5:
			b.Discard()
			after := disk.CrashClone(vfs.CrashCloneCfg{})
			closed(t, s)
			if kind == 5 {
				disk = after
			}
			s = openWith(t, Options{Dir: dir, FS: disk})
		default:
			for range 1 + random.IntN(4) {
				at := place{1 + random.Uint32N(2), uint16(random.IntN(2))}
				d := Tally{random.Int64N(11) - 5, random.Int64N(10_001) - 5000}
				b.Count(at.table, at.index, d)
				want[at] = want[at].plus(d)
			}
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		b.Discard()
		for _, at := range []place{{1, 0}, {1, 1}, {2, 0}, {2, 1}} {
			if got, _, err := s.Tally(at.table, at.index); err != nil || got != want[at] {
				t.Fatalf("step %d, %v: got %v, %v, want %v", step, at, got, err, want[at])
			}
		}
	}
}

// In memory nothing is counted: nobody will open it again.
func TestTalliesAreOfDirectories(t *testing.T) {
	s, err := Open(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)
	b := s.NewBatch()
	b.Count(1, 0, Tally{1, 1})
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, found, err := s.Tally(1, 0); found || err != nil {
		t.Errorf("got %v, %t, %v, want none", got, found, err)
	}
}

func TestDamagedTalliesAreRefused(t *testing.T) {
	for _, stored := range []string{"", "\x02", "\x02\x02\x02", "\x80"} {
		if got, err := parseTally([]byte(stored)); err == nil {
			t.Errorf("%x: got %v, want an error", stored, got)
		}
	}
}

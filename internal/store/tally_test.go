package store

import (
	"context"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"
)

// A tally is the sum of what was counted, wherever Pebble has the differences: in a
// memtable, in table files, or in a log after a crash.
func TestTalliesAddUp(t *testing.T) {
	type place struct {
		table uint32
		index uint16
	}
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			rt.Fatal(err)
		}
		disk := vfs.NewCrashableMem()
		reopen := func() *Store {
			s, err := Open(context.Background(), Options{Dir: dir, FS: disk})
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		s := reopen()
		defer func() { _ = s.Close() }()
		want := map[place]Tally{}
		rt.Repeat(map[string]func(*rapid.T){
			"count": func(rt *rapid.T) {
				b := s.NewBatch()
				for range rapid.IntRange(1, 4).Draw(rt, "differences") {
					at := place{uint32(rapid.IntRange(1, 2).Draw(rt, "table")), uint16(rapid.IntRange(0, 1).Draw(rt, "index"))}
					d := Tally{rapid.Int64Range(-5, 5).Draw(rt, "items"), rapid.Int64Range(-5000, 5000).Draw(rt, "bytes")}
					b.Count(at.table, at.index, d)
					want[at] = want[at].plus(d)
				}
				if err := b.Commit(); err != nil {
					rt.Fatal(err)
				}
			},
			"give up": func(rt *rapid.T) {
				b := s.NewBatch()
				b.Count(1, 0, Tally{1, 1})
				b.Discard()
			},
			"drop": func(rt *rapid.T) {
				b := s.NewBatch()
				b.DeleteRange(Items(1))
				if err := b.Commit(); err != nil {
					rt.Fatal(err)
				}
				delete(want, place{1, 0})
				delete(want, place{1, 1})
			},
			"flush": func(*rapid.T) { s.flush() },
			"reopen": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = reopen()
			},
			"crash": func(rt *rapid.T) {
				after := disk.CrashClone(vfs.CrashCloneCfg{})
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				disk = after
				s = reopen()
			},
			"": func(rt *rapid.T) {
				for _, at := range []place{{1, 0}, {1, 1}, {2, 0}, {2, 1}} {
					got, _, err := s.Tally(at.table, at.index)
					if err != nil || got != want[at] {
						rt.Fatalf("%v: got %v, %v, want %v", at, got, err, want[at])
					}
				}
			},
		})
	})
}

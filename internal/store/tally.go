package store

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Tally is how many items a table or index holds, and how many bytes they are.
//
// In a directory each batch has, beside what it changes, by how much it changes
// the tallies. Pebble adds these differences up when it compacts. So a tally is as
// durable as what it counts, and no directory is counted when it is opened.
type Tally struct{ Items, Bytes int64 }

// tallyIndex is the number of the index in which a table has its tallies. They go
// when everything goes that the table holds.
const tallyIndex = 0xFFFD

// TallyKey is the key of the tally of a table (BaseIndex) or index.
func TallyKey(table uint32, index uint16) []byte {
	return binary.BigEndian.AppendUint16(AppendIndex(nil, table, tallyIndex), index)
}

// difference is by how much a batch changes a tally.
type difference struct {
	table uint32
	index uint16
	Tally
}

// Count adds to the tally of a table or index when the batch is applied. In memory
// it does nothing: there is no next opening to tell.
func (b *Batch) Count(table uint32, index uint16, t Tally) {
	if !b.store.durable {
		return
	}
	for i := range b.counts {
		if c := &b.counts[i]; c.table == table && c.index == index {
			c.Tally = c.plus(t)
			return
		}
	}
	b.counts = append(b.counts, difference{table, index, t})
}

// count puts the differences into the batch.
func (b *Batch) count() {
	for _, c := range b.counts {
		if c.Tally != (Tally{}) {
			_ = b.b.Merge(TallyKey(c.table, c.index), c.append(nil), nil) // see Set
		}
	}
	b.counts = nil
}

// Tally returns the tally of a table or index. found is false if nothing was ever
// counted there.
func (v View) Tally(table uint32, index uint16) (t Tally, found bool, err error) {
	value, found, err := v.Get(nil, TallyKey(table, index))
	if err != nil || !found {
		return t, false, err
	}
	t, err = parseTally(value)
	return t, err == nil, err
}

func (t Tally) plus(u Tally) Tally { return Tally{t.Items + u.Items, t.Bytes + u.Bytes} }

func (t Tally) append(dst []byte) []byte {
	return binary.AppendVarint(binary.AppendVarint(dst, t.Items), t.Bytes)
}

func parseTally(stored []byte) (t Tally, err error) {
	var n, m int
	t.Items, n = binary.Varint(stored)
	t.Bytes, m = binary.Varint(stored[max(n, 0):])
	if n <= 0 || m <= 0 || n+m != len(stored) {
		return Tally{}, fmt.Errorf("%w: a tally reads %x", ErrDamaged, stored)
	}
	return t, nil
}

// adder adds up tallies. It has the name of Pebble's default merger, as directories
// of format 1 were made with that: in these nothing was ever merged.
var adder = &pebble.Merger{
	Name: pebble.DefaultMerger.Name,
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		t, err := parseTally(value)
		return &sum{t}, err
	},
}

type sum struct{ Tally }

// MergeNewer adds a difference. The order does not matter.
func (s *sum) MergeNewer(value []byte) error {
	t, err := parseTally(value)
	s.Tally = s.plus(t)
	return err
}

// MergeOlder is MergeNewer.
func (s *sum) MergeOlder(value []byte) error { return s.MergeNewer(value) }

// Finish returns the sum.
func (s *sum) Finish(bool) ([]byte, io.Closer, error) { return s.append(nil), nil, nil }

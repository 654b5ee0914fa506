package store

import "github.com/cockroachdb/pebble/v2"

// Iterator walks a range in either direction. Key and Value are valid until the
// next move. Every iterator must be closed, which also tells whether the walk
// ended early because of an error.
type Iterator struct {
	it    *pebble.Iterator
	store *Store
}

// First moves to the first key, Last to the last one, and Next and Prev to the
// neighbours. They report whether there is a key.
func (i *Iterator) First() bool { return i.it.First() }

// Last moves to the last key.
func (i *Iterator) Last() bool { return i.it.Last() }

// Next moves to the next key.
func (i *Iterator) Next() bool { return i.it.Next() }

// Prev moves to the previous key.
func (i *Iterator) Prev() bool { return i.it.Prev() }

// Key returns the key the iterator is at.
func (i *Iterator) Key() []byte { return i.it.Key() }

// Value returns the value under that key.
func (i *Iterator) Value() []byte { return i.it.Value() }

// Close releases the iterator.
func (i *Iterator) Close() error {
	live, dead := i.steps()
	err := i.it.Close()
	if i.store.crowd.passed(live, dead) {
		i.store.flush()
	}
	return err
}

// steps returns how many moves there were, and how many more it took to find
// keys that are neither outdated nor deleted.
func (i *Iterator) steps() (live, dead int) {
	s := i.it.Stats()
	moves := func(kind pebble.IteratorStatsKind) int { return s.ForwardStepCount[kind] + s.ReverseStepCount[kind] }
	live = moves(pebble.InterfaceCall)
	return live, moves(pebble.InternalIterCall) - live
}

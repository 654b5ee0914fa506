package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// View reads what is stored.
type View struct {
	r     pebble.Reader
	store *Store
}

// Get appends the value under key to dst. found is false if there is none.
func (v View) Get(dst, key []byte) (value []byte, found bool, err error) {
	stored, closer, err := v.r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return dst, false, nil
	}
	if err != nil {
		return dst, false, err
	}
	dst = append(dst, stored...)
	return dst, true, closer.Close()
}

// Read returns an iterator over r as it is now, whatever is written meanwhile.
func (v View) Read(r Range) (*Iterator, error) {
	it, err := v.r.NewIter(&pebble.IterOptions{LowerBound: r.Lower, UpperBound: r.Upper})
	if err != nil {
		return nil, err
	}
	return &Iterator{it, v.store}, nil
}

// Snapshot is a View of everything as it was at one moment. It must be closed.
type Snapshot struct {
	View
	snap *pebble.Snapshot
}

// Close releases the snapshot.
func (s *Snapshot) Close() error { return s.snap.Close() }

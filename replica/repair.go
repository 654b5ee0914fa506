package replica

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Repair makes all copies of an item what the primary is, and returns how many were not. Copies of an item that does not
// exist are deleted. Nobody needs to call it: readers refresh old copies. It is for the time after a LaggingError, before
// a new number of copies is used, and for tests.
//
// A copy that cannot be read or written, or that another program has written over, is left as it is. The error names it,
// and the other copies are repaired nevertheless. If the primary cannot be read, nothing is repaired.
//
// It reads primary and copies with strong consistency: a request each, and 1 read unit for up to 4 KB. It writes
// those that differ: 1 write unit for each KB.
func (s *Store[T]) Repair(ctx context.Context, id string) (repaired int, err error) {
	if err := s.check(id); err != nil {
		return 0, fmt.Errorf("repair: item %q: %w", id, err)
	}
	seen := make([]*record, s.options.Copies)
	faults := make([]error, s.options.Copies)
	s.each(func(copy int) { seen[copy], faults[copy] = s.look(ctx, id, copy) }) // before the primary, see mend
	at := time.Now()
	primary, err := s.readPrimary(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("repair: item %q: %w", id, errors.Join(append(faults, err)...))
	}
	var written atomic.Int64
	s.each(func(copy int) {
		if faults[copy] != nil || same(seen[copy], primary) {
			return
		}
		if faults[copy] = s.mend(ctx, s.table, s.copyKey(id, copy), seen[copy], primary, at); faults[copy] == nil {
			written.Add(1)
		}
	})
	if err := errors.Join(faults...); err != nil {
		return int(written.Load()), fmt.Errorf("repair: item %q: %w", id, err)
	}
	return int(written.Load()), nil
}

// look reads a copy with strong consistency.
func (s *Store[T]) look(ctx context.Context, id string, copy int) (*record, error) {
	key := s.copyKey(id, copy)
	item, err := s.table.Get(ctx, heatsink.Item{s.options.Names.ID: text(key)}, strongly)
	if err != nil {
		return nil, err
	}
	r, err := s.options.Names.parseCopy(item)
	if err != nil {
		return nil, fmt.Errorf("copy %q: %w", key, err)
	}
	return r, nil
}

// same reports whether a copy has what the primary has.
func same(copy, primary *record) bool {
	if copy == nil || primary == nil {
		return copy == primary
	}
	return copy.version == primary.version
}

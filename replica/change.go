package replica

import (
	"context"
	"errors"
	"fmt"
)

// Change reads the primary, calls change with its data, and stores the result. If another writer was faster, Change
// starts over, so concurrent changes of an item are not lost. change may be called more than once, each time with the
// stored data. If it returns an error, Change returns that error and stores nothing. The error is ErrNotFound if there is
// no item, or if it expires before the result is stored.
//
// The item keeps its expiry unless ExpireAt is given. Change costs a Get with Latest and a Put each time it starts over,
// of the copies only the last. Its errors are those of Put.
func (s *Store[T]) Change(ctx context.Context, id string, change func(data *T) error, options ...WriteOption) (Item[T], error) {
	given := newTerms(options)
	if given.conditional {
		return Item[T]{}, fmt.Errorf("change item %q: %w: IfVersion: Change states the version itself; use Put", id, ErrInput)
	}
	for range maxRounds {
		item, err := s.Get(ctx, id, Latest)
		if err != nil {
			return Item[T]{}, fmt.Errorf("change: %w", err)
		}
		if err := change(&item.Data); err != nil {
			return Item[T]{}, err
		}
		t := given
		t.conditional, t.on = true, item.Version
		if t.expires.IsZero() {
			t.expires, t.kept = item.Expires, true
		}
		version, err := s.put(ctx, id, item.Data, t)
		switch {
		case errors.Is(err, ErrConflict):
			continue
		case version == 0:
			return Item[T]{}, fmt.Errorf("change: %w", err)
		case err != nil:
			err = fmt.Errorf("change: %w", err) // it is stored, and copies lag
		}
		item.Version, item.Expires = version, roundUp(t.expires)
		return item, err
	}
	return Item[T]{}, fmt.Errorf("change item %q: %d attempts: %w", id, maxRounds, ErrConflict)
}

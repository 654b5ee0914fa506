package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Change reads the primary, calls change with its data, and stores the result. If another writer was faster, Change
// starts over, so concurrent changes of an item are not lost. change may be called more than once, each time with the
// stored data. If it returns an error, Change returns that error and stores nothing. The error is ErrNotFound if there is
// no item, or if it expires before the result is stored.
//
// Changes of one item by one Store take turns, so that they do not make each other start over. If change takes more than a
// second, the next one does not wait for it. Stores of other processes are not waited for: after a conflict, Change waits a
// random time before it starts over, 160 ms at most.
//
// The item keeps its expiry unless ExpireAt is given. Change costs a Get with Latest and a Put each time it starts over,
// of the copies only the last. Its errors are those of Put.
func (s *Store[T]) Change(ctx context.Context, id string, change func(data *T) error, options ...WriteOption) (Item[T], error) {
	given := newTerms(options)
	if given.conditional {
		return Item[T]{}, fmt.Errorf("change item %q: %w: IfVersion: Change states the version itself; use Put", id, ErrInput)
	}
	item, r, err := s.changePrimary(ctx, id, change, given)
	if err != nil || given.lazy {
		return item, err
	}
	if err := s.writeCopies(ctx, id, r); err != nil {
		return item, fmt.Errorf("change: %w", err) // it is stored, and copies lag
	}
	return item, nil
}

// changePrimary changes the primary when it is its turn. The turn ends before the copies are written: they need no order.
func (s *Store[T]) changePrimary(ctx context.Context, id string, change func(data *T) error, given terms) (Item[T], record, error) {
	end, err := s.turns.take(ctx, id)
	if err != nil {
		return Item[T]{}, record{}, fmt.Errorf("change item %q: %w", id, err)
	}
	defer end()
	for round := range maxRounds {
		item, r, err := s.tryChange(ctx, id, change, given)
		if err == nil {
			return item, r, nil
		}
		if !errors.Is(err, errBeaten) {
			return Item[T]{}, record{}, err
		}
		if err := pause(ctx, round); err != nil {
			return Item[T]{}, record{}, fmt.Errorf("change item %q: %w", id, err)
		}
	}
	return Item[T]{}, record{}, fmt.Errorf("change item %q: %d attempts: %w", id, maxRounds, ErrConflict)
}

// errBeaten says that another writer was faster.
var errBeaten = errors.New("another writer was faster")

// tryChange reads, changes and writes the primary once.
func (s *Store[T]) tryChange(ctx context.Context, id string, change func(data *T) error, given terms) (Item[T], record, error) {
	item, err := s.Get(ctx, id, Latest)
	if err != nil {
		return item, record{}, fmt.Errorf("change: %w", err)
	}
	if err := change(&item.Data); err != nil {
		return item, record{}, err
	}
	t := given
	t.conditional, t.on = true, item.Version
	if t.expires.IsZero() {
		t.expires, t.kept = item.Expires, true
	}
	r, err := s.newRecord(id, item.Data, t)
	if err == nil {
		r, err = s.writePrimary(ctx, id, r, t)
		if errors.Is(err, ErrConflict) {
			return item, r, errBeaten
		}
	}
	if err != nil {
		return item, r, fmt.Errorf("change: item %q: %w", id, err)
	}
	item.Version, item.Expires = r.version, r.expires
	return item, r, nil
}

const (
	firstPause = 5 * time.Millisecond
	doublings  = 5 // up to 160 ms
)

// pause waits a random time after a conflict, longer after each, so that those who met do not meet again.
func pause(ctx context.Context, round int) error {
	over := time.NewTimer(rand.N(firstPause << min(round, doublings)))
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

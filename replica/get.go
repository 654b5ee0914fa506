package replica

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// ReadOption changes the settings of one read.
type ReadOption func(*demand)

// demand is what a reader asks for.
type demand struct {
	atLeast Version
	latest  bool
}

// AtLeast makes Get return a version or a newer one. Take the version from a write to read one's own writes, also in
// another process, or from an earlier Get to never go back. If the copy is older, Get reads the primary: another
// request and 1 read unit for up to 4 KB.
func AtLeast(v Version) ReadOption { return func(d *demand) { d.atLeast = max(d.atLeast, v) } }

// Latest makes Get read the primary, with strong consistency. It costs 1 read unit for up to 4 KB. All such reads of an
// item go to one partition, which serves 3,000 of them per second.
func Latest(d *demand) { d.latest = true }

// Get returns an item from any of its copies, or ErrNotFound. What it returns is at most MaxStale old, as the package's
// documentation says. An expired item is not found, even if DynamoDB has not deleted it yet.
//
// Get costs one request, and half a read unit for up to 4 KB. Once in a while it also refreshes the copy: two more
// requests, 1 read unit for up to 4 KB and 1 write unit for each KB. If it cannot write the copy, it still returns the
// item.
func (s *Store[T]) Get(ctx context.Context, id string, options ...ReadOption) (Item[T], error) {
	var d demand
	for _, option := range options {
		option(&d)
	}
	r, err := s.find(ctx, id, d)
	if err != nil {
		return Item[T]{}, fmt.Errorf("get item %q: %w", id, err)
	}
	if !r.lives(time.Now()) {
		return Item[T]{}, fmt.Errorf("get item %q: %w", id, ErrNotFound)
	}
	return decode[T](id, r)
}

// find returns the record that a reader asks for, nil if there is none.
func (s *Store[T]) find(ctx context.Context, id string, d demand) (*record, error) {
	if err := s.check(id); err != nil {
		return nil, err
	}
	if !d.latest {
		if r, done, err := s.findCopy(ctx, id, d); done || err != nil {
			return r, err
		}
	}
	r, err := s.readPrimary(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, d.check(r)
}

// check refuses what the primary has if that is older than the reader asks for. No item is no error: its tombstone, which
// had the version, may be gone.
func (d demand) check(r *record) error {
	if r == nil || r.version >= d.atLeast {
		return nil
	}
	return fmt.Errorf("%w: version %d is demanded, but the newest is %d; was the table restored, or is the version of another item?",
		ErrVersion, d.atLeast, r.version)
}

// findCopy returns what a copy has, or else what the primary had when the copy was refreshed. It is not done if that does
// not have the version that the reader asks for. A refresh that another reader leads may have begun before that version
// was written, so even an item that was absent does not decide.
func (s *Store[T]) findCopy(ctx context.Context, id string, d demand) (r *record, done bool, err error) {
	seen, key, err := s.readCopy(ctx, id)
	if err != nil {
		return nil, false, err
	}
	served := seen != nil && s.trusts(seen, time.Now()) && seen.version >= d.atLeast
	if served && (!s.due(seen, time.Now()) || s.flights.under(key)) {
		return seen, true, nil
	}
	if served {
		short, stop := context.WithTimeout(ctx, patience) // the copy can be used, so it is not worth a long wait
		defer stop()
		ctx = short
	}
	fresh, own, err := s.refresh(ctx, id, key, seen)
	switch {
	case err != nil && served:
		return seen, s.trusts(seen, time.Now()), nil // the next reader tries to refresh it
	case err != nil:
		return nil, false, err
	case own:
		return fresh, true, d.check(fresh)
	}
	return fresh, d.atLeast == 0 || fresh != nil && fresh.version >= d.atLeast, nil
}

// readCopy reads a random copy, and the next one if that is throttled. It returns the copy's key. A copy that another
// program has written over is as if there were none.
func (s *Store[T]) readCopy(ctx context.Context, id string) (r *record, key string, err error) {
	turn := rand.IntN(s.options.Copies)
	item, err := s.table.GetAny(ctx, func() heatsink.Item {
		key = s.copyKey(id, turn)
		turn = (turn + 1) % s.options.Copies
		return heatsink.Item{s.options.Names.ID: text(key)}
	}, nil)
	if err != nil {
		return nil, key, err
	}
	r, fault := s.options.Names.parseCopy(item)
	if fault != nil {
		s.options.Logger.DebugContext(ctx, "copy cannot be used", "table", s.options.Table, "copy", key, "reason", fault)
		return nil, key, nil
	}
	return r, key, nil
}

// readPrimary reads the primary with strong consistency, nil if there is none.
func (s *Store[T]) readPrimary(ctx context.Context, id string) (*record, error) {
	item, err := s.table.Get(ctx, heatsink.Item{s.options.Names.ID: text(id)}, strongly)
	if err != nil {
		return nil, err
	}
	return s.options.Names.parsePrimary(item)
}

func strongly(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) }

// trusts reports whether a copy is so young that it can be returned. A copy from the future is of a clock that is ahead:
// one that is much ahead would be trusted for ever.
func (s *Store[T]) trusts(r *record, now time.Time) bool {
	age := now.Sub(r.checked)
	return age <= s.options.MaxStale && age >= -s.options.MaxStale/2
}

// due decides whether a reader refreshes a copy that can still be used. In the last quarter of its time more and more
// readers do. A copy that is read often is so refreshed early in that quarter, by few readers, however many processes
// there are.
func (s *Store[T]) due(r *record, now time.Time) bool {
	const quarter = 0.25
	left := 1 - now.Sub(r.checked).Seconds()/s.options.MaxStale.Seconds()
	return left < quarter && rand.Float64() < math.Pow(1-left/quarter, 4)
}

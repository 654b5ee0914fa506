package move

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// quietTime is how long after the beginning of a move programs may still use what they have read before: the term of a lease, and some
// time for requests under way. A request that is later still is met by round.occupied.
const quietTime = lease.Term + 15*time.Second

// refusesMore reports whether keys that one arrangement takes may read as shards of the next one, which refuses them then.
func refusesMore(now, next passage.Arrangement) bool {
	if next.Timed() && now.Layout.Bucket != next.Layout.Bucket { // keys that end like a bucket, and ids without a time
		return true
	}
	if !spreads(next) || now.Table != next.Table { // such a key lies in the old table then, where nothing moves to
		return false
	}
	a, b := now.Layout.Format.WithDefaults(), next.Layout.Format.WithDefaults()
	a.BareZero, b.BareZero = false, false
	return !spreads(now) || a != b
}

// wary reports whether a new home is looked at before an item is frozen. In another table, programs that have nothing to do with the
// collection may put items as well.
func wary(now, next passage.Arrangement) bool {
	return now.Table != next.Table || refusesMore(now, next)
}

// survey looks at all items of a split collection before the first one moves, if the new layout refuses keys that the present one takes. A
// program that does not know of the move yet may have put such a key behind the census, into the new home of another id. The survey
// waits until all programs know of the move, and returns an error if there is such an item.
func (l *life) survey(ctx context.Context, v *passage.View) error {
	if l.surveyed == v.Record.Generation || !refusesMore(v.Record.Now, *v.Record.Next) {
		return nil
	}
	r, begun, err := l.round(ctx, v, forward.MoveAll, true)
	if err != nil {
		return err
	}
	if !begun { // else an earlier run has found nothing, and has begun to move items
		if err := l.quiet(ctx, v); err != nil {
			return err
		}
		r.pass.checkpoint, r.pass.handle = nil, r.inspect
		if err := r.run(ctx); err != nil {
			return err
		}
		if err := r.blocked(); err != nil {
			return l.unlessChanged(ctx, v, err)
		}
	}
	l.surveyed = v.Record.Generation
	return nil
}

// unlessChanged returns an error about items that were read at the stage of a view. They say nothing if the record has changed since.
func (l *life) unlessChanged(ctx context.Context, v *passage.View, err error) error {
	now, _, failed := l.current(ctx)
	switch {
	case failed != nil:
		return failed
	case now.Record.Generation != v.Record.Generation:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.report = &Report{}
		return errWentOn
	}
	return err
}

// quiet waits until no program uses what it has read before the stage of a view.
func (l *life) quiet(ctx context.Context, v *passage.View) error {
	until := time.UnixMilli(v.Record.At).Add(quietTime)
	l.waitFor(until)
	defer l.waitFor(time.Time{})
	for {
		stamp, err := l.book.Stamp(ctx)
		if err != nil {
			return err
		}
		left := until.Sub(stamp)
		if left <= 0 {
			return nil
		}
		if err := dispatch.Sleep(ctx, min(max(left, time.Second), lookEvery)); err != nil {
			return err
		}
	}
}

// inspect notes the items of a page that no move of this collection can have put where they are.
func (r *round) inspect(ctx context.Context, in string, items []place.Item) error {
	for _, item := range items {
		slot, odd := r.byID.table.Slot(item)
		at := r.atlas.find(in, item, slot.State)
		r.wanted(at, slot.State, odd, item) // it notes what can never move
		r.passed(at)
		if odd != nil || at.spot != atNew || slot.State != forward.Live && slot.State != forward.Dead {
			continue
		}
		came, err := r.came(ctx, at, item)
		if err != nil {
			return err
		}
		if !came {
			r.stick(kindOccupied, at, item, occupies(at))
		}
	}
	return nil
}

// occupies says what is wrong with an item that lies in the new home of another id, and what to do.
func occupies(at located) string {
	return fmt.Sprintf("it is no item of key %s, but lies in the shard that one with this sort key moves to: a program that did not know of the move yet has put it under a key "+
		"that the new layout does not take; put it under another key and delete it here, or go back (--back) while the move is split, and choose another Format", quote.Text(at.key))
}

// came reports whether an item that lies in a new home belongs there. Nothing is created there before the old home has a mark, and such
// a mark stays while the collection is split. In a list, only moved items are there.
func (r *round) came(ctx context.Context, at located, item place.Item) (bool, error) {
	if r.record.List() {
		return item[express.Marks()[2]] != nil, nil
	}
	for late := 0; ; late++ {
		v, err := r.view(ctx)
		if err != nil {
			return false, err
		}
		before, err := r.get(ctx, v, at, item, forward.Old)
		if overdue(err) && late < leaseTimes {
			continue
		}
		if err != nil {
			return false, err
		}
		slot, odd := r.byID.table.Slot(before)
		return odd != nil || slot.State.Forwarded(), nil // what is odd is noted where it is met
	}
}

// occupiedError says that an item cannot move, because its new home has one that no move has put there.
type occupiedError struct{ home, table string }

func (e *occupiedError) Error() string {
	if e.table != "" {
		return fmt.Sprintf("table %s has another item under %s, which no move has put there: find out which program writes to that table without the record, and delete the item there; "+
			"or go back (--back) while the move is split", e.table, quote.Text(e.home))
	}
	return fmt.Sprintf("%s has another item, which no move has put there: a program that did not know of the move has put it under a key that the new layout does not take; "+
		"put that one under another key and delete it there, or go back (--back) while the move is split, and choose another Format", quote.Text(e.home))
}

// occupied returns an error if an item that was live in its old home must not be frozen. As long as it is live there, nothing can be in its
// new home: programs create an item there only behind a mark in the old one.
func (r *round) occupied(ctx context.Context, where carry.Place, at located) error {
	read := func(home forward.Home) (forward.State, error) {
		answer, err := r.carrier.Act(ctx, where, forward.Request[express.Item]{Home: home})
		return answer.Slot.State, err
	}
	if state, err := read(forward.New); err != nil || state == forward.Absent {
		return err
	}
	if state, err := read(forward.Old); err != nil || state != forward.Live {
		return err // it has moved on meanwhile
	}
	if at.oldIn != at.newIn {
		return &occupiedError{at.new, r.name(at.newIn)}
	}
	return &occupiedError{at.new, ""}
}

package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
)

// quietTime is how long a move stays announced. Programs may still use what they have read before: for the term of a lease, and some
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

// destination returns where items are to move to from a settled stage, nil if they stay where they are. What is announced counts, because
// admits has compared it with the options.
func (l *life) destination(r *passage.Record) (*passage.Arrangement, error) {
	if r.Announced != nil {
		return r.Announced, nil
	}
	to, err := l.target(r.Now)
	if err != nil || to == nil || to.Equal(r.Now) {
		return nil, err
	}
	return to, nil
}

// begin looks at all items, and begins the move if none of them stands in its way. If the new layout refuses keys that the present one
// takes, the move is announced first, and all items are looked at again when all programs refuse such keys: one of them may have put an
// item behind the first look, into the new home of another id.
func (l *life) begin(ctx context.Context, v *passage.View) (over bool, err error) {
	r := &v.Record
	if l.back {
		return r.Announced == nil, l.withdraw(ctx, v, "heatsink move: withdrawn")
	}
	to, err := l.destination(r)
	if err != nil || to == nil {
		return err == nil, err
	}
	if r.Announced != nil {
		if err := l.quiet(ctx, v); err != nil {
			return false, err
		}
	}
	err = l.makeReady(ctx, v, to)
	switch {
	case err != nil:
	case r.Announced == nil && refusesMore(r.Now, *to):
		_, err = l.book.Announce(ctx, v, *to, "heatsink move: announced")
	default:
		err = l.advance(ctx, v, forward.Stage{Phase: forward.Split}, to, "heatsink move: split")
	}
	return false, l.giveUp(ctx, v, err)
}

// makeReady looks at all items, and prepares what the move needs.
func (l *life) makeReady(ctx context.Context, v *passage.View, to *passage.Arrangement) error {
	if err := l.census(ctx, v, to); err != nil { // a mover that was faster has moved items meanwhile
		return l.unlessChanged(ctx, v, err)
	}
	if err := l.needRecord(ctx); err != nil {
		return err
	}
	return l.prepare(ctx, v, to)
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

// quiet waits until no program uses what it has read before the stage of a view. The announcement was stored before this run saw it, and
// its time is at most lease.Slack before its signature: the earlier one of the two counts, so that movers that are stopped again and
// again go on as well. It ends with errWentOn if somebody changes the record.
func (l *life) quiet(ctx context.Context, v *passage.View) error {
	until := time.UnixMilli(v.Record.At).Add(lease.Slack + quietTime)
	defer l.waitFor(time.Time{})
	for n := 0; ; n++ {
		stamp, err := l.book.Stamp(ctx)
		if err != nil {
			return err
		}
		now, err := l.book.View(ctx)
		if err != nil {
			return err
		}
		if seen := stamp.Add(quietTime); n == 0 && seen.Before(until) {
			until = seen
		}
		l.waitFor(until)
		left := until.Sub(stamp)
		switch {
		case now.Record.Generation != v.Record.Generation:
			return errWentOn
		case left <= 0:
			return nil
		}
		if err := dispatch.Sleep(ctx, min(max(left, time.Second), lookEvery)); err != nil {
			return err
		}
	}
}

// giveUp withdraws the announcement of a view if an error says that the move cannot begin: programs would refuse keys for nothing, and nobody
// could change the items that are in the way. After other errors it stays, and the next run goes on.
func (l *life) giveUp(ctx context.Context, v *passage.View, err error) error {
	if v.Record.Announced == nil || !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrDamage) {
		return err
	}
	if failed := l.withdraw(ctx, v, "heatsink move: it cannot begin"); failed != nil {
		return fmt.Errorf("%w; the move stays announced until it is withdrawn (--back): %w", err, failed)
	}
	return fmt.Errorf("%w; the announcement of the move is withdrawn", err)
}

// withdraw takes the announcement of a view back, if there is one.
func (l *life) withdraw(ctx context.Context, v *passage.View, why string) error {
	if v.Record.Announced == nil {
		return nil
	}
	now, err := l.book.Withdraw(ctx, v, why)
	if err == nil {
		l.show(now)
	}
	return err
}

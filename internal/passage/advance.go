package passage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// ErrChanged is wrapped when somebody else has changed the record. View returns what it is now.
var ErrChanged = errors.New("the record of where items are has changed meanwhile")

// Advance stores the next stage of a move: see Record.Enter. v is the view of this book that the caller has acted on. next is where items move to from
// then on, for Split alone. It returns the view of the new stage, or of a later one if somebody was faster still. It costs one
// conditional write.
//
// The error wraps ErrStage or ErrEarly if the stage may not follow, and ErrChanged if the record is another one by now. It wraps
// adapt.ErrLedger if it is not known whether the change was stored: View tells, and Advance may be called again.
func (b *Book) Advance(ctx context.Context, v *View, then forward.Stage, next *Arrangement, why string) (*View, error) {
	return b.change(ctx, v, why, func(r Record, at time.Time) (Record, error) { return r.Enter(then, next, at) })
}

// Finish drops the layout that processes may still be configured with after a move. Those that are, are refused from then on. Errors are
// those of Advance.
func (b *Book) Finish(ctx context.Context, v *View) (*View, error) {
	return b.change(ctx, v, "the move is finished", Record.Finish)
}

// change stores the record that follows on the one of a view.
func (b *Book) change(ctx context.Context, v *View, why string, follow func(Record, time.Time) (Record, error)) (*View, error) {
	select {
	case b.changing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.changing }()
	// Two changes of this process may be equal otherwise, and each would take the other for its own.
	by := fmt.Sprintf("%s/%d", b.by, b.changes.Add(1))
	c := change{book: b, from: v, clock: v, why: ledger.Audit(why), by: ledger.Audit(by), follow: follow}
	changed, err := c.run(ctx)
	if errors.Is(err, lease.ErrOff) { // the clocks have changed since the view was read
		fresh, failed := b.Renew(ctx, nil)
		if failed != nil {
			return nil, failed
		}
		c.clock = fresh
		changed, err = c.run(ctx)
	}
	return changed, err
}

// change is one change of a record. Each attempt carries the time of its own signature.
type change struct {
	book   *Book
	from   *View // what it follows on
	clock  *View // whose clock it takes
	why    string
	by     string // no other change has the same
	follow func(Record, time.Time) (Record, error)

	sent []*View      // one for each attempt, with the record as it would be stored
	last *lease.Stamp // the signature of the last attempt
}

func (c *change) run(ctx context.Context) (*View, error) {
	b := c.book
	if _, err := c.follow(c.from.Record, c.clock.now()); err != nil { // before anything is sent
		return nil, b.errorf("%w", err)
	}
	replaced, lost, err := b.control.Replace(ctx, recordKey, c.from.Record.Generation, c.attempt)
	switch {
	case replaced:
		return c.stored()
	case err != nil && !lost:
		return nil, b.errorf("%w", err)
	}
	stored, failed := b.Renew(ctx, nil)
	switch {
	case failed != nil:
		return nil, fmt.Errorf("it is not known whether the next stage of the move is stored: %w", errors.Join(failed, err))
	case slices.ContainsFunc(c.sent, func(sent *View) bool { return sent.Record.Equal(stored.Record) }):
		return stored, nil
	case err == nil || stored.Record.Generation > c.from.Record.Generation:
		return nil, b.errorf("%w: it had generation %d, and has generation %d by %s now, which is %s", ErrChanged,
			c.from.Record.Generation, stored.Record.Generation, stored.Record.By, describe(stored.Record.Stage))
	}
	return nil, b.errorf("%w: the next stage of the move is not stored, but may still be: %w", adapt.ErrLedger, err)
}

// attempt returns the next attempt.
func (c *change) attempt() (adapt.Attempt, error) {
	v, at := &View{table: c.from.table, began: time.Now()}, c.clock.now()
	var err error
	if v.Record, err = c.follow(c.from.Record, at); err != nil {
		return adapt.Attempt{}, err
	}
	v.Record.Why, v.Record.By = c.why, c.by
	c.sent, c.last = append(c.sent, v), &lease.Stamp{}
	return adapt.Attempt{Values: v.Record.Encode(), Options: []func(*dynamodb.Options){lease.Near(at), c.last.Note}}, nil
}

// stored returns the view of the last attempt, which was acknowledged. It may be used for as long as if that request had read the record.
func (c *change) stored() (*View, error) {
	v := c.sent[len(c.sent)-1]
	var err error
	if v.lease, err = lease.New(c.last); err != nil {
		return nil, c.book.errorf("%w", err)
	}
	v.stamp, _ = c.last.Time() // as New has found
	return c.book.install(v), nil
}

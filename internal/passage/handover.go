package passage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// seatTimes is how often somebody else may change a record while this process hands it over.
const seatTimes = 5

// Vacant returns an error if the table of other control items has a record of its own, so that Point would fail. r is the record of this
// book. It costs a strong read.
func (b *Book) Vacant(ctx context.Context, to *adapt.Control, r *Record) error {
	there, _, err := b.stored(ctx, to)
	if err != nil || b.pointable(there) {
		return err
	}
	return b.occupied(to, r, there)
}

// pointable reports whether a record of another table may be replaced by a pointer to the record of this book, or is one.
func (b *Book) pointable(there *Record) bool {
	return there == nil || there.Seat != Here && there.Now.Table == TableName(b.table)
}

// Point makes the table of other control items say that the record is in the table of this book: see Seat. r is that record, and next is
// where items move to, or are. It costs a strong read and a conditional write, or the read alone if the table says so already. The error
// wraps ErrStage if that table has a record of its own.
func (b *Book) Point(ctx context.Context, to *adapt.Control, r *Record, next Arrangement) error {
	own := TableName(b.table)
	for range seatTimes {
		there, clock, err := b.stored(ctx, to)
		switch {
		case err != nil:
			return err
		case !b.pointable(there):
			return b.occupied(to, r, there)
		case there != nil && there.Seat == Elsewhere:
			return nil
		}
		generation := int64(0)
		if there != nil {
			generation = there.Generation
		}
		done, err := b.store(ctx, to, generation, clock, func(at time.Time) (Record, error) { return NewPointer(own, next, generation, at, b.by) })
		if done || err != nil {
			return err
		}
	}
	return b.errorf("%w: the record in table %s changes at each attempt: try again", adapt.ErrLedger, to.Table)
}

// occupied says that a table has a record of its own, where that of this book is to be found.
func (b *Book) occupied(to *adapt.Control, r, there *Record) error {
	record := layout.ControlKey{Role: layout.RolePassage, Collection: to.Collection}
	if there.Seat == Here && (r.Now.Table == TableName(to.Table) || r.Next != nil) { // its items are those of this collection
		return b.errorf("%w: %w: table %s has items of this collection, and a record of its own, which is %s in generation %d, %s: its control items were deleted, and a program has begun anew. "+
			"Stop all programs that use that table, delete the control item %q there, wait two minutes, and try again; then verify, because such programs may have put items twice",
			adapt.ErrLedger, ErrStage, to.Table, there.stageText(), there.Generation, there.Now, record)
	}
	return b.errorf("%w: table %s has a record of a collection with this name, which is %s in generation %d, %s: give the collection another name or choose another table; "+
		"if no program uses that collection, delete its items and the control items %q and %q there, and wait an hour", ErrStage, to.Table, there.stageText(), there.Generation, there.Now,
		record, layout.ControlKey{Role: layout.RoleCharter, Collection: to.Collection})
}

// Handover makes another table the one with the record, when all items are settled there: see Seat. It goes on where another one has
// stopped. It costs three strong reads and two conditional writes. The error wraps ErrStage if the items are not settled in that table.
func (b *Book) Handover(ctx context.Context, to *adapt.Control) error {
	if err := b.ready(ctx, to); err != nil { // before anything changes: nobody could go on without it
		return err
	}
	retired, err := b.retire(ctx, TableName(to.Table))
	if err != nil {
		return err
	}
	for range seatTimes {
		there, clock, own, err := b.heir(ctx, to)
		switch {
		case err != nil:
			return err
		case own && there.Generation > retired.Generation:
			return nil // it was handed over before
		case own:
			return b.errorf("%w: %w: the record in table %s has generation %d, and the one that was handed over had %d: restore both tables from backups of one time",
				adapt.ErrLedger, ledger.ErrLost, to.Table, there.Generation, retired.Generation)
		}
		done, err := b.store(ctx, to, there.Generation, clock, func(at time.Time) (Record, error) {
			n, err := retired.Inherit(there.Generation, at)
			n.Why, n.By = "the record was handed over by table "+TableName(b.table), ledger.Audit(b.by)
			return n, err
		})
		if done || err != nil {
			return err
		}
	}
	return b.errorf("%w: the record in table %s changes at each attempt: try again", adapt.ErrLedger, to.Table)
}

// ready returns an error if the record of this book cannot be handed over to a table.
func (b *Book) ready(ctx context.Context, to *adapt.Control) error {
	there, _, own, err := b.heir(ctx, to)
	if err != nil || !own {
		return err
	}
	r, _, err := b.stored(ctx, b.control)
	if err != nil || r == nil || r.Seat == Retired { // it was handed over before, if there is one
		return err
	}
	return b.occupied(to, r, there)
}

// heir reads the record of the table that the record of this table is handed over to. own says that this was done before. The view tells
// the time.
func (b *Book) heir(ctx context.Context, to *adapt.Control) (there *Record, clock *View, own bool, err error) {
	there, clock, err = b.stored(ctx, to)
	switch {
	case err != nil:
		return nil, nil, false, err
	case there != nil && there.Seat == Here:
		return there, clock, true, nil
	case there == nil || there.Seat != Elsewhere || there.Now.Table != TableName(b.table):
		return nil, nil, false, b.errorf("%w: %w: table %s has no record that says that items move there from table %s: restore both tables from backups of one time",
			adapt.ErrLedger, ledger.ErrLost, to.Table, b.table)
	}
	return there, clock, false, nil
}

// retire ends the record of this table, whose items are in the table with a name, and returns it as it is then.
func (b *Book) retire(ctx context.Context, into string) (Record, error) {
	for range seatTimes {
		r, clock, err := b.stored(ctx, b.control)
		switch {
		case err != nil:
			return Record{}, err
		case r == nil:
			return Record{}, b.errorf("%w: %w: there is no record of where items are", adapt.ErrLedger, ledger.ErrLost)
		case r.Now.Table != into:
			return Record{}, b.errorf("%w: the items are under %s: want them in table %s", ErrStage, r.Now, into)
		case r.Seat == Retired:
			return *r, nil
		}
		if _, err := b.store(ctx, b.control, r.Generation, clock, func(at time.Time) (Record, error) {
			n, err := r.Retire(at)
			n.Why, n.By = "the record is handed over to table "+into, ledger.Audit(b.by)
			return n, err
		}); err != nil {
			return Record{}, err
		}
	}
	return Record{}, b.errorf("%w: the record changes at each attempt: try again", adapt.ErrLedger)
}

// Retired returns the name of the table that the record of this table was handed over to, or is being handed over to. It is "" if it was
// not. It costs a strong read.
func (b *Book) Retired(ctx context.Context) (string, error) {
	r, _, err := b.stored(ctx, b.control)
	if err != nil || r == nil || r.Seat != Retired {
		return "", err
	}
	return r.Now.Table, nil
}

// stored reads a record as it is stored, whether or not this process may use it. It is nil if there is none. The view tells the time.
func (b *Book) stored(ctx context.Context, in *adapt.Control) (*Record, *View, error) {
	clock := &View{began: time.Now()}
	var stamp lease.Stamp
	values, stored, err := in.Read(ctx, recordKey, stamp.Note)
	if err == nil {
		clock.stamp, err = stamp.Time()
	}
	switch {
	case err != nil:
		return nil, nil, b.unusable(ctx, "read in table "+in.Table, err)
	case !stored:
		return nil, clock, nil
	}
	r, err := b.parse(values)
	return &r, clock, err
}

// store stores a record in place of one with a generation, 0 for none. done is false if another one is stored, perhaps by a lost attempt.
func (b *Book) store(ctx context.Context, in *adapt.Control, generation int64, clock *View, next func(time.Time) (Record, error)) (done bool, err error) {
	attempt := func() (adapt.Attempt, error) {
		at := clock.now()
		r, err := next(at)
		return adapt.Attempt{Values: r.Encode(), Options: []func(*dynamodb.Options){lease.Near(at)}}, err
	}
	if generation == 0 {
		done, err = in.Create(ctx, recordKey, attempt)
	} else {
		done, _, err = in.Replace(ctx, recordKey, generation, attempt)
	}
	switch {
	case errors.Is(err, ErrStage) || errors.Is(err, ErrRecord):
		return false, b.errorf("%w", err)
	case errors.Is(err, lease.ErrOff): // the clocks have changed since the read
		return false, nil
	case err != nil:
		return false, fmt.Errorf("it is not known whether the record is stored in table %s: %w", in.Table, b.unusable(ctx, "written", err))
	}
	return done, nil
}

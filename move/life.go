package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
)

// lookEvery is how often a mover that waits looks at the record, which others may change.
const (
	lookEvery  = time.Minute
	leastPause = 5 * time.Second
	maxPasses  = 10 // of one chore
	probes     = 8  // of whether the server checks signatures, until it has answered
)

// unchecked is what to say where stages cannot end.
const unchecked = "this server does not check when requests were signed (DynamoDB Local, DAX, some proxies): the move rests in its split phase: " +
	"reads and writes are right, and new ids cost more writes"

// life is one Run or Back: it takes the collection from stage to stage, as far as that is possible.
type life struct {
	*trip
	back   bool
	passed int64     // the generation of a split stage whose items this run has moved
	kept   []Finding // items that the run has left behind
}

// travel runs a life, and returns what it did.
func (m *byID) travel(ctx context.Context, back bool) (Result, error) {
	table, err := m.admit(ctx)
	if err != nil {
		return Result{}, err
	}
	v, _, err := m.current(ctx)
	if err != nil {
		return Result{}, err
	}
	result := Result{Stage: stageOf(&v.Record)}
	if err := m.admits(&v.Record, back); err != nil {
		return result, err
	}
	m.mover.mu.Lock()
	forecast := m.mover.forecast
	m.mover.mu.Unlock()
	if forecast == nil {
		f, err := m.plan(ctx, back)
		if err != nil {
			result.Forecast = f
			return result, err
		}
		forecast = &f
	}
	l := &life{trip: m.newTrip(table), back: back}
	l.of, l.result.Forecast, l.result.Stage = forecast.Items, *forecast, result.Stage
	if forecast.Moves > 0 {
		l.perMove = max(forecast.WriteUnits/float64(forecast.Moves)-1, 1) // the last unit is that of the stub, which goes later
	}
	err = l.tell(ctx, l.live)
	end := l.end()
	return end, err
}

// live goes from stage to stage until the move is over, or has to wait.
func (l *life) live(ctx context.Context) error {
	began := l.result.Stage.Moving() // something moves, or has moved since this run began, perhaps during its forecast
	for {
		v, waited, err := l.current(ctx)
		if err != nil {
			return err
		}
		l.show(v)
		moving := stageOf(&v.Record).Moving()
		began = began || moving
		if err := l.onCourse(v, began && !moving); err != nil {
			return err
		}
		over, waits, err := l.step(ctx, v, waited)
		switch {
		case errors.Is(err, errWentOn), errors.Is(err, passage.ErrChanged):
			continue // somebody else was faster
		case errors.Is(err, passage.ErrEarly): // by the clock of another signature
			waits, err = true, nil
		}
		switch {
		case err != nil:
			return err
		case over:
			l.done()
			return errors.Join(l.stranded(), l.newCheckpoint(v, forward.Nothing).remove(ctx))
		case waits && (!l.options.Wait || l.result.Rests != ""):
			return l.stranded()
		case waits:
			if err := l.pause(ctx, v); err != nil {
				return err
			}
		}
	}
}

// stranded returns an error if the run has met items that nobody will find any more.
func (l *life) stranded() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.kept {
		if !slices.Contains(l.report.Findings, f) {
			l.report.Findings = append(l.report.Findings, f)
		}
	}
	if n := len(l.kept); n > 0 {
		return fmt.Errorf("%w: at least %s in old homes, written by a program that ignores the record, such as %s, stored as %s: put them again through the collection, and delete these",
			ErrDamage, figure.Count(n, "item"), l.kept[0].Key, l.kept[0].Stored)
	}
	return nil
}

// show makes the stage part of the result and of the progress.
func (l *life) show(v *passage.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Stage = stageOf(&v.Record)
}

// done notes that the move is over.
func (l *life) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Done = true
}

// pause waits until the stage may end, or until it is time to look at the record again.
func (l *life) pause(ctx context.Context, v *passage.View) error {
	until := stageOf(&v.Record).Until
	l.waitFor(until)
	defer l.waitFor(time.Time{})
	left := time.Until(until)
	return dispatch.Sleep(ctx, min(max(left, leastPause), lookEvery))
}

// waitFor makes what the mover waits for part of the progress.
func (l *life) waitFor(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
}

// step does what is to be done at a stage, and enters the next one. over says that the move has ended, and waits that the stage must
// last longer.
func (l *life) step(ctx context.Context, v *passage.View, waited bool) (over, waits bool, err error) {
	r := &v.Record
	chore, then, waits := follows(r, waited)
	switch {
	case r.Stage == forward.Stage{}:
		over, err := l.begin(ctx, v)
		return over, false, err
	case r.Stage.Phase == forward.Split && l.back:
		checks, err := l.checks(ctx)
		switch {
		case err != nil:
			return false, false, err
		case !checks:
			return false, false, fmt.Errorf("%w: %s; nor can it go back", ErrStage, unchecked)
		}
		return false, false, l.advance(ctx, v, forward.Stage{Phase: forward.Back}, nil, "the move goes back")
	case r.Stage.Phase == forward.Split: // items move at once, and what is left moves when it is closed
		if l.passed != r.Generation {
			if err := l.pass(ctx, v, forward.MoveAll); err != nil {
				return false, false, err
			}
			checks, err := l.checks(ctx)
			if err != nil || !checks { // whoever waits an hour is told before
				l.rest(!checks && err == nil)
				return false, true, err
			}
			l.passed = r.Generation
		}
		if waits {
			return false, true, nil
		}
	case waits:
		return false, true, nil
	case chore == forward.DropDeads && r.List(): // nothing is deleted from a list
	case chore == forward.MoveAll:
		if err := l.moveRest(ctx, v); err != nil {
			return false, false, err
		}
	default:
		if err := l.pass(ctx, v, chore); err != nil {
			return false, false, err
		}
	}
	if then.Trace == forward.Deads && !r.List() {
		l.leaveTrail(ctx, v)
	}
	name, _ := nameOfStage(then)
	return false, false, l.advance(ctx, v, then, nil, "heatsink move: "+name)
}

// advance enters the next stage, if the table is still one whose items can be moved: somebody may have changed it while the mover waited.
func (l *life) advance(ctx context.Context, v *passage.View, then forward.Stage, next *passage.Arrangement, why string) error {
	table, err := l.admit(ctx)
	if err == nil {
		_, err = l.admitTables(ctx, table, &v.Record, next)
	}
	if err == nil && v.Record.Next != nil {
		err = l.prepare(ctx, v, v.Record.Next) // somebody may have deleted control items there
	}
	switch {
	case err != nil && v.Record.Stage == forward.Stage{}:
		return fmt.Errorf("the move has not begun: %w", err)
	case err != nil:
		return fmt.Errorf("the move stays %s: %w", stageOf(&v.Record).Name, err)
	}
	_, err = l.book.Advance(ctx, v, then, next, why)
	return err
}

// leaveTrail notes which keys have moved, if it is not all of them, for the pass behind the next change of the record. Without it, that
// reads the whole table.
func (l *life) leaveTrail(ctx context.Context, v *passage.View) {
	trail := newScope(l.options.Collection.PartitionKey, v.Record.Now, *v.Record.Next)
	if trail == nil || trail.empty() {
		return
	}
	c := newCheckpoint(l.client, &l.options, l.work.table)
	c.what, c.shards, c.trail = fingerprintByID(&l.options, v.Record.Generation+1, forward.DropDeads), true, trail
	if err := c.save(ctx, nil); err != nil {
		l.options.Logger.WarnContext(ctx, "the next pass will read the whole table", "table", l.options.Collection.Table, "error", err)
	}
}

// rest notes that the move cannot go on.
func (l *life) rest(rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rests {
		l.result.Rests = unchecked
	}
}

// needRecord writes into the charter that the record must be found from now on: who does not find it must not take the items for unmoved.
func (l *life) needRecord(ctx context.Context) error {
	written, found, err := l.control.Charter(ctx)
	if err != nil || !found || written.Moved {
		return err
	}
	written.Moved = true
	if written, err = charter.New(written); err != nil {
		return err
	}
	return l.control.Rewrite(ctx, written)
}

// checks reports whether the server checks when requests were signed. If it does not, no stage can be known to be over.
func (t *trip) checks(ctx context.Context) (checks bool, err error) {
	in := &dynamodb.GetItemInput{TableName: &t.options.Collection.Table, Key: t.newCheckpointKey()}
	err = t.send(ctx, t.reads, 2, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) { // a read, and one that is refused
		checks, err = lease.Probe(ctx, t.client, in)
		return nil, err
	})
	if err != nil {
		return false, fmt.Errorf("find out whether the server checks signatures: %w", err)
	}
	return checks, nil
}

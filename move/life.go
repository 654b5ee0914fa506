package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// lookEvery is how often a mover that waits looks at the record, which others may change.
const (
	lookEvery  = time.Minute
	leastPause = 5 * time.Second
	maxPasses  = 10 // of one chore
)

// unchecked is what to say where stages cannot end.
const unchecked = "this server does not check when requests were signed (DynamoDB Local, DAX, some proxies): the move rests in its split phase: " +
	"reads and writes are right, new ids cost one more write"

// life is one Run or Back: it takes the collection from stage to stage, as far as that is possible.
type life struct {
	*trip
	back bool
	kept []Finding // items that the run has left behind
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
		f, err := m.plan(ctx)
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

// admits refuses a run that contradicts what is in progress.
func (m *byID) admits(r *passage.Record, back bool) error {
	to, err := m.target(r.Now)
	if err != nil {
		return err
	}
	stage := stageOf(r)
	toward := func(a *passage.Arrangement) string { return Arrangement(*a).String() }
	switch {
	case back && r.List():
		return fmt.Errorf("%w: %w", ErrStage, passage.ErrListBack)
	case r.Former != nil && !stage.Moving() && to != nil && !to.Equal(r.Now) && !to.SameLayout(r.Former.Layout):
		return fmt.Errorf("%w: the last move is not finished, and programs may still have its layout, %s: set Options.Layout to %s in all programs, and Finish that move (--finish)",
			ErrStage, toward(r.Former), toward(&r.Now))
	case back && r.Stage.Phase == forward.Split, r.Stage.Phase == forward.Back && back, r.Stage.Trace == forward.Returned && back:
		return nil
	case back && !stage.Moving():
		return fmt.Errorf("%w: nothing moves, so there is nothing to go back from: run a move to the layout that you want", ErrStage)
	case back:
		return fmt.Errorf("%w: the move is %s, and goes back only while it is split: let it end, and then move the items to the other layout", ErrStage, stage.Name)
	case r.Stage.Phase == forward.Back || r.Stage.Trace == forward.Returned:
		return fmt.Errorf("%w: the items are on their way back from %s: run Back (--back) until that is over", ErrStage, toward(r.Next))
	case r.Next != nil && to != nil && !to.Equal(*r.Next):
		if same, err := m.target(*r.Next); err == nil && same != nil && same.Equal(*r.Next) {
			return nil // the keys that were asked for have what they were asked for
		}
		return fmt.Errorf("%w: a move to %s is in progress (%s since %s), and this one is to %s: let it end, or go back from it while it is split",
			ErrStage, toward(r.Next), stage.Name, stage.Since.Format(time.DateTime), toward(to))
	case r.Stage.Trace == forward.Deads && to != nil && !to.Equal(r.Now):
		return fmt.Errorf("%w: the move to %s is not over yet (%s since %s), and this one is to %s: run it again without To, or with To as it was, until it is over",
			ErrStage, toward(&r.Now), stage.Name, stage.Since.Format(time.DateTime), toward(to))
	case !stage.Moving() && to == nil:
		return fmt.Errorf("%w: nothing moves, and neither To nor Widths says where to: name a layout", ErrStage)
	}
	return nil
}

// stage returns the present stage.
func (m *byID) stage(ctx context.Context) (Stage, error) {
	if _, err := m.meet(ctx); err != nil {
		return Stage{}, err
	}
	v, _, err := m.current(ctx)
	if err != nil {
		return Stage{}, err
	}
	return stageOf(&v.Record), nil
}

// finish makes the present layout the only one that programs may have.
func (m *byID) finish(ctx context.Context) error {
	if _, err := m.meet(ctx); err != nil {
		return err
	}
	v, _, err := m.current(ctx)
	if err != nil {
		return err
	}
	switch stage := stageOf(&v.Record); {
	case stage.Moving():
		return fmt.Errorf("%w: the move is not over, it is %s", ErrStage, stage)
	case stage.Former == nil:
		return fmt.Errorf("%w: there is nothing to finish: %s", ErrStage, stage)
	}
	written, found, err := m.control.Charter(ctx)
	if err == nil && found { // first, so that what a program is told to have is never refused
		written.Layout = v.Record.Now.Layout
		err = m.control.Rewrite(ctx, written)
	}
	if err != nil {
		return err
	}
	_, err = m.book.Finish(ctx, v)
	return err
}

// live goes from stage to stage until the move is over, or has to wait.
func (l *life) live(ctx context.Context) error {
	began := false // something moves, or has moved since this run began
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

// onCourse returns an error if another mover has changed the course. ended says that a move is over that this run has seen.
func (l *life) onCourse(v *passage.View, ended bool) error {
	if !ended {
		return l.admits(&v.Record, l.back)
	}
	to, err := l.target(v.Record.Now)
	if err == nil && !l.back && to != nil && !to.Equal(v.Record.Now) {
		err = fmt.Errorf("%w: somebody has taken the items back meanwhile, or elsewhere: they are under %s", ErrStage, Arrangement(v.Record.Now))
	}
	return err
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
		return l.begin(ctx, v)
	case r.Stage.Phase == forward.Split && l.back:
		checks, err := l.checks(ctx)
		switch {
		case err != nil:
			return false, false, err
		case !checks:
			return false, false, fmt.Errorf("%w: %s; nor can it go back", ErrStage, unchecked)
		}
		_, err = l.book.Advance(ctx, v, forward.Stage{Phase: forward.Back}, nil, "the move goes back")
		return false, false, err
	case r.Stage.Phase == forward.Split: // items move at once, and what is left moves when it is closed
		if err := l.pass(ctx, v, forward.MoveAll); err != nil {
			return false, false, err
		}
		checks, err := l.checks(ctx)
		if err != nil || !checks { // whoever waits an hour is told before
			l.rest(!checks && err == nil)
			return false, true, err
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
	_, err = l.book.Advance(ctx, v, then, nil, "heatsink move: "+name)
	return false, false, err
}

// leaveTrail notes which keys have moved, if it is not all of them, for the pass behind the next change of the record. Without it, that
// reads the whole table.
func (l *life) leaveTrail(ctx context.Context, v *passage.View) {
	keys, only := onlyWidths(v.Record.Now, *v.Record.Next)
	if !only || len(keys) == 0 {
		return
	}
	c := newCheckpoint(l.client, &l.options, l.work.table)
	c.what, c.shards, c.trail = fingerprintByID(&l.options, v.Record.Generation+1, forward.DropDeads), true, keys
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

// begin looks at all items, and begins the move if none of them stands in its way.
func (l *life) begin(ctx context.Context, v *passage.View) (over, waits bool, err error) {
	to, err := l.target(v.Record.Now)
	switch {
	case err != nil:
		return false, false, err
	case l.back, to == nil, to.Equal(v.Record.Now):
		return true, false, nil
	}
	if err := l.census(ctx, v, to); err != nil {
		return false, false, err
	}
	_, err = l.book.Advance(ctx, v, forward.Stage{Phase: forward.Split}, to, "heatsink move: split")
	return false, false, err
}

// pass does a chore for all items, from a checkpoint if there is one of this stage. One that went on from a checkpoint is followed by one
// from the beginning, unless the stage is split: that only begins to move items.
func (l *life) pass(ctx context.Context, v *passage.View, chore forward.Chore) error {
	for n := 0; ; n++ {
		r, resumed, err := l.round(ctx, v, chore, true)
		if err != nil {
			return err
		}
		if err := r.run(ctx); err != nil {
			return err
		}
		l.keep(r)
		if err := r.blocked(); err != nil { // what is in the way is looked for again
			return errors.Join(err, l.newCheckpoint(v, chore).remove(ctx))
		}
		if v.Record.Stage.Phase == forward.Split {
			return nil
		}
		switch {
		case r.left > 0 || n >= maxPasses:
			return fmt.Errorf("%s could not be changed, because others changed them all the time: run the move again", figure.Count(r.left, "item"))
		case !resumed && (chore != forward.ReturnAll || r.found == 0):
			return nil
		}
		if err := r.pass.checkpoint.save(ctx, nil); err != nil { // the next pass begins at the beginning
			return err
		}
	}
}

// keep keeps what a pass has found for the end of the run.
func (l *life) keep(r *round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range r.report.Findings {
		if f.Kind == kindStranded && len(l.kept) < maxFindings {
			l.kept = append(l.kept, f)
		}
	}
}

// moveRest moves what is left in old homes, until a pass from the beginning finds nothing there. Such a pass begins when the stage is
// closed, so that nothing can appear behind it but by programs that ignore the record.
func (l *life) moveRest(ctx context.Context, v *passage.View) error {
	for n := 0; ; n++ {
		r, resumed, err := l.round(ctx, v, forward.MoveAll, n == 0)
		if err != nil {
			return err
		}
		if err := r.run(ctx); err != nil {
			return err
		}
		if err := r.blocked(); err != nil {
			return err
		}
		if n > 0 && r.found > r.left {
			late := r.found - r.left
			l.mu.Lock()
			l.result.Late += late
			l.mu.Unlock()
			text := figure.Count(late, "item") + " appeared in old homes behind the mover: some program writes to the table without the record, " +
				"with an old version, another tool or without heatsink; stop it, and run the move again"
			l.options.Logger.WarnContext(ctx, text, "table", l.options.Collection.Table, "pass", l.work.pass)
			if n >= confirmations {
				return fmt.Errorf("%w: in the last of %d passes, %s", ErrOldWriters, n+1, text)
			}
		}
		switch {
		case r.found == 0 && !resumed:
			return nil
		case n >= confirmations+1:
			return fmt.Errorf("%s could not be moved, because others changed them all the time: run the move again", figure.Count(r.left, "item"))
		}
	}
}

// round returns a pass, and whether it goes on from a checkpoint.
func (l *life) round(ctx context.Context, v *passage.View, chore forward.Chore, resume bool) (*round, bool, error) {
	c := l.newCheckpoint(v, chore)
	if chore == forward.DropDeads {
		if _, _, err := c.load(ctx, 0); err != nil { // only for its trail
			return nil, false, err
		}
	}
	r, err := l.newRound(v, chore, c)
	if err != nil {
		return nil, false, err
	}
	if !resume {
		return r, false, nil
	}
	segments, ignored, err := c.load(ctx, len(r.pass.segments))
	if err != nil {
		return nil, false, err
	}
	if ignored != "" && ignored != ofAnother {
		l.options.Logger.WarnContext(ctx, "the checkpoint is not used: the pass begins at the beginning", "table", l.options.Collection.Table, "why", ignored)
	}
	if segments != nil {
		r.pass.segments = segments
		l.mu.Lock()
		l.result.Resumed = true
		l.mu.Unlock()
	}
	return r, segments != nil, nil
}

// newCheckpointKey returns the key of the checkpoint in the data's table: some key that a read may have.
func (l *life) newCheckpointKey() place.Item {
	o := l.options
	o.Collection.ControlTable = ""
	return newCheckpoint(l.client, &o, l.work.table).key
}

// newCheckpoint returns the checkpoint of a chore at a stage.
func (l *life) newCheckpoint(v *passage.View, chore forward.Chore) *checkpoint {
	c := newCheckpoint(l.client, &l.options, l.work.table)
	if c != nil {
		c.what = fingerprintByID(&l.options, v.Record.Generation, chore)
		c.shards = true
	}
	return c
}

// run makes the pass.
func (r *round) run(ctx context.Context) error { return r.pass.run(ctx) }

// blocked returns an error if items keep the stage from ending.
func (r *round) blocked() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stuck == 0 {
		return nil
	}
	var parts []string
	for _, f := range r.report.Findings {
		parts = append(parts, fmt.Sprintf("%s, stored as %s: %s", f.Key, f.Stored, f.Why))
		if len(parts) == 3 {
			break
		}
	}
	return fmt.Errorf("%w: %s keep the stage from ending: %s", ErrDamage, figure.Count(r.stuck, "item"), strings.Join(parts, "; "))
}

// checks reports whether the server checks when requests were signed. If it does not, no stage can be known to be over.
func (l *life) checks(ctx context.Context) (checks bool, err error) {
	in := &dynamodb.GetItemInput{TableName: &l.options.Collection.Table, Key: l.newCheckpointKey()}
	err = l.send(ctx, l.reads, 2, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) { // a read, and one that is refused
		checks, err = lease.Probe(ctx, l.client, in)
		return nil, err
	})
	if err != nil {
		return false, fmt.Errorf("find out whether the server checks signatures: %w", err)
	}
	return checks, nil
}

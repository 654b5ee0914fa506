package move

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
)

// admits refuses a run that contradicts what is in progress.
func (m *byID) admits(r *passage.Record, back bool) error {
	to, err := m.target(r.Now)
	if err != nil {
		return err
	}
	stage := stageOf(r)
	toward := func(a *passage.Arrangement) string { return arrangementOf(*a).String() }
	switch {
	case r.Announced != nil && (back || to == nil || to.Equal(*r.Announced) || m.reaches(r.Announced)):
		return nil
	case r.Announced != nil:
		return fmt.Errorf("%w: a move to %s is announced since %s, and this one is to %s: run that one, or withdraw it with Back (--back)",
			ErrStage, toward(r.Announced), stage.Since.Format(time.DateTime), toward(to))
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
		if m.reaches(r.Next) {
			return nil
		}
		return fmt.Errorf("%w: a move to %s is in progress (%s since %s), and this one is to %s: let it end, or go back from it while it is split",
			ErrStage, toward(r.Next), stage.Name, stage.Since.Format(time.DateTime), toward(to))
	case r.Stage.Trace == forward.Deads && to != nil && !to.Equal(r.Now):
		return fmt.Errorf("%w: the move to %s is not over yet (%s since %s), and this one is to %s: run it again without To, or with To as it was, until it is over",
			ErrStage, toward(&r.Now), stage.Name, stage.Since.Format(time.DateTime), toward(to))
	case !stage.Moving() && to != nil && !to.Equal(r.Now): // before anything is written
		if err := r.Admits(*to); err != nil {
			return fmt.Errorf("%w: %w", ErrStage, err)
		}
	case !stage.Moving() && to == nil:
		return fmt.Errorf("%w: nothing moves, and neither To nor Widths or Prefixes says where to: name a layout", ErrStage)
	}
	return nil
}

// reaches reports whether the keys that were asked for have what they were asked for when a move has ended.
func (m *byID) reaches(next *passage.Arrangement) bool {
	same, err := m.target(*next)
	return err == nil && same != nil && same.Equal(*next)
}

// onCourse returns an error if another mover has changed the course. ended says that a move is over that this run has seen.
func (l *life) onCourse(v *passage.View, ended bool) error {
	if !ended {
		return l.admits(&v.Record, l.back)
	}
	to, err := l.target(v.Record.Now)
	if err == nil && !l.back && to != nil && !to.Equal(v.Record.Now) {
		err = fmt.Errorf("%w: somebody has taken the items back meanwhile, or elsewhere: they are under %s", ErrStage, arrangementOf(v.Record.Now))
	}
	return err
}

// stage returns the present stage.
func (m *byID) stage(ctx context.Context) (Stage, error) {
	table, err := m.meet(ctx)
	if err != nil {
		return Stage{}, err
	}
	v, _, err := m.current(ctx)
	if err != nil {
		return Stage{}, err
	}
	s := stageOf(&v.Record)
	if v.Record.Stage != (forward.Stage{}) {
		checks, err := m.newTrip(table).checks(ctx)
		if err != nil {
			return Stage{}, err
		}
		if !checks {
			s.Rests, s.Until = unchecked, time.Time{}
		}
	}
	return s, nil
}

// finish makes the present layout the only one that programs may have.
func (m *byID) finish(ctx context.Context) error {
	switch into, err := m.book.Retired(ctx); {
	case err != nil:
		return err
	case into != "": // somebody has begun to hand the record over
		return m.handOver(ctx, into)
	}
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
	case v.Record.Now.Table != "":
		return m.settleIn(ctx, v)
	case stage.Former == nil && len(stage.Now.Widths)+len(stage.Now.Prefixes) > 0:
		return fmt.Errorf("%w: there is nothing to finish: only single keys have moved, and programs keep their Options.Layout", ErrStage)
	case stage.Former == nil:
		return fmt.Errorf("%w: there is nothing to finish: %s", ErrStage, stage)
	}
	written, found, err := m.control.Charter(ctx)
	if err == nil && found { // first, so that what a program is told to have is never refused
		err = rewrite(ctx, m.control, written, v.Record.Now)
	}
	if err != nil {
		return err
	}
	if _, err = m.book.Finish(ctx, v); err != nil && m.finished(ctx, v) {
		return nil // the answer was lost
	}
	return err
}

// rewrite makes an arrangement the one that a charter says.
func rewrite(ctx context.Context, in *adapt.Control, written charter.Charter, now passage.Arrangement) (err error) {
	written.Layout = now.Layout
	if now.Timed() {
		written.EventTime = charter.EventTime{Attribute: written.SortKey, Unit: passage.ClockName(now.Clock)}
	}
	if written, err = charter.New(written); err != nil {
		return err
	}
	return in.Rewrite(ctx, written)
}

// finished reports whether the record of a view is finished now. A mover that is configured with the former layout may not use that
// record, but it may know this.
func (m *byID) finished(ctx context.Context, v *passage.View) bool {
	own := passage.Arrangement{Layout: v.Record.Now.Layout, Clock: v.Record.Now.Clock}
	now, err := passage.NewBook(passage.Options{Control: m.control, Own: own, Logger: m.mover.options.Logger}).View(ctx)
	if err != nil {
		return false
	}
	r := &now.Record
	return r.Generation == v.Record.Generation+1 && r.Stage == (forward.Stage{}) && r.Former == nil && r.Now.Equal(v.Record.Now)
}

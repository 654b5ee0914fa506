package move

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// pass does a chore for all items, from a checkpoint if there is one of this stage. One that went on from a checkpoint is followed by one
// from the beginning, unless the stage is split: that only begins to move items.
func (l *life) pass(ctx context.Context, v *passage.View, chore forward.Chore) error {
	for n := 0; ; n++ {
		r, resumed, err := l.round(ctx, v, chore, true)
		if err != nil {
			return err
		}
		if resumed && v.Record.Stage.Phase == forward.Split && r.pass.through() {
			return nil // an earlier run has moved all items
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
		for i, s := range segments {
			s.in = r.pass.segments[i].in
		}
		r.pass.segments = segments
		l.mu.Lock()
		l.result.Resumed = true
		l.mu.Unlock()
	}
	return r, segments != nil, nil
}

// newCheckpointKey returns the key of the checkpoint in the data's table: some key that a read may have.
func (t *trip) newCheckpointKey() place.Item {
	o := t.options
	o.Collection.ControlTable = ""
	return newCheckpoint(t.client, &o, t.work.table).key
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

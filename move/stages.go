package move

import (
	"context"
	"fmt"
)

// Back takes a movable collection whose move is split back to where its items were. It works as Run does: in steps, with waits between
// them. A move that is announced is withdrawn at once. From a move that is closed or later, there is no way back but another move. Errors wrap ErrStage, or are those of Run.
func (m *Mover) Back(ctx context.Context) (Result, error) {
	if m.byID == nil {
		return Result{}, fmt.Errorf("go back with table %s: %w: an index lists the items: swap Layout and Older in the programs, and run a move", m.options.Collection.Table, ErrUnsupported)
	}
	result, err := m.byID.travel(ctx, true)
	if err != nil {
		return result, fmt.Errorf("go back with table %s: %w", m.options.Collection.Table, err)
	}
	return result, nil
}

// Finish ends the time after a move in which programs may be configured with the layout of before. Those that are get
// heatsink.ErrCharter from then on. The next move to another layout needs it. The error wraps ErrStage if no move has ended.
//
// A move into another table ends in the same way: that table gets the collection's record, and programs with the table of before are
// refused. If Finish was stopped halfway, programs with the new table go on as before. Call it again then.
func (m *Mover) Finish(ctx context.Context) error {
	if m.byID == nil {
		return fmt.Errorf("finish the move of table %s: %w: an index lists the items, so there is nothing to finish", m.options.Collection.Table, ErrUnsupported)
	}
	if err := m.byID.finish(ctx); err != nil {
		return fmt.Errorf("finish the move of table %s: %w", m.options.Collection.Table, err)
	}
	return nil
}

// Stage returns how far the move of a movable collection has come. It costs a strong read or two. While items move, it also
// finds out whether the server checks signatures, with two more reads.
func (m *Mover) Stage(ctx context.Context) (Stage, error) {
	if m.byID == nil {
		return Stage{}, fmt.Errorf("stage of table %s: %w: an index lists the items, which move without stages", m.options.Collection.Table, ErrUnsupported)
	}
	s, err := m.byID.stage(ctx)
	if err != nil {
		return s, fmt.Errorf("stage of table %s: %w", m.options.Collection.Table, err)
	}
	return s, nil
}

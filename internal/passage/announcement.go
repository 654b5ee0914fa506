package passage

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// Announce returns the record with a move that is about to begin. Nothing moves yet, but Check refuses the keys that the next
// arrangement does not take. So no process puts an item under such a key any more by the time that others look for another key's items
// there. A move needs this only if its arrangement refuses keys that the present one takes.
//
// An announcement stays until Enter begins the move, or Withdraw takes it back. The error wraps ErrStage or ErrRecord.
func (r Record) Announce(next Arrangement, at time.Time) (Record, error) {
	switch {
	case r.Seat != Here:
		return Record{}, fmt.Errorf("%w: %w", ErrStage, r.away())
	case r.Stage != forward.Stage{}:
		return Record{}, fmt.Errorf("%w: generation %d is %s, and a move is announced only while nothing moves", ErrStage, r.Generation, describe(r.Stage))
	case r.Announced != nil:
		return Record{}, fmt.Errorf("%w: generation %d: %w", ErrStage, r.Generation, r.announced())
	}
	if err := r.Admits(next); err != nil {
		return Record{}, err
	}
	plain, n := next.plain(), r
	n.Announced = &plain
	return n.changed(at)
}

// Withdraw returns the record without its announcement. The error wraps ErrStage or ErrRecord.
func (r Record) Withdraw(at time.Time) (Record, error) {
	if r.Announced == nil {
		return Record{}, fmt.Errorf("%w: generation %d is %s, and no move is announced: there is nothing to withdraw", ErrStage, r.Generation, r.stageText())
	}
	n := r
	n.Announced = nil
	return n.changed(at)
}

// announced says that a move is announced, and what to do.
func (r Record) announced() error {
	return fmt.Errorf("a move to %s is announced since %s: let it go on, or withdraw it (--back)", r.Announced, moment(r.At))
}

// announcementFaults returns what is wrong with an announcement.
func (r Record) announcementFaults() (faults []error) {
	switch {
	case r.Announced == nil:
	case r.Seat != Here || r.Stage != forward.Stage{}:
		faults = append(faults, fmt.Errorf("stage %s with the announcement of a move: want none, unless nothing moves", r.stageText()))
	default:
		if err := checkMove(r.Now, *r.Announced); err != nil {
			faults = append(faults, fmt.Errorf("the announcement of a move: %w", err))
		}
	}
	return faults
}

// Announce stores that a move is about to begin: see Record.Announce. Errors are those of Advance.
func (b *Book) Announce(ctx context.Context, v *View, next Arrangement, why string) (*View, error) {
	return b.change(ctx, v, why, func(r Record, at time.Time) (Record, error) { return r.Announce(next, at) })
}

// Withdraw takes an announcement back. Errors are those of Advance.
func (b *Book) Withdraw(ctx context.Context, v *View, why string) (*View, error) {
	return b.change(ctx, v, why, Record.Withdraw)
}

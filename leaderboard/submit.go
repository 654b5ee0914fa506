package leaderboard

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Submit submits a score to the board, according to the mode of its Boards. With periods, it goes to the period that
// contains the submission's time. Submit is one request. A submission that changes nothing is no error: see
// Outcome.Changed.
//
// In mode Sum, a submission with an ID is a transaction. It costs twice the write units for the entry, 2 more for the
// ID, and a read of the entry. It may be submitted again after any error.
//
// Errors wrap ErrInput for an invalid submission, ErrOver for a period whose retention is over, ErrOverflow or ErrMode.
func (b Board) Submit(ctx context.Context, s Submission) (Outcome, error) {
	out, err := b.submit(ctx, s)
	if err != nil {
		return Outcome{}, fmt.Errorf("submit to board %q for player %.80q: %w", b.name, s.Player, err)
	}
	return out, nil
}

func (b Board) submit(ctx context.Context, s Submission) (Outcome, error) {
	s, err := s.complete(b)
	if err != nil {
		return Outcome{}, err
	}
	x, err := b.boards.box(b.name, s.At)
	if err != nil {
		return Outcome{}, err
	}
	if x.over() {
		return Outcome{}, fmt.Errorf("%w: it ended at %v, and the score is from %v", ErrOver, x.expires, s.At)
	}
	switch {
	case x.options.Mode != Sum:
		return x.replace(ctx, s)
	case s.ID != "":
		return x.submitOnce(ctx, s, x.change(s))
	}
	written, err := x.entries.Update(ctx, x.like(s.Player), x.change(s).edit)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return x.refused(s, failed.Item, err)
	}
	if err != nil {
		return Outcome{}, err
	}
	entry, err := x.entry(written.Attributes)
	return Outcome{Entry: entry, Changed: true}, err
}

// replace is submit in modes Best and Latest.
func (x box) replace(ctx context.Context, s Submission) (Outcome, error) {
	r := x.replacement(s)
	_, err := x.entries.Put(ctx, r.item, r.edit)
	if err == nil {
		entry, err := x.entry(r.item)
		return Outcome{Entry: entry, Changed: true}, err
	}
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return Outcome{}, err
	}
	out, why := x.refused(s, failed.Item, err)
	_, lost := errors.AsType[*heatsink.UnknownOutcomeError](err)
	out.Changed = why == nil && lost && r.is(failed.Item, x.options.Names) // the lost answer was a yes
	return out, why
}

// refused tells why the condition of a submission failed, from the item that it failed for.
func (x box) refused(s Submission, found heatsink.Item, cause error) (Outcome, error) {
	if found == nil { // it was deleted since, or something between here and DynamoDB has dropped it
		return Outcome{}, cause
	}
	if mode := textOf(found[x.options.Names.Mode]); mode != x.options.Mode.String() {
		return Outcome{}, fmt.Errorf("%w: %q, want %q", ErrMode, mode, x.options.Mode)
	}
	entry, err := x.entry(found)
	if err != nil {
		return Outcome{}, err
	}
	if x.options.Mode == Sum && s.Score != 0 {
		return Outcome{}, fmt.Errorf("%w: %d plus %d", ErrOverflow, entry.Score, s.Score)
	}
	return Outcome{Entry: entry}, nil
}

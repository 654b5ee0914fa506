package move

import (
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// wary reports whether a new home is looked at before an item is frozen. In another table, programs that have nothing to do with the
// collection may put items as well.
func wary(now, next passage.Arrangement) bool {
	return now.Table != next.Table || refusesMore(now, next)
}

// occupiedError says that an item cannot move, because its new home has one that no move has put there.
type occupiedError struct{ home, table string }

func (e *occupiedError) Error() string {
	if e.table != "" {
		return fmt.Sprintf("table %s has another item under %s, which no move has put there: find out which program writes to that table without the record, and delete the item there; "+
			"or go back (--back) while the move is split", e.table, quote.Text(e.home))
	}
	return fmt.Sprintf("%s has another item, which no move has put there: a program that did not know of the move has put it under a key that the new layout does not take; "+
		"put that one under another key and delete it there, or go back (--back) while the move is split, and choose another Format", quote.Text(e.home))
}

// occupied returns an error if an item that was live in its old home must not be frozen. As long as it is live there, nothing can be in its
// new home: programs create an item there only behind a mark in the old one.
func (r *round) occupied(ctx context.Context, where carry.Place, at located) error {
	read := func(home forward.Home) (forward.State, error) {
		answer, err := r.carrier.Act(ctx, where, forward.Request[express.Item]{Home: home})
		return answer.Slot.State, err
	}
	if state, err := read(forward.New); err != nil || state == forward.Absent {
		return err
	}
	if state, err := read(forward.Old); err != nil || state != forward.Live {
		return err // it has moved on meanwhile
	}
	if at.oldIn != at.newIn {
		return &occupiedError{at.new, r.name(at.newIn)}
	}
	return &occupiedError{at.new, ""}
}

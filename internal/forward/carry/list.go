package carry

import (
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
)

// ClashError says that an item of a list cannot move, because its new home has another item with the same sort key. Both are live.
type ClashError struct{ Homes express.Homes }

// Error names both items.
func (e *ClashError) Error() string {
	return fmt.Sprintf("%s and %s are two items with one sort key", e.Homes.Table.Show(e.Homes.Old), e.Homes.Table.Show(e.Homes.New))
}

// MoveListed moves an item of a list to its new home: see forward.ListMove. Nothing is lost if it stops at any point. The error is a
// ClashError if another item is there. It costs one read more than Move, of the new home.
func (c *Carrier) MoveListed(ctx context.Context, at Place) error {
	machine := forward.NewListMove(at.Homes.Table.SameContent)
	machine.Generation = at.Generation
	for !machine.Over {
		answer, err := c.Act(ctx, at, machine.Next())
		if err != nil {
			return err
		}
		switch machine = machine.Take(answer); {
		case machine.Stale:
			return staleAt(at, answer)
		case machine.Clash:
			return &ClashError{at.Homes}
		}
	}
	return nil
}

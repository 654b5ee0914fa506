package passage

import "github.com/heatsink-go/heatsink/internal/forward"

// Record says where the items of a collection are.
type Record struct {
	// Generation counts the changes, from 1. Copies carry it.
	Generation int64
	Stage      forward.Stage

	// Now is where items are, or were when the move began: their old homes. Next is where they move to: their new homes. It is nil if the
	// collection is settled and nothing is left of a move back.
	Now  Arrangement
	Next *Arrangement

	// Former is where items were before the last move. Processes may still be configured with it, until somebody finishes the move.
	Former *Arrangement

	// At is when the stage began, by the signature of the request that stored it, in milliseconds since 1970.
	At int64

	// Why and By tell people about the last change. No decision depends on them.
	Why, By string
}

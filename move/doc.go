// Package move moves the items of a collection to another layout while programs read and write them. It is for
// collections that an index lists (heatsink.Options.Index).
//
// Such a table has each item once, under its own id. Only the attribute that is the index's partition key is spread.
// So a move is one conditional update of each item:
//
//	SET #status = "OPEN#SHARD_7" IF #status = "OPEN"
//
// It can be repeated, stopped and resumed at any moment, and two movers at once do no harm. [Mover.Plan] says what a
// move will cost, [Mover.Run] moves, and [Mover.Verify] shows that every item is where the present layout has it:
//
//	mover, err := move.New(client, move.Options{
//		Collection: heatsink.Options{
//			Table: "orders", PartitionKey: "id",
//			Index:  heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "created"},
//			Layout: layout.Layout{Shards: 16, Strategy: layout.Calculated},
//			Older:  []layout.Layout{{}}, // what the items have now: the status itself
//		},
//	})
//	forecast, err := mover.Plan(ctx)
//	result, err := mover.Run(ctx)
//
// Before a move starts, all programs must write the present layout and read the older ones: see docs/moving.md. To go
// back, swap the two layouts, in the programs first and in the mover then.
//
// A table whose own key is spread has its items under other keys in each layout. Moving these is not supported.
package move

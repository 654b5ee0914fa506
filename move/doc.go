// Package move moves the items of a collection to another layout while programs read and write them. It is for
// collections that an index lists (heatsink.Options.Index), and for movable ones (heatsink.Options.Movable).
//
// # Items that an index lists
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
// # Items found by id
//
// A movable collection has its items under other keys in each layout. An item is marked as moved on, copied to its new home, and
// stripped in its old one, in three conditional requests. Programs with heatsink.Options.Movable know what the marks mean. The move goes
// through stages that the collection's record tells to all of them, and three of these last an hour: see [Stage].
//
//	mover, err := move.New(client, move.Options{
//		Collection: heatsink.Options{
//			Table: "users", PartitionKey: "pk", SortKey: "sk", Movable: true,
//			Layout: layout.Layout{Strategy: layout.Calculated}, // as the programs have it: the key itself
//		},
//		To: layout.Layout{Shards: 16, Strategy: layout.Calculated},
//	})
//	result, err := mover.Run(ctx)
//	// result.Stage says how far it is, and when to run it again
//
// A list (Movable and a Random layout) moves in the same way. Items in shards that the new layout has as well stay where they are. It waits
// while it is closed as well, so that four stages last an hour, and it does not go back.
//
// Options.Into moves the items found by id into another table with the same keys. Programs may have either table in their options until the
// move is finished, which makes the new table the one with the collection's record.
//
// [Mover.Back] takes a move that is split back, and [Mover.Finish] ends the time in which programs may have the layout of before.
//
// # Counters that were attributes
//
// [Counters] imports the counters of a table that are attributes of its items into those of package counter.
package move

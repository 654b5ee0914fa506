// Package layout maps one logical key to the shard keys that a table stores, and back.
//
// A [Layout] is a plain value. It holds the number of shards, the strategy that chooses an item's shard, the period of a
// bucket, and the format of shard keys. Package heatsink writes, reads and parses with the same value. Package layout
// does no I/O and does not link the SDK, so a stream consumer, an export job or a planner can use it alone.
//
//	views := layout.Layout{Shards: 4, Bucket: layout.Day}
//	key, err := views.ShardKey("PAGE_VIEWS", at, 3) // PAGE_VIEWS#2024-12-02#SHARD_3
//	place, err := views.Parse(key)                   // the key, the day and shard 3 again
//
// The Random strategy spreads items most evenly. It suits items that are written once and read as a list. Calculated
// finds an item again by its id with one request. [Evenness] measures how evenly either strategy has spread its items.
// [Widths] vary the number of shards by key, and change it at run time. [ControlKey] is the key of a record that an
// adaptive collection keeps of itself; [IsControl] tells such items from data.
package layout

// Package layout says how one logical key becomes the shard keys that a table stores, and back.
//
// A [Layout] is a plain value: how many shards, how an item's shard is chosen, how long a stretch of time shares a key, and
// how shard keys are spelt. Package heatsink writes, reads and parses with the same value. The package does no I/O and links
// no SDK, so that a stream consumer, an export job or a planner can use it alone.
//
//	views := layout.Layout{Shards: 4, Bucket: layout.Day}
//	key, err := views.ShardKey("PAGE_VIEWS", at, 3) // PAGE_VIEWS#2024-12-02#SHARD_3
//	place, err := views.Parse(key)                   // the key, the day and shard 3 again
//
// Random is the most even strategy, and right for what is written once and read as a list. Calculated finds an item again by
// its id with one request. [Evenness] judges how well either has spread its items.
package layout

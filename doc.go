// Package heatsink keeps DynamoDB partitions cool. It spreads a hot partition key over shards and reads the shards back
// as one ordered collection.
//
// A DynamoDB partition serves 1,000 write units and 3,000 read units a second, whatever capacity the table has. A key
// that attracts more traffic, such as a status, a date or a counter, is throttled while the rest of the table is idle.
//
// The main types:
//
//   - A [layout.Layout] is a value that maps a logical key to shard keys and back.
//   - A [Collection] stores items through a layout, in a table or an index, with the SDK's own client. Its methods are
//     Put, Get, Update and Delete, BatchPut and so on.
//   - A [Query] reads all shards of a key as one ordered list, either as a whole or as pages: see [Page]. [Fold],
//     [CountBy], [Top] and Count reduce that list to a result.
//   - [Adaptive] makes the number of shards follow the load of each key, while everything runs.
//   - A [Meter] adds up what the operations cost.
//
// This program writes to ten shards and reads them back:
//
//	views, err := heatsink.Open[View](client, heatsink.Options{
//		Table: "views", PartitionKey: "pk", SortKey: "sk",
//		Layout: layout.Layout{Shards: 10},
//	})
//	…
//	_, err = views.Put(ctx, View{Key: "PAGE_VIEWS", At: now})         // to one of PAGE_VIEWS#SHARD_0 … #SHARD_9
//	…
//	for view, err := range views.Query(ctx, heatsink.Query{           // from all ten, newest first
//		Key: "PAGE_VIEWS", Reverse: true, Limit: 50,
//	}) {
//
// # Choosing a layout
//
// Random spreads items most evenly. It suits items that are written once and read as a list, such as events, logs and
// views. Calculated derives the shard from an item's id, so that one request finds the item again. It suits items that
// are read and changed one by one.
//
// A Bucket starts a new set of keys every hour, day, week, month or year. A read of the last days then skips all older
// keys. A bucket alone does not spread the load, because all current writes go to the same bucket.
//
// Some items have an id of their own and are only listed under a hot key. Store such items by their id, and put the
// sharded key in an index: see Options.Index.
//
// # Cost
//
// A Query reads every shard: ten shards take ten requests of at least half a read unit each. [Collection.Plan] returns
// the number of shards in advance. Shards are not partitions: ten shards accept ten times the writes only if DynamoDB
// keeps them on ten partitions. Do not shard a key that stays below 1,000 writes a second.
//
// # Guarantees
//
// Reads are exact. Each item that exists during the whole read is returned once, in DynamoDB's order of sort keys. This
// holds across shards, pages, directions and layouts that grow. A read of many shards is not a snapshot, just as a Query
// of many pages is not.
//
// With [Adaptive], a strong read (Query.Consistent) returns every item that was acknowledged before it began, whichever process
// wrote it and however the key grew meanwhile. A causal read (Query.AtLeast) does so for the writes that it is told of. Any
// other read may miss items of shards that were added within the last Adaptive.Keep. No promise depends on a clock, and a
// process that stops for minutes breaks none.
//
// A write that returns nil has happened, in exactly one shard, even if attempts were throttled or timed out. heatsink
// retries requests itself, and after a lost response it retries on the same shard only. A write that returns an
// [UnknownOutcomeError] may have happened, or may still happen. Any other error means that the write did not happen and
// will not happen.
//
// A late attempt can undo an acknowledged write. heatsink abandons an attempt when Retry.Timeout expires or its
// connection breaks. That attempt may still be in flight after its retry has succeeded. It can arrive up to half an hour
// later: DynamoDB accepts a signature for 15 minutes, and the signing clock may be ahead. The late attempt then
// overwrites a newer Put or Update of the same item, or brings back a deleted item. This takes a lost response and two
// writes of one item within minutes, so items that are written once are safe.
//
// Set Options.Version to rule this out. A late attempt then changes nothing, a conditional Put recognizes its own item,
// and heatsink can retry even an ADD safely.
//
// # Changing a layout
//
// A collection with [Adaptive] changes its widths by itself: see the page docs/adaptive.md. What follows is about fixed
// layouts. Options.Recorded makes a process with another layout fail instead of missing items.
//
// Readers must know a shard before writers use it. In a fleet whose processes both read and write, adding shards takes
// two deployments. First deploy Options.Widths with [layout.Width]{Write: 4, Read: 16} everywhere, then {Write: 16, Read:
// 16}. Removing shards reverses the order. Deploy {Write: 4, Read: 16} everywhere, and {Write: 4, Read: 4} once the other
// shards are empty.
//
// A Random layout can drop Widths afterwards and set the number in Layout.Shards. In a Calculated layout an item's shard
// depends on the number of shards. Its widths must be powers of two, and Widths must stay. Change items with Update in
// the meantime, because Put may add a second copy.
//
// An unsharded key can get shards without moving items in two ways: a format with BareZero, or the former layout in
// Older. The page docs/layouts.md has the steps. It also has a table of what each operation does to items that were
// stored before.
//
// # Resources
//
// The package has no global state and logs only to Options.Logger. Everything that an operation starts has ended when the
// operation returns. Only a cache of package [github.com/heatsink-go/heatsink/cache] loads in the background, until it is
// closed. For tests, package [github.com/heatsink-go/heatsink/local] provides an in-process DynamoDB whose partitions
// throttle.
package heatsink

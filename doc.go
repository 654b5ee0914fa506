// Package heatsink keeps DynamoDB partitions cool: it spreads a hot partition key over shards, and reads the shards back as
// one collection, in order.
//
// A DynamoDB partition takes 1,000 write and 3,000 read units a second, whatever the table is provisioned for. A key that
// attracts more, such as a status, a date or a counter, throttles its users while the rest of the table idles.
//
// The nouns: a [Layout] is a value that says how a logical key becomes shard keys, and back. A [Collection] is a layout on a
// table or index, through the SDK's own client: Put, Get, Update and Delete, BatchPut and so on. A [Query] reads its shards as
// one list, whole or in [Page]s, and [Fold], [CountBy], [Top] and Count reduce it. A [Meter] says what all that cost.
//
//	views, err := heatsink.Open[View](client, heatsink.Options{
//		Table: "views", PartitionKey: "pk", SortKey: "sk",
//		Layout: layout.Layout{Shards: 10},
//	})
//	…
//	_, err = views.Put(ctx, View{Key: "PAGE_VIEWS", At: now})         // to PAGE_VIEWS#SHARD_0 … #SHARD_9
//	…
//	for view, err := range views.Query(ctx, heatsink.Query{           // from all ten, newest first
//		Key: "PAGE_VIEWS", Reverse: true, Limit: 50,
//	}) {
//
// # Which layout
//
// Random is the most even, and right for what is written once and read as a list: events, logs, views. Calculated finds an
// item again by its id with one request, and is right for what is read and changed one by one. A Bucket makes a new set of
// keys every hour, day, week, month or year, so that a read of the last days touches no older ones; it spreads nothing by
// itself, as all of now's writes share a bucket. Items that have an id of their own and only are listed under a hot key are
// best stored by that id, with the sharded key in an [Index].
//
// # What it costs
//
// A read asks every shard: ten shards are ten requests, of half a unit each at least. [Collection.Plan] says how many
// before they are made. And shards are not partitions: ten shards take ten times the writes only if DynamoDB keeps them
// on ten partitions. A key that stays below 1,000 writes a second is better left alone.
//
// # What it promises
//
// Reads are exact: each item that was there all the time is returned once, in the order DynamoDB gives to sort keys, across
// shards, pages, directions and growing layouts. What is read from many shards is no snapshot, as a Query of many pages is
// none.
//
// A write that returns nil has happened, in one shard, whatever was throttled or timed out: heatsink repeats requests itself,
// and after a lost answer only ever on the same shard. A write that returns an [UnknownOutcomeError] may have happened or may
// still happen; any other error means that it did not and will not.
//
// One thing can undo an acknowledged write. An attempt that was given up, by Retry.Timeout or because its connection broke,
// may still be on its way when its repetition has succeeded. It can arrive up to half an hour later: DynamoDB accepts a
// signature for 15 minutes, and the clock that it was made by may be ahead. It then replaces what another Put or Update of the
// same item has written since, or brings back what a Delete has removed. That takes a lost answer and two writes of one item within minutes, so items that are written once
// are safe. Where it must not happen, name an attribute as Options.Version: then a late attempt changes nothing, a
// conditional Put knows its own item again, and even an ADD is repeated safely.
//
// # Changing a layout
//
// Readers must know a shard before writers use it. In a fleet whose processes do both, more shards take two deployments: first
// Options.Widths with [Width]{Write: 4, Read: 16} everywhere, then with {Write: 16, Read: 16}. Fewer take the way back:
// {Write: 4, Read: 16} everywhere, and {Write: 4, Read: 4} once the shards that go are empty. A Random layout can drop Widths
// at the end, and have the number in Layout.Shards. With a Calculated layout the number of shards is part of where an item
// is: its widths are powers of two, Widths stay, and items are changed with Update meanwhile, as a Put may add a copy.
//
// A key without shards gets some without moving an item if the format has BareZero, or if the layout it had is one of the
// Older ones. The page docs/layouts.md has the steps, and a table of what each operation does to items that were there
// before.
//
// Nothing here is global, nothing is logged without a Logger, and what an operation starts has ended when it returns; a
// cache of package [github.com/heatsink-go/heatsink/cache] loads in the background until it is closed. Package
// [github.com/heatsink-go/heatsink/local] is a DynamoDB to run all of this on in a test, with partitions that throttle.
package heatsink

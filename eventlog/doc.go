// Package eventlog keeps append-only logs in DynamoDB, such as the operations of a day, the alerts of a brand or the
// views of a page. It spreads a log over time buckets and shards, so that no key gets hot, and reads it back as one
// list in order of time.
//
// An [Event] is a body of the caller's own type with a time and an id. A [Log] appends events and reads them with a [Query]:
// the newest events, a time range, pages or counts. A [Tail] follows a log, and can be resumed at a stored position.
//
//	ops, err := eventlog.Open[Op](client, eventlog.Options{
//		Table: "logs", Bucket: layout.Day, Shards: 8, Retention: 90 * 24 * time.Hour,
//	})
//	…
//	_, err = ops.Append(ctx, eventlog.Event[Op]{Log: "OPS_LOG", Body: Op{Agent: "threat_detector"}})
//	…
//	newest, err := ops.Newest(ctx, "OPS_LOG", 50)
//	…
//	for event, err := range tail.Events(ctx) {
//
// # What it promises
//
// Every read of its time returns an acknowledged event once, until its retention is over. Expired events are not
// returned, even if DynamoDB has not deleted them yet. Reads with Consistent set return an event as soon as it is
// acknowledged, other reads shortly after. Events are ordered by time, to the digits of Options.Precision, and then by
// id. Events that one Log appends without times and ids keep the order in which they were appended, unless the clock is
// set back.
//
// An event with a time and an id from the caller is stored once, however often it is appended. An event without them is
// stored once if Append succeeds, and at most once if it fails. If it is appended again after a lost answer, it may be
// stored twice.
//
// A Tail returns each event after its position exactly once and in order, if the append was acknowledged within
// Options.Settle of the event's time, by the Tail's clock. A Tail that has passed the time of a later event may not
// return it. Append reports such events with Receipt.Late, and LateAppends counts them. Other reads return them like
// any other event.
//
// # What it costs
//
// An append is one write request. It costs one write unit per started KB, and the same again with an Index. A read
// queries every shard of every bucket that it needs, at half a unit or more each. An idle Tail queries every shard
// every TailOptions.MaxPoll. With 8 shards and 30 seconds, that is 960 requests and 960 read units per hour. A
// heatsink.Meter includes all of it.
//
// Buckets do not spread current writes, because all of them go to the current bucket. A log with more than 1,000 write
// units per second needs Adaptive or Shards. A log with less is cheaper to read without shards.
//
// # How many shards
//
// With Options.Adaptive, a log has one shard in each bucket until its load needs more, and then grows within seconds, in
// all processes. A bucket that follows on a wide one begins wide. Consistent reads and tails read the bucket's ledger beside
// the shards, for one read unit. Other reads know it for up to Adaptive.Keep, and may miss events of shards that were added
// meanwhile.
//
// Only events without an id from the caller are spread like this. An event with an id must be found again when it is
// repeated, so its shard must never change: it is one of Options.Shards, a fixed number. Its first append in a bucket makes
// the ledger that wide, with one read and one write. A log whose events all have ids gains nothing from Adaptive.
package eventlog

// Package eventlog keeps append-only logs in DynamoDB: operations of a day, alerts of a brand, views of a page. It
// spreads a log over time buckets and shards, so that no key gets hot, and reads it back as one list in order of time.
//
// The nouns: an [Event] is a body of the caller's own type with a time and an id. A [Log] appends events and reads them
// again with a [Query]: the newest ones, a range of time, pages, counts. A [Tail] follows a log from a position that it
// can be resumed at.
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
// An acknowledged event is returned by every read of its time from then on, once, until its retention is over; expired
// events are not, although DynamoDB may not have deleted them yet. Reads with Consistent set see it at once, others
// soon. Events are ordered by time, to the digits that Options.Precision keeps, and by id where the times are the same;
// those that one Log appends without times and ids keep the order in which they were appended, unless the clock is set
// back.
//
// An event that the caller gives a time and an id is there once, however often it is appended. One without is there
// once if Append succeeds, and once or not at all if it fails; appended anew after a lost answer, it may be there
// twice.
//
// A Tail returns each event whose append was acknowledged within Options.Settle of its time, by the Tail's clock,
// exactly once behind its position, in order. An event that is later than that may not be returned by tails that have
// passed its time: Append says so with Receipt.Late, and LateAppends counts them. Other reads return it like any other.
//
// # What it costs
//
// An append is one write request, with one write unit for each started KB, and the same again if there is an Index. A
// read asks every shard of every bucket it needs, half a unit each at least. An idle Tail asks every shard every
// TailOptions.MaxPoll: with 8 shards and 30 seconds, that is 960 requests and 960 read units an hour. A
// [heatsink.Meter] sees all of it.
//
// Buckets do not spread the writes of the moment, as all of them go to the bucket of now: a log with more than 1,000
// write units a second needs Shards. One with less does not, and is read more cheaply without.
package eventlog

// Package replica serves items that are read more often than one partition allows: it keeps copies of them, reads any
// copy, and writes all.
//
// One partition serves 3,000 read units per second, which is 6,000 eventually consistent reads of up to 4 KB. A viral
// post, a price list or a feature flag can need more. A Store keeps each item under its own key, the primary, and under
// the keys of its copies, which DynamoDB places on other partitions.
//
//	posts, err := replica.Open[Post](client, replica.Options{Table: "posts", Copies: 10})
//	…
//	version, err := posts.Put(ctx, "viral", Post{Title: "Hello"})             // the primary, then all copies
//	post, err := posts.Get(ctx, "viral")                                      // from any copy
//	post, err = posts.Get(ctx, "viral", replica.AtLeast(version))             // never older than this write
//	post, err = posts.Change(ctx, "viral", func(p *Post) error { p.Likes++; return nil })
//
// A small collection is one item whose data is a slice or a map: it is read and replaced as a whole. An item has at
// most 400 KB.
//
// # What a reader may see
//
// The primary decides. A write has happened when the primary has it, whatever becomes of the copies. Each copy states
// when its content was known to be the primary's. Get returns a copy only if that was less than Options.MaxStale ago.
// Otherwise it reads the primary and refreshes the copy. So:
//
//   - Get returns what the primary had at some time in the last MaxStale. If the clock of who wrote the copy is ahead of
//     the reader's, the difference adds to that. A copy from more than half of MaxStale in the future is replaced when it
//     is read. If nobody reads it until its time has come, it is trusted: then a difference of any size adds to MaxStale.
//   - Two calls of Get may return a newer version first and an older one next, because they may read different copies.
//     Pass the version of the first to AtLeast, and the second is never older.
//   - Put, Change and Delete return when all copies are written. Every Get that starts afterwards returns this version
//     or a newer one, except that an eventually consistent read of a copy may lag, by less than MaxStale.
//   - If copies could not be written, the error is a LaggingError: the write has happened, and these copies may be old
//     for up to MaxStale. The same holds for a process that ends in the middle of a write.
//   - Get with AtLeast returns that version or a newer one. Get with Latest returns what the primary has. Both are
//     strongly consistent with respect to the primary.
//
// A late or repeated request never undoes a newer version: every write states its version, and happens only to a
// smaller one. Versions come from the clock, and grow even if clocks differ. They also grow after an item was deleted.
//
// # What heals, and when
//
// A copy that lags, was lost, or never existed is refreshed by the first Get that needs it, and by Repair. Nothing is
// served stale for longer than MaxStale. Therefore Options.Copies can change at any time, one process after another:
// more copies fill when they are read, and fewer copies are no longer read. Each copy has a time to live. DynamoDB deletes
// it when nobody has refreshed it for MaxStale and an hour.
//
// Readers refresh a copy shortly before its time is up, one reader at a time in each process. So hot copies stay fresh
// while others keep reading them. A reader waits at most 250 ms for a read that another reader has sent, and for the write
// of a copy.
//
// # What it costs
//
// For items of up to 1 KB. Get costs half a read unit. Put costs 1 write unit for the primary and 1 for each copy. A copy
// that is read costs 1 read unit and 1 write unit per MaxStale to refresh. An item that is read less often than that
// costs 1.5 read units and 1 write unit for each Get: leave such items in a plain table.
package replica

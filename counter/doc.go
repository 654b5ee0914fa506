// Package counter counts in DynamoDB, exactly: an Add that was acknowledged is counted once, whatever was throttled,
// timed out, sent twice, arrived late, crashed or slept. And cheaply: all Adds that wait at a time are one write.
//
//	views, err := counter.Open(client, counter.Options{Table: "counters"})
//	…
//	err = views.Add(ctx, "PAGE#/pricing", 1)          // from any number of goroutines and processes
//	…
//	total, err := views.Total(ctx, "PAGE#/pricing")   // with everything that was acknowledged
//	…
//	err = views.Close(ctx)                            // when the process ends
//
// Counters need not be created, and one Counter serves any number of them, each with a key. Total is its value, Cached
// one that is a little older and costs nothing, Read one of a single moment for counters that also go down, Reset sets
// it back and loses nothing, Inspect shows what it is made of.
//
// # How it works
//
// Each process has a slot of its own in a counter, an item that nobody else writes: it holds the sum of everything the
// process has added. A flush sets that sum, with a number that must be greater than the one before, so repeating it, or
// an old one that arrives late, changes nothing. Slots are spread over shards of the key, and a process flushes twenty
// times a second at most, so a counter takes as many increments as its processes can make.
//
// A reader adds up all slots and the base, an item that has the sum of slots that are no longer used: a process folds
// its slot into the base when it closes the counter or has not added to it for a while, and others do it for a process
// that died: freeze the slot, then add it to the base together with its name, so that it counts in one place. A process
// that was only asleep finds its slot frozen and goes on with another. All of that happens in the background of
// processes that add.
//
// # What it costs
//
// A flush is one write unit. At 1,000 increments a second in one process that is 50 increments a unit, and an Add takes
// 25 ms longer than its request, on average. Total is five requests of one read unit each with the default of four
// shards. A process's first Add to a counter takes two requests more, and giving the counter up three.
// docs/recipes/counter.md has the table.
//
// # What it is not for
//
// Counters of which each process increments thousands once or twice: a slot pays off with the second flush. Processes
// that live for seconds and number thousands an hour: each leaves a slot to be folded. A counter that several regions
// of a global table write. For those there is Tally, one write unit for each increment, which also is the way to go on
// with a sharded counter that a table has already, and AddOnce, exact for ten minutes.
//
// And a machine that is cloned, or restored from a snapshot, while a Counter is open: two processes then believe to own
// the same slots, and overwrite each other's sums. Open the Counter after that.
package counter

// Package counter counts in DynamoDB, exactly and cheaply. Every acknowledged Add is counted once, even if requests are
// throttled, time out, arrive twice or late, or if a process crashes or sleeps. All Adds that wait at the same time are
// stored with one write.
//
//	views, err := counter.Open(client, counter.Options{Table: "counters"})
//	…
//	err = views.Add(ctx, "PAGE#/pricing", 1)          // from any number of goroutines and processes
//	…
//	total, err := views.Total(ctx, "PAGE#/pricing")   // includes every acknowledged Add
//	…
//	err = views.Close(ctx)                            // when the process ends
//
// One Counter serves any number of counters, each with its own key. Counters need not be created. Total returns the
// value. Cached returns a slightly older value at no cost. Read returns the value at a single moment, for counters that
// also go down. Reset sets a counter to zero and loses no Add. Inspect shows the slots of a counter.
//
// # How it works
//
// Each process has its own slot in a counter: an item that no other process writes. The slot holds the sum of
// everything that the process has added. A flush writes this sum with a sequence number, and succeeds only if the
// number is greater than the stored one. A repeated or late flush therefore changes nothing. Slots are spread over
// shards of the key. A process flushes a counter about twenty times per second at most, so a counter accepts as many
// increments as its processes can make.
//
// A reader adds up all slots and the base. The base is an item with the sum of all slots that are no longer used. A
// process folds its slot into the base when it closes the counter, or when it has not added to it for a while. If a
// process dies, other processes fold its slot. They freeze the slot, and then add its sum and its name to the base in
// one write, so that it counts only once. A process that was only asleep finds its slot frozen and continues with a new
// one. All of this happens in the background of processes that add.
//
// # What it costs
//
// A flush costs one write unit. At 1,000 increments per second in one process, that is 50 increments per unit. An Add
// then takes on average 25 ms longer than its request. With the default of four shards, Total costs five requests of
// one read unit each. The first Add of a process to a counter takes two more requests, and giving the counter up takes
// three. The file docs/recipes/counter.md lists all costs.
//
// # From an attribute
//
// A counter may have begun as an attribute of an item, to which programs ADD. With Options.Origin, Total is the attribute
// and everything that was added with this package, so older and newer programs may count at the same time. Import stores
// the attribute's value in the counter, and then Origin can be left out. Package move imports all counters of a table.
//
// # Shards do not adapt
//
// Counter has no Options.Adaptive, and gains nothing from it. Each process writes its own slot, about twenty times per second
// whatever it adds, and less often if it is throttled. The load of a counter is therefore known: its number of processes.
// Shards may differ between processes and may be raised at any time, because the base tells readers how many there are.
// A Tally adds to fixed items that other programs may read, and spells their keys itself, so its number stays as it is.
// Counters may share a table with an adaptive collection.
//
// # What it is not for
//
// Do not use Counter if each process increments thousands of counters only once or twice: a slot pays off from the
// second flush. Do not use it in thousands of processes per hour that live for seconds: each leaves a slot to be
// folded. Do not use it for a counter that several regions of a global table write. In these cases use Tally, which
// costs one write unit per increment. Tally also works with a sharded counter that a table already has, and its AddOnce
// is exact for ten minutes.
//
// Do not clone a machine, or restore it from a snapshot, while a Counter is open. Both copies would then write to the
// same slots and overwrite each other's sums. Open the Counter afterwards.
package counter

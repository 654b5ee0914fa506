// Package partition is the physics of DynamoDB's throughput: an Account holds the
// Sets of partitions that its tables and global indexes consist of, each request
// is a list of Charges on them, and Admit lets it pass or says with a Throttle why
// not.
//
//	account, err := partition.NewAccount(partition.Options{})
//	orders, err := account.NewSet(now, partition.Config{Resource: tableARN})
//	byStatus, err := account.NewSet(now, partition.Config{Resource: indexARN, Index: true})
//
//	// PutItem: the table and every index that changes, all or nothing.
//	throttle := partition.Admit(now,
//		partition.Charge{Set: orders, Place: place, Write: 1, Bytes: 700},
//		partition.Charge{Set: byStatus, Place: entry, Write: 1, Bytes: 200})
//	if throttle != nil {
//		// throttle.Exception(), and for each of throttle.Reasons(): Reason, Resource()
//	}
//
//	// Query: what it costs is known afterwards.
//	page := partition.Charge{Set: orders, Place: first, Read: 0.5, Eventual: true}
//	if throttle := partition.Check(now, page); throttle == nil {
//		page.To, page.Read = last, 128.5
//		partition.Settle(now, page)
//	}
//
// # What holds
//
// A partition serves 1,000 write and 3,000 read units per second, independently,
// and no burst, mode or quota lifts that. Beyond it, a provisioned table has what
// is provisioned, shared by its partitions as each needs it (adaptive capacity),
// and up to 300 seconds of what it left unused; an on-demand table has a maximum
// if one was set, the quota, and partitions for twice its peak. All limits are
// token buckets with debt: see bucket for what they guarantee.
//
// A partition is a range of places: of the hashes of partition keys, and of sort
// keys too where an item collection has been split. It splits when its load stays
// near the ceiling, at the point that divides the load evenly, unless that would
// not help (see Obstacle); when it has too much data; and when capacity is raised.
// It never merges.
//
// Everything that AWS does not publish is an option: see Options.
//
// # Time
//
// There is no clock and no goroutine here. Every call is told the time, and does
// what has become due. A test in virtual time, or a simulation (package sim), sees
// in a second what takes hours. Package sim also compares these partitions with
// the figures that AWS and others have published.
package partition

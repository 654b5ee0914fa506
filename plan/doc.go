// Package plan decides what to do about a hot key of DynamoDB, by arithmetic alone: leave it, shard it, bucket it,
// cache it; over how many shards, on how many partitions, and at what price for those who read it.
//
//	p, err := plan.For(plan.Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 10})
//	…
//	fmt.Println(p.Verdict)    // Spread PAGE_VIEWS over 17 shards drawn at random; first warm the table to …
//	fmt.Println(p.Snippet)    // var options = heatsink.Options{ …
//
// The nouns: a [Workload] is what is known of a key and its table, and a [Plan] what to do about it, with reasons,
// [Note]s that say what is wrong with it, and Go code. A [Way] is a number of shards on a number of partitions;
// [Spread] is its arithmetic. A [Strategy] says how shards are chosen, a [Bucket] how time is cut, [Prices] what it all
// costs.
//
// # Two answers to "how many shards"
//
// Published advice divides: 5,000 write units a second by the 1,000 that a partition takes, times a safety factor, is 8
// shards. [Shards] is that rule, and [Formulas] has the others, which contradict each other. All of them
// take a shard to be a partition. It is not: DynamoDB places each by a hash of its key, so that some partitions get
// several and some none, and a new on-demand table has four of them in all. [Spread] works out what N shards on P
// partitions take, from the exact distribution of balls thrown into bins:
//
//   - Writers that take no notice ([Uniform]) are limited by the partition with the most shards, M of them: N/M × 1,000.
//   - Writers that avoid throttled shards ([Aware]), as heatsink's random layouts do, fill every partition that has one.
//
// A plan's way is the one that holds in 99 of 100 placements with partitions 70 % full; both are [Assumptions]. Where
// the partitions do not suffice with four shards each, it says what throughput to warm the table to.
//
// # What it does not know
//
// A plan is as good as its peak. Prices are data of a date and a region; what warming costs is not among them.
// partitionsFor are taken to be of equal size, and other keys' load to be evenly spread over them. DynamoDB splits
// partitions that stay hot for minutes, which helps a steady load and is not counted on. Latencies are taken to be
// log-normal.
package plan

// Package plan decides what to do about a hot DynamoDB key: leave it, shard it, bucket it, or cache it. It computes how
// many shards and partitions the key needs, and what its reads then cost. It is arithmetic: it sends no requests.
//
//	p, err := plan.For(plan.Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 10})
//	…
//	fmt.Println(p.Verdict)    // Spread PAGE_VIEWS over 17 shards drawn at random; first warm the table to …
//	fmt.Println(p.Snippet)    // var options = heatsink.Options{ …
//
// A [Workload] describes a key, its [Table], its reads ([Reading]), and the [Assumptions] of the arithmetic. [For] makes a
// [Plan] of it, and [ForKeys] makes plans for keys with observed rates ([KeyRate]). A plan has a [Strategy], reasons,
// a [Note] for each risk, and Go code. It compares several ways, each a [Way] with its [ReadCost].
//
// # Two answers to "how many shards"
//
// Published advice divides: 5,000 write units a second, by the 1,000 of a partition, times a safety factor, is 8 shards.
// [Formulas] has this rule and others, which contradict each other. All of them assume that each shard has a partition of
// its own. DynamoDB does not promise that: it places each shard by a hash of its key, so some partitions get several
// shards and some none. A new on-demand table has only four partitions.
//
// A plan computes what N shards on P partitions take, from the exact distribution of balls thrown into bins:
//
//   - Writers that ignore throttling (Uniform) are limited by the partition with the most shards, M of them: N/M × 1,000.
//   - Writers that avoid throttled shards (Aware), as heatsink's random layouts do, fill every partition that has a shard.
//
// The recommended way holds in 99 of 100 placements with partitions 70 % full; both figures are Assumptions. If four
// shards for each partition are not enough, the plan says to which throughput to warm the table.
//
// # What a plan does not know
//
// A plan is as good as the peak it is given. Prices are of one date and region, without the price of warming. Partitions
// are assumed to be of equal size, and other keys' load to be even. DynamoDB splits partitions that stay hot for minutes:
// that helps a steady load, and the plan does not count on it. Latencies are assumed to be log-normal.
package plan

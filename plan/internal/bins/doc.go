// Package bins computes what N shards on P partitions take.
//
// DynamoDB places a shard by a hash of its key, so shards are balls thrown into bins: some partitions get several, and
// some none. All figures are exact: they come from the distribution of such throws, not from samples.
//
// Load is counted in partitions: 1 is what one partition takes, 1,000 write or 3,000 read units a second.
//
// The files: binomial.go, occupancy.go and fullest.go are the distributions, spread.go asks them about N and P, and
// demand.go searches for the N and P that a load needs. page.go asks the same of items on shards.
package bins

// Max is the largest number of shards, and of partitions.
const Max = 1 << 16

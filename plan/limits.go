package plan

import (
	"math"

	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// The limits of DynamoDB. Reads and writes have independent limits.
const (
	// PartitionWrites is the write units a second that one partition takes, and so one key without shards.
	PartitionWrites = 1_000

	// PartitionReads is the read units a second that one partition takes.
	PartitionReads = 3_000

	// NewTablePartitions is the number of partitions of a new on-demand table: 4,000 write and 12,000 read units a
	// second.
	NewTablePartitions = 4

	// TableQuota is the default quota of a table, in write units a second and in read units a second.
	TableQuota = 40_000

	// MaxItemBytes is the greatest size of an item.
	MaxItemBytes = 400 << 10

	// MaxShards is the greatest number of shards, and of partitions, in a plan.
	MaxShards = bins.Max // 65,536
)

// limits are the units a second that one partition takes: DynamoDB's, or those of an engine with other partitions.
type limits struct{ writes, reads int64 }

// dynamoDB are the limits of DynamoDB.
var dynamoDB = limits{PartitionWrites, PartitionReads}

// partitionsFor returns the number of partitions that serve so many write and read units a second, at least one. For a
// table's warm throughput, that is the number of its partitions.
func (l limits) partitionsFor(writeUnits, readUnits int64) int {
	n := max(ceilDiv(writeUnits, l.writes), ceilDiv(readUnits, l.reads), 1)
	return int(min(n, MaxShards))
}

func ceilDiv(a, b int64) int64 {
	if a <= 0 {
		return 0
	}
	return (a-1)/b + 1
}

// writeUnitsOf returns the cost of writing an item of so many bytes: a unit for each KB or part of one, at least one.
func writeUnitsOf(itemBytes int) int64 { return max(ceilDiv(int64(itemBytes), 1<<10), 1) }

// readUnitsOf returns the cost of reading so many bytes with one request: a unit for each 4 KB or part of one, at least
// one, and half of that without strong consistency. A request that finds nothing has the least cost.
func readUnitsOf(bytes int64, strong bool) float64 {
	units := float64(max(ceilDiv(bytes, 4<<10), 1))
	if strong {
		return units
	}
	return units / 2
}

// unitsPerSecond rounds a rate up to whole units.
func unitsPerSecond(rate float64) int64 {
	return int64(math.Min(math.Ceil(rate-1e-9), math.MaxInt64/2))
}

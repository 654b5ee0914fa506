package plan

import (
	"math"

	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// What DynamoDB bears. Reads and writes are limited independently of each other.
const (
	// PartitionWrites is how many write units a second one partition takes, and so one key that is not spread.
	PartitionWrites = 1_000

	// PartitionReads is how many read units a second one partition takes.
	PartitionReads = 3_000

	// NewTablePartitions is how many partitions a new on-demand table has: 4,000 write and 12,000 read units a second.
	NewTablePartitions = 4

	// TableQuota is how many write, and how many read, units a second a table may use until AWS raises the quota.
	TableQuota = 40_000

	// MaxItemBytes is the size of the largest item.
	MaxItemBytes = 400 << 10

	// MaxShards is the largest number of shards, and of partitions, that is planned with.
	MaxShards = bins.Max // 65,536
)

// partitionsFor returns how many partitions it takes to serve so many write and read units a second: the larger of what
// writes and what reads need, at least one. Of a table's warm throughput it returns how many partitions it has.
func partitionsFor(writeUnits, readUnits int64) int {
	n := max(ceilDiv(writeUnits, PartitionWrites), ceilDiv(readUnits, PartitionReads), 1)
	return int(min(n, MaxShards))
}

func ceilDiv(a, b int64) int64 {
	if a <= 0 {
		return 0
	}
	return (a-1)/b + 1
}

// writeUnitsOf returns what writing an item of so many bytes costs: a unit for each KB, or part of one, and at least one.
func writeUnitsOf(itemBytes int) int64 { return max(ceilDiv(int64(itemBytes), 1<<10), 1) }

// readUnitsOf returns what reading so many bytes with one request costs: a unit for each 4 KB, or part of one, and at
// least one; half of that unless the read is strongly consistent. A request that finds nothing costs the least there
// is.
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

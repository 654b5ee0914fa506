package plan

import (
	"math"
	"math/bits"
)

// The published safety factors.
const (
	DefaultFactor  = 1.5 // 5,000 write units a second make 8 shards
	CautiousFactor = 2.0 // and here 10

	generous = 4 // "if you think you might need 5 shards, use 20"

	maxFactor = 100
)

// shardsFor returns the published number of shards for a key with so many write units a second:
//
//	ceil(peak × factor / 1,000), and at least 1
//
// It multiplies before it rounds, in integers. The factor counts in thousandths and is at least 1. The formula assumes
// that each shard has a partition of its own, which DynamoDB does not promise: see package bins.
func (l limits) shardsFor(peakWriteUnits int64, factor float64) int {
	return formula(peakWriteUnits, uint64(l.writes), factor)
}

// readShardsFor is shardsFor for reads of one shard each. A partition takes 3,000 read units a second.
func (l limits) readShardsFor(peakReadUnits int64, factor float64) int {
	return formula(peakReadUnits, uint64(l.reads), factor)
}

func formula(peak int64, limit uint64, factor float64) int {
	if peak <= 0 {
		return 1
	}
	if !(factor >= 1) { // NaN too
		factor = 1
	}
	thousandths := uint64(math.Round(min(factor, maxFactor) * 1000))
	hi, lo := bits.Mul64(uint64(peak), thousandths)
	n, rest := bits.Div64(hi, lo, limit*1000) // cannot overflow: hi is at most maxFactor × 1000 / 2
	if rest > 0 {
		n++
	}
	return int(min(n, math.MaxInt))
}

// conservativeShards rounds first and then doubles: 5,000 write units a second make 5 shards, then 10; 500 make 2.
func (l limits) conservativeShards(peakWriteUnits int64) int {
	return times(l.shardsFor(peakWriteUnits, 1), 2)
}

// generousShards takes four times the need, so that the key need not grow: 20 shards for 5. Each shard makes every read of
// all shards more expensive.
func (l limits) generousShards(peakWriteUnits int64) int {
	return times(l.shardsFor(peakWriteUnits, 1), generous)
}

func times(n, by int) int {
	if n > math.MaxInt/by {
		return math.MaxInt
	}
	return n * by
}

// bandOf returns a published rule of thumb for a key with so many requests a second, whatever their size:
//
//	below 500     5–10
//	to 2,000     10–20
//	to 5,000     20–50
//	above        50–100 and more
//
// A plan reports it and does not use it: it gives ten shards to a key that needs none.
func bandOf(requestsPerSecond float64) (from, to int, more bool) {
	switch {
	case requestsPerSecond < 500:
		return 5, 10, false
	case requestsPerSecond <= 2000:
		return 10, 20, false
	case requestsPerSecond <= 5000:
		return 20, 50, false
	}
	return 50, 100, true
}

// upperBound returns what so many shards take if each has a partition of its own, in units a second. A Way says what to
// expect.
func upperBound(shards int) (writeUnits, readUnits int64) {
	n := int64(min(max(shards, 1), math.MaxInt/PartitionReads))
	return n * PartitionWrites, n * PartitionReads
}

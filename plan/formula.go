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

// Shards returns the published number of shards for a key that is written with so many units a second:
//
//	ceil(peak × factor / 1,000), and at least 1
//
// multiplied before it is rounded, in integers; the factor counts in thousandths and is at least 1. It takes each shard
// to have a partition of its own, which DynamoDB does not promise: see Spread.
func Shards(peakWriteUnits int64, factor float64) int {
	return formula(peakWriteUnits, PartitionWrites, factor)
}

// readShardsFor is Shards for reads that go to one shard each, of which a partition takes 3,000 units a second.
func readShardsFor(peakReadUnits int64, factor float64) int {
	return formula(peakReadUnits, PartitionReads, factor)
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

// conservativeShards rounds first and doubles then: 5,000 write units a second make 5 shards, hence 10; 500 make 2.
func conservativeShards(peakWriteUnits int64) int { return times(Shards(peakWriteUnits, 1), 2) }

// generousShards takes four times what is needed, so that there is no need to grow: 20 shards for 5. Each of them costs every
// read that asks all shards.
func generousShards(peakWriteUnits int64) int { return times(Shards(peakWriteUnits, 1), generous) }

func times(n, by int) int {
	if n > math.MaxInt/by {
		return math.MaxInt
	}
	return n * by
}

// Advisory is a range of shard counts that goes by traffic alone.
type Advisory struct {
	From int  `json:"from"`
	To   int  `json:"to"`
	More bool `json:"more,omitempty"` // To is not the end: "50-100+"
}

// bandOf returns a published rule of thumb for a key with so many requests a second, whatever their size:
//
//	below 500     5–10
//	to 2,000     10–20
//	to 5,000     20–50
//	above        50–100 and more
//
// It is reported, and decides nothing: it gives ten shards to a key that needs none.
func bandOf(requestsPerSecond float64) Advisory {
	switch {
	case requestsPerSecond < 500:
		return Advisory{From: 5, To: 10}
	case requestsPerSecond <= 2000:
		return Advisory{From: 10, To: 20}
	case requestsPerSecond <= 5000:
		return Advisory{From: 20, To: 50}
	}
	return Advisory{From: 50, To: 100, More: true}
}

// Throughput is a number of write and one of read units a second.
type Throughput struct {
	WriteUnits int64 `json:"writeUnits"`
	ReadUnits  int64 `json:"readUnits"`
}

// maxThroughput returns the upper bound of what so many shards take: what they do if each has a partition of its own.
// Spread says what to expect.
func maxThroughput(shards int) Throughput {
	n := int64(min(max(shards, 1), math.MaxInt/PartitionReads))
	return Throughput{n * PartitionWrites, n * PartitionReads}
}

// ThroughputRow is a line of the published comparison.
type ThroughputRow struct {
	Scenario   string `json:"scenario"`
	Shards     int    `json:"shards"`     // 0: as many keys as there are items
	UpperBound int64  `json:"upperBound"` // write units a second, with a partition for each shard; 0: the table's limit
	Throttling string `json:"throttling"` // at the load that the bound suggests, as published
}

// Throughputs returns the published comparison of one key, shards and many keys. Their throughput is an upper bound.
func Throughputs() []ThroughputRow {
	row := func(scenario string, shards int, throttling string) ThroughputRow {
		return ThroughputRow{scenario, shards, maxThroughput(shards).WriteUnits, throttling}
	}
	return []ThroughputRow{
		row("hot partition", 1, "frequent"),
		row("10 shards", 10, "rare"),
		row("100 shards", 100, "very rare"),
		{Scenario: "high-cardinality key", Throttling: "none"},
	}
}

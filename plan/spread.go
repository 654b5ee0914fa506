package plan

import "math"

// Choice is how a writer chooses among the shards of a key.
type Choice string

// The choices.
const (
	// Uniform takes no notice of throttling: a shard drawn at random, or calculated from an id. The fullest partition
	// is the first to refuse, while others idle.
	Uniform Choice = "uniform"

	// Aware avoids shards that were throttled lately, as heatsink's random layouts do: every partition that has a shard
	// can be filled.
	Aware Choice = "aware"
)

// Spread is a number of shards on a number of partitions of equal size. DynamoDB places a shard by a hash of its key,
// so shards are balls thrown into bins: some partitions get several of them, and some none.
//
// All figures are exact, computed from the distribution of such throws and not sampled. They are about partitions as
// they are at the moment: those that stay busy for some minutes are split, which helps a steady load, but not a sudden
// one.
type Spread struct {
	Shards     int `json:"shards"`
	Partitions int `json:"partitions"`
}

func (s Spread) clamped() Spread {
	return Spread{min(max(s.Shards, 1), MaxShards), min(max(s.Partitions, 1), MaxShards)}
}

// Covered returns how many partitions have a shard, on average: P × (1 − (1 − 1/P)^N).
func (s Spread) Covered() float64 {
	s = s.clamped()
	p := float64(s.Partitions)
	return -p * math.Expm1(float64(s.Shards)*math.Log1p(-1/p))
}

// CoveredAt returns how many partitions have a shard, at least, in confidence (such as 0.99) of all cases.
func (s Spread) CoveredAt(confidence float64) int {
	return thrown(s.clamped()).quantile(1 - confidence)
}

// Fullest returns how many shards the fullest partition has, at most, in confidence of all cases.
func (s Spread) Fullest(confidence float64) int {
	s = s.clamped()
	f := newFactorials(s.Shards)
	m := f.surely(s, 1-confidence)
	for m > s.fair() && f.noneAbove(m-1, s) >= confidence {
		m--
	}
	return m
}

// fair is the least that the fullest partition can have.
func (s Spread) fair() int { return (s.Shards + s.Partitions - 1) / s.Partitions }

// Sustained returns how many write units a second the shards take without a refusal, at least, in confidence of all
// cases.
func (s Spread) Sustained(choice Choice, confidence float64) float64 {
	return PartitionWrites * s.sustained(choice, confidence)
}

// sustained is Sustained in partitions' worth.
func (s Spread) sustained(choice Choice, confidence float64) float64 {
	s = s.clamped()
	if choice == Aware {
		return float64(s.CoveredAt(confidence))
	}
	return float64(s.Shards) / float64(s.Fullest(confidence))
}

// Accepted returns how many of the write units a second that are offered will be accepted, on average over all cases.
func (s Spread) Accepted(choice Choice, offered float64) float64 {
	return PartitionWrites * s.accepted(choice, offered/PartitionWrites, 1)
}

// accepted is Accepted in partitions' worth, each of which has room for so much.
func (s Spread) accepted(choice Choice, offered, room float64) float64 {
	s = s.clamped()
	if choice == Aware {
		return thrown(s).mean(func(covered int) float64 { return min(offered, room*float64(covered)) })
	}
	if s.Partitions == 1 {
		return min(offered, room)
	}
	sum := 0.0
	newFactorials(s.Shards).binomial(s.Shards, 1/float64(s.Partitions)).each(func(k int, p float64) {
		sum += p * min(room, offered*float64(k)/float64(s.Shards))
	})
	return float64(s.Partitions) * sum
}

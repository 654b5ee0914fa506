package bins

// Choice is how a writer chooses among the shards of a key.
type Choice string

const (
	// Uniform ignores throttling: the writer draws a shard at random, or calculates it from an id. The partition with
	// the most shards throttles first, while others idle.
	Uniform Choice = "uniform"

	// Aware avoids recently throttled shards, as heatsink's random layouts do. It can fill every partition that has a
	// shard.
	Aware Choice = "aware"
)

// Spread is a number of shards on a number of partitions of equal size. Its figures are about the partitions of the
// moment: DynamoDB splits those that stay busy for minutes, which helps a steady load, but not a sudden one.
type Spread struct{ Shards, Partitions int }

func (s Spread) clamped() Spread {
	return Spread{min(max(s.Shards, 1), Max), min(max(s.Partitions, 1), Max)}
}

// CoveredAt returns the number of partitions that have a shard, or more, in a share of all placements, such as 0.99.
func (s Spread) CoveredAt(confidence float64) int {
	return thrown(s.clamped()).quantile(1 - confidence)
}

// Fullest returns the number of shards on the fullest partition, or fewer, in a share of all placements.
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

// Sustained returns the load that the shards take without throttling, or more, in a share of all placements.
func (s Spread) Sustained(choice Choice, confidence float64) float64 {
	s = s.clamped()
	if choice == Aware {
		return float64(s.CoveredAt(confidence))
	}
	return float64(s.Shards) / float64(s.Fullest(confidence))
}

// Accepted returns how much of the offered load the partitions accept, on average over all placements. Other keys leave
// the key the free part of each partition, 1 if there are none.
func (s Spread) Accepted(choice Choice, offered, free float64) float64 {
	s = s.clamped()
	if choice == Aware {
		return thrown(s).mean(func(covered int) float64 { return min(offered, free*float64(covered)) })
	}
	if s.Partitions == 1 {
		return min(offered, free)
	}
	sum := 0.0
	newFactorials(s.Shards).binomial(s.Shards, 1/float64(s.Partitions)).each(func(k int, p float64) {
		sum += p * min(free, offered*float64(k)/float64(s.Shards))
	})
	return float64(s.Partitions) * sum
}

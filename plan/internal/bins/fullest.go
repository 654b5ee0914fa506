package bins

import "math"

// noneAbove returns the probability that no partition has more than m shards.
//
// Of n shards on j partitions, the first half of the partitions has k with a binomial probability, and the two halves
// are the same question again:
//
//	f(j, n) = Σ Bin(n, ⌊j/2⌋/j)(k) × f(⌊j/2⌋, k) × f(⌈j/2⌉, n − k)        f(1, n) = 1 if n ≤ m, else 0
//
// On each level there are two j at most, and only those n matter that are near j's share of all shards.
func (f factorials) noneAbove(m int, s Spread) float64 {
	if m >= s.Shards {
		return 1
	}
	if m*s.Partitions < s.Shards {
		return 0
	}
	c := halving{factorials: f, spread: s, most: m, known: map[int]window{}}
	return min(c.of(s.Partitions).p[0], 1)
}

// surely returns a number of shards that some partition exceeds with a probability of less than q. It is quickly found
// and near the smallest: the probability is at most the sum over all partitions.
func (f factorials) surely(s Spread, q float64) int {
	if s.Partitions == 1 {
		return s.Shards
	}
	b := f.binomial(s.Shards, 1/float64(s.Partitions))
	m, tail, chance := s.Shards, 0.0, b.at(s.Shards)
	for odds := b.p / (1 - b.p); m > s.fair(); m-- {
		if tail += chance; tail*float64(s.Partitions) > q {
			break
		}
		if chance > 1e-250 {
			chance *= float64(m) / (odds * float64(s.Shards-m+1))
		} else {
			chance = b.at(m - 1) // too small to go on from with any precision
		}
	}
	return m
}

// halving is one computation of noneAbove.
type halving struct {
	factorials
	spread Spread
	most   int
	known  map[int]window // f(j, n) by j
}

func (c *halving) of(j int) window {
	if w, ok := c.known[j]; ok {
		return w
	}
	w := c.around(j)
	if j == 1 {
		for i := range w.p {
			if w.first+i <= c.most {
				w.p[i] = 1
			}
		}
	} else {
		half, rest := c.of(j/2), c.of(j-j/2)
		for i := range w.p {
			w.p[i] = c.binomial(w.first+i, float64(j/2)/float64(j)).split(half, rest)
		}
	}
	c.known[j] = w
	return w
}

// around returns a window for how many shards j of the partitions can have together, so wide that more or less of them
// is negligible; for all of the partitions it is one number.
func (c *halving) around(j int) window {
	n, share := float64(c.spread.Shards), float64(j)/float64(c.spread.Partitions)
	if j == c.spread.Partitions {
		return window{c.spread.Shards, make([]float64, 1)}
	}
	off := 8*math.Sqrt(n*share*(1-share)) + 30
	first := max(int(n*share-off), 0)
	last := min(int(n*share+off), c.spread.Shards)
	return window{first, make([]float64, last-first+1)}
}

package plan

import (
	"math"
	"sort"
)

// demand is a load in search of shards and partitions, in partitions' worth: 1 is 1,000 write units a second, or 3,000
// read units if those are what is short.
type demand struct {
	load       float64 // of the key
	others     float64 // of all other keys, evenly spread over the partitions
	choice     Choice
	confidence float64
	target     float64 // how full a partition may be, all keys together
	dense      int     // shards for each partition that are the most before more partitions are asked for
	fair       int     // shards for each partition if there are to be more
}

// room returns how much of a partition the key may use, not positive if the others fill it.
func (d demand) room(partitions int) float64 { return d.target - d.others/float64(partitions) }

// suffice reports whether so many shards make so many partitions take the load.
func (d demand) suffice(s Spread) bool {
	room := d.room(s.Partitions)
	if room <= 0 {
		return false
	}
	worth := d.load / room
	if worth <= 1 {
		return true
	}
	if ceil(worth) > min(s.Shards, s.Partitions) {
		return false
	}
	if d.choice == Aware {
		return thrown(s).atLeast(ceil(worth)) >= d.confidence
	}
	m := int(float64(s.Shards)/worth + 1e-9) // as many on the fullest are not too many
	return m >= 1 && newFactorials(s.Shards).noneAbove(m, s) >= d.confidence
}

// shards returns the smallest number of shards, from a number on, with which so many partitions take the load, and
// false if no number of up to dense for each will do.
func (d demand) shards(from, partitions int) (int, bool) {
	room := d.room(partitions)
	if room <= 0 {
		return 0, false
	}
	worth := d.load / room
	if worth <= 1 {
		return max(from, 1), true
	}
	most := max(d.most(partitions), from)
	if d.choice == Aware {
		n, ok := d.cover(ceil(worth), partitions, most)
		return max(n, from), ok
	}
	// One more shard helps only if it lets the fullest partition have one more: the next number to look at is that.
	f := newFactorials(most)
	for n := max(from, ceil(worth)); n <= most; {
		m := int(float64(n)/worth + 1e-9)
		if f.noneAbove(m, Spread{n, partitions}) >= d.confidence {
			return n, true
		}
		n = max(ceil(float64(m+1)*worth), n+1)
	}
	return 0, false
}

func (d demand) most(partitions int) int { return min(times(partitions, d.dense), MaxShards) }

// cover returns how many shards it takes to have one on so many of the partitions.
func (d demand) cover(covered, partitions, most int) (int, bool) {
	if covered > partitions {
		return 0, false
	}
	o := newOccupancy(partitions)
	for n := 1; n <= most; n++ {
		o.throw()
		if n >= covered && o.atLeast(covered) >= d.confidence {
			return n, true
		}
	}
	return 0, false
}

// widest returns the number of shards, from a number on, that gets the most out of so many partitions: what shards
// returns for the largest load that they take.
func (d demand) widest(from, partitions int) int {
	most := max(d.most(partitions), from)
	all := Spread{most, partitions}
	if d.choice == Aware {
		n, _ := d.cover(all.CoveredAt(d.confidence), partitions, most)
		return max(n, from)
	}
	// The more there may be on the fullest partition, the better the average: it is the last m, or one before it that
	// most does not cut off.
	best, worth := most, 0.0
	f, last := newFactorials(most), all.Fullest(d.confidence)
	for m := last; m >= max(last-2, 1); m-- {
		n := sort.Search(most, func(i int) bool { return f.noneAbove(m, Spread{i + 1, partitions}) < d.confidence })
		if w := float64(n) / float64(m); n >= from && w >= worth-1e-9 {
			best, worth = n, w
		}
	}
	return best
}

// square returns the smallest number of partitions that take the load with fair shards for each: with one, that is what
// the published arithmetic silently assumes, but for the shards that share a partition. It returns false beyond
// MaxShards.
func (d demand) square() (Spread, bool) {
	fits := func(partitions int) bool { return d.suffice(d.fairly(partitions)) }
	if d.choice == Aware {
		return d.search(1, fits)
	}
	// As above: only where m on the fullest are just not too many need be looked at.
	for m := 1; ; m++ {
		s := d.fairly(max(ceil((float64(m)*d.load/float64(d.fair)+d.others)/d.target), 1))
		if s.Shards > MaxShards {
			return Spread{}, false
		}
		if fits(s.Partitions) {
			return s, true
		}
	}
}

func (d demand) fairly(partitions int) Spread { return Spread{times(partitions, d.fair), partitions} }

// search returns the smallest number of partitions from a number on that fits: fits is true from there on.
func (d demand) search(from int, fits func(partitions int) bool) (Spread, bool) {
	below, step := from-1, 1
	for !fits(below + step) {
		below, step = below+step, 2*step
		if below+step > MaxShards/d.fair {
			return Spread{}, false
		}
	}
	return d.fairly(below + 1 + sort.Search(step-1, func(i int) bool { return fits(below + 1 + i) })), true
}

// partitions returns the smallest number of partitions, from a number on, that take the load with so many shards.
func (d demand) partitions(shards, from int) (int, bool) {
	s, ok := d.search(from, func(partitions int) bool { return d.suffice(Spread{shards, partitions}) })
	return s.Partitions, ok
}

// ceil rounds up what is not a whole number but for an error of computing.
func ceil(x float64) int { return int(math.Min(math.Ceil(x-1e-9), math.MaxInt32)) }

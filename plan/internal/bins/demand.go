package bins

import (
	"math"
	"sort"
)

// Demand is a load that needs shards and partitions.
type Demand struct {
	Load       float64 // of the key
	Others     float64 // of all other keys, evenly spread over the partitions
	Choice     Choice
	Confidence float64 // share of all placements in which the load must fit
	Target     float64 // how full a partition may be, all keys together
	Dense      int     // the most shards for each partition, before more partitions are needed
	Fair       int     // shards for each partition where partitions are added
}

// usable returns how much of a partition the key may use, not positive if the others fill it.
func (d Demand) usable(partitions int) float64 { return d.Target - d.Others/float64(partitions) }

// Suffice reports whether so many shards make so many partitions take the load.
func (d Demand) Suffice(s Spread) bool {
	usable := d.usable(s.Partitions)
	if usable <= 0 {
		return false
	}
	worth := d.Load / usable
	if worth <= 1 {
		return true
	}
	if ceil(worth) > min(s.Shards, s.Partitions) {
		return false
	}
	if d.Choice == Aware {
		return thrown(s).atLeast(ceil(worth)) >= d.Confidence
	}
	m := int(float64(s.Shards)/worth + 1e-9) // as many on the fullest are not too many
	return m >= 1 && newFactorials(s.Shards).noneAbove(m, s) >= d.Confidence
}

// Shards returns the smallest number of shards, from a number on, with which so many partitions take the load, and
// false if no number up to d.Dense for each will do.
func (d Demand) Shards(from, partitions int) (int, bool) {
	usable := d.usable(partitions)
	if usable <= 0 {
		return 0, false
	}
	worth := d.Load / usable
	if worth <= 1 {
		return max(from, 1), true
	}
	most := max(d.most(partitions), from)
	if d.Choice == Aware {
		n, ok := d.cover(ceil(worth), partitions, most)
		return max(n, from), ok
	}
	// One more shard helps only if it lets the fullest partition have one more: the next number to look at is that.
	f := newFactorials(most)
	for n := max(from, ceil(worth)); n <= most; {
		m := int(float64(n)/worth + 1e-9)
		if f.noneAbove(m, Spread{n, partitions}) >= d.Confidence {
			return n, true
		}
		n = max(ceil(float64(m+1)*worth), n+1)
	}
	return 0, false
}

func (d Demand) most(partitions int) int { return min(min(partitions, Max)*d.Dense, Max) }

// cover returns how many shards it takes to have one on so many of the partitions.
func (d Demand) cover(covered, partitions, most int) (int, bool) {
	if covered > partitions {
		return 0, false
	}
	o := newOccupancy(partitions)
	for n := 1; n <= most; n++ {
		o.throw()
		if n >= covered && o.atLeast(covered) >= d.Confidence {
			return n, true
		}
	}
	return 0, false
}

// Widest returns the number of shards, from a number on, that gets the most out of so many partitions: what Shards
// returns for the largest load that they take.
func (d Demand) Widest(from, partitions int) int {
	most := max(d.most(partitions), from)
	all := Spread{most, partitions}
	if d.Choice == Aware {
		n, _ := d.cover(all.CoveredAt(d.Confidence), partitions, most)
		return max(n, from)
	}
	// The more there may be on the fullest partition, the better the average: it is the last m, or one before it that
	// most does not cut off.
	best, worth := most, 0.0
	f, last := newFactorials(most), all.Fullest(d.Confidence)
	for m := last; m >= max(last-2, 1); m-- {
		n := sort.Search(most, func(i int) bool { return f.noneAbove(m, Spread{i + 1, partitions}) < d.Confidence })
		if w := float64(n) / float64(m); n >= from && w >= worth-1e-9 {
			best, worth = n, w
		}
	}
	return best
}

// Square returns the smallest number of partitions that take the load with d.Fair shards for each. One for each is what
// the published arithmetic assumes, except that some shards share a partition. It returns false beyond Max.
func (d Demand) Square() (Spread, bool) {
	fits := func(partitions int) bool { return d.Suffice(d.fairly(partitions)) }
	if d.Choice == Aware {
		return d.search(1, fits)
	}
	// As above: only where m on the fullest are just not too many need be looked at.
	for m := 1; ; m++ {
		s := d.fairly(max(ceil((float64(m)*d.Load/float64(d.Fair)+d.Others)/d.Target), 1))
		if s.Shards > Max {
			return Spread{}, false
		}
		if fits(s.Partitions) {
			return s, true
		}
	}
}

// fairly is so many partitions with their shards. Beyond Max there are too many of either, whatever their number.
func (d Demand) fairly(partitions int) Spread {
	partitions = min(partitions, Max+1)
	return Spread{partitions * d.Fair, partitions}
}

// search returns the smallest number of partitions from a number on that fits: fits is true from there on.
func (d Demand) search(from int, fits func(partitions int) bool) (Spread, bool) {
	below, step := from-1, 1
	for !fits(below + step) {
		below, step = below+step, 2*step
		if below+step > Max/d.Fair {
			return Spread{}, false
		}
	}
	return d.fairly(below + 1 + sort.Search(step-1, func(i int) bool { return fits(below + 1 + i) })), true
}

// Partitions returns the smallest number of partitions, from a number on, that take the load with so many shards.
func (d Demand) Partitions(shards, from int) (int, bool) {
	s, ok := d.search(from, func(partitions int) bool { return d.Suffice(Spread{shards, partitions}) })
	return s.Partitions, ok
}

// ceil rounds up, except where a whole number is off by a rounding error.
func ceil(x float64) int { return int(math.Min(math.Ceil(x-1e-9), math.MaxInt32)) }

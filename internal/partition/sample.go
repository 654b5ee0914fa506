package partition

import (
	"slices"
)

const (
	// sampleSize is how many requests a partition remembers.
	sampleSize = 128
	// leastSample is how many it must remember to be split by them.
	leastSample = 12
	// leastShare is the part of the load that the cooler side of a split must
	// get for the split to be worth its while. It is low on purpose: parting a
	// hot item from the rest helps the rest ("adaptive capacity isolates
	// frequently accessed items" [AWS: burst-adaptive-capacity]).
	leastShare = 0.05
)

// sampled is a request that was picked, with the load that it stands for.
type sampled struct {
	place  []byte
	weight float64
}

// sample is a partition's memory of where its load went: a ring of the requests
// that happened to be served when another interval's worth of load was full. So a
// place is picked in proportion to its load, and the entries are in the order in
// which they came, which shows whether the load moves. In a full load's memory
// the oldest entry is about one SplitHold old.
type sample struct {
	ring []sampled
	next int     // the oldest entry, once the ring is full
	left float64 // load until the next entry
}

// add counts a request's load, in seconds of the partition's full load. It
// remembers the place if an interval is full; random is in [0, 1).
func (s *sample) add(place []byte, load, interval float64, random func() float64) {
	s.left -= load
	if s.left > 0 {
		return
	}
	// Intervals are of random length, half to one and a half, or a load that
	// repeats itself could keep in step with them.
	weight := 1 + float64(int(min(-s.left/interval, 1e6)))
	s.left = interval * (0.5 + random())
	if len(s.ring) < sampleSize {
		s.ring = append(s.ring, sampled{slices.Clone(place), weight})
		return
	}
	e := &s.ring[s.next]
	e.place, e.weight = append(e.place[:0], place...), weight
	s.next = (s.next + 1) % len(s.ring)
}

// inOrder returns the entries, the oldest first.
func (s *sample) inOrder() []sampled {
	return slices.Concat(s.ring[s.next:], s.ring[:s.next])
}

// Obstacle is why a hot partition is not split.
type Obstacle uint8

const (
	// Unobstructed: nothing is in the way.
	Unobstructed Obstacle = iota
	// TooFewRequests: there were not enough requests to judge by.
	TooFewRequests
	// SingleItem: nearly all the load is on one item, and an item cannot be
	// divided.
	SingleItem
	// MovingLoad: the load moves through the keys, as with a sort key that
	// rises or falls with time. Wherever the partition is split, all that comes
	// next is on one side. DynamoDB detects this and does not split [ATC'22
	// 4.4: "key ranges that are accessed sequentially"].
	MovingLoad
	// LocalIndex: nearly all the load is on one item collection, which a local
	// secondary index keeps in one piece.
	LocalIndex
)

func (o Obstacle) String() string {
	switch o {
	case TooFewRequests:
		return "too few requests"
	case SingleItem:
		return "single item"
	case MovingLoad:
		return "moving load"
	case LocalIndex:
		return "local index"
	default:
		return ""
	}
}

// MarshalText makes it a word in JSON.
func (o Obstacle) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// border finds where to split the partition so that the load of the older three
// quarters of the sample is divided as evenly as can be, and tries it on the
// newest quarter: a border that has nearly all of the new load on one side is no
// use. whole says that collections must not be divided. lower is the share of the
// load below the border.
func (s *sample) border(whole bool) (at bound, lower float64, o Obstacle) {
	if len(s.ring) < leastSample {
		return bound{}, 0, TooFewRequests
	}
	entries := s.inOrder()
	cut := len(entries) - len(entries)/4
	old, recent := entries[:cut], entries[cut:]
	at, lower, o = divide(old, whole)
	if o == SingleItem && whole {
		if _, _, without := divide(old, false); without == Unobstructed {
			return bound{}, 0, LocalIndex
		}
	}
	if o != Unobstructed {
		return bound{}, 0, o
	}
	if now := below(recent, at); min(now, 1-now) < leastShare {
		return bound{}, 0, MovingLoad
	}
	return at, lower, Unobstructed
}

// divide finds the border that divides the entries' load most evenly.
func divide(entries []sampled, whole bool) (at bound, lower float64, o Obstacle) {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b sampled) int { return boundOf(a.place).compare(boundOf(b.place)) })
	total := 0.0
	for _, e := range sorted {
		total += e.weight
	}
	best, sum := 0.0, 0.0
	for i := 1; i < len(sorted); i++ {
		sum += sorted[i-1].weight
		left, right := boundOf(sorted[i-1].place), boundOf(sorted[i].place)
		if left.compare(right) == 0 || whole && left.hash == right.hash {
			continue
		}
		if even := min(sum, total-sum) / total; even > best {
			best, lower, at = even, sum/total, border(left, right)
		}
	}
	if best < leastShare {
		return bound{}, 0, SingleItem
	}
	return at, lower, Unobstructed
}

// below returns the share of the entries' load that lies below a border.
func below(entries []sampled, at bound) float64 {
	total, sum := 0.0, 0.0
	for _, e := range entries {
		total += e.weight
		if boundOf(e.place).compare(at) < 0 {
			sum += e.weight
		}
	}
	return sum / total
}

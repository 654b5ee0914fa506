package partition

import "math"

// partition is one partition: a range of places with ceilings of its own. It is
// guarded by its set's mutex.
type partition struct {
	id      uint64
	lower   bound // the range goes from here to the next partition's lower
	created instant

	write bucket
	read  bucket // all reads
	// strong limits strongly consistent reads, where eventually consistent ones
	// may go beyond; elsewhere it never refuses what read lets pass.
	strong bucket

	bytes     int64
	retrySize instant // when to look again whether it can be split for its size
	seconds   seconds

	heat     float64 // moving average of the load, 1 being the ceiling
	hotSince instant // never: it is not hot
	sample   sample
	obstacle Obstacle // why it was not split when it could have been
	retry    instant  // when to look again
	split    *pending // nil: none is under way
}

// never is a moment that does not come.
const never instant = math.MaxInt64

func (s *Set) newPartition(lower bound, at instant) *partition {
	s.lastPartition++
	r := s.rules
	return &partition{
		id:       s.lastPartition,
		lower:    lower,
		created:  at,
		write:    newBucket(r.Partition.Write, r.Window, r.Window, at),
		read:     newBucket(r.EventualReads, r.Window, r.Window, at),
		strong:   newBucket(r.Partition.Read, r.Window, r.Window, at),
		hotSince: never,
		sample:   sample{left: r.interval * s.chance()},
	}
}

// exceeds adds the ceilings that refuse a charge.
func (p *partition) exceeds(c *Charge, at instant, e *exceeded) {
	if c.Write > 0 && p.write.refuses(at) {
		e.add(write, keyRangeThroughput)
	}
	if c.Read > 0 && (p.read.refuses(at) || !c.Eventual && p.strong.refuses(at)) {
		e.add(read, keyRangeThroughput)
	}
}

// serve charges the partition for a request at a place within it.
func (p *partition) serve(s *Set, place []byte, reads, writes amount, eventual bool) {
	if writes > 0 {
		p.write.charge(writes, s.now)
	}
	if reads > 0 {
		p.read.charge(reads, s.now)
		if !eventual {
			p.strong.charge(reads, s.now)
		}
	}
	p.remember(s, place, reads, writes)
}

// remember takes what was served at a place into the partition's past and its sample.
func (p *partition) remember(s *Set, place []byte, reads, writes amount) {
	now := s.turn(p)
	load := 0.0
	if writes > 0 {
		units := writes.units()
		now.consumed[write] += float32(units)
		load += units * s.rules.perUnit[write]
	}
	if reads > 0 {
		units := reads.units()
		now.consumed[read] += float32(units)
		load += units * s.rules.perUnit[read]
	}
	if load > 0 {
		p.sample.add(place, load, s.rules.interval, s.chance)
	}
}

// refuse counts a request that was refused.
func (p *partition) refuse(s *Set, c *Charge) {
	now := s.turn(p)
	now.throttled[write] += float32(amountOf(c.Write).units())
	now.throttled[read] += float32(amountOf(c.Read).units())
}

// turn brings a partition's past up to the current second, and looks at its heat
// whenever a second is over.
func (s *Set) turn(p *partition) *second {
	if p.seconds.ring != nil && p.seconds.at == s.second {
		return p.seconds.latest()
	}
	if p.seconds.ring != nil {
		s.warm(p)
	}
	return p.seconds.turn(s.second, s.rules.HistorySeconds)
}

// warm takes the latest second, which is over, into the partition's heat; the
// seconds since then were empty.
func (s *Set) warm(p *partition) {
	r := s.rules
	past := p.seconds.latest()
	load := max(float64(past.consumed[read])*r.perUnit[read], float64(past.consumed[write])*r.perUnit[write])
	p.heat = p.heat*r.decay + load*(1-r.decay)
	if idle := s.second - p.seconds.at - 1; idle > 0 {
		p.heat *= math.Pow(r.decay, float64(idle))
	}
	switch {
	case r.NoSplits:
	case p.heat < r.SplitThreshold:
		p.hotSince, p.obstacle, p.retry = never, Unobstructed, 0
	case p.hotSince == never:
		p.hotSince = s.now
	case p.split == nil && s.now-p.hotSince >= instant(r.SplitHold) && s.now >= p.retry:
		s.splitForHeat(p)
	}
}

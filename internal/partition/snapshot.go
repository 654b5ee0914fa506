package partition

import (
	"slices"
	"time"
)

// Snapshot is what can be seen of a set at one moment. It shares no memory with
// the set.
type Snapshot struct {
	At       time.Time
	Resource string
	Capacity Capacity

	// TableTokens is what could be consumed at once under the provisioned or
	// maximum on-demand throughput, burst included; negative: owed. Zero where
	// there is no such limit.
	TableTokens Tokens

	Partitions []Partition // in the order of their ranges
	Splits     []Split     // the last ones, the oldest first
	AllSplits  int         // how many there ever were
}

// Tokens is a number of read and of write units.
type Tokens struct{ Read, Write float64 }

// Partition is what can be seen of a partition.
type Partition struct {
	ID      uint64
	Created time.Time

	// Lower is the first place of the partition and Upper the first of the
	// next. Nil at either end of all places. Eight bytes are a border between
	// collections; more run through one.
	Lower, Upper []byte

	Bytes  int64  // estimated, after splits
	Tokens Tokens // left under the ceilings; negative: owed

	// Heat is the load's moving average, 1 being the ceiling. HotSince is when
	// it last rose above Options.SplitThreshold, zero if it is below.
	Heat     float64
	HotSince time.Time

	// Obstacle is why the partition has not been split, though it was hot for
	// long enough.
	Obstacle Obstacle

	// SplitAt is when the split that is under way will be done, zero if there is
	// none.
	SplitAt time.Time

	Seconds []Second // the last ones, the oldest first; the last may not be over
}

// Second is what happened to a partition within a second, in units.
type Second struct {
	Start                         time.Time
	ReadUnits, WriteUnits         float64
	ReadThrottled, WriteThrottled float64
}

// Snapshot returns the set as it is now, with the partitions' load over the last
// seconds, as many as asked for and remembered.
func (s *Set) Snapshot(now time.Time, last time.Duration) Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	out := Snapshot{
		At:        s.time(s.now),
		Resource:  s.resource,
		Capacity:  s.capacity,
		Splits:    slices.Clone(s.splits),
		AllSplits: s.total,
	}
	for d, left := range map[direction]*float64{read: &out.TableTokens.Read, write: &out.TableTokens.Write} {
		*left = s.flows[d].table.left(s.now)
	}
	for i, p := range s.partitions {
		if p.seconds.ring != nil {
			s.turn(p)
		}
		view := s.view(p, last)
		if i+1 < len(s.partitions) {
			view.Upper = s.partitions[i+1].lower.place()
		}
		out.Partitions = append(out.Partitions, view)
	}
	return out
}

// left refills a bucket and returns the units in it.
func (b *bucket) left(at instant) float64 {
	if b.rate == 0 {
		return 0
	}
	b.refill(at)
	return b.level.units()
}

func (s *Set) view(p *partition, last time.Duration) Partition {
	v := Partition{
		ID:       p.id,
		Created:  s.time(p.created),
		Lower:    p.lower.place(),
		Bytes:    p.bytes,
		Tokens:   Tokens{p.read.left(s.now), p.write.left(s.now)},
		Heat:     p.heat,
		Obstacle: p.obstacle,
	}
	if p.hotSince != never {
		v.HotSince = s.time(p.hotSince)
	}
	if p.split != nil {
		v.SplitAt = s.time(p.split.due)
	}
	first := s.second - int64(last/time.Second) + 1
	for at, c := range p.seconds.between(max(first, int64(p.created/instant(time.Second))), s.second) {
		v.Seconds = append(v.Seconds, Second{
			Start:          s.time(instant(at) * instant(time.Second)),
			ReadUnits:      float64(c.consumed[read]),
			WriteUnits:     float64(c.consumed[write]),
			ReadThrottled:  float64(c.throttled[read]),
			WriteThrottled: float64(c.throttled[write]),
		})
	}
	return v
}

// Minutes returns the set's metrics for the minutes since a time, as far as they
// are remembered, the oldest first. The last one is not over.
func (s *Set) Minutes(now, since time.Time) []Minute {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	m := &s.minutes
	first := int64(s.instant(since) / instant(time.Minute))
	var list []Minute
	for at := max(first, m.at-int64(len(m.ring))+1); at <= m.at; at++ {
		list = append(list, m.ring[at%int64(len(m.ring))].export(s.time(instant(at)*instant(time.Minute))))
	}
	return list
}

// Partitions returns how many partitions there are.
func (s *Set) Partitions(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	return len(s.partitions)
}

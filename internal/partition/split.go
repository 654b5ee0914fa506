package partition

import (
	"slices"
	"time"
)

// SplitCause is why a partition was split.
type SplitCause uint8

const (
	// CauseHeat: its load was near the ceiling for long enough.
	CauseHeat SplitCause = iota
	// CauseSize: it held too much data.
	CauseSize
	// CauseCapacity: provisioned capacity or warm throughput was raised, or the
	// table was switched to on-demand mode.
	CauseCapacity
	// CauseGrowth: an on-demand table reached more than half of what its
	// partitions can serve.
	CauseGrowth
)

func (c SplitCause) String() string {
	switch c {
	case CauseHeat:
		return "heat"
	case CauseSize:
		return "size"
	case CauseCapacity:
		return "capacity"
	default:
		return "growth"
	}
}

// MarshalText makes it a word in JSON.
func (c SplitCause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Split is a split that has happened. Partitions are never merged.
type Split struct {
	At       time.Time
	Cause    SplitCause
	Parent   uint64    // the partition that was split
	Children [2]uint64 // what became of it, the lower range first
	Point    []byte    // the first place of the second child
}

// pending is a split that is under way.
type pending struct {
	at    bound
	lower float64 // estimated share of the data below at
	cause SplitCause
	due   instant
}

// splitForHeat starts the split of a partition that has been hot for long
// enough, or remembers why it cannot be split.
func (s *Set) splitForHeat(p *partition) {
	at, lower, obstacle := p.sample.border(s.whole)
	p.obstacle = obstacle
	if obstacle != Unobstructed || len(s.partitions) >= maxPartitions {
		p.retry = s.now + instant(s.rules.SplitHold)/10
		return
	}
	s.begin(p, at, lower, CauseHeat)
}

// grow counts data written to a partition, and starts its split if it has become
// too large: where its load is divided evenly, else in the middle of its hashes.
// One collection under a local index stays in one piece, whatever its size.
func (s *Set) grow(p *partition, delta int64) {
	const most = 1 << 60
	p.bytes = min(max(p.bytes+min(max(delta, -most), most), 0), most)
	if p.bytes < s.rules.SplitBytes || s.rules.NoSplits || p.split != nil || s.now < p.retrySize || len(s.partitions) >= maxPartitions {
		return
	}
	if at, lower, obstacle := divide(p.sample.ring, s.whole); obstacle == Unobstructed {
		s.begin(p, at, lower, CauseSize)
	} else if at, ok := s.middle(p); ok {
		s.begin(p, at, 0.5, CauseSize)
	} else {
		p.retrySize = s.now + instant(s.rules.SplitHold)/10
	}
}

func (s *Set) begin(p *partition, at bound, lower float64, cause SplitCause) {
	p.split = &pending{at: at, lower: lower, cause: cause, due: s.now + instant(s.rules.SplitDuration)}
	s.due = min(s.due, p.split.due)
}

// middle returns the middle hash of a partition.
func (s *Set) middle(p *partition) (bound, bool) {
	i := s.find(p.lower)
	if i+1 == len(s.partitions) {
		return middle(p.lower, bound{}, true)
	}
	return middle(p.lower, s.partitions[i+1].lower, false)
}

// resize is an addition of partitions that is under way.
type resize struct {
	to    int
	cause SplitCause
	due   instant
}

// finish completes whatever is due. Everything that changes the list of
// partitions of a live set happens here, at the start of a call: partitions that
// a call has found stay valid until its end.
func (s *Set) finish() {
	s.splitDue()
	if r := s.resize; r != nil && r.due <= s.now {
		s.resize = nil
		s.double(r.to, r.cause, r.due)
	}
	s.due = never
	for _, p := range s.partitions {
		if p.split != nil {
			s.due = min(s.due, p.split.due)
		}
	}
	if s.resize != nil {
		s.due = min(s.due, s.resize.due)
	}
}

// splitDue replaces the partitions whose split is due by their children. It
// reports whether there were any.
func (s *Set) splitDue() bool {
	var list []*partition
	first := len(s.splits)
	for _, p := range s.partitions {
		if p.split == nil || p.split.due > s.now {
			list = append(list, p)
			continue
		}
		left, right := s.children(p)
		list = append(list, left, right)
		s.splits = append(s.splits, Split{
			At:       s.time(p.split.due),
			Cause:    p.split.cause,
			Parent:   p.id,
			Children: [2]uint64{left.id, right.id},
			Point:    p.split.at.place(),
		})
	}
	slices.SortStableFunc(s.splits[first:], func(a, b Split) int { return a.At.Compare(b.At) })
	done := len(s.splits) - first
	s.total += done
	if over := len(s.splits) - s.rules.HistorySplits; over > 0 {
		s.splits = slices.Clone(s.splits[over:])
	}
	s.setPartitions(list)
	return done > 0
}

// children returns the two halves of a partition. Each has the full ceiling, and
// starts with what the parent had saved or owed: a split gives nothing away.
func (s *Set) children(p *partition) (left, right *partition) {
	left, right = s.newPartition(p.lower, p.split.due), s.newPartition(p.split.at, p.split.due)
	for _, child := range []*partition{left, right} {
		child.write, child.read, child.strong = p.write, p.read, p.strong
	}
	left.bytes = int64(float64(p.bytes) * p.split.lower)
	right.bytes = p.bytes - left.bytes
	return left, right
}

// double splits every partition in the middle of its hashes, as often as it takes
// to have n of them: ranges stay as even as they were. So DynamoDB adds capacity
// [ATC'22 4: 3,600 units on 4 partitions become 6,000 on 8]. A split that was
// under way is given up, its partition being split anyway.
func (s *Set) double(n int, cause SplitCause, at instant) {
	for len(s.partitions) < min(n, maxPartitions) {
		room := maxPartitions - len(s.partitions)
		for _, p := range s.partitions {
			if mid, ok := s.middle(p); ok && room > 0 {
				p.split = &pending{at: mid, lower: 0.5, cause: cause, due: at}
				room--
			}
		}
		if !s.splitDue() {
			return // they are single collections, all of them
		}
	}
}

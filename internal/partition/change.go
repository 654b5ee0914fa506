package partition

import "time"

// Update changes the set's capacity, as UpdateTable does. Raising it adds
// partitions, by splitting every one, at once or Options.ResizeDuration later;
// lowering it keeps them, and so does a change of mode. An on-demand table can
// serve at least what it was ever provisioned for, and what a new one can.
//
// The error wraps ErrQuota if too much would be provisioned. Nothing has changed
// then.
func (s *Set) Update(now time.Time, to Capacity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	if err := s.account.provision(s.resource, s.capacity, to); err != nil {
		return err
	}
	for d := range directions {
		s.flows[d].change(s.rules, d, s.capacity, to, s.now)
	}
	if to.Mode == Provisioned {
		s.ever = s.ever.max(to.Provisioned)
	}
	s.capacity = to
	s.enlarge(s.rules.partitions(to, s.ever), CauseCapacity, s.now+instant(s.rules.ResizeDuration))
	return nil
}

// Drop gives back to the account's quota what is provisioned, when the table or
// index is deleted. Calling it again does nothing; the set must not be used
// otherwise.
func (s *Set) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Giving back cannot exceed a quota.
	_ = s.account.provision(s.resource, s.capacity, Capacity{})
	s.capacity = Capacity{}
}

// Resource returns the ARN that the set was made with.
func (s *Set) Resource() string { return s.resource }

// Owner is what Config named so.
func (s *Set) Owner() any { return s.owner }

// Capacity returns the set's capacity.
func (s *Set) Capacity() Capacity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capacity
}

// Warm returns what the set can serve at once if its load is spread evenly, as
// DescribeTable shows it: what all partitions serve together, or what was asked
// for if that is more.
func (s *Set) Warm(now time.Time) Rate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	n := int64(len(s.partitions))
	return Rate{n * s.rules.Partition.Read, n * s.rules.Partition.Write}.max(s.capacity.Warm)
}

// Boundaries returns the places at which partitions start, but for the first, for
// Config.Boundaries.
func (s *Set) Boundaries(now time.Time) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	list := make([][]byte, 0, len(s.partitions)-1)
	for _, p := range s.partitions[1:] {
		list = append(list, p.lower.place())
	}
	return list
}

// Between returns how many partitions there are from the one that a place is in
// to that of another.
func (s *Set) Between(now time.Time, from, to []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	return s.find(boundOf(to)) - s.find(boundOf(from)) + 1
}

// Locate returns the number of the partition that a place is in: the same as in
// Snapshot.
func (s *Set) Locate(now time.Time, place []byte) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(now)
	return s.partitions[s.find(boundOf(place))].id
}

package heat

import (
	"sync"
	"sync/atomic"
)

// mostResources is the most tables and indexes that a recorder counts: each takes some hundred kilobytes. A program uses a
// few; one that makes up names must not take all memory.
const mostResources = 1000

// slots limits the number of tables and indexes that are counted. nil has a slot for any number.
type slots struct {
	most  int64
	taken atomic.Int64

	mu   sync.Mutex
	over *flow // of all tables and indexes without a slot
}

// take takes a slot, if one is free.
func (s *slots) take() bool {
	if s == nil || s.taken.Add(1) <= s.most {
		return true
	}
	s.taken.Add(-1)
	return false
}

// rest returns the flow of all tables and indexes without a slot. Only its number of requests is reported.
func (s *slots) rest(o *Options) *flow {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = newFlow(o)
	}
	return s.over
}

// left returns the number of requests for tables and indexes without a slot.
func (s *slots) left() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		return 0
	}
	s.over.mu.Lock()
	defer s.over.mu.Unlock()
	return s.over.counts.Requests + s.over.counts.Control.Requests
}

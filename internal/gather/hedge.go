package gather

import (
	"slices"
	"sync"
	"time"
)

// latencies records how long recent requests took.
type latencies struct {
	mu       sync.Mutex
	took     [64]time.Duration
	requests int // the number of all requests
	hedges   int
}

func (l *latencies) saw(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[l.requests%len(l.took)] = took
	l.requests++
}

// late returns the time after which a request is slow: the 95th percentile and an eighth. It returns false while too few
// requests have been answered.
func (l *latencies) late() (time.Duration, bool) {
	const few = 8
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(l.requests, len(l.took))
	if n < few {
		return 0, false
	}
	took := slices.Sorted(slices.Values(l.took[:n]))
	p95 := took[n*95/100]
	return p95 + p95/8, true
}

// spend takes one hedged request from the budget of 5 % of requests, or reports false if it is spent. One hedged request
// is always allowed.
func (l *latencies) spend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hedges > l.requests/20 {
		return false
	}
	l.hedges++
	return true
}

// hedgeTimer returns a channel that fires when the requests of the merge should be hedged: at most a tenth of them are in
// flight, and the first of these is slow. The channel is nil if hedging is not allowed or not useful. The caller must
// call stop.
func hedgeTimer[V any](c *Config, s *stages[V]) (when <-chan time.Time, stop func()) {
	stop = func() {}
	if c.Hedge == nil || !c.Hedge() {
		return nil, stop
	}
	late, ok := c.History.latencies.late()
	if !ok {
		return nil, stop
	}
	var first time.Time
	under, all := 0, 0
	for cu := range s.merging() {
		all++
		if !cu.fetching {
			continue
		}
		under++
		if !cu.hedged && (first.IsZero() || cu.since.Before(first)) {
			first = cu.since
		}
	}
	if first.IsZero() || under > max(all/10, 1) {
		return nil, stop
	}
	timer := time.NewTimer(late - time.Since(first))
	return timer.C, func() { timer.Stop() }
}

// hedge sends the slow requests of the merge a second time. The first response counts.
func (r *requests[V]) hedge(s *stages[V]) {
	late, _ := r.history.latencies.late()
	for cu := range s.merging() {
		if cu.fetching && !cu.hedged && time.Since(cu.since) >= late {
			cu.hedged = true // even if the budget is spent, so that it is tried only once
			if r.history.latencies.spend() {
				r.sendAgain(cu)
			}
		}
	}
}

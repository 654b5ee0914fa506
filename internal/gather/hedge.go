package gather

import (
	"slices"
	"sync"
	"time"
)

// latencies remembers how long the last requests took.
type latencies struct {
	mu       sync.Mutex
	took     [64]time.Duration
	requests int // all of them
	hedges   int
}

func (l *latencies) saw(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[l.requests%len(l.took)] = took
	l.requests++
}

// late returns a little more than the 95th percentile, false while too few requests have been answered.
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

// spend takes a hedge out of the budget of one in twenty requests, or the first, and reports false if there is none.
func (l *latencies) spend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hedges > l.requests/20 {
		return false
	}
	l.hedges++
	return true
}

// hedgeTimer returns a channel that says when to send the requests of the merge again: once no more than a tenth are
// under way, and those are late. The caller stops it. The channel is nil if hedging would be no use, or is not allowed.
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

// hedge sends the late requests of the merge again. The first answer counts.
func (r *requests[V]) hedge(s *stages[V]) {
	late, _ := r.history.latencies.late()
	for cu := range s.merging() {
		if cu.fetching && !cu.hedged && time.Since(cu.since) >= late {
			cu.hedged = true // also if the budget is spent: there is no second try
			if r.history.latencies.spend() {
				r.sendAgain(cu)
			}
		}
	}
}

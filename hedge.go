package heatsink

import (
	"slices"
	"sync"
	"time"
)

// tail remembers how long a collection's last requests took.
type tail struct {
	mu       sync.Mutex
	took     [64]time.Duration
	requests int // all of them
	hedges   int
}

func (t *tail) saw(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took[t.requests%len(t.took)] = took
	t.requests++
}

// late returns a little more than the time by which all but one in twenty had been answered, false while too few have been.
func (t *tail) late() (time.Duration, bool) {
	const few = 8
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(t.requests, len(t.took))
	if n < few {
		return 0, false
	}
	took := slices.Sorted(slices.Values(t.took[:n]))
	p95 := took[n*95/100]
	return p95 + p95/8, true
}

// spend takes a hedge out of the budget of one in twenty requests, or the first, and reports false if there is none.
func (t *tail) spend() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hedges > t.requests/20 {
		return false
	}
	t.hedges++
	return true
}

// hedge returns a channel that says when to send requests again: once no more than a tenth are under way, and those are
// late. It never does without Query.Hedge, nor after a throttle. The caller stops it.
func (g *gather) hedge() (when <-chan time.Time, stop func()) {
	stop = func() {}
	if !g.read.query.Hedge || g.read.throttled.Load() {
		return nil, stop
	}
	late, ok := g.read.core.tail.late()
	if !ok {
		return nil, stop
	}
	var first time.Time
	under, all := 0, 0
	for cu := range g.merging() {
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

// again sends the late requests again. Whichever is answered first counts.
func (g *gather) again() {
	late, _ := g.read.core.tail.late()
	for cu := range g.merging() {
		if cu.fetching && !cu.hedged && time.Since(cu.since) >= late {
			cu.hedged = true // or would be: there is no second try
			if g.read.core.tail.spend() {
				g.start(cu)
			}
		}
	}
}

// merging yields the cursors of the merge.
func (g *gather) merging() func(yield func(*cursor) bool) {
	return func(yield func(*cursor) bool) {
		all := [][]*cursor{g.older}
		if len(g.opened) > 0 {
			all = append(all, g.opened[0].cursors)
		}
		for _, cursors := range all {
			for _, cu := range cursors {
				if !yield(cu) {
					return
				}
			}
		}
	}
}

package heatsink

import (
	"slices"
	"time"
)

// tail remembers how long the last requests took.
type tail struct {
	took     [64]time.Duration
	requests int // all of them
	hedges   int
}

func (t *tail) saw(took time.Duration) {
	t.took[t.requests%len(t.took)] = took
	t.requests++
}

// late returns the time by which all but one in twenty had been answered, false while too few have been.
func (t *tail) late() (time.Duration, bool) {
	const few = 8
	n := min(t.requests, len(t.took))
	if n < few {
		return 0, false
	}
	took := slices.Sorted(slices.Values(t.took[:n]))
	return took[n*95/100], true
}

// affordable reports whether one more stays within one request in twenty.
func (t *tail) affordable() bool { return t.hedges <= t.requests/20 }

// hedge returns a channel that says when to send requests again: once no more than a tenth are under way, and those are
// late. It never does without Query.Hedge. The caller stops it.
func (g *gather) hedge() (when <-chan time.Time, stop func()) {
	stop = func() {}
	if !g.read.query.Hedge || !g.tail.affordable() {
		return nil, stop
	}
	late, ok := g.tail.late()
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
	late, _ := g.tail.late()
	for cu := range g.merging() {
		if cu.fetching && !cu.hedged && time.Since(cu.since) >= late && g.tail.affordable() {
			cu.hedged = true
			g.tail.hedges++
			g.start(cu)
		}
	}
}

// merging yields the cursors of the merge.
func (g *gather) merging() func(yield func(*cursor) bool) {
	return func(yield func(*cursor) bool) {
		for _, cursors := range [][]*cursor{g.older, g.opened[0].cursors} {
			for _, cu := range cursors {
				if !yield(cu) {
					return
				}
			}
		}
	}
}

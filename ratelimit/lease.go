package ratelimit

import (
	"context"
	"time"
)

// lease is what a process has taken of a key's limit and not used yet. It is counted already. How much is taken at a
// time doubles while all of it is used before it lapses, from as much as is needed: so at most half of what is counted
// is left unused, and nothing of a key that is checked now and then.
//
// It is for checks that began at the time it was counted at or later, and before it lapses: so a check is counted in the
// window that it began in, however long it waited.
type lease struct {
	left  int
	from  time.Time // when it was counted
	until time.Time // LeaseFor after that
	lapse time.Time // when what it was counted in is over: a fixed window
	size  int       // how much to take next
	under *fetch    // nil if none is under way

	waiting int       // how much is needed by those who wait for one that is under way
	first   time.Time // when the first of them began
}

// fetch is a lease that is being taken. Those who need it as well wait for it.
type fetch struct {
	done chan struct{} // closed when the rest is there
	at   time.Time     // when it counts
	need int
	d    Decision
	err  error
	ours bool // it ended for a reason of the caller's own, which says nothing to others
}

// use takes n of the lease for a check that began at a time, if it has as many and is good for it.
func (l *lease) use(n int, began time.Time) bool {
	if !began.Before(l.until) || !began.Before(l.lapse) {
		l.left, l.size = 0, 0
	}
	if l.left < n || began.Before(l.from) {
		return false
	}
	l.left -= n
	return true
}

// add puts in what was counted at a time. What was left is good for no longer than it was, and all of it for checks only
// that began after all of it was counted.
func (l *lease) add(n int, from, until, lapse time.Time, most int) {
	if l.left > 0 && l.from.After(from) {
		from = l.from
	}
	if l.left > 0 && l.until.Before(until) {
		until = l.until
	}
	if l.left > 0 && l.lapse.Before(lapse) {
		lapse = l.lapse
	}
	l.left, l.from, l.until, l.lapse = l.left+n, from, until, lapse
	l.size = min(max(2*l.size, 2), most)
}

// countAt returns when a fetch counts that a check takes which began at a time: when the first of those began who wait,
// so that it is for them, too, unless this one began too much later for a lease of that time.
func (l *Limiter) countAt(held *lease, began time.Time) time.Time {
	first := held.first
	if held.waiting == 0 || !first.Before(began) ||
		!began.Before(first.Add(l.options.LeaseFor)) || !began.Before(l.algorithm.lapse(first)) {
		return began
	}
	return first
}

// answers reports whether what a fetch was told is the answer for a check as well that began at a time and needs n. A
// refusal is one if there was no room yet when the check began.
func (f *fetch) answers(n int, began time.Time) bool {
	switch {
	case f.ours:
		return false
	case f.d.Failed:
		return true
	}
	wait := f.d.RetryAfter
	return !f.d.Allowed && n >= f.need && (wait == 0 || began.Before(f.at.Add(wait)))
}

// leased is AllowN with a lease.
func (l *Limiter) leased(ctx context.Context, key string, n int) (Decision, error) {
	began := time.Now()
	for {
		e := l.memory.of(key)
		e.mu.Lock()
		held := &e.lease
		switch under := held.under; {
		case held.use(n, began):
			left := held.left
			e.mu.Unlock()
			return Decision{Allowed: true, Limit: l.limit(), Remaining: left + e.remaining(l.shares, began)}, nil
		case held.left > 0 && began.Before(held.from):
			// Others have gone on to a time that this check, which has waited, is not of: it asks for itself.
			e.mu.Unlock()
			c := &check{limiter: l, key: key, entry: e, now: began, need: n, want: n}
			_, d, err := c.run(ctx)
			return d, err
		case under != nil:
			if held.waiting == 0 || began.Before(held.first) {
				held.first = began
			}
			held.waiting += n
			e.mu.Unlock()
			if !e.await(ctx, under, n) {
				return l.failed(ctx, ctx.Err())
			}
			if under.answers(n, began) {
				return under.d, under.err
			}
		default:
			f := &fetch{done: make(chan struct{}), at: l.countAt(held, began), need: n}
			want := max(n+held.waiting, held.size)
			held.under = f
			e.mu.Unlock()
			return l.fetch(ctx, key, e, f, want)
		}
	}
}

// await waits for a fetch, and reports false if ctx ended first.
func (e *entry) await(ctx context.Context, under *fetch, n int) bool {
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.lease.waiting -= n
	}()
	select {
	case <-under.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// fetch takes a lease: n for the caller, and the rest for whoever comes next.
func (l *Limiter) fetch(ctx context.Context, key string, e *entry, f *fetch, want int) (Decision, error) {
	if l.options.Algorithm == SlidingLog {
		want = min(want, maxLogCost)
	}
	c := &check{limiter: l, key: key, entry: e, now: f.at, need: f.need, want: want}
	defer func() {
		e.mu.Lock()
		e.lease.under = nil
		e.mu.Unlock()
		close(f.done)
	}()
	granted, d, err := c.run(ctx)
	f.d, f.err = d, err
	if cause := context.Cause(ctx); d.Failed && cause != nil && cause != errTimeout {
		f.ours = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if granted > 0 {
		e.lease.add(granted-f.need, f.at, f.at.Add(l.options.LeaseFor), l.algorithm.lapse(f.at), l.options.Lease)
		d.Remaining += e.lease.left
	}
	return d, err
}

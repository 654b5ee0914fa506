package ratelimit

import (
	"context"
	"time"
)

// lease is what a process has taken of a key's limit and not used yet. It is counted already. How much is taken at a
// time doubles while all of it is used before it lapses, from as much as is needed: so at most half of what is counted
// is left unused, and nothing of a key that is checked now and then.
type lease struct {
	left  int
	until time.Time // LeaseFor after it was counted
	lapse time.Time // when what it was counted in is over: a fixed window
	size  int       // how much to take next
	under *fetch    // nil if none is under way

	waiting int // how much is needed by those who wait for one that is under way
}

// fetch is a lease that is being taken. Those who need it as well wait for it.
type fetch struct {
	done chan struct{} // closed when the rest is there
	need int
	d    Decision
	err  error
	ours bool // it ended for a reason of the caller's own, which says nothing to others
}

// use takes n of the lease if it has as many and is still good.
func (l *lease) use(n int, now time.Time) bool {
	if !now.Before(l.until) || !now.Before(l.lapse) {
		l.left, l.size = 0, 0
	}
	if l.left < n {
		return false
	}
	l.left -= n
	return true
}

// add puts in what was taken at a time. What was left is good for no longer than it was.
func (l *lease) add(n int, until, lapse time.Time, most int) {
	if l.left > 0 && l.until.Before(until) {
		until = l.until
	}
	if l.left > 0 && l.lapse.Before(lapse) {
		lapse = l.lapse
	}
	l.left, l.until, l.lapse = l.left+n, until, lapse
	l.size = min(max(2*l.size, 2), most)
}

// leased is AllowN with a lease.
func (l *Limiter) leased(ctx context.Context, key string, n int) (Decision, error) {
	for {
		e := l.memory.of(key)
		e.mu.Lock()
		now := time.Now()
		if e.lease.use(n, now) {
			left := e.lease.left
			e.mu.Unlock()
			return Decision{Allowed: true, Limit: l.limit(), Remaining: left + e.remaining(l.shares, now)}, nil
		}
		if under := e.lease.under; under != nil {
			e.lease.waiting += n
			e.mu.Unlock()
			if !e.await(ctx, under, n) {
				return l.failed(ctx, ctx.Err())
			}
			if !under.ours && (under.d.Failed || !under.d.Allowed && n >= under.need) {
				return under.d, under.err
			}
			continue
		}
		f := &fetch{done: make(chan struct{}), need: n}
		want := max(n+e.lease.waiting, e.lease.size)
		e.lease.under = f
		e.mu.Unlock()
		return l.fetch(ctx, key, e, f, want)
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
	c := &check{limiter: l, key: key, entry: e, now: time.Now(), need: f.need, want: want}
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
		e.lease.add(granted-f.need, c.now.Add(l.options.LeaseFor), l.algorithm.lapse(c.now), l.options.Lease)
		d.Remaining += e.lease.left
	}
	return d, err
}

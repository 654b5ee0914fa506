package counter

import (
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink"
)

// maxTries is how often a reading starts over, because something was taken away meanwhile, before it gives up.
const maxTries = 10

// Reading is the value of a counter at one moment.
type Reading struct {
	// Lo and Hi are the lowest and the highest possible value. They are equal if Exact is set.
	Lo, Hi int64
	Exact  bool
}

// Total returns the value of a counter. The value includes every Add that was acknowledged before the call, and no Add
// that began after it returned. A counter without any Add is 0.
//
// If all Adds are of 1 and there is no Origin, the value is that of a single moment. Otherwise it may be a value that the counter never had,
// because Total may include the second of two Adds and not the first. Use Read to avoid that.
//
// Total costs one strongly consistent Query per shard and one GetItem. With four shards that is 5 read units, plus one
// for about every 40 processes that add. With an Origin it costs one more GetItem of that item.
func (c *Counter) Total(ctx context.Context, key string) (int64, error) {
	g, err := c.read(c.metered(ctx), c.begin(key), key)
	if err != nil {
		return 0, err
	}
	return c.int64(key, g.total().value())
}

// Cached returns a value of Total that is at most Options.Cache.TTL old, one minute by default. It usually comes from
// memory. Use it for popular counters: all processes together can read the items of a counter only 3,000 times per
// second.
func (c *Counter) Cached(ctx context.Context, key string) (int64, error) {
	if err := c.ready(key); err != nil {
		return 0, err
	}
	return c.cache.Get(ctx, key, func(ctx context.Context) (int64, error) { return c.Total(ctx, key) })
}

// Read returns the value of a counter at one moment between the call and its return. If the counter changes too fast
// for that, Read returns the bounds of the value.
//
// If all Adds ever were of 1 and there is no Origin, Read costs as much as Total. Otherwise it costs twice as much if the counter does not
// change meanwhile. If it does change, Read costs four times as much, plus a transaction of two read units per slot if
// there are fewer than 100 slots.
func (c *Counter) Read(ctx context.Context, key string) (Reading, error) {
	ctx = c.metered(ctx)
	if err := c.ready(key); err != nil {
		return Reading{}, err
	}
	p := snapshot{reading: c.begin(key)}
	for {
		r, more := p.next()
		if !more {
			break
		}
		a := c.store.do(ctx, key, r)
		if a.err != nil && r.operation != readAtOnce {
			return Reading{}, readError(key, a.err)
		}
		if p = p.step(r, a); p.reading.tries > maxTries {
			return Reading{}, readError(key, ErrBusy)
		}
	}
	c.remember(key, p.reading.base)
	lo, err := c.int64(key, p.lo)
	if err != nil {
		return Reading{}, err
	}
	hi, err := c.int64(key, p.hi)
	if err != nil {
		return Reading{}, err
	}
	return Reading{Lo: lo, Hi: hi, Exact: p.exact}, nil
}

// read ends a reading of a counter.
func (c *Counter) read(ctx context.Context, g reading, key string) (reading, error) {
	if err := c.ready(key); err != nil {
		return reading{}, err
	}
	for {
		r, more := g.next()
		if !more {
			c.remember(key, g.base)
			return g, nil
		}
		a := c.store.do(ctx, key, r)
		if a.err != nil {
			return reading{}, readError(key, a.err)
		}
		if g = g.step(r, a); g.tries > maxTries {
			return reading{}, readError(key, ErrBusy)
		}
	}
}

// view is what a process remembers of a base: it spares a reading its first request.
type view struct {
	version int64
	width   int
}

// begin returns a reading with what is remembered of the counter, however long ago.
func (c *Counter) begin(key string) reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, known := c.views[key]
	return reading{shards: c.options.Shards, version: v.version, width: v.width, known: known, beside: c.options.Origin != nil}
}

// remember keeps what is needed of a base, for as many counters as there may be entries.
func (c *Counter) remember(key string, b base) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.views[key]; !known && len(c.views) >= c.options.MaxCounters {
		for other := range c.views { // any
			delete(c.views, other)
			break
		}
	}
	c.views[key] = view{b.version, b.width}
}

// ready reports what keeps an operation from being sent.
func (c *Counter) ready(key string) error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return readError(key, ErrClosed)
	}
	return c.store.check(key)
}

// metered returns a context whose requests are part of Cost.
func (c *Counter) metered(ctx context.Context) context.Context {
	return heatsink.WithMeter(ctx, &c.meter)
}

func (c *Counter) int64(key string, n wide) (int64, error) {
	short, fits := n.int64()
	if !fits {
		return 0, readError(key, fmt.Errorf("%w: %v", ErrOverflow, n))
	}
	return short, nil
}

func readError(key string, err error) error { return fmt.Errorf("counter %q: %w", key, err) }

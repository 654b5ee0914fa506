// Package cache remembers what is expensive to read, such as a count over all shards of a key. Simultaneous callers share
// one load, and values live for a short time.
package cache

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrClosed is returned by a Cache that was closed, also to those who were waiting at that moment.
var ErrClosed = errors.New("cache is closed")

// ErrStuck is returned by a Cache instead of starting a load while 1,000 others still run whose contexts have ended.
// Loads must return when their context ends.
var ErrStuck = errors.New("cache is stuck: 1,000 loads ignore that their contexts have ended")

const (
	// maxUnattended is how many loads that nobody waits for go on at most.
	maxUnattended = 1000

	// maxStuck is how many loads may ignore that they were given up before no others are started.
	maxStuck = 1000
)

// Options configure a Cache. Fields that are zero have the defaults given here; negative ones mean none.
type Options struct {
	// TTL is how long a value is used, counted from the moment its load returned. Default: 60 seconds. None: values are
	// not kept, but simultaneous loads are still shared.
	TTL time.Duration

	// Stale is for how much longer than TTL an old value may be returned while one load in the background replaces it.
	// Default: none: whoever finds an old value waits for a new one.
	Stale time.Duration

	// LoadTimeout is how long a load may take, whether or not anybody waits for it. Then its context ends. The error of a
	// load that fails after that wraps context.DeadlineExceeded. Default: 5 minutes. None: a load may take any time.
	LoadTimeout time.Duration

	// Entries is how many values are kept. When there are more, the least recently used one goes. Default: 1,000.
	// None: as with TTL.
	Entries int

	// Jitter is the fraction of the TTL, up to 1, by which the life of a value is cut at random, so that values which
	// were loaded together do not expire together: 0.1 is a life of 0.9 to 1 TTL. Default: none.
	Jitter float64
}

func (o Options) withDefaults() Options {
	const forever = math.MaxInt64 / 4 // 73 years, so that sums do not overflow
	return Options{
		TTL:     min(max(cmp.Or(o.TTL, time.Minute), 0), forever),
		Stale:   min(max(o.Stale, 0), forever),
		Entries: max(cmp.Or(o.Entries, 1000), 0),
		Jitter:  min(max(o.Jitter, 0), 1),

		LoadTimeout: min(max(cmp.Or(o.LoadTimeout, 5*time.Minute), 0), forever),
	}
}

// Cache remembers what is expensive to read, such as a count over all shards of a key, for a short time and for as many
// callers as there are. Its methods may be called concurrently.
//
// At most one load per key runs at a time, in a goroutine of its own; those who need its result wait for it together.
// Its context has the values of the context of the call that asked for it, but not its deadline: the load goes on when
// its callers have left, so that impatient callers find its value later. The context ends after
// Options.LoadTimeout, and by Close.
//
// A load whose context has ended is still the key's only one until it returns. Those who come meanwhile wait for it to
// return, and then for the next one. So a load that never returns blocks its key: callers get the error of their own
// context.
//
// At most 1,000 loads go on with nobody waiting, for all keys together. If there are more, the context of the one that
// was left first ends. If 1,000 such loads do not return, no other is started: see ErrStuck.
//
// A load's error goes to everybody who waits for it, and is not kept. So does a panic: it continues in their goroutines.
// Of a load that nobody waits for nobody hears; if it replaces an old value and fails, the old value is used until that
// is too old.
//
// The loads of one key must be interchangeable and must not ask the cache for that key. Callers share the values and must
// not change them.
type Cache[V any] struct {
	options Options   // with defaults
	epoch   time.Time // what times in here are counted from: cheaper to read and to compare

	mu      sync.Mutex
	entries map[string]*entry[V]
	recent  entry[V]              // head of the ring of entries: next is the most recently used, prev the least
	flights map[string]*flight[V] // the load under way for a key
	alone   list.List             // of flights under way that nobody waits for: the front was left first
	stuck   int                   // loads that were given up and have not returned
	closed  bool
	running sync.WaitGroup // every goroutine of the cache; added to under mu and only while open
}

// New returns an empty cache.
func New[V any](options Options) *Cache[V] {
	c := &Cache[V]{
		options: options.withDefaults(),
		epoch:   time.Now(),
		entries: map[string]*entry[V]{},
		flights: map[string]*flight[V]{},
	}
	c.recent.prev, c.recent.next = &c.recent, &c.recent
	return c
}

// Get returns the value that is kept for key, or else calls load and keeps what it returns. Calls that find nothing
// while a load for the key is under way share its result. If ctx ends first, Get returns its error.
func (c *Cache[V]) Get(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	c.mu.Lock()
	if e := c.entries[key]; e != nil {
		old := time.Since(c.epoch) - e.expires
		if old < c.options.Stale {
			e.unlink()
			e.linkAfter(&c.recent)
			value := e.value
			if old >= 0 && c.flights[key] == nil && c.alone.Len() < maxUnattended {
				c.refresh(ctx, key, load)
			}
			c.mu.Unlock()
			return value, nil
		}
		c.drop(e)
	}
	f := c.flights[key]
	if f == nil || f.forgotten || f.ctx.Err() != nil {
		return c.loadNext(ctx, key, load)
	}
	c.join(f)
	c.mu.Unlock()
	return c.wait(ctx, f)
}

// GetFresh returns a value whose load started after the call did, so that it shows every write that was acknowledged
// before the call, provided that load reads consistently. The value is kept for Get.
//
// If a load for the key is under way, the next one starts when it ends, for all who called GetFresh meanwhile.
func (c *Cache[V]) GetFresh(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	c.mu.Lock()
	return c.loadNext(ctx, key, load)
}

// Forget drops the value that is kept for key. Loads that are under way still answer those who wait for them, but are not
// kept, and nobody else gets to see their result: calls from now on wait for the next load.
func (c *Cache[V]) Forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	if f := c.flights[key]; f != nil {
		f.forgotten = true
	}
}

// Close cancels all loads, those in the background included, and returns when they have ended. From then on, the cache
// returns ErrClosed. It must not be called from a load.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	c.closed = true
	clear(c.entries)
	c.recent.prev, c.recent.next = &c.recent, &c.recent
	for _, f := range c.flights {
		f.forgotten = true
		f.cancel(ErrClosed)
	}
	c.mu.Unlock()
	c.running.Wait()
}

// loadNext waits for a load that has not started yet. It unlocks the cache.
func (c *Cache[V]) loadNext(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	f, err := c.next(ctx, key, load)
	c.mu.Unlock()
	if err != nil {
		var none V
		return none, err
	}
	return c.wait(ctx, f)
}

// next returns the flight to wait for: a new one, or the one that follows the one under way.
func (c *Cache[V]) next(ctx context.Context, key string, load func(context.Context) (V, error)) (*flight[V], error) {
	if c.closed {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	under := c.flights[key]
	switch {
	case under == nil && c.stuck >= maxStuck:
		return nil, fmt.Errorf("load %q: %w", key, ErrStuck)
	case under == nil:
		f := newFlight(ctx, key, load)
		f.waiting = 1
		c.start(f)
		return f, nil
	case under.next == nil:
		under.next = newFlight(ctx, key, load)
	}
	under.next.waiting++
	return under.next, nil
}

// refresh starts a load that nobody waits for.
func (c *Cache[V]) refresh(ctx context.Context, key string, load func(context.Context) (V, error)) {
	f := newFlight(ctx, key, load)
	c.start(f)
	f.alone = c.alone.PushBack(f)
}

// join counts a caller in for a flight that is under way.
func (c *Cache[V]) join(f *flight[V]) {
	f.waiting++
	c.attend(f)
}

// attend takes a flight out of those that nobody waits for.
func (c *Cache[V]) attend(f *flight[V]) {
	if f.alone != nil {
		c.alone.Remove(f.alone)
		f.alone = nil
	}
}

// wait waits for a flight that the caller was counted in for.
func (c *Cache[V]) wait(ctx context.Context, f *flight[V]) (V, error) {
	select {
	case <-f.landed:
		if f.panicked != nil {
			panic(f.panicked)
		}
		return f.value, f.err
	case <-ctx.Done():
		c.leave(f)
		var none V
		return none, ctx.Err()
	}
}

// leave ends one's waiting. A flight that nobody waits for goes on alone if it is under way, and never starts if not.
func (c *Cache[V]) leave(f *flight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting--
	if f.waiting > 0 {
		return
	}
	switch under := c.flights[f.key]; {
	case under == f:
		f.alone = c.alone.PushBack(f)
		if c.alone.Len() > maxUnattended {
			c.giveUp(c.alone.Front().Value.(*flight[V]))
		}
	case under != nil && under.next == f:
		under.next = nil
	}
}

// giveUp ends the context of a load that nobody waits for. Until it returns it is the only one of its key.
func (c *Cache[V]) giveUp(f *flight[V]) {
	c.attend(f)
	f.cancel(errLoadGivenUp)
	f.givenUp = true
	c.stuck++
}

func (c *Cache[V]) start(f *flight[V]) {
	c.flights[f.key] = f
	f.begin(c.options.LoadTimeout)
	c.running.Go(func() {
		defer c.land(f) // deferred: load may panic or end the goroutine
		f.fly()
	})
}

// land hands out the result of a flight and keeps it, unless it was forgotten. Since flights for one key follow each
// other, what is kept is never replaced by something older.
func (c *Cache[V]) land(f *flight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	timeout, timedOut := context.Cause(f.ctx).(loadTimeout)
	f.cancel(nil) // whatever load has left behind
	f.end()
	c.attend(f)
	if f.givenUp {
		c.stuck--
	}
	if f.err == nil && !f.forgotten {
		c.keep(f.key, f.value)
	}
	delete(c.flights, f.key)
	switch {
	case f.err == nil:
	case c.closed:
		f.err = ErrClosed
	case timedOut:
		f.err = timeout.explain(f.key, f.err)
	}
	close(f.landed)
	c.follow(f.next)
}

// follow starts the flight that was waiting for another to land, if there is one.
func (c *Cache[V]) follow(f *flight[V]) {
	switch {
	case f == nil:
	case c.closed:
		f.err = ErrClosed
		close(f.landed)
	default:
		c.start(f)
	}
}

// keep makes value the one for key, and the most recently used.
func (c *Cache[V]) keep(key string, value V) {
	if c.options.TTL == 0 || c.options.Entries == 0 {
		return
	}
	if e := c.entries[key]; e != nil {
		c.drop(e)
	}
	if len(c.entries) == c.options.Entries {
		c.drop(c.recent.prev)
	}
	cut := time.Duration(c.options.Jitter * rand.Float64() * float64(c.options.TTL))
	e := &entry[V]{key: key, value: value, expires: time.Since(c.epoch) + c.options.TTL - cut}
	e.linkAfter(&c.recent)
	c.entries[key] = e
}

func (c *Cache[V]) drop(e *entry[V]) {
	e.unlink()
	delete(c.entries, e.key)
}

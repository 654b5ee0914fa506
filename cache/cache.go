// Package cache caches values that are expensive to read, such as a count over all shards of a key. Concurrent callers
// share one load, and values expire after a short time.
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

// ErrClosed is returned by a closed Cache, also to callers that were waiting when it was closed.
var ErrClosed = errors.New("cache is closed")

// ErrStuck is returned instead of starting a load while 1,000 other loads ignore that their contexts have ended. A load
// must return when its context ends.
var ErrStuck = errors.New("cache is stuck: 1,000 loads have not returned although their contexts have ended")

const (
	// maxUnattended is the largest number of loads that run while nobody waits for them.
	maxUnattended = 1000

	// maxStuck is the number of cancelled loads that have not returned at which no other load starts.
	maxStuck = 1000
)

// Options configure a Cache. A field at zero has its default. A negative value means none.
type Options struct {
	// TTL is how long a value is used after its load has returned. Default: 60 seconds. None: values are not kept, but
	// concurrent callers still share a load.
	TTL time.Duration

	// Stale is how much longer than TTL an old value may be returned while one background load replaces it. Default:
	// none: callers wait for a new value.
	Stale time.Duration

	// LoadTimeout is the longest time that a load may take, even if nobody waits for it. Then its context ends. If the
	// load fails after that, its error wraps context.DeadlineExceeded. Default: 5 minutes. None: no timeout.
	LoadTimeout time.Duration

	// Entries is the largest number of values to keep. Beyond it, the least recently used value is evicted. Default:
	// 1,000. None: values are not kept.
	Entries int

	// Jitter is the largest fraction of the TTL, up to 1, that is randomly cut from a value's life. With it, values
	// that were loaded together do not expire together. With 0.1, a value lives for 0.9 to 1 TTL. Default: none.
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

// Cache caches values that are expensive to read, such as a count over all shards of a key. Its methods may be called
// concurrently.
//
// At most one load per key runs at a time, in its own goroutine, and all callers that need its result wait for it. The
// context of a load has the values of the context of the call that started it, but not its deadline. The load continues
// if its callers leave, and later callers find its value. Its context ends after Options.LoadTimeout and on Close.
//
// A load whose context has ended stays the only load of its key until it returns. Callers that arrive meanwhile wait
// for it to return, and then for the next load. A load that never returns therefore blocks its key, and callers get the
// error of their own context.
//
// At most 1,000 loads, over all keys, run while nobody waits for them. Beyond that, the cache cancels the one that has
// been abandoned the longest. If 1,000 cancelled loads have not returned, the cache starts no other load and returns
// ErrStuck.
//
// The error of a load is returned to all callers that wait for it, and is not cached. A panic of a load continues in
// the goroutines of those callers. If nobody waits, the error is dropped. If a background load fails to replace an old
// value, the old value is used until Stale is over.
//
// All loads of one key must be interchangeable, and must not call the cache for that key. Callers share the values and
// must not modify them.
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

// Get returns the cached value of key. If there is none, Get calls load and caches its result. Calls that find no value
// while a load of the key runs share its result. If ctx ends first, Get returns its error.
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

// GetFresh returns a value whose load started after the call. If load reads with strong consistency, the value reflects
// every write that was acknowledged before the call. The value is cached for Get.
//
// If a load of the key is running, the next one starts when it ends, and all calls of GetFresh share it.
func (c *Cache[V]) GetFresh(ctx context.Context, key string, load func(context.Context) (V, error)) (V, error) {
	c.mu.Lock()
	return c.loadNext(ctx, key, load)
}

// Forget drops the cached value of key. Running loads still answer the callers that wait for them, but their results
// are not cached. Later calls wait for a new load.
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

// Close cancels all loads, including background loads, and returns when they have ended. Later calls return ErrClosed.
// A load must not call Close.
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

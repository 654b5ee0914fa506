package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

// ErrCacheClosed is returned by a Cache that was closed, also to those who were waiting at that moment.
var ErrCacheClosed = errors.New("cache is closed")

// errLoadExited is returned when load ended its goroutine, as t.FailNow does, and so has no result.
var errLoadExited = errors.New("cache: load called runtime.Goexit")

// CacheOptions configure a Cache. Fields that are zero have the defaults given here; negative ones mean none.
type CacheOptions struct {
	// TTL is how long a value is used, counted from the moment its load returned. Default: 60 seconds. None: values are
	// not kept, but simultaneous loads are still shared.
	TTL time.Duration

	// Stale is for how much longer than TTL an old value may be returned while one load in the background, which may
	// take TTL and Stale together, replaces it. Default: none: whoever finds an old value waits for a new one.
	Stale time.Duration

	// Entries is how many values are kept. When there are more, the least recently used one goes. Default: 1,000.
	// None: as with TTL.
	Entries int

	// Jitter is the fraction of the TTL, up to 1, by which the life of a value is cut at random, so that values which
	// were loaded together do not expire together: 0.1 is a life of 0.9 to 1 TTL. Default: none.
	Jitter float64
}

func (o CacheOptions) withDefaults() CacheOptions {
	const forever = math.MaxInt64 / 4 // 73 years, so that sums do not overflow
	return CacheOptions{
		TTL:     min(max(cmp.Or(o.TTL, time.Minute), 0), forever),
		Stale:   min(max(o.Stale, 0), forever),
		Entries: max(cmp.Or(o.Entries, 1000), 0),
		Jitter:  min(max(o.Jitter, 0), 1),
	}
}

// Cache remembers what is expensive to read, such as a count over all shards of a key, for a short time and for as many
// callers as there are. Its methods may be called concurrently.
//
// At most one load per key runs at a time, in a goroutine of its own; those who need its result wait for it together.
// Its context has the values of the context of the call that asked for it, but not its deadline; it is cancelled when
// nobody waits any more, and by Close. Such a load no longer counts: the next one does not wait for it to end.
//
// A load's error goes to everybody who waited for it, and is not kept. So does a panic: it continues in their goroutines.
// Of a load in the background nobody hears; if it fails, the old value is used until that is too old.
//
// The loads of one key must be interchangeable and must not ask the cache for that key. Callers share the values and must
// not change them.
type Cache[V any] struct {
	options CacheOptions // with defaults
	epoch   time.Time    // what times in here are counted from: cheaper to read and to compare

	mu      sync.Mutex
	entries map[string]*cacheEntry[V]
	recent  cacheEntry[V]              // head of the ring of entries: next is the most recently used, prev the least
	flights map[string]*cacheFlight[V] // the load under way for a key
	closed  bool
	running sync.WaitGroup // every goroutine of the cache; added to under mu and only while open
}

// NewCache returns an empty cache.
func NewCache[V any](options CacheOptions) *Cache[V] {
	c := &Cache[V]{
		options: options.withDefaults(),
		epoch:   time.Now(),
		entries: map[string]*cacheEntry[V]{},
		flights: map[string]*cacheFlight[V]{},
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
			if old >= 0 && c.flights[key] == nil {
				c.refresh(ctx, key, load)
			}
			c.mu.Unlock()
			return value, nil
		}
		c.drop(e)
	}
	f := c.flights[key]
	if f == nil || f.forgotten {
		return c.loadNext(ctx, key, load)
	}
	f.waiting++
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
// returns ErrCacheClosed. It must not be called from a load.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	c.closed = true
	clear(c.entries)
	c.recent.prev, c.recent.next = &c.recent, &c.recent
	for _, f := range c.flights {
		f.forgotten = true
		f.cancel()
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
func (c *Cache[V]) next(ctx context.Context, key string, load func(context.Context) (V, error)) (*cacheFlight[V], error) {
	if c.closed {
		return nil, ErrCacheClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	under := c.flights[key]
	if under == nil {
		f := newCacheFlight(ctx, key, load)
		c.start(f)
		return f, nil
	}
	if under.next == nil {
		under.next = newCacheFlight(ctx, key, load)
	} else {
		under.next.waiting++
	}
	return under.next, nil
}

// refresh starts a load that the cache itself waits for, but not forever: a load that hangs must not be the last one.
func (c *Cache[V]) refresh(ctx context.Context, key string, load func(context.Context) (V, error)) {
	f := newCacheFlight(ctx, key, load)
	c.start(f)
	c.running.Go(func() {
		patience := time.NewTimer(c.options.TTL + c.options.Stale)
		defer patience.Stop()
		select {
		case <-f.landed:
		case <-patience.C:
			c.leave(f)
		}
	})
}

// wait waits for a flight that the caller was counted in for.
func (c *Cache[V]) wait(ctx context.Context, f *cacheFlight[V]) (V, error) {
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

// leave ends one's waiting. A flight that nobody waits for is given up.
func (c *Cache[V]) leave(f *cacheFlight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting--
	if f.waiting > 0 {
		return
	}
	f.cancel()
	switch under := c.flights[f.key]; {
	case under == f:
		c.startNext(f)
	case under != nil && under.next == f:
		under.next = nil
	}
}

func (c *Cache[V]) start(f *cacheFlight[V]) {
	c.flights[f.key] = f
	c.running.Go(func() {
		defer c.land(f) // deferred: load may panic or end the goroutine
		f.fly()
	})
}

// land hands out the result of a flight and keeps it, unless it was given up or forgotten. Since flights for one key
// follow each other, what is kept is never replaced by something older.
func (c *Cache[V]) land(f *cacheFlight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.cancel() // whatever load has left behind
	if c.flights[f.key] == f {
		if f.err == nil && !f.forgotten {
			c.keep(f.key, f.value)
		}
		c.startNext(f)
	}
	if c.closed && f.err != nil {
		f.err = ErrCacheClosed
	}
	close(f.landed)
}

// startNext starts what follows the flight that was under way, if anything.
func (c *Cache[V]) startNext(f *cacheFlight[V]) {
	delete(c.flights, f.key)
	switch {
	case f.next == nil:
	case c.closed:
		f.next.cancel()
		f.next.err = ErrCacheClosed
		close(f.next.landed)
	default:
		c.start(f.next)
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
	e := &cacheEntry[V]{key: key, value: value, expires: time.Since(c.epoch) + c.options.TTL - cut}
	e.linkAfter(&c.recent)
	c.entries[key] = e
}

func (c *Cache[V]) drop(e *cacheEntry[V]) {
	e.unlink()
	delete(c.entries, e.key)
}

// A cacheEntry is a value and its place in the ring.
type cacheEntry[V any] struct {
	key        string
	value      V
	expires    time.Duration // since the cache's epoch
	prev, next *cacheEntry[V]
}

func (e *cacheEntry[V]) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}

func (e *cacheEntry[V]) linkAfter(other *cacheEntry[V]) {
	e.prev, e.next = other, other.next
	e.prev.next, e.next.prev = e, e
}

// A cacheFlight is a load that callers wait for together, maybe before it has started. The cache's lock guards what
// changes; the result may be read once landed is closed.
type cacheFlight[V any] struct {
	key       string
	run       func() (V, error) // load, with its context
	cancel    context.CancelFunc
	waiting   int
	forgotten bool
	next      *cacheFlight[V] // starts when this one has landed or is given up

	landed   chan struct{}
	value    V
	err      error
	panicked *loadPanic
}

// newCacheFlight returns a flight that one caller waits for.
func newCacheFlight[V any](ctx context.Context, key string, load func(context.Context) (V, error)) *cacheFlight[V] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &cacheFlight[V]{
		key:     key,
		run:     func() (V, error) { return load(ctx) },
		cancel:  cancel,
		waiting: 1,
		landed:  make(chan struct{}),
	}
}

// fly runs the load and notes how it ended.
func (f *cacheFlight[V]) fly() {
	f.err = errLoadExited // unless it returns
	defer func() {
		if value := recover(); value != nil {
			f.panicked = &loadPanic{value, debug.Stack()}
		}
	}()
	f.value, f.err = f.run()
}

// A loadPanic carries a panic from the goroutine of a load to the goroutines that wait for it.
type loadPanic struct {
	value any
	stack []byte
}

func (p *loadPanic) Error() string { return fmt.Sprintf("cache: load: %v\n\n%s", p.value, p.stack) }

func (p *loadPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

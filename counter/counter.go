package counter

import (
	"container/list"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
)

// Client is the part of *dynamodb.Client that counters use.
type Client interface {
	heatsink.Client
	TransactGetItems(context.Context, *dynamodb.TransactGetItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Counter holds any number of counters in one table, each with its own key. Its methods may be called concurrently.
// Open one Counter per process and table, so that Adds to the same key are stored together.
type Counter struct {
	options Options // with defaults
	store   *store
	sender  *store // for flushers: it repeats nothing, as they do that at their own pace, and its reads may be late
	cache   *cache.Cache[int64]
	meter   heatsink.Meter

	ctx     context.Context // ends when nothing may be sent any more
	cancel  context.CancelFunc
	gate    chan struct{}  // has something in it for every flusher that sends
	running sync.WaitGroup // every goroutine; added to under mu and only while open

	mu      sync.Mutex
	closed  bool
	janitor bool // it was started
	entries map[string]*entry
	recent  *list.List // of entries: the front is the one used last
	leaving int        // entries whose slots are being folded
	room    chan struct{}
	batches int64 // the number of new ones: how many Flushes there were
	lost    int64 // Adds that were acknowledged in advance and are lost
	views   map[string]view
}

// Open returns the counters in a table. It does no I/O. Call Close to store what is not stored yet.
func Open(client Client, options Options) (*Counter, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", heatsink.ErrOptions)
	}
	return newCounter(client, options)
}

// newCounter is Open for options that have their defaults and are valid.
func newCounter(client Client, options Options) (*Counter, error) {
	s, err := newStore(client, options)
	if err != nil {
		return nil, err
	}
	once := options
	once.Retry.Attempts = 1
	sender, err := newStore(client, once)
	if err != nil {
		return nil, err
	}
	sender.weak = true
	c := &Counter{
		options: options, store: s, sender: sender,
		cache:   cache.New[int64](options.Cache),
		gate:    make(chan struct{}, options.MaxConcurrency),
		entries: map[string]*entry{}, recent: list.New(), room: make(chan struct{}), views: map[string]view{},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Add adds delta, which may be negative, to the counter with this key. It returns when the sum is stored. A counter
// need not be created first.
//
// If Add returns nil, delta is counted once. Throttled, repeated or late requests do not change that, and neither does
// a crash of this process. All Adds to a key that wait at the same time are stored with one request. Call Add from
// as many goroutines as there are events.
//
// Otherwise the error is an AddError. It says whether delta may be counted nevertheless; errors.Is with ErrUncertain
// tells the same. That is possible only if ctx or the counter ended while the request was being sent. If they end
// earlier, Add takes delta back.
func (c *Counter) Add(ctx context.Context, key string, delta int64) error {
	b, added, err := c.enqueue(ctx, key, delta, false)
	if err != nil {
		return &AddError{Key: key, Delta: delta, Err: err}
	}
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		if left, uncertain := c.leave(b, added); left {
			return &AddError{Key: key, Delta: delta, Uncertain: uncertain, Err: context.Cause(ctx)}
		}
	}
	if b.err != nil {
		return &AddError{Key: key, Delta: delta, Uncertain: b.uncertain, Err: b.err}
	}
	return nil
}

// AddAsync is Add without waiting: it returns when delta is in memory. If the process is killed, everything that was
// added since the last flush is lost. That is usually Options.Interval plus one request, and longer while DynamoDB
// throttles or does not answer. Unflushed returns how many Adds are not stored, Flush waits until they are, and Close
// stores them.
//
// The error is an AddError and never uncertain: delta was not added.
func (c *Counter) AddAsync(key string, delta int64) error {
	if _, _, err := c.enqueue(context.Background(), key, delta, true); err != nil {
		return &AddError{Key: key, Delta: delta, Err: err}
	}
	return nil
}

// Unflushed returns the number of AddAsync calls that are not known to be stored.
func (c *Counter) Unflushed() (adds int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		adds += e.async()
	}
	return adds
}

// Cost returns the cost of all requests of this Counter so far, including background requests. Use heatsink.WithMeter
// for the cost of one operation. A flush is charged to the first of the Adds that it stores.
func (c *Counter) Cost() heatsink.Cost { return c.meter.Cost() }

// enqueue puts an Add into the queue of its counter. The batch is nil if there is nothing to wait for.
func (c *Counter) enqueue(ctx context.Context, key string, delta int64, async bool) (*batch, amount, error) {
	if err := ctx.Err(); err != nil {
		return nil, amount{}, context.Cause(ctx)
	}
	added, ok := amountOf(delta)
	if !ok {
		return nil, amount{}, ErrOverflow
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, err := c.entry(ctx, key, async)
	if err != nil || delta == 0 {
		return nil, amount{}, err
	}
	if !e.fits(added) {
		return nil, amount{}, ErrOverflow
	}
	b := e.add(ctx, c.batches, added, levelOf(delta))
	if async {
		b.async, _ = b.async.plus(added)
	} else {
		b.waiting++
	}
	if !e.flusher {
		e.flusher = true
		c.running.Go(func() { c.flush(e) })
	}
	return b, added, nil
}

// leave ends the waiting of an Add whose context is over. It reports false if the batch has ended meanwhile; else the
// Add is taken back, unless that is too late.
func (c *Counter) leave(b *batch, added amount) (left, uncertain bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.ended {
		return false, false
	}
	b.waiting--
	if !b.sent {
		b.amount = b.amount.minus(added)
	}
	if !b.wanted() {
		b.end(nil, false) // for Flush, which has nothing to wait for any more
	}
	return true, b.sent
}

// entry returns the entry of a key, and makes room for it if there is none. It needs c.mu, which it gives up while it
// waits.
func (c *Counter) entry(ctx context.Context, key string, async bool) (*entry, error) {
	for {
		if c.closed {
			return nil, ErrClosed
		}
		now := time.Now()
		if e := c.entries[key]; e != nil {
			e.used = now
			c.recent.MoveToFront(e.recent)
			return e, nil
		}
		if err := c.store.check(key); err != nil {
			return nil, err
		}
		if len(c.entries)+c.leaving < c.options.MaxCounters || c.evict() {
			return c.newEntry(key, now), nil
		}
		if async {
			return nil, fmt.Errorf("%w: all %d counters of Options.MaxCounters are in use", ErrBusy, c.options.MaxCounters)
		}
		if err := c.wait(ctx); err != nil {
			return nil, fmt.Errorf("%w: all %d counters of Options.MaxCounters are in use: %w", ErrBusy, c.options.MaxCounters, err)
		}
	}
}

// wait waits until something has changed. It needs c.mu, which it gives up meanwhile.
func (c *Counter) wait(ctx context.Context) error {
	room := c.room
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// changed tells those who wait for room that there may be some.
func (c *Counter) changed() {
	close(c.room)
	c.room = make(chan struct{})
}

// newID names a slot, in a shard at random.
func newID(shards int) slotID { return newSlotID(rand.IntN(shards)) }

func (c *Counter) newEntry(key string, now time.Time) *entry {
	e := &entry{
		key: key, owner: owner{shards: c.options.Shards}, pace: newPace(c.options.Interval),
		hurry: make(chan struct{}, 1), used: now, fold: c.nextFold(now),
	}
	e.recent = c.recent.PushFront(e)
	c.entries[key] = e
	if !c.janitor {
		c.janitor = true
		c.running.Go(c.clean)
	}
	return e
}

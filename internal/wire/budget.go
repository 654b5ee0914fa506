package wire

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// budget bounds the memory that requests and answers of all connections take
// together. What fits into the buffers that each connection has anyway is not
// counted (keptCapacity).
//
// It has a room for each purpose, so that none waits for another: bodies of
// connections that did not authenticate yet, bodies of those that did, and what
// operations make of bodies and answer. Each is there twice, so that a request
// of some kilobytes does not wait for one of many megabytes. A request that has
// room for its body may wait for room to work, and one that works with a little
// may wait for much; nobody waits the other way round, so no two wait for each
// other.
type budget struct {
	strange, proven, work sizes
	other                 room // of what is no operation: metrics, partitions, hot keys
}

// sizes are two rooms for the same purpose.
type sizes struct{ small, large room }

// Claims up to these sizes, in bytes, are small: bodies of the first lane, and
// work with a page.
const (
	smallBody = maxFastBody
	smallWork = 3 << 20
)

// The weights of operations, in bytes.
const (
	pageWeight     = 1 << 20  // a page of Query, Scan and GetRecords, and the first items of BatchGetItem
	transactWeight = 3 << 20  // of TransactGetItems, which may return 4 MB
	batchWeight    = 34 << 20 // of a BatchGetItem that returns 16 MB: as they are stored and as JSON
	bodyWork       = 3        // times its length: what is decoded from a large body, and then stored
	otherWeight    = 8 << 20
	followedWeight = 64 << 10 // of an answer that its client follows
)

// newBudget returns a budget of 247 MB. The server's other memory comes on top,
// and the collector lets garbage grow to the size of what is in use.
func newBudget() *budget {
	const mb = 1 << 20
	return &budget{
		strange: sizes{small: room{size: 8 * mb}, large: room{size: 5 * maxBody}},
		proven:  sizes{small: room{size: 16 * mb}, large: room{size: 2 * maxBody}},
		work:    sizes{small: room{size: 32 * mb}, large: room{size: 72 * mb}},
		other:   room{size: 4 * otherWeight},
	}
}

func (s *sizes) roomFor(n, small int) *room {
	if n <= small {
		return &s.small
	}
	return &s.large
}

// How long is waited for room, and for clients that others wait for.
const (
	roomWait = 15 * time.Second
	// A client that does not move anything for stallTime, or moves less than
	// leastRate in bytes a second, loses its room to one that waits. If many wait
	// it has less time, but not less than leastStall.
	stallTime  = time.Second
	leastStall = 400 * time.Millisecond
	leastRate  = 1 << 20
	sweepTime  = 50 * time.Millisecond
	// fullQueue is how many may wait that have used the memory already.
	fullQueue = 64
)

var errBusy = &engine.Error{
	Type:    engine.TypeUnavailable,
	Message: "The server is busy with other large requests and responses; retry later, or use smaller requests",
}

// room is memory that claims take, large and small ones in the order in which
// they came.
type room struct {
	size int // bytes

	mu      sync.Mutex
	used    int // may be more than size: see claim.set
	swept   time.Time
	waiting []*claim
	holders map[*claim]struct{}
}

// claim is a connection's part of a room, if it has one.
type claim struct {
	drop func() // ends the connection

	room    *room
	bytes   int
	granted chan struct{}

	// How the client does for which the claim waits. Under the room's lock.
	client       bool // whether it waits for the client
	dropped      bool
	since, moved time.Time
	progress     int // bytes since then
	still        int // how often it was seen without a move since the last
}

// take waits for room. Nobody gets more than there is: who would need more gets
// the room for itself. The error is errBusy, also if ctx ends.
func (c *claim) take(ctx context.Context, r *room, bytes, longest int) error {
	r.mu.Lock()
	c.room, c.bytes, c.client, c.dropped = r, min(bytes, r.size), false, false
	if len(r.waiting) == 0 && r.used+c.bytes <= r.size {
		r.grant(c)
		r.mu.Unlock()
		return nil
	}
	if len(r.waiting) >= longest {
		c.room = nil
		r.mu.Unlock()
		return errBusy
	}
	c.granted = make(chan struct{})
	r.waiting = append(r.waiting, c)
	r.mu.Unlock()
	return c.wait(ctx)
}

func (c *claim) wait(ctx context.Context) error {
	patience := time.NewTimer(roomWait)
	defer patience.Stop()
	sweep := time.NewTicker(sweepTime)
	defer sweep.Stop()
	for {
		select {
		case <-c.granted:
			return nil
		case <-sweep.C:
			c.room.sweep(time.Now())
		case <-patience.C:
			return c.giveUp()
		case <-ctx.Done():
			return c.giveUp()
		}
	}
}

// giveUp leaves the queue, or the room if it was granted meanwhile.
func (c *claim) giveUp() error {
	r := c.room
	r.mu.Lock()
	if i := slices.Index(r.waiting, c); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
		c.room = nil
		r.admit()
	}
	r.mu.Unlock()
	c.release()
	return errBusy
}

// grant lets a claim in. The caller has the lock.
func (r *room) grant(c *claim) {
	r.used += c.bytes
	if r.holders == nil {
		r.holders = make(map[*claim]struct{})
	}
	r.holders[c] = struct{}{}
}

// admit lets in whoever is next and fits. The caller has the lock.
func (r *room) admit() {
	for len(r.waiting) > 0 && r.used+r.waiting[0].bytes <= r.size {
		next := r.waiting[0]
		r.waiting = slices.Delete(r.waiting, 0, 1)
		r.grant(next)
		close(next.granted)
	}
}

// set corrects a claim to the size that it turned out to have. It does not wait,
// since the memory is in use by then: others wait until it is there again.
func (c *claim) set(bytes int) {
	r := c.room
	r.mu.Lock()
	r.used += bytes - c.bytes
	c.bytes = bytes
	r.admit()
	r.mu.Unlock()
}

// shrink gives room back that is not needed any more. It may be called without a claim.
func (c *claim) shrink(bytes int) {
	if c.room != nil && c.bytes > bytes {
		c.set(bytes)
	}
}

// release gives all room back. It may be called without a claim.
func (c *claim) release() {
	r := c.room
	if r == nil {
		return
	}
	r.mu.Lock()
	delete(r.holders, c)
	r.used -= c.bytes
	c.room, c.bytes = nil, 0
	r.admit()
	r.mu.Unlock()
}

// await notes that from now on the claim waits for its client, and rest that it
// does not.
func (c *claim) await() {
	if r := c.room; r != nil {
		now := time.Now()
		r.mu.Lock()
		c.client, c.since, c.moved, c.progress, c.still = true, now, now, 0, 0
		r.mu.Unlock()
	}
}

func (c *claim) rest() {
	if r := c.room; r != nil {
		r.mu.Lock()
		c.client = false
		r.mu.Unlock()
	}
}

// move notes that the client sent or took so many bytes.
func (c *claim) move(bytes int) {
	if r := c.room; r != nil && bytes > 0 {
		now := time.Now()
		r.mu.Lock()
		c.moved, c.still = now, 0
		c.progress += bytes
		r.mu.Unlock()
	}
}

// sweep drops the connections that hold room which others wait for, and whose
// clients do not get on. The more wait, the less time they have.
func (r *room) sweep(now time.Time) {
	var stalled []*claim
	r.mu.Lock()
	if waiting := len(r.waiting); waiting > 0 && now.Sub(r.swept) >= sweepTime {
		r.swept = now
		patience := max(stallTime*8/time.Duration(8+waiting), leastStall)
		for c := range r.holders {
			if c.stalled(now, patience) {
				c.dropped = true
				stalled = append(stalled, c)
			}
		}
	}
	r.mu.Unlock()
	for _, c := range stalled {
		c.drop()
	}
}

// stalled reports whether a client does not get on. It must have been seen so
// again and again: if the machine is too busy to read what the client sent, it is
// too busy to look as well.
func (c *claim) stalled(now time.Time, patience time.Duration) bool {
	if !c.client || c.dropped {
		return false
	}
	c.still++
	stands := now.Sub(c.moved) >= patience && c.still >= int(patience/sweepTime)
	needed := stallTime + time.Duration(c.progress)*time.Second/leastRate
	return stands || now.Sub(c.since) >= needed
}

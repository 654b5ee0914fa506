package heat

import (
	"sync"
	"sync/atomic"
)

// counters are the flows of a table or index, made when there is something to count.
type counters struct {
	Resource
	room  *room
	known atomic.Bool // a description or the options say that there is such a table or index
	mu    sync.Mutex  // of those who make a flow
	flows [2]atomic.Pointer[flow]
}

// flow returns the flow of a direction, which it makes if there is room for it.
func (c *counters) flow(d Direction, o *Options) *flow {
	if f := c.flows[d].Load(); f != nil {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flows[d].Load(); f != nil {
		return f
	}
	if !c.counted() && !c.room.take() {
		return c.room.rest(o)
	}
	f := newFlow(o)
	f.shards = newShardBook(o.Layouts, c.Resource, false)
	c.flows[d].Store(f)
	return f
}

// counted reports whether anything was counted.
func (c *counters) counted() bool { return c.flows[Read].Load() != nil || c.flows[Write].Load() != nil }

// mostResources is how many tables and indexes a recorder counts: each takes some hundred kilobytes. A program has a
// few; one that makes names up must not take all memory.
const mostResources = 1000

// room is how many tables and indexes may be counted. nil has room for any number.
type room struct {
	most  int64
	taken atomic.Int64

	mu   sync.Mutex
	over *flow // of all that there is no room for
}

// take takes the room for one, if there is any.
func (r *room) take() bool {
	if r == nil || r.taken.Add(1) <= r.most {
		return true
	}
	r.taken.Add(-1)
	return false
}

// rest returns the flow of all that there is no room for. Nobody sees more of it than its size.
func (r *room) rest(o *Options) *flow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over == nil {
		r.over = newFlow(o)
	}
	return r.over
}

// left returns how many requests there was no room for.
func (r *room) left() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over == nil {
		return 0
	}
	r.over.mu.Lock()
	defer r.over.mu.Unlock()
	return r.over.counts.Requests
}

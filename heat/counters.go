package heat

import (
	"sync"
	"sync/atomic"
)

// counters are the flows of a table or index, made at the first count.
type counters struct {
	Resource
	slots *slots
	known atomic.Bool // a description or the options say that there is such a table or index
	mu    sync.Mutex  // of those who make a flow
	flows [2]atomic.Pointer[flow]
}

// flow returns the flow of a direction. It makes one if a slot is free.
func (c *counters) flow(d Direction, o *Options) *flow {
	if f := c.flows[d].Load(); f != nil {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flows[d].Load(); f != nil {
		return f
	}
	if !c.counted() && !c.slots.take() {
		return c.slots.rest(o)
	}
	f := newFlow(o)
	f.shards = newShardBook(o.Layouts, c.Resource, false)
	c.flows[d].Store(f)
	return f
}

// counted reports whether anything was counted.
func (c *counters) counted() bool { return c.flows[Read].Load() != nil || c.flows[Write].Load() != nil }

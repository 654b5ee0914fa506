package heat

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// catalogue is the tables that a recorder knows. Calls look tables up without a lock: adding a table makes a new map.
type catalogue struct {
	tables atomic.Pointer[map[string]*table] // no more than mostResources
	slots  slots                             // for tables and indexes that are counted
	others *table                            // stands for tables that are not kept

	mu    sync.Mutex // of those who add a table
	swept time.Time  // when idle tables were last dropped
}

func (c *catalogue) init() {
	c.tables.Store(&map[string]*table{})
	c.slots.most = mostResources
	c.others = newTableIn(&slots{}, "")
	c.others.others = true
}

// get returns what is known of a table by its name, or its ARN, which DynamoDB takes as well.
func (c *catalogue) get(name string) *table {
	if strings.IndexByte(name, ':') >= 0 { // no name has one
		if _, after, ok := strings.Cut(name, ":table/"); ok {
			name = after
		}
	}
	if t := (*c.tables.Load())[name]; t != nil {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := *c.tables.Load()
	if t := known[name]; t != nil {
		return t
	}
	if len(known) >= mostResources {
		known = c.sweep(known)
	}
	if len(known) >= mostResources {
		return c.others
	}
	known = maps.Clone(known)
	t := newTableIn(&c.slots, name)
	known[name] = t
	c.tables.Store(&known)
	return t
}

// sweep drops tables of which everything known could be learned again, most likely names that a program made up. It looks
// at all tables, so it does not run at every call.
func (c *catalogue) sweep(known map[string]*table) map[string]*table {
	now := time.Now()
	if now.Sub(c.swept) < time.Second {
		return known
	}
	c.swept = now
	known = maps.Clone(known)
	maps.DeleteFunc(known, func(_ string, t *table) bool { return t.idle() })
	c.tables.Store(&known)
	return known
}

// all returns the tables by name.
func (c *catalogue) all() []*table {
	return slices.SortedFunc(maps.Values(*c.tables.Load()), func(a, b *table) int { return strings.Compare(a.name, b.name) })
}

// left returns the number of requests for tables and indexes without a slot.
func (c *catalogue) left() int64 { return c.slots.left() + c.others.slots.left() }

// drop forgets a table, and frees its slots.
func (c *catalogue) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := maps.Clone(*c.tables.Load())
	t := known[name]
	if t == nil {
		return
	}
	delete(known, name)
	c.tables.Store(&known)
	v := t.view.Load()
	for _, resource := range append([]resourceView{v.own}, v.indexes...) {
		if resource.counted() {
			c.slots.taken.Add(-1)
		}
	}
}

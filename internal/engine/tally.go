package engine

import (
	"cmp"
	"slices"
	"sync"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// mostThrottled is the number of tables and indexes that are told apart. A server may see tables come and go for years.
const mostThrottled = 10_000

// throttleTally counts throttles of tables and indexes, also of those that are gone, which take their metrics with them.
type throttleTally struct {
	mu     sync.Mutex
	counts map[throttledOf]int64
}

// throttledOf names a table or index; the zero value is all that are beyond mostThrottled.
type throttledOf struct{ table, index string }

// count counts a refused request, once for each table and index that refused it. A nil throttle is none.
func (c *throttleTally) count(t *partition.Throttle) {
	if t == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, cause := range t.Causes {
		if slices.ContainsFunc(t.Causes[:i], func(o partition.Cause) bool { return o.Set == cause.Set }) {
			continue
		}
		r := resourceOf(cause.Set)
		of := throttledOf{r.table, r.index}
		if _, known := c.counts[of]; !known && len(c.counts) >= mostThrottled {
			of = throttledOf{}
		}
		if c.counts == nil {
			c.counts = make(map[throttledOf]int64)
		}
		c.counts[of]++
	}
}

// Throttled returns how many requests each table and index has throttled since Open, also those that were deleted since.
// They come by name, and only those that throttled any. With very many, the rest is one without a name.
func (e *Engine) Throttled() []partitions.Throttled {
	e.tally.mu.Lock()
	defer e.tally.mu.Unlock()
	var list []partitions.Throttled
	for of, n := range e.tally.counts {
		list = append(list, partitions.Throttled{Table: of.table, Index: of.index, Requests: n})
	}
	slices.SortFunc(list, func(a, b partitions.Throttled) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index))
	})
	return list
}

package heatsink

import (
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/sortkey"
)

// twins notices items that an ordered read has returned already. An index may list an item twice for a moment: in the shard that
// an update or a move took it from, and in its new one. Both entries have the same sort key, so only the items of one sort key
// have to be remembered. The nil twins notices nothing.
type twins struct {
	keys *place.Keys
	sort sortkey.Value
	seen map[string]struct{} // the table's keys of the items with that sort key
}

// maxTwins limits how many keys are remembered, for indexes where all items have the same sort key, or none.
const maxTwins = 10_000

// newTwins returns the twins of a read: nil if an item cannot change its shard while it is read.
func newTwins(c *core) *twins {
	if c.schema.Index == "" || len(c.schema.Older) == 0 && !c.schema.Adaptive() {
		return nil
	}
	return &twins{keys: &c.schema.Keys, seen: make(map[string]struct{})}
}

// again reports whether an entry is of an item that was returned before, and remembers it.
func (t *twins) again(e entry) bool {
	if t == nil {
		return false
	}
	if at := sortOf(e); at != t.sort || len(t.seen) >= maxTwins {
		t.sort = at
		clear(t.seen)
	}
	key, ok := t.keys.KeyText(e.Value.item)
	if !ok {
		return false
	}
	if _, again := t.seen[key]; again {
		return true
	}
	t.seen[key] = struct{}{}
	return false
}

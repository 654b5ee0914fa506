package passage

import (
	"github.com/heatsink-go/heatsink/layout"
)

// Arrangement is where the items of a collection are: a layout, and the keys whose number of shards differs from it. It does not
// change.
type Arrangement struct {
	// Layout has no buckets.
	Layout layout.Layout
	// Widths has the number of shards of single keys. If there are any, the format has BareZero, so that a key with one shard is stored
	// as it is. It is nil if all keys have Layout.Shards.
	Widths map[string]int
}

// For returns the layout of a key: Layout with the key's own number of shards.
func (a Arrangement) For(key string) layout.Layout {
	if len(a.Widths) == 0 {
		return a.Layout
	}
	if n, ok := a.Widths[key]; ok {
		return a.Layout.WithShards(n)
	}
	return a.Layout.WithShards(max(a.Layout.Shards, 1))
}

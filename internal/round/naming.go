package round

import "github.com/heatsink-go/heatsink/heat"

// Naming tells the key that a stored key is a shard of, and whether it is one.
type Naming func(key string) (logical string, shard bool)

// Names returns the naming of a flow, and how many shards were seen of each sharded key. As in reports, a key of which a single
// shard was seen is no sharded key.
func Names(of *heat.Flow, layouts []heat.Layout) (name Naming, shardsOf map[string]int) {
	shardsOf = make(map[string]int)
	for _, k := range of.Folded(layouts...) {
		if k.Shards > 1 {
			shardsOf[k.Key] = k.Shards
		}
	}
	logicalOf := of.Logicals(layouts...)
	return func(key string) (string, bool) {
		if whole, ok := logicalOf(key); ok && shardsOf[whole] > 1 {
			return whole, true
		}
		return key, false
	}, shardsOf
}

package pagetoken

import (
	"testing"

	"github.com/heatsink-go/heatsink/layout"
)

// An ordinal gives back what it was made of, orders by layout and then by shard, and is never beyond the last.
func TestOrdinal(t *testing.T) {
	last := -1
	for _, nth := range []int{0, 1, 2, MaxOlder} {
		for _, shard := range []int{0, 1, 4711, layout.MaxShards - 1} {
			o := NewOrdinal(nth, shard)
			if o.Layout() != nth || o.Shard() != shard {
				t.Errorf("got layout %d, shard %d, want %d, %d", o.Layout(), o.Shard(), nth, shard)
			}
			if int(o) <= last || o > LastOrdinal {
				t.Errorf("layout %d, shard %d: %d, behind %d; the last is %d", nth, shard, o, last, LastOrdinal)
			}
			last = int(o)
		}
	}
}

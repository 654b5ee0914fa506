package heat_test

import (
	"strconv"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// What a layout adds to the counting of a sharded key: 500 keys of 16 shards.
func BenchmarkObserveShards(b *testing.B) {
	for name, layouts := range map[string][]heat.Layout{"none": nil, "told": {{Layout: layout.Layout{Shards: 16}}}, "other": {{Layout: layout.Layout{Shards: 16, Format: layout.Format{ShardPrefix: "."}}}}} {
		b.Run(name, func(b *testing.B) {
			recorder := newRecorder(b, heat.Options{Keys: map[string][]string{"views": {"pk"}}, Layouts: layouts})
			var key []byte
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key = strconv.AppendInt(append(key[:0], "user-"...), int64((i*7919)%500), 10)
				key = strconv.AppendInt(append(key, "#SHARD_"...), int64(i%16), 10)
				heat.Observe(recorder, "views", heat.Write, key, 1)
			}
		})
	}
}

package heatsink

import (
	"context"
	"fmt"
	"testing"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// BenchmarkTrackedReads compares reads of 1000 items of a movable collection with those of a fixed layout. In the split one half of the
// items has moved.
func BenchmarkTrackedReads(b *testing.B) {
	four := layout.Layout{Strategy: layout.Calculated, Shards: 4}
	for _, name := range []string{"fixed", "settled", "split"} {
		db := local.Start(b)
		ctx := context.Background()
		if err := db.CreateTable(ctx, "items", "pk", "sk"); err != nil {
			b.Fatal(err)
		}
		c := collection(b, db.Client(), Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Movable: name != "fixed", Layout: four})
		key := func(i int) Item { return ov("pk", "k", "sk", fmt.Sprintf("%04d", i)) }
		for i := range 1000 {
			item := key(i)
			item["v"], item["n"] = sv("some text of an item"), nv(i)
			if _, err := c.Put(ctx, item); err != nil {
				b.Fatal(err)
			}
		}
		if name == "split" {
			m := c.core.movable
			v, err := m.view(ctx)
			if err == nil {
				v, err = m.book.Advance(ctx, v, forward.Stage{Phase: forward.Split}, &passage.Arrangement{Layout: four.WithShards(8)}, "a benchmark")
			}
			for i := 0; i < 1000 && err == nil; i += 2 {
				at, _, wrong := m.at(v, key(i))
				if err = wrong; err == nil && at.Phase != forward.Settled {
					err = m.carrier.Move(ctx, at)
				}
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		for read, do := range map[string]func() (int, error){
			"query": func() (n int, err error) {
				for _, err := range c.Query(ctx, Query{Key: "k"}) {
					if err != nil {
						return n, err
					}
					n++
				}
				return n, nil
			},
			"filter": func() (n int, err error) {
				n, err = Fold(ctx, c, Query{Key: "k", Filter: "n >= :n", Values: ov(":n", 0), Projection: "n"},
					func() int { return 0 }, func(n int, _ Item) int { return n + 1 }, func(a, b int) int { return a + b })
				return n, err
			},
			"count": func() (n int, err error) { return c.Count(ctx, Query{Key: "k"}) },
		} {
			b.Run(read+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n, err := do(); n != 1000 || err != nil {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}

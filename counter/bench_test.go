package counter

import (
	"context"
	"fmt"
	"testing"

	"github.com/heatsink-go/heatsink"
)

// Adds from many goroutines on one counter, beside the documents' ADD on the same engine.
func BenchmarkAdd(b *testing.B) {
	b.Run("slots", func(b *testing.B) {
		c := open(b, aTable(b).Direct, Options{Interval: minInterval})
		b.SetParallelism(1000)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := c.Add(context.Background(), "VIEWS", 1); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/c.Cost().WriteUnits, "adds/WCU")
	})
	b.Run("tally", func(b *testing.B) {
		tally := openTally(b, aTable(b).Direct, TallyOptions{Table: "counters", SortKey: "sk"})
		b.SetParallelism(1000)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := tally.Add(context.Background(), "VIEWS", 1); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func BenchmarkAddAsync(b *testing.B) {
	for _, counters := range []int{1, 1000} {
		b.Run(fmt.Sprintf("counters=%d", counters), func(b *testing.B) {
			c := open(b, aTable(b).Direct, Options{})
			keys := make([]string, counters)
			for i := range keys {
				keys[i] = fmt.Sprint("counter-", i)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := c.AddAsync(keys[i%counters], 1); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkTotal(b *testing.B) {
	for _, processes := range []int{1, 100} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			client := aTable(b).Direct
			for range processes {
				mustAdd(b, open(b, client, Options{}), "VIEWS", 1)
			}
			c := open(b, client, Options{})
			isTotal(b, c, "VIEWS", int64(processes))
			var meter heatsink.Meter
			ctx := heatsink.WithMeter(context.Background(), &meter)
			n := 0
			for b.Loop() {
				if _, err := c.Total(ctx, "VIEWS"); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(meter.Cost().ReadUnits/float64(n), "RCU/op")
		})
	}
}

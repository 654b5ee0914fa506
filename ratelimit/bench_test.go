package ratelimit_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// BenchmarkAllow checks one key on the local engine, which takes most of the time.
func BenchmarkAllow(b *testing.B) {
	for _, shards := range []int{1, 10} {
		for _, name := range []string{"fixed window", "sliding window", "token bucket", "sliding log"} {
			options := everyAlgorithm(1_000_000_000, shards)[name]
			if options.Algorithm == ratelimit.SlidingLog {
				options.Limit = 100 * shards
				options.Window = 1_000_000 // every time has left the window when its turn comes again
			}
			b.Run(fmt.Sprintf("%s/shards=%d", name, shards), func(b *testing.B) { benchmark(b, options, 1) })
		}
	}
	b.Run("leased", func(b *testing.B) {
		benchmark(b, ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 1_000_000_000, Lease: 1000}, 1)
	})
	b.Run("refused", func(b *testing.B) {
		benchmark(b, ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 1}, 1)
	})
}

func benchmark(b *testing.B, options ratelimit.Options, n int) {
	limiter := open(b, start(b), options)
	var meter heatsink.Meter
	ctx := heatsink.WithMeter(context.Background(), &meter)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := limiter.AllowN(ctx, "k", n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(meter.Cost().WriteUnits/float64(b.N), "WCU/op")
}

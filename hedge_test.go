package heatsink

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// X19: one slow answer of many is what N shards make likely, and what hedging is for.
func TestHedging(t *testing.T) {
	slowFirst := func(shardKey string, nth int) time.Duration {
		if shardKey == "k#SHARD_13" && nth == 0 {
			return 10 * time.Second
		}
		return time.Second
	}
	for _, hedge := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(3) }}, delay: slowFirst}
			items := collection(t, client, sharded(20))
			start := time.Now()
			got, err := all(context.Background(), items, Query{Key: "k", Hedge: hedge}, "sk")
			if err != nil || len(got) != 60 {
				t.Fatalf("%d items, %v", len(got), err)
			}
			took := time.Since(start)
			queries, _, _ := client.seen()
			t.Logf("hedge %t: %v with %d queries", hedge, took, queries)
			if hedge && (took > 2200*time.Millisecond || queries != 21) || !hedge && (took != 10*time.Second || queries != 20) {
				t.Errorf("hedge %t: %v with %d queries", hedge, took, queries)
			}
		})
	}
}

// Over many reads, hedging costs one request in twenty at most, whatever the tail is like.
func TestHedgingBudget(t *testing.T) {
	for _, shards := range []int{9, 20, 100} {
		bubble.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			var mu sync.Mutex
			client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(3) }}, delay: func(string, int) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				if r.IntN(10) == 0 {
					return 10 * time.Second
				}
				return time.Second
			}}
			items := collection(t, client, sharded(shards))
			const reads = 100
			for range reads {
				if got, err := all(context.Background(), items, Query{Key: "k", Hedge: true}, "sk"); err != nil || len(got) != 3*shards {
					t.Fatalf("%d items, %v", len(got), err)
				}
			}
			queries, _, _ := client.seen()
			extra := float64(queries-reads*shards) / float64(reads*shards)
			t.Logf("%d shards: %.1f %% more requests", shards, 100*extra)
			if extra > 0.0501 {
				t.Errorf("%d shards: %.1f %% more requests", shards, 100*extra)
			}
		})
	}
}

// A shard that is throttled is not asked again before its time.
func TestNoHedgingAfterAThrottle(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &watched{
			Client: &made{TB: t, keys: func(string) []string { return ranks(3) }}, delay: after(time.Second),
			fail: func(shardKey string, nth int) error {
				if shardKey == "k#SHARD_13" && nth == 0 {
					return errThrottled
				}
				return nil
			},
		}
		options := sharded(40)
		options.Retry = Retry{Attempts: 2, Base: time.Hour, Max: time.Hour} // a random part of an hour
		options.Rand = rand.NewPCG(1, 1)
		start := time.Now()
		got, err := all(context.Background(), collection(t, client, options), Query{Key: "k", Hedge: true}, "sk")
		if err != nil || len(got) != 120 {
			t.Fatalf("%d items, %v", len(got), err)
		}
		if queries, _, _ := client.seen(); queries != 41 || time.Since(start) < 10*time.Second {
			t.Errorf("%d queries in %v, want 40 and a retry that waits", queries, time.Since(start))
		}
	})
}

// A reader that takes its time does not make answers late that have long been there.
func TestNoHedgingForASlowReader(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(20) }}, delay: after(time.Second)}
		options := sharded(10)
		options.ReadMemory = 20 << 10
		items := collection(t, client, options)
		reads := func(hedge bool) int {
			before, _, _ := client.seen()
			for _, err := range items.Query(context.Background(), Query{Key: "k", Hedge: hedge}) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
			}
			queries, _, _ := client.seen()
			return queries - before
		}
		reads(false)
		if without, with := reads(false), reads(true); with != without {
			t.Errorf("%d queries with hedging, %d without", with, without)
		}
	})
}

package ratelimit_test

import (
	"context"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// consumed returns what the table's partitions have served, the units of refused conditions included, which no answer
// reports.
func consumed(t *testing.T, db *local.DB) (reads, writes float64) {
	t.Helper()
	heat, err := db.Partitions(context.Background(), table, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range heat[0].Partitions {
		for _, s := range p.Seconds {
			reads += s.ReadUnits
			writes += s.WriteUnits
		}
	}
	return reads, writes
}

// The costs that the documentation states.
func TestCostOfEveryOperation(t *testing.T) {
	type operation func(context.Context, *ratelimit.Limiter)
	allow := func(n int) operation {
		return func(ctx context.Context, l *ratelimit.Limiter) {
			for range n {
				_, _ = l.Allow(ctx, "k")
			}
		}
	}
	fill := func(limit int) operation { // with times that are not round, as they are in life
		return func(ctx context.Context, l *ratelimit.Limiter) {
			for range limit / 50 {
				_, _ = l.AllowN(ctx, "k", 50)
				time.Sleep(1001 * time.Millisecond)
			}
		}
	}
	peek := func(ctx context.Context, l *ratelimit.Limiter) { _, _ = l.Peek(ctx, "k") }
	reset := func(ctx context.Context, l *ratelimit.Limiter) { _ = l.Reset(ctx, "k") }
	slots := ratelimit.Options{Algorithm: ratelimit.SlidingWindow, Limit: 10}
	fixed := ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 10}
	log := ratelimit.Options{Algorithm: ratelimit.SlidingLog, Limit: 10}
	bucket := ratelimit.Options{Algorithm: ratelimit.TokenBucket, Limit: 10}
	over := func(o ratelimit.Options, shards int) ratelimit.Options {
		o.Shards = shards
		return o
	}
	limit := func(o ratelimit.Options, limit int) ratelimit.Options {
		o.Limit = limit
		return o
	}
	for _, c := range []struct {
		name          string
		options       ratelimit.Options
		before        operation // by another process
		sleep         time.Duration
		op            operation
		requests      int
		writes, reads float64
	}{
		{name: "fixed window, first check", options: fixed, op: allow(1), requests: 1, writes: 1},
		{name: "fixed window, let through", options: fixed, before: allow(9), op: allow(1), requests: 1, writes: 1},
		{name: "fixed window, refused", options: fixed, before: allow(10), op: allow(1), requests: 1, writes: 1},
		{name: "fixed window, refused a thousand times", options: fixed, before: allow(10), op: allow(1000), requests: 1, writes: 1},
		{name: "fixed window, in a new window", options: fixed, before: allow(10), sleep: time.Hour, op: allow(1), requests: 1, writes: 1},

		{name: "sliding window, first check", options: slots, op: allow(1), requests: 2, writes: 2},
		{name: "sliding window, let through", options: slots, before: allow(1), op: allow(1), requests: 1, writes: 1},
		{name: "sliding window, in a new slot", options: slots, before: allow(1), sleep: 4 * time.Minute, op: allow(1), requests: 2, writes: 2},
		{name: "sliding window, refused", options: slots, before: allow(10), op: allow(1), requests: 1, writes: 1},

		{name: "sliding log, first check", options: log, op: allow(1), requests: 2, writes: 2},
		{name: "sliding log, let through", options: log, before: allow(1), op: allow(1), requests: 1, writes: 1},
		{name: "sliding log of 100, full, let through", options: limit(log, 100), before: fill(100), sleep: time.Hour, op: allow(1), requests: 1, writes: 1},
		{name: "sliding log of 1,000, full, let through", options: limit(log, 1000), before: fill(1000), sleep: time.Hour, op: allow(1), requests: 1, writes: 9},
		{name: "sliding log of 1,000, full, over ten shards", options: over(limit(log, 1000), 10), before: fill(1000), sleep: time.Hour, op: allow(1), requests: 1, writes: 1},
		{name: "sliding log, refused", options: log, before: allow(10), op: allow(1), requests: 1, writes: 1},

		{name: "token bucket, first check", options: bucket, op: allow(1), requests: 1, writes: 1},
		{name: "token bucket, full", options: bucket, before: allow(1), sleep: time.Hour, op: allow(1), requests: 1, writes: 1},
		{name: "token bucket, not full as was thought", options: bucket, before: allow(1), op: allow(1), requests: 2, writes: 2},
		{name: "token bucket, ten checks of one process", options: bucket, op: allow(10), requests: 10, writes: 10},
		{name: "token bucket, ten checks after another's", options: limit(bucket, 20), before: allow(1), op: allow(10), requests: 11, writes: 11},

		{name: "ten shards, let through", options: over(fixed, 10), op: allow(1), requests: 1, writes: 1},
		{name: "ten shards, refused", options: over(fixed, 10), before: allow(10), op: allow(1), requests: 10, writes: 1, reads: 4.5},
		{name: "ten shards, refused a thousand times", options: over(fixed, 10), before: allow(10), op: allow(1000), requests: 10, writes: 1, reads: 4.5},
		{name: "ten shards, all of the limit by one process", options: over(fixed, 10), op: allow(11), requests: 10, writes: 10},

		{name: "peek, one shard", options: fixed, op: peek, requests: 1, reads: 1},
		{name: "peek, ten shards", options: over(bucket, 10), before: allow(3), op: peek, requests: 10, reads: 10},
		{name: "reset, ten shards", options: over(bucket, 10), before: allow(3), op: reset, requests: 10, writes: 10},

		{
			name: "leases of 64, a thousand checks", options: ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 2000, Lease: 64},
			op: allow(1000), requests: 21, writes: 21, // of 1, 2, 4, 8, 16, 32, and 15 of 64
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db, err := local.New(local.Options{Physics: &local.Physics{PartitionReads: 1e6, PartitionWrites: 1e6}, TTLInterval: 1000 * time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				ctx := context.Background()
				time.Sleep(18_000 * time.Hour) // times in milliseconds have 13 digits since September 2001
				if err := ratelimit.Setup(ctx, db.Client(), ratelimit.Options{Table: table, Limit: 1}); err != nil {
					t.Fatal(err)
				}
				if c.before != nil {
					c.before(ctx, open(t, db.Client(), c.options))
				}
				time.Sleep(c.sleep)
				var meter heatsink.Meter
				reads, writes := consumed(t, db)
				c.op(heatsink.WithMeter(ctx, &meter), open(t, db.Client(), c.options))
				readsAfter, writesAfter := consumed(t, db)
				cost := meter.Cost()
				if cost.Requests != c.requests || writesAfter-writes != c.writes || readsAfter-reads != c.reads {
					t.Errorf("%d requests, %v write and %v read units, want %d, %v and %v",
						cost.Requests, writesAfter-writes, readsAfter-reads, c.requests, c.writes, c.reads)
				}
			})
		})
	}
}

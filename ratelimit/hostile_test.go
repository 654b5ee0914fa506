package ratelimit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// Settings that nobody should choose are refused, or keep the limit: no panic, no wait without end.
func TestWildOptions(t *testing.T) {
	opened := 0
	for seed := range uint64(1000) {
		bubble.Test(t, func(t *testing.T) {
			var options ratelimit.Options
			faulty.Wild(rand.New(rand.NewPCG(1, seed)), &options)
			options.Table, options.PartitionKey, options.SortKey, options.TTL, options.FailOpen = table, "", "", "", false
			if seed%4 > 0 { // or hardly any would be left
				options.Algorithm, options.Limit, options.Slots = ratelimit.Algorithm(seed%4), 1+int(seed%7), 0
				options.Window = min(max(options.Window, 0), 24*time.Hour).Truncate(time.Millisecond)
				options.Burst, options.LeaseFor = 0, 0
			}
			if _, err := ratelimit.Open(&dynamodb.Client{}, options); err != nil {
				return
			}
			opened++
			limiter, err := ratelimit.Open(start(t), options)
			if err != nil {
				t.Fatal(err)
			}
			limit := options.Limit
			if options.Algorithm == ratelimit.TokenBucket && options.Burst > 0 {
				limit = options.Burst
			}
			through := 0
			for range 20 { // at one moment
				d, err := limiter.Allow(t.Context(), "k")
				if d.Allowed {
					through++
				}
				if d.Allowed && err != nil || d.Remaining < 0 || d.RetryAfter < 0 {
					t.Errorf("seed %d: got %+v, %v of %+v", seed, d, err, options)
				}
			}
			if through > limit {
				t.Errorf("seed %d: %d let through, the limit is %d: %+v", seed, through, limit, options)
			}
			_, _ = limiter.Peek(t.Context(), "k")
			_ = limiter.Reset(t.Context(), "k")
		})
	}
	t.Logf("1,000 options, of which %d are accepted", opened)
	if opened < 100 {
		t.Errorf("%d options are accepted: too few for a test", opened)
	}
}

// Keys that look like a limiter's own have their own limit, or are refused; costs that cannot be are refused.
func TestHostileKeys(t *testing.T) {
	client := start(t)
	for _, shards := range []int{1, 7} {
		limiter := open(t, client, ratelimit.Options{Limit: 7, Shards: shards, Name: strings.Repeat("n", shards)})
		var keys []string
		for _, part := range []string{"", "a", "#", "RATE_LIMIT#", "#SHARD_0", "#SHARD_6", "#PLAIN_1", "#SHARD_", "\x00", "日本", "\xff", " "} {
			keys = append(keys, part, "a"+part, part+"a", part+part)
		}
		for _, length := range []int{2000, 2028, 2029, 2030, 2048, 2049, 70_000} {
			keys = append(keys, strings.Repeat("x", length))
		}
		seen, accepted := map[string]bool{}, 0
		for _, key := range keys {
			if seen[key] {
				continue
			}
			seen[key] = true
			through := 0
			for range 9 {
				d, err := limiter.Allow(context.Background(), key)
				if err != nil && d.Allowed {
					t.Errorf("key %.40q: got %v, %v", key, d, err)
				}
				if d.Allowed {
					through++
				}
			}
			if through != 0 && through != 7 {
				t.Errorf("key %.40q: %d let through, want 7 or none", key, through)
			}
			accepted += through / 7
		}
		t.Logf("%d keys, of which %d are accepted", len(seen), accepted)
		if accepted < 10 || accepted == len(seen) {
			t.Errorf("%d of %d keys are accepted", accepted, len(seen))
		}
		for _, n := range []int{0, -1, math.MinInt, math.MaxInt, 8} {
			if d, err := limiter.AllowN(context.Background(), "k", n); err == nil || d.Allowed {
				t.Errorf("cost %d: got %v, %v", n, d, err)
			}
		}
	}
}

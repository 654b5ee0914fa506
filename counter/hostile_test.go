package counter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// Settings that nobody should choose are refused, or work: no panic, no wait without end, no wrong total.
func TestWildOptions(t *testing.T) {
	opened := 0
	for seed := range uint64(1000) {
		bubble.Test(t, func(t *testing.T) {
			var options Options
			random := rand.New(rand.NewPCG(1, seed))
			faulty.Wild(random, &options)
			options.Table = "counters"
			if seed%2 == 0 { // or hardly any would be left
				options.PartitionKey, options.SortKey = "", ""
				options.Retention, options.Interval, options.Shards = 0, 0, int(seed%5)
				options.Format.ShardPrefix, options.Format.BucketPrefix = "", ""
			}
			if _, err := Open(&dynamodb.Client{}, options); err != nil {
				return
			}
			probe, err := Open(aTable(t), options)
			if err != nil {
				t.Fatal(err)
			}
			opened++
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			adds := probe.Add(ctx, "VIEWS", 3)
			total, err := probe.Total(ctx, "VIEWS")
			if adds == nil && err == nil && total != 3 {
				t.Errorf("seed %d: got %d, want 3: %+v", seed, total, options)
			}
			time.Sleep(10 * time.Second) // for what is in the background
			_, _ = probe.Fold(ctx, "VIEWS")
			stop, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = probe.Close(stop)
		})
	}
	t.Logf("1,000 options, of which %d are accepted", opened)
	if opened < 30 {
		t.Errorf("%d options are accepted: too few for a test", opened)
	}
}

// Keys that look like a counter's own are counters like any other, or refused: none counts for another.
func TestHostileKeys(t *testing.T) {
	client := aTable(t)
	c := open(t, client, Options{Interval: minInterval})
	var keys []string
	for _, part := range []string{"", "a", "#", "base", "slot#", "#SHARD_0", "#SHARD_1023", "#SHARD_", "\x00", "\x000", "日本", "\xff", " ", "0-", "#2024-12-02"} {
		keys = append(keys, part, "a"+part, part+"a", part+part)
	}
	for _, length := range []int{1024, 2000, 2036, 2037, 2048, 2049, 70_000} {
		keys = append(keys, strings.Repeat("x", length))
	}
	want := map[string]int64{}
	tried := 0
	for i, key := range keys {
		tried++
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := c.Add(ctx, key, int64(i)+1); err == nil {
			want[key] += int64(i) + 1
		} else if ctx.Err() != nil {
			t.Errorf("key %.40q: %v", key, err)
		}
		cancel()
	}
	for key, total := range want {
		isTotal(t, c, key, total)
	}
	t.Logf("%d keys, of which %d are accepted", tried, len(want))
	if len(want) < 20 || len(want) == len(keys) {
		t.Errorf("%d of %d keys are accepted", len(want), tried)
	}
	for _, delta := range []int64{math.MinInt64, math.MaxInt64} {
		key := fmt.Sprint("delta ", delta)
		if err := c.Add(t.Context(), key, delta); err == nil {
			isTotal(t, c, key, delta)
		}
	}
}

// Any number of attempts is made, without a panic, until the token is too old.
func TestAddOnceManyAttempts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		tally := openTally(t, client, TallyOptions{Table: "counters", SortKey: "sk", Retry: heatsink.Retry{Attempts: 200}})
		client.Decide(faulty.Always(faulty.Throttled))
		err := tally.AddOnce(t.Context(), "VIEWS", 1, "token")
		if err == nil || errors.Is(err, ErrUncertain) || client.Count("TransactWriteItems") != 200 {
			t.Errorf("got %v after %d attempts, want 200", err, client.Count("TransactWriteItems"))
		}

		tally = openTally(t, client, TallyOptions{Table: "counters", SortKey: "sk", Retry: heatsink.Retry{Attempts: 1_000_000}})
		var meter heatsink.Meter
		begun, before := time.Now(), client.Count("TransactWriteItems")
		err = tally.AddOnce(heatsink.WithMeter(t.Context(), &meter), "VIEWS", 1, "other")
		if err == nil || !strings.Contains(err.Error(), "not sent again after 9m") || errors.Is(err, ErrUncertain) {
			t.Errorf("got %v, want an end when the token is too old", err)
		}
		if took := time.Since(begun); took < tokenLife || took > tokenLife+10*time.Second {
			t.Errorf("it was sent again for %v, want %v", took, tokenLife)
		}
		if sent := client.Count("TransactWriteItems") - before; meter.Cost().Requests != sent || meter.Cost().Throttles != sent {
			t.Errorf("the meter has %+v, want %d requests, all of them throttled", meter.Cost(), sent)
		}
	})
}

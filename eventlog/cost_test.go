package eventlog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// midnight is the end of what threeDays logs.
var midnight = time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)

// What each operation costs, to the unit. docs/recipes/eventlog.md states the same. There are events of about 200
// bytes, a thousand in each of three days, and an index.
func TestCosts(t *testing.T) {
	logs := map[int]*eventlog.Log[op]{0: threeDays(t, 0), 8: threeDays(t, 8)}
	for _, c := range []struct {
		shards int
		name   string
		do     func(ctx context.Context, logs *eventlog.Log[op]) (int, error)
		events int
		most   int // items read for them
		cost   heatsink.Cost
	}{
		{0, "append", one("", ""), 1, 0, heatsink.Cost{Requests: 1, WriteUnits: 2}},
		{8, "append", one("", ""), 1, 0, heatsink.Cost{Requests: 1, WriteUnits: 2}},
		{8, "append with an id", one("x", ""), 1, 0, heatsink.Cost{Requests: 1, WriteUnits: 2}},
		{8, "append again", one("x", ""), 1, 0, heatsink.Cost{Requests: 1}},
		{8, "append of 3 KB", one("", strings.Repeat("x", 3<<10-300)), 1, 0, heatsink.Cost{Requests: 1, WriteUnits: 6}},
		{8, "append 100", hundred, 100, 0, heatsink.Cost{Requests: 4, WriteUnits: 200}},
		{0, "newest 50", newest(50), 50, 50, heatsink.Cost{Requests: 1, ReadUnits: 1.5}},
		{8, "newest 50", newest(50), 50, 130, heatsink.Cost{Requests: 8, ReadUnits: 4}},
		{8, "newest 50, of the index", listed(50), 50, 51, heatsink.Cost{Requests: 1, ReadUnits: 1.5}},
		{0, "an hour", ranged(time.Hour), 41, 41, heatsink.Cost{Requests: 1, ReadUnits: 1}},
		{8, "an hour", ranged(time.Hour), 41, 41, heatsink.Cost{Requests: 8, ReadUnits: 4}},
		{8, "an empty hour", ranged(-time.Hour), 0, 0, heatsink.Cost{Requests: 8, ReadUnits: 4}},
		{0, "count a day", counted(24 * time.Hour), 1000, 1000, heatsink.Cost{Requests: 1, ReadUnits: 24.5}},
		{8, "count a day", counted(24 * time.Hour), 1000, 1000, heatsink.Cost{Requests: 8, ReadUnits: 27}},
		{8, "count three days", counted(3 * 24 * time.Hour), 3000, 3000, heatsink.Cost{Requests: 24, ReadUnits: 80}},
	} {
		t.Run(fmt.Sprintf("%s, %d shards", c.name, c.shards), func(t *testing.T) {
			var meter heatsink.Meter
			n, err := c.do(heatsink.WithMeter(t.Context(), &meter), logs[c.shards])
			cost := meter.Cost()
			t.Logf("%d events for %d requests, %d items read, %.1f read units, %.0f write units", n, cost.Requests, cost.Items, cost.ReadUnits, cost.WriteUnits)
			if err != nil || n != c.events {
				t.Errorf("%d events, %v, want %d", n, err, c.events)
			}
			if cost.Items > c.most {
				t.Errorf("%d items read, want %d at most", cost.Items, c.most)
			}
			// A merge may ask a shard once more, and be done before it is answered, or not.
			if more := cost.Requests - c.cost.Requests; c.most > c.events && more >= 0 && more <= 2 && cost.ReadUnits <= c.cost.ReadUnits+0.5*float64(more) {
				cost.Requests, cost.ReadUnits = c.cost.Requests, max(cost.ReadUnits-0.5*float64(more), c.cost.ReadUnits)
			}
			if cost.Items = 0; cost != c.cost {
				t.Errorf("got %+v, want %+v", cost, c.cost)
			}
		})
	}
}

// threeDays returns a log that has an event every 86.4 seconds of the three days before midnight. They have ids, so
// that each falls into the same shard whenever the test is run.
func threeDays(t *testing.T, shards int) *eventlog.Log[op] {
	t.Helper()
	begin := midnight.AddDate(0, 0, -3)
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Shards: shards, Begin: begin, Index: eventlog.Index{Name: "GSI1"}})
	all := every(86400*time.Millisecond, begin, "LOG", 3_000)
	for i := range all {
		all[i].ID, all[i].Body.Agent = fmt.Sprint(i), strings.Repeat("x", 90)
	}
	appendAll(t, logs, all)
	return logs
}

func one(id, body string) func(context.Context, *eventlog.Log[op]) (int, error) {
	return func(ctx context.Context, logs *eventlog.Log[op]) (int, error) {
		_, err := logs.Append(ctx, event{Log: "OTHER", At: midnight, ID: id, Body: op{Agent: body}})
		return 1, err
	}
}

func hundred(ctx context.Context, logs *eventlog.Log[op]) (int, error) {
	receipts, err := logs.AppendAll(ctx, every(time.Second, midnight, "OTHER", 100))
	return len(receipts), err
}

func newest(n int) func(context.Context, *eventlog.Log[op]) (int, error) {
	return func(ctx context.Context, logs *eventlog.Log[op]) (int, error) {
		return drain(ctx, logs, eventlog.Query{Log: "LOG", Newest: true, Limit: n, To: midnight})
	}
}

func listed(n int) func(context.Context, *eventlog.Log[op]) (int, error) {
	return func(ctx context.Context, logs *eventlog.Log[op]) (int, error) {
		return drain(ctx, logs, eventlog.Query{Log: "LOG", Newest: true, Limit: n, To: midnight, Index: true})
	}
}

// ranged reads a stretch of time up to now, or from now on if it is negative.
func ranged(d time.Duration) func(context.Context, *eventlog.Log[op]) (int, error) {
	return func(ctx context.Context, logs *eventlog.Log[op]) (int, error) {
		from, to := midnight.Add(-d), midnight
		if to.Before(from) {
			from, to = to, from
		}
		return drain(ctx, logs, eventlog.Query{Log: "LOG", From: from, To: to})
	}
}

func counted(d time.Duration) func(context.Context, *eventlog.Log[op]) (int, error) {
	return func(ctx context.Context, logs *eventlog.Log[op]) (int, error) {
		return logs.Count(ctx, eventlog.Query{Log: "LOG", From: midnight.Add(-d), To: midnight})
	}
}

func drain(ctx context.Context, logs *eventlog.Log[op], q eventlog.Query) (n int, err error) {
	for _, err := range logs.Events(ctx, q) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

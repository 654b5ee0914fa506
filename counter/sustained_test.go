package counter

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// stage is an engine with physics, a table of counters with partitions enough, and a network of 5 ms.
func stage(t *testing.T) (*local.DB, *lab.Watch, *dynamodb.Client) {
	t.Helper()
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	in := Options{Table: "counters"}.withDefaults().table().Input()
	in.WarmThroughput = &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(20_000), ReadUnitsPerSecond: aws.Int64(20_000)}
	if _, err := db.Client().CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	watch := &lab.Watch{Latency: 5 * time.Millisecond}
	return db, watch, db.Client(watch.Option)
}

// addTo is an increment as the documents have it, with the SDK's retries.
func addTo(client *dynamodb.Client, key func() string) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("counters"), Key: heatsink.Item{"pk": text(key()), "sk": text("COUNT")},
			UpdateExpression:          aws.String("ADD #count :one"),
			ExpressionAttributeNames:  map[string]string{"#count": "count"},
			ExpressionAttributeValues: heatsink.Item{":one": number(wideOf(1))},
		})
		return err
	}
}

// 1,500 increments a second of one counter: the documents' one item, their ten shards, and this package in ten
// processes.
func TestSustained(t *testing.T) {
	t.Parallel()
	load := lab.Load{PerSecond: 1500, RunIn: 500 * time.Millisecond, Measured: time.Second}
	var oneItem, tenShards, slots lab.Report
	bubble.Test(t, func(t *testing.T) {
		_, watch, client := stage(t)
		oneItem = load.Sustain(t.Context(), watch, addTo(client, func() string { return "COUNTER#GLOBAL" }))
	})
	bubble.Test(t, func(t *testing.T) {
		_, watch, client := stage(t)
		spread := layout.Layout{Shards: 10, Format: layout.SharpNumber()}
		tenShards = load.Sustain(t.Context(), watch, addTo(client, func() string {
			key, _ := spread.ShardKey("COUNTER#VIEWS", time.Time{}, spread.Draw(nil))
			return key
		}))
	})
	bubble.Test(t, func(t *testing.T) {
		_, watch, client := stage(t)
		var processes []*Counter
		for range 10 {
			processes = append(processes, open(t, client, Options{}))
		}
		slots = load.Sustain(t.Context(), watch, func(ctx context.Context, i int) error {
			return processes[i%len(processes)].Add(ctx, "COUNTER#VIEWS", 1)
		})
		isTotal(t, processes[0], "COUNTER#VIEWS", 2250)
	})
	t.Logf("one item:   %v", oneItem)
	t.Logf("ten shards: %v", tenShards)
	t.Logf("slots:      %v", slots)
	if rate := oneItem.AcceptedPerSecond(); rate > 1100 {
		t.Errorf("one item took %.0f/s: it should be throttled", rate)
	}
	if rate := slots.AcceptedPerSecond(); rate < 1400 || slots.Failed > 0 || slots.Traffic.Throttles > 0 {
		t.Errorf("slots took %.0f/s, with %d failures and %d throttles", rate, slots.Failed, slots.Traffic.Throttles)
	}
	if slots.P999 > 150*time.Millisecond {
		t.Errorf("an Add in a thousand takes more than %v", slots.P999)
	}
	perShard := tenShards.Traffic.WriteUnits / float64(tenShards.Accepted)
	perSlot := slots.Traffic.WriteUnits / float64(slots.Accepted)
	if perSlot > perShard/5 {
		t.Errorf("an increment costs %.3f units, want a fifth of %.3f at most", perSlot, perShard)
	}
}

// How many increments a write unit stores, at 1,000 of them a second in one process, and spread over ten.
func TestIncrementsPerWriteUnit(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes int
		least     float64
	}{{"one process", 1, 40}, {"ten processes", 10, 4}} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				_, watch, client := stage(t)
				var processes []*Counter
				for range c.processes {
					processes = append(processes, open(t, client, Options{}))
				}
				report := lab.Load{PerSecond: 1000, RunIn: time.Second, Measured: 2 * time.Second}.Sustain(t.Context(), watch,
					func(ctx context.Context, i int) error { return processes[i%c.processes].Add(ctx, "VIEWS", 1) })
				perUnit := float64(report.Accepted) / report.Traffic.WriteUnits
				t.Logf("%.1f increments a write unit: %v", perUnit, report)
				if perUnit < c.least {
					t.Errorf("%.1f increments a write unit, want %v at least", perUnit, c.least)
				}
			})
		})
	}
}

// More writers than their partitions have units for do not fail: their intervals grow until there are enough.
func TestPaceFollowsThrottling(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 50, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := Setup(t.Context(), db.Client(), Options{Table: "counters"}); err != nil {
			t.Fatal(err)
		}
		watch := &lab.Watch{Latency: 5 * time.Millisecond}
		client := db.Client(watch.Option)
		var processes []*Counter
		for range 20 { // 400 flushes a second at the usual interval, for partitions that take 50 each
			processes = append(processes, open(t, client, Options{Shards: 1}))
		}
		report := lab.Load{PerSecond: 400, RunIn: 15 * time.Second, Measured: 30 * time.Second}.Sustain(t.Context(), watch,
			func(ctx context.Context, i int) error {
				ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
				defer cancel()
				return processes[i%len(processes)].Add(ctx, "VIEWS", 1)
			})
		t.Log(report)
		if report.Failed > 0 {
			t.Errorf("%d Adds failed", report.Failed)
		}
		if rate := report.AcceptedPerSecond(); rate < 380 {
			t.Errorf("%.0f/s accepted of 400/s", rate)
		}
		isTotal(t, processes[0], "VIEWS", 400*45)
	})
}

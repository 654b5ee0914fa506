package plan_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/plan"
	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

// throughLibrary returns how many units a second heatsink gets accepted of those offered, on an engine whose partitions
// take so many units a second, on average over some keys.
func throughLibrary(t *testing.T, s bins.Spread, choice bins.Choice, perPartition int64, offered float64, keys int) (mean float64) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db, err := local.New(local.Options{Physics: &local.Physics{
			PartitionWrites: perPartition, Window: time.Second, OnDemandPartitions: s.Partitions, NoSplits: true,
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := db.CreateTable(ctx, "items", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		o := heatsink.Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: s.Shards}, Rand: rand.NewPCG(1, 2)}
		if choice == bins.Uniform {
			o.Layout.Strategy = layout.Calculated
		}
		type item struct {
			Key string `dynamodbav:"pk"`
			ID  string `dynamodbav:"sk"`
		}
		items, err := heatsink.Open[item](db.Client(), o)
		if err != nil {
			t.Fatal(err)
		}
		const warmUp, counted = 1500 * time.Millisecond, 3 * time.Second
		for key := range keys {
			var accepted atomic.Int64
			var running sync.WaitGroup
			start := time.Now()
			for n := 0; time.Since(start) < warmUp+counted; n++ {
				running.Go(func() {
					_, err := items.Put(ctx, item{fmt.Sprintf("KEY-%d", key), fmt.Sprint("id-", n)})
					if at := time.Since(start); err == nil && at >= warmUp && at < warmUp+counted {
						accepted.Add(1)
					}
				})
				time.Sleep(time.Duration(1e9 / offered))
			}
			running.Wait()
			mean += float64(accepted.Load()) / counted.Seconds() / float64(keys)
			time.Sleep(time.Minute) // for the partitions to recover, and the chooser to forget
		}
	})
	return mean
}

// The same through heatsink and the SDK, on the whole engine: random layouts avoid throttled shards, calculated ones
// cannot.
func TestPredictionsHoldOnTheEngine(t *testing.T) {
	t.Parallel()
	const perPartition = 10
	for _, s := range []bins.Spread{{Shards: 4, Partitions: 10}, {Shards: 10, Partitions: 4}, {Shards: 10, Partitions: 20}} {
		for _, choice := range choices {
			offered := 0.7 * perPartition * float64(s.Shards)
			got := throughLibrary(t, s, choice, perPartition, offered, 6)
			want := perPartition * s.Accepted(choice, offered/perPartition, 1)
			t.Logf("%v, %s: of %.0f units a second %.1f were accepted, %.1f were predicted (%+.1f %%)", s, choice, offered, got, want, 100*(got/want-1))
			if math.Abs(got/want-1) > 0.1 {
				t.Errorf("%v, %s: of %.0f units a second %.1f were accepted, %.1f were "+
					"predicted", s, choice, offered, got, want)
			}
		}
	}
}

// X13: what a read is said to cost is what DynamoDB's arithmetic makes of it: the requests exactly, the units but for
// pages that a shard fills less than the others, or asks for again.
func TestReadCostsHoldOnTheEngine(t *testing.T) {
	ctx, db := t.Context(), local.Start(t)
	type item struct {
		Key  string `dynamodbav:"pk"`
		ID   string `dynamodbav:"sk"`
		Body string `dynamodbav:"body"`
	}
	for _, c := range []struct {
		pattern    plan.Pattern
		partitions int
		bytes      int
	}{{plan.Lists, 50, 1000}, {plan.Lists, 20, 100}, {plan.Points, 20, 5000}} {
		w := plan.Workload{Key: "KEY", Writes: 5000 / float64(plan.WriteUnits(c.bytes)), Reads: 1, ItemBytes: c.bytes, Read: plan.Reading{Pattern: c.pattern}, Table: plan.Table{Partitions: c.partitions}}
		p := makePlan(t, w)
		o := evaluate[heatsink.Options](t, p.Snippet, "options")
		o.Table, o.Rand = fmt.Sprint("items-", c.pattern, c.bytes), rand.NewPCG(1, 2)
		if err := db.CreateTable(ctx, o.Table, o.PartitionKey, o.SortKey); err != nil {
			t.Fatal(err)
		}
		items, err := heatsink.Open[item](db.Client(), o)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Repeat("b", c.bytes-len("pkKEY#SHARD_10skid-0000body"))
		var batch []item
		for i := range 2000 {
			batch = append(batch, item{"KEY", fmt.Sprintf("id-%04d", i), body})
		}
		if err := items.BatchPut(ctx, batch); err != nil {
			t.Fatal(err)
		}
		var meter heatsink.Meter
		metered := heatsink.WithMeter(ctx, &meter)
		if c.pattern == plan.Points {
			if _, err := items.Get(metered, batch[77]); err != nil {
				t.Fatal(err)
			}
		} else {
			for _, err := range items.Query(metered, heatsink.Query{Key: "KEY", Limit: 100}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		cost := meter.Cost()
		t.Logf("%s of %d shards: %d requests and %v units, predicted %d and %v", c.pattern, p.Shards, cost.Requests, cost.ReadUnits, p.Read.Requests, p.Read.Units)
		if off := cost.ReadUnits/p.Read.Units - 1; math.Abs(off) > 0.15 || cost.Requests < p.Read.Requests || cost.Requests > p.Read.Requests+p.Shards/10 {
			t.Errorf("%s of %d shards: %d requests and %v units, predicted %d and %v", c.pattern, p.Shards, cost.Requests, cost.ReadUnits, p.Read.Requests, p.Read.Units)
		}
	}
}

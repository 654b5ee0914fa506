package heatsink

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// 003-21: with everything throttled, attempts stay within the budget, and the callers learn of it. 001-06.
func TestTotalThrottling(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		client := faulty.On(t, local.Start(t).Client(), faulty.Always(faulty.Throttled))
		const requests = 1000
		views := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}, Retry: Retry{Budget: 0.2, Burst: 50}})
		var meter Meter
		start := time.Now()
		for i := range requests {
			_, err := views.Put(WithMeter(ctx, &meter), ov("pk", "VIEWS", "sk", fmt.Sprint(i)))
			failed, ok := errors.AsType[*ShardError](err)
			if !ok || failed.Operation != "PutItem" || failed.Table != "items" || failed.Attempts < 1 || !errors.As(err, new(*types.ProvisionedThroughputExceededException)) {
				t.Fatalf("put %d: got %v, want a throttled PutItem", i, err)
			}
		}
		sent := client.Count("PutItem")
		if most := int(1.2*requests) + 50; sent > most || sent < most-1 {
			t.Errorf("%d puts took %d attempts, want all of the %d that the budget allows", requests, sent, most)
		}
		if got, want := meter.Cost(), (Cost{Requests: sent, Retries: sent - requests, Throttles: sent}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if time.Since(start) == 0 {
			t.Error("retries did not wait")
		}
	})
}

// 001-06: on partitions that throttle, the trouble shows as latency, then as errors; what was acknowledged is there, and
// what was not is not.
func TestThrottlingIsNeverSilent(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := startWith(t, local.Options{Physics: &local.Physics{PartitionWrites: 10, Window: time.Second, OnDemandPartitions: 2, NoSplits: true}})
		client := db.Client()
		makeTable(t, client, "items")
		views := openItems(t, client, Options{Layout: layout.Layout{Shards: 1}})
		acknowledged := map[string]bool{}
		slow, failed := 0, 0
		for i := range 300 {
			id, start := fmt.Sprint(i), time.Now()
			switch _, err := views.Put(ctx, ov("pk", "VIEWS", "sk", id)); {
			case err == nil:
				acknowledged[id] = true
				if time.Since(start) > 0 {
					slow++
				}
			case errors.As(err, new(*types.ProvisionedThroughputExceededException)), errors.As(err, new(*types.ThrottlingException)):
				failed++
			default:
				t.Fatal(err)
			}
		}
		if slow == 0 || failed == 0 || len(acknowledged)+failed != 300 {
			t.Errorf("%d puts were acknowledged, %d of them late, and %d refused: want some of each", len(acknowledged), slow, failed)
		}
		items := everyItem(t, client, "items")
		for _, item := range items {
			if !acknowledged[attrText(item, "sk")] {
				t.Errorf("%s is there, but was refused", attrText(item, "sk"))
			}
		}
		if len(items) != len(acknowledged) {
			t.Errorf("%d items are there, %d were acknowledged", len(items), len(acknowledged))
		}
	})
}

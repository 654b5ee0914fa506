package heat_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// A hot partition whose throttles are of one key names the key, although its rate does not explain them. The source that
// shows it is not told to look for it.
func TestHotPartitionNamesItsKey(t *testing.T) {
	const reason = "TableWriteKeyRangeThroughputExceeded"
	bursty := func(of int64) heat.Report {
		return in(hot("CAMPAIGN#7", 180, 500, func(k *heat.KeyHeat) { k.Throttled, k.Refused, k.Reason = of, 1, reason }), func(r *heat.ResourceReport) {
			r.Writes.Throttled, r.Writes.Throttles = 131, []heat.ThrottleCount{{Reason: reason, Count: 131}}
		})
	}
	for of, named := range map[int64]bool{123: true, 60: false} {
		var found []heat.Finding
		for _, f := range heat.Explain(bursty(of), heat.Rules{}) {
			if f.Kind == heat.HotPartition {
				found = append(found, f)
			}
		}
		if len(found) != 1 {
			t.Fatalf("%d throttles: got %v", of, found)
		}
		text := spelt(found)
		if strings.Contains(text, "CAMPAIGN#7") != named || strings.Contains(text, "a Recorder in the writers") == named {
			t.Errorf("%d of 131 throttles: got %s", of, text)
		}
	}
}

// One item has no attribute that could go into its key.
func TestAdviceForOneItem(t *testing.T) {
	slow := func(items int64) heat.Report {
		return in(report(heat.Flow{
			Units: 540, Requests: 540, Distinct: heat.Distinct{Keys: 1},
			Keys: []heat.KeyHeat{{Key: "COUNTER#GLOBAL", Units: 540, Low: 540, Rate: 9, RateLow: 9, Share: 1, Requests: 540, Items: items}},
		}), func(r *heat.ResourceReport) {
			r.Patterns = []heat.Pattern{{Shape: "COUNTER#GLOBAL", Example: "COUNTER#GLOBAL", Distinct: heat.Distinct{Keys: 1}, Writes: 540}}
		})
	}
	for items, want := range map[int64]string{1: "shard the counter (package counter)", 300: "such as a customer"} {
		found := heat.Explain(slow(items), heat.Rules{})
		if len(found) != 1 || found[0].Kind != heat.LowCardinality || !strings.Contains(found[0].Remedy, want) || items == 1 && strings.Contains(found[0].Remedy, "customer") {
			t.Errorf("%d items: got %s", items, spelt(found))
		}
	}
}

// A recorder whose client makes a table learns its warm throughput, which CreateTable does not tell.
func TestCapacityOfATableOfOnesOwn(t *testing.T) {
	db := local.Start(t)
	recorder, err := heat.NewRecorder(heat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client := db.Client(recorder.Option)
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("views"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("views"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
	}); err != nil {
		t.Fatal(err)
	}
	if c := recorder.Report().Resources[0].Capacity; c == nil || !c.OnDemand || c.WarmWrites != 4000 || c.WarmReads != 12_000 {
		t.Errorf("got %+v, want the warm throughput of a new table", c)
	}
}

// A counter that one process writes has its traffic in one shard. That is no finding, unless the shard is hot: then it needs
// more shards, not a counter.
func TestShardsOfACounter(t *testing.T) {
	for rate, want := range map[float64]string{21: "", 199: "", 1200: "raise the number of shards"} {
		for _, key := range []string{"COUNTER#GLOBAL#SHARD_4", "VIEWS#SHARD_0"} {
			r := in(hot(key, rate, 1), func(r *heat.ResourceReport) {
				r.Patterns = append([]heat.Pattern{{Shape: key, Example: key, Distinct: heat.Distinct{Keys: 1}, Writes: 60 * rate}}, r.Patterns...)
			})
			found := heat.Explain(r, heat.Rules{})
			if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0].Remedy, want)) {
				t.Errorf("%s at %v a second: got %s", key, rate, spelt(found))
			}
		}
	}
	if found := heat.Explain(hot("COUNTER#GLOBAL#SHARD_A", 21, 1), heat.Rules{}); len(found) == 0 {
		t.Error("a key that is no shard: no finding")
	}
}

// A few throttles do not make most calls slow.
func TestSlowCallersAreNotAHotKey(t *testing.T) {
	slow := func(throttled int64) heat.Report {
		return in(report(heat.Flow{
			Units: 6000, Requests: 23_180, Throttled: throttled, Distinct: heat.Distinct{Keys: 1},
			Latency: heat.Latency{P50: 9800 * time.Millisecond, P99: 14 * time.Second, P999: 15 * time.Second},
		}), func(r *heat.ResourceReport) {
			r.Capacity = &heat.Capacity{OnDemand: true, WarmWrites: 4000, WarmReads: 12_000}
		})
	}
	for throttled, want := range map[int64]string{131: "look at the caller first", 20_000: "fix the hot key"} {
		found := heat.Explain(slow(throttled), heat.Rules{})
		at := slices.IndexFunc(found, func(f heat.Finding) bool { return f.Kind == heat.SlowAtLowTraffic })
		if at < 0 || !strings.Contains(found[at].Remedy, want) {
			t.Errorf("%d throttled: got %s", throttled, spelt(found))
		}
	}
}

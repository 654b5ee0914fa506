package heat_test

import (
	"strings"
	"testing"

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

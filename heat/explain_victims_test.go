package heat_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Keys that are refused because a hot one fills their partition have a warning, and it names the hot one. It is certain where the
// source knows partitions.
func TestExplainVictims(t *testing.T) {
	for _, test := range []struct {
		name      string
		hot, cold uint64 // partitions
		perSecond int    // of the cold key
		message   string
		uncertain bool
		otherwise string
	}{
		{name: "likely", perSecond: 300, message: "Partition key 'COLD#2' is throttled although it is not hot: likely 'HOT' fills its partition", uncertain: true},
		{name: "a tenth of the partition", perSecond: 100, message: "Partition key 'COLD#2' is throttled although it is not hot: likely 'HOT' fills its partition", uncertain: true},
		{name: "the same partition", hot: 7, cold: 7, perSecond: 300, message: "Partition key 'COLD#2' is throttled although it is not hot: 'HOT' fills its partition"},
		{name: "another partition", hot: 7, cold: 8, perSecond: 300, otherwise: "critical hot-partition COLD#2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				recorder := newRecorder(t, heat.Options{NoDescribe: true})
				observe := func(key string, perSecond int, partition uint64) {
					for i := range perSecond / 10 {
						o := heat.Observation{
							Resource: heat.Resource{Table: "app"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{key},
							Sort: []string{fmt.Sprint(i)}, Units: 1, Partition: partition,
						}
						if i%2 == 0 {
							o.Throttled, o.Reason = true, "TableWriteKeyRangeThroughputExceeded"
						}
						recorder.Observe(o)
					}
				}
				for range 200 {
					observe("HOT", 1500, test.hot)
					observe("COLD#2", test.perSecond, test.cold)
					time.Sleep(100 * time.Millisecond)
				}
				findings := heat.Explain(recorder.Report(), heat.Rules{})
				if len(findings) != 2 || findings[0].Key != "HOT" || findings[0].Severity != heat.Critical || findings[1].Key != "COLD#2" {
					t.Fatalf("got %v", findings)
				}
				f := findings[1]
				if test.otherwise != "" {
					if got := kinds(findings[1:]); got != test.otherwise {
						t.Errorf("got %s", got)
					}
					return
				}
				if f.Severity != heat.Warning || f.Kind != heat.HotPartition || f.Message != test.message {
					t.Errorf("got %s", f)
				}
				if !strings.HasPrefix(f.Remedy, "spread 'HOT' first") || strings.Contains(f.Cause, "does not show") {
					t.Errorf("got %+v", f)
				}
				inferred := slices.ContainsFunc(f.Evidence, func(line string) bool { return strings.Contains(line, "inferred from their throttles") })
				if inferred != test.uncertain {
					t.Errorf("got %q", f.Evidence)
				}
			})
		})
	}
}

// Several victims of several hot keys are one warning.
func TestExplainSeveralVictims(t *testing.T) {
	f := hotFlow("HOT#1", 1500, 200)
	add := func(key string, rate float64) {
		k := hotFlow(key, rate, 50).Keys[0]
		k.Share = 0.01
		f.Keys = append(f.Keys, k)
	}
	add("HOT#2", 1200)
	for i := range 7 {
		add(fmt.Sprint("COLD#", i), float64(300-30*i))
	}
	add("RARELY", 300)
	for i := range f.Keys {
		k := &f.Keys[i]
		k.Throttled, k.Refused, k.Reason = k.Requests/2, 50, "TableWriteKeyRangeThroughputExceeded"
		if k.Key == "RARELY" {
			k.Throttled = k.Requests / 30
		}
	}
	findings := heat.Explain(report(f, withPattern("COLD#{n}", 7), withPattern("HOT#{n}", 2)), heat.Rules{Excess: 1})
	i := slices.IndexFunc(findings, func(f heat.Finding) bool { return f.Key == "COLD#0" })
	if i < 0 {
		t.Fatalf("got %v", findings)
	}
	got := findings[i]
	if got.Severity != heat.Warning || len(got.Others) != 6 || slices.Contains(got.Others, "RARELY") {
		t.Errorf("got %+v", got)
	}
	if want := "Partition key 'COLD#0' is throttled although it is not hot: likely one of 'HOT#1', 'HOT#2' fills its partition"; got.Message != want {
		t.Errorf("got %s", got.Message)
	}
	checkText(t, fmt.Sprint(got.Evidence), "so are 'COLD#1', 'COLD#2', 'COLD#3', 'COLD#4', 'COLD#5' and 1 more", "'HOT#1' wants at least 1,500", "'HOT#2' wants at least 1,200")
	checkText(t, got.Remedy, "spread 'HOT#1', 'HOT#2' first: their own findings say how")
}

// The one that is excluded is not named.
func TestExcludedKeysFillNothing(t *testing.T) {
	f := hotFlow("HOT", 1500, 200)
	f.Keys = append(f.Keys, hotFlow("COLD", 300, 50).Keys[0])
	for i := range f.Keys {
		f.Keys[i].Throttled, f.Keys[i].Refused, f.Keys[i].Reason = 9000, 50, "TableWriteKeyRangeThroughputExceeded"
	}
	for _, finding := range heat.Explain(report(f), heat.Rules{Exclude: func(key string) bool { return key == "HOT" }}) {
		if strings.Contains(fmt.Sprint(finding), "HOT") {
			t.Errorf("got %+v", finding)
		}
	}
}

// An update that moves an entry of an index from a key whose partition is full is refused, although nothing is wrong with the key
// that it moves to.
func TestExplainMovesFromAHotKey(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		warm := &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(12_000), ReadUnitsPerSecond: aws.Int64(12_000)}
		attribute := func(name string) types.AttributeDefinition {
			return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
		}
		schema := func(keys ...string) (all []types.KeySchemaElement) {
			for i, key := range keys {
				all = append(all, types.KeySchemaElement{AttributeName: aws.String(key), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
			}
			return all
		}
		if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("desk"), BillingMode: types.BillingModePayPerRequest, WarmThroughput: warm,
			AttributeDefinitions: []types.AttributeDefinition{attribute("pk"), attribute("status"), attribute("updated")}, KeySchema: schema("pk"),
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName: aws.String("byStatus"), KeySchema: schema("status", "updated"), WarmThroughput: warm,
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			}},
		}); err != nil {
			t.Fatal(err)
		}
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		put := func(ctx context.Context, id string) error {
			_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("desk"), Item: map[string]types.AttributeValue{
				"pk": text(id), "status": text("OPEN"), "updated": text(id), "body": text(strings.Repeat("x", 31<<10)),
			}})
			return err
		}
		move := func(ctx context.Context, id string) {
			_, _ = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String("desk"), Key: map[string]types.AttributeValue{"pk": text(id)}, UpdateExpression: aws.String("SET #s = :s"),
				ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: map[string]types.AttributeValue{":s": text("PENDING")},
			})
		}
		var wg sync.WaitGroup
		for i := range 40 * 30 { // 40 puts a second, of which up to 12 are moved on
			id := fmt.Sprintf("TICKET#%06d", i)
			wg.Go(func() {
				if put(t.Context(), id) == nil && i%10 < 3 {
					time.Sleep(2 * time.Second)
					move(t.Context(), id)
				}
			})
			time.Sleep(time.Second / 40)
		}
		wg.Wait()
		findings := heat.Explain(recorder.Report(), heat.Rules{})
		var about []heat.Finding
		for _, f := range findings {
			if f.Index == "byStatus" && f.Severity > heat.Info {
				about = append(about, f)
			}
		}
		if got := kinds(about); got != "critical low-cardinality OPEN; warning hot-index PENDING" {
			t.Fatalf("got %s: %v", got, about)
		}
		want := "Partition key 'PENDING' is throttled by writes that move entries to it, likely because 'OPEN' fills the partition that they leave"
		if f := about[1]; f.Message != want || !strings.Contains(f.Remedy, "spread 'OPEN' first") {
			t.Errorf("got %+v", f)
		}
	})
}

// Where no other key of the index is hot, a finding does not blame the new key alone.
func TestExplainMovesFromAKeyThatNobodySaw(t *testing.T) {
	f := hotFlow("PENDING", 400, 50)
	k := &f.Keys[0]
	k.Throttled, k.Moving, k.Refused, k.Reason = 5000, 4000, 50, "IndexWriteKeyRangeThroughputExceeded"
	findings := heat.Explain(report(f), heat.Rules{Excess: 1})
	if len(findings) != 1 || !strings.Contains(findings[0].Cause, "if the partition that the entry leaves is full") {
		t.Errorf("got %+v", findings)
	}
	k.Moving = 0
	findings = heat.Explain(report(f), heat.Rules{Excess: 1})
	if len(findings) != 1 || strings.Contains(findings[0].Cause, "leaves") {
		t.Errorf("no moves: got %+v", findings)
	}
}

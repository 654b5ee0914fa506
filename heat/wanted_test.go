package heat_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// large returns an item that takes ten units to write.
func large(pk string, i int) item {
	it := key(pk, fmt.Sprint(i%7))
	it["body"] = text(strings.Repeat("x", 10_000))
	return it
}

// A key that 400 writes a second of ten units each want to reach wants 4,000 units, those that were refused too, however
// they are written; of an update the mean of those that were served is taken. What a batch hands back is refused for no reason given, so it
// may be another's fault and does not count.
func TestRefusedWritesWantTheirSize(t *testing.T) {
	name := aws.String("views")
	put := func(i int) types.WriteRequest {
		return types.WriteRequest{PutRequest: &types.PutRequest{Item: large("PAGE#viral", i)}}
	}
	for _, test := range []struct {
		name    string
		low     float64 // the units a second wanted, at least
		high    float64
		message string
		write   func(t *testing.T, client *dynamodb.Client, i int)
	}{
		{"put", 3800, 4000.5, "400 requests/sec", func(t *testing.T, client *dynamodb.Client, i int) {
			_, _ = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: large("PAGE#viral", i)})
		}},
		{"batch", 2500, 4000.5, "", func(t *testing.T, client *dynamodb.Client, i int) {
			if i%2 == 0 {
				_, _ = client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
					RequestItems: map[string][]types.WriteRequest{*name: {put(i), put(i + 1)}},
				})
			}
		}},
		{"update", 3800, 4000.5, "about 400 requests/sec", func(t *testing.T, client *dynamodb.Client, i int) {
			_, _ = client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: name, Key: key("PAGE#viral", fmt.Sprint(i%7)), UpdateExpression: aws.String("SET body = :b"),
				ExpressionAttributeValues: item{":b": text(strings.Repeat(fmt.Sprint(i%10), 10_000))},
			})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := start(t, &local.Physics{})
				recorder := newRecorder(t, heat.Options{})
				client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
				for tick := range 300 {
					for i := range 4 {
						test.write(t, client, 4*tick+i)
					}
					time.Sleep(10 * time.Millisecond)
				}
				report := recorder.Report()
				hot := resource(t, report, "views").Writes.Keys[0]
				if hot.Throttled == 0 || hot.RateLow < test.low || hot.RateLow > test.high {
					t.Errorf("%.0f units a second wanted at least, want %.0f to %.0f: %+v", hot.RateLow, test.low, test.high, hot)
				}
				if findings := heat.Explain(report, heat.Rules{}); !strings.Contains(fmt.Sprint(findings), test.message) {
					t.Errorf("no %q in %v", test.message, findings)
				}
			})
		})
	}
}

// A key that never gets through has its size still, and no more requests than were made.
func TestWhatIsAlwaysRefusedWantsItsSize(t *testing.T) {
	report := heat.Report{Source: heat.Live, From: noon, To: noon.Add(time.Minute), Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "app"},
		Writes: heat.Flow{Requests: 24_000, Throttled: 24_000, Keys: []heat.KeyHeat{{
			Key: "PAGE#viral", Rate: 4000, RateLow: 4000, Refused: 400, Requests: 24_000, Throttled: 24_000,
			Reason: "TableWriteKeyRangeThroughputExceeded",
		}}},
	}}}
	findings := heat.Explain(report, heat.Rules{})
	if len(findings) == 0 || findings[0].Message != "Partition key 'PAGE#viral' has at least 400 requests/sec of 10.0 write units each (hot partition)" {
		t.Errorf("got %v", findings)
	}
}

// A write whose condition is not met is charged by the item that is there: what it wanted to write says nothing.
func TestRefusedWritesWithoutTheirConditionWantTheLeast(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{})
		client := db.Client()
		recorder := newRecorder(t, heat.Options{})
		patient := db.Client(recorder.Option, func(o *dynamodb.Options) { o.RetryMaxAttempts = 20 })
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("PAGE#viral", "0")}); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			for i := range 25 { // uses the second up
				_, _ = db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }).PutItem(t.Context(),
					&dynamodb.PutItemInput{TableName: aws.String("views"), Item: large("PAGE#viral", 1+i%5)})
			}
			_, _ = patient.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String("views"), Item: large("PAGE#viral", 0), ConditionExpression: aws.String("attribute_not_exists(pk)"),
			})
		}
		hot := resource(t, recorder.Report(), "views").Writes
		if len(hot.Keys) == 0 || hot.Throttled == 0 {
			t.Fatalf("nothing was refused: %+v", hot)
		}
		calls := float64(hot.Requests - hot.Retries)
		seconds := recorder.Report().Elapsed().Seconds()
		if most := 2 * calls / math.Max(1, seconds); hot.Keys[0].RateLow > most {
			t.Errorf("%.1f units a second wanted at least, of %.0f calls in %.1f s", hot.Keys[0].RateLow, calls, seconds)
		}
	})
}

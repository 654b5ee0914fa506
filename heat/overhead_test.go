package heat_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// recordedCalls are the operations whose overhead is measured, as a program would call them: the nth call of each.
var recordedCalls = []struct {
	name string
	call func(ctx context.Context, client *dynamodb.Client, n int) error
}{
	{"PutItem", func(ctx context.Context, client *dynamodb.Client, n int) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", fmt.Sprint(n%1000))})
		return err
	}},
	{"GetItem", func(ctx context.Context, client *dynamodb.Client, n int) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("views"), Key: key("a", fmt.Sprint(n%1000))})
		return err
	}},
	{"UpdateItem", func(ctx context.Context, client *dynamodb.Client, n int) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("views"), Key: key("b", fmt.Sprint(n%1000)),
			UpdateExpression:          aws.String("SET seen = :n"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: "1"}},
		})
		return err
	}},
	{"Query", func(ctx context.Context, client *dynamodb.Client, n int) error {
		_, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("views"), Limit: aws.Int32(10),
			KeyConditionExpression:    aws.String("pk = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: "a"}},
		})
		return err
	}},
	{"BatchWriteItem", func(ctx context.Context, client *dynamodb.Client, n int) error {
		requests := make([]types.WriteRequest, 25)
		for i := range requests {
			requests[i].PutRequest = &types.PutRequest{Item: key("a", fmt.Sprint((25*n+i)%1000))}
		}
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{"views": requests},
		})
		return err
	}},
}

// startPair returns two clients of one engine, of which the second is recorded, and a recorder that has seen its table.
func startPair(tb testing.TB) (plain, recorded *dynamodb.Client) {
	tb.Helper()
	db := local.Start(tb)
	if err := db.CreateTable(tb.Context(), "views", "pk", "sk"); err != nil {
		tb.Fatal(err)
	}
	plain, recorded = db.Client(), db.Client(newRecorder(tb, heat.Options{}).Option)
	for _, client := range []*dynamodb.Client{plain, recorded} {
		for n := range 1000 {
			for _, operation := range recordedCalls[:3] {
				if err := operation.call(tb.Context(), client, n); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
	return plain, recorded
}

// callsPerRound is how many calls are timed at once: enough that every round pays for its part of the garbage collection.
const callsPerRound = 125

// BenchmarkRecorded compares recorded calls with the same calls unrecorded. An operation of the benchmark is four rounds: one
// client's, two of the other's, and again the first's. So a machine that becomes busier or less busy slows both down alike.
// Time is the processor's, garbage collection included. The benchmark reports the medians of its operations:
//
//	go test ./heat -run '^$' -bench BenchmarkRecorded -benchtime 100x -count 8
func BenchmarkRecorded(b *testing.B) {
	for _, operation := range recordedCalls {
		b.Run(operation.name, func(b *testing.B) {
			plain, recorded := startPair(b)
			n := 0
			round := func(client *dynamodb.Client) float64 {
				begun := processorTime()
				for range callsPerRound {
					if err := operation.call(b.Context(), client, n); err != nil {
						b.Fatal(err)
					}
					n++
				}
				return float64(processorTime()-begun) / callsPerRound
			}
			var without, with, ratios, noise []float64
			runtime.GC()
			for b.Loop() {
				first, second := plain, recorded
				if len(ratios)%2 == 1 { // nobody always goes first
					first, second = recorded, plain
				}
				p := round(first)
				r := (round(second) + round(second)) / 2
				again := round(first)
				noise = append(noise, 100*math.Abs(again/p-1))
				p = (p + again) / 2
				if first == recorded {
					p, r = r, p
				}
				without, with, ratios = append(without, p), append(with, r), append(ratios, r/p)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(without), "plain-ns/call")
			b.ReportMetric(median(with)-median(without), "added-ns/call")
			b.ReportMetric(100*(median(ratios)-1), "overhead-%")
			b.ReportMetric(median(noise), "noise-%") // between two rounds of the same client
			added := addedAllocations(b, operation.call, plain, recorded)
			b.ReportMetric(added, "added-allocs/call")
			if most := mostAdded[operation.name]; added > most { // the suite has the race detector, under which pools drop what they hold
				b.Errorf("%v more allocations than an unrecorded call, want at most %v", added, most)
			}
		})
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// addedAllocations returns how many more allocations a recorded call makes than an unrecorded one.
func addedAllocations(tb testing.TB, call func(context.Context, *dynamodb.Client, int) error, plain, recorded *dynamodb.Client) float64 {
	tb.Helper()
	count := func(client *dynamodb.Client) float64 {
		return testing.AllocsPerRun(500, func() {
			if err := call(context.Background(), client, 1); err != nil {
				tb.Fatal(err)
			}
		})
	}
	return count(recorded) - count(plain)
}

// mostAdded is how many allocations recording may add to a call. Reads of one item have 4: the copy of the input, that of
// the client's options, the middleware's place in the stack, and the engine's answer. Writes save as many, as their answers
// are read without the SDK. Queries and batches make hundreds.
var mostAdded = map[string]float64{"PutItem": 2, "GetItem": 4, "UpdateItem": 2, "Query": 11, "BatchWriteItem": 15}

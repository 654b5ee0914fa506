package heat_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

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

// Calls come in blocks, so that a client's code is in the processor's caches, as in a program that records all of its calls. The
// first calls of a block bring it there.
const (
	blockCalls   = 60
	blockWarming = 10
)

// BenchmarkRecorded compares recorded calls with the same calls unrecorded. An operation of the benchmark is three blocks: two of
// the client that is not recorded, and the other's between them.
//
// What a call adds is the difference of the lower quartiles of single calls. A call is shorter than a slice of time that a busy
// machine gives to somebody else, so quartiles are the same on a busy machine. They leave the collection of garbage out. So the
// added garbage is charged what the garbage of a call costs: the processor's time of all calls, less their quartile. The overhead
// is both, as a share of the processor's time of a call.
//
//	go test ./heat -run '^$' -bench BenchmarkRecorded -benchtime 400x -count 6
func BenchmarkRecorded(b *testing.B) {
	for _, operation := range recordedCalls {
		b.Run(operation.name, func(b *testing.B) {
			plain, recorded := startPair(b)
			n := 0
			call := func(client *dynamodb.Client) time.Duration {
				n++
				begun := time.Now()
				err := operation.call(b.Context(), client, n)
				took := time.Since(begun)
				if err != nil {
					b.Fatal(err)
				}
				return took
			}
			block := func(client *dynamodb.Client, to *[]float64) {
				for range blockWarming {
					call(client)
				}
				for range blockCalls {
					*to = append(*to, float64(call(client)))
				}
			}
			var without, with, again []float64
			worked := time.Duration(0)
			runtime.GC()
			for b.Loop() {
				begun := processorTime()
				block(plain, &without)
				worked += processorTime() - begun
				block(recorded, &with)
				block(plain, &again)
			}
			whole := float64(worked) / float64(b.N*(blockWarming+blockCalls))
			same := lowerQuartile(again)
			single := (lowerQuartile(without) + same) / 2
			added := lowerQuartile(with) - single
			bare, more := garbage(b, operation.call, plain), garbage(b, operation.call, recorded)
			added += max(0, whole-single) * (more.bytes/bare.bytes - 1)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(whole, "plain-ns/call")
			b.ReportMetric(added, "added-ns/call")
			b.ReportMetric(100*added/whole, "overhead-%")
			b.ReportMetric(100*math.Abs(same/single-1), "noise-%") // between blocks of the same client
			b.ReportMetric(more.allocations-bare.allocations, "added-allocs/call")
			if added, most := more.allocations-bare.allocations, mostAdded[operation.name]; added > most { // the suite has the race detector, under which pools drop what they hold
				b.Errorf("%v more allocations than an unrecorded call, want at most %v", added, most)
			}
		})
	}
}

func lowerQuartile(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/4]
}

// allocated is what a call allocates.
type allocated struct{ allocations, bytes float64 }

func garbage(tb testing.TB, call func(context.Context, *dynamodb.Client, int) error, client *dynamodb.Client) allocated {
	tb.Helper()
	const runs = 500
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	allocations := testing.AllocsPerRun(runs, func() {
		if err := call(context.Background(), client, 1); err != nil {
			tb.Fatal(err)
		}
	})
	runtime.ReadMemStats(&after)
	return allocated{allocations, float64(after.TotalAlloc-before.TotalAlloc) / (runs + 1)} // it runs once more before
}

// mostAdded is how many allocations recording may add to a call. Reads of one item have 4: the copy of the input, that of
// the client's options, the middleware's place in the stack, and the engine's answer. Writes save as many, as their answers
// are read without the SDK. Queries and batches make hundreds.
var mostAdded = map[string]float64{"PutItem": 2, "GetItem": 4, "UpdateItem": 2, "Query": 11, "BatchWriteItem": 15}

package heat_test

import (
	"fmt"
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

// batchOf asks for items 0 to n-1.
func batchOf(n int, projection *string) *dynamodb.BatchGetItemInput {
	var keys []map[string]types.AttributeValue
	for i := range n {
		keys = append(keys, key(fmt.Sprint("k", i), "1"))
	}
	return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"views": {Keys: keys, ProjectionExpression: projection}}}
}

// An answer of 16 MB is full: the keys that it leaves over are neither throttled nor failed, and consume nothing. Of
// projected items the answer is small, but what it consumed shows that it was full.
func TestBatchGetItemThatIsFullIsNotThrottled(t *testing.T) {
	const items = 45 // of 390 KB: 42 are less than 16 MB
	db := start(t, nil)
	for i := range items {
		big := key(fmt.Sprint("k", i), "1")
		big["body"] = text(strings.Repeat("x", 390<<10))
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: big}); err != nil {
			t.Fatal(err)
		}
	}
	for name, projection := range map[string]*string{"whole": nil, "projected": aws.String("pk, sk")} {
		t.Run(name, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{})
			out, err := db.Client(recorder.Option).BatchGetItem(t.Context(), batchOf(items, projection))
			if err != nil {
				t.Fatal(err)
			}
			left := len(out.UnprocessedKeys["views"].Keys)
			if left != 3 {
				t.Fatalf("%d keys are left over", left)
			}
			reads := resource(t, recorder.Report(), "views").Reads
			if reads.Throttled != 0 || reads.Errors != 0 || reads.Requests != items || len(reads.Throttles) != 0 {
				t.Errorf("got %d throttled and %d failed of %d: %+v", reads.Throttled, reads.Errors, reads.Requests, reads.Throttles)
			}
			served := 0
			for _, k := range reads.Keys {
				switch k.Units {
				case 49: // 390.02 KB, half price
					served++
				case 0:
				default:
					t.Errorf("%s took %v", k.Key, k.Units)
				}
			}
			if served != items-left || reads.Units != float64(49*served) {
				t.Errorf("%d keys were served %v units", served, reads.Units)
			}
		})
	}
}

// What a partition refuses of a batch is throttled, the rest of the batch is not.
func TestBatchGetItemThatIsThrottled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{PartitionReads: 10, Window: time.Second, OnDemandPartitions: 1})
		recorder := newRecorder(t, heat.Options{})
		out, err := db.Client(recorder.Option).BatchGetItem(t.Context(), batchOf(50, nil))
		if err != nil {
			t.Fatal(err)
		}
		left := int64(len(out.UnprocessedKeys["views"].Keys))
		if reads := resource(t, recorder.Report(), "views").Reads; left == 0 || reads.Throttled != left || reads.Units != 0.5*float64(50-left) {
			t.Errorf("%d left over, %d throttled, %v units", left, reads.Throttled, reads.Units)
		}
	})
}

// Of a batch of writes that is refused in part, the index's units are those of what was written.
func TestBatchWriteItemThatIsThrottledInPart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{PartitionWrites: 10, Window: time.Second, OnDemandPartitions: 1})
		createJobs(t, db.Client())
		recorder := newRecorder(t, heat.Options{})
		var requests []types.WriteRequest
		for i := range 20 {
			job := key(fmt.Sprint("job-", i), "1")
			job["status"] = text(fmt.Sprint("S", i))
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: job}})
		}
		out, err := db.Client(recorder.Option).BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"jobs": requests}})
		if err != nil {
			t.Fatal(err)
		}
		left := make(map[string]bool)
		for _, request := range out.UnprocessedItems["jobs"] {
			left[request.PutRequest.Item["status"].(*types.AttributeValueMemberS).Value] = true
		}
		if len(left) == 0 || len(left) == 20 {
			t.Fatalf("%d are left over", len(left))
		}
		for key, units := range keyUnits(recorder.Report(), "jobs/byStatus") {
			if want := map[bool]float64{true: 0, false: 1}[left[key]]; units != want {
				t.Errorf("%s took %v, want %v", key, units, want)
			}
		}
	})
}

// A deletion that a partition refuses of a batch is throttled, and costs nothing.
func TestBatchOfDeletionsThatIsThrottledInPart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{PartitionWrites: 10, Window: time.Second, OnDemandPartitions: 1})
		recorder := newRecorder(t, heat.Options{})
		var requests []types.WriteRequest
		for i := range 20 {
			requests = append(requests, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key(fmt.Sprint("k", i), "1")}})
		}
		out, err := db.Client(recorder.Option).BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"views": requests}})
		if err != nil {
			t.Fatal(err)
		}
		left := make(map[string]bool)
		for _, request := range out.UnprocessedItems["views"] {
			left[request.DeleteRequest.Key["pk"].(*types.AttributeValueMemberS).Value] = true
		}
		writes := resource(t, recorder.Report(), "views").Writes
		if len(left) == 0 || len(left) == 20 || writes.Throttled != int64(len(left)) {
			t.Errorf("%d left over, %d throttled", len(left), writes.Throttled)
		}
		for _, k := range writes.Keys {
			if want := map[bool]float64{true: 0, false: 1}[left[k.Key]]; k.Units != want {
				t.Errorf("%s took %v, want %v", k.Key, k.Units, want)
			}
		}
	})
}

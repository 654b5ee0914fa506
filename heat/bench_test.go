package heat_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// What the recorder adds to a call: the counting alone.
func BenchmarkObserve(b *testing.B) {
	for _, distinct := range []int{1, 500, 100_000} {
		b.Run(fmt.Sprint(distinct), func(b *testing.B) {
			recorder := newRecorder(b, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
			key := []byte("user-") // made anew each time: the key of a call has just been made, and is in the processor's cache
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key = strconv.AppendInt(key[:len("user-")], int64((i*7919)%distinct), 10)
				heat.Observe(recorder, "views", heat.Write, key, 1)
			}
		})
	}
}

// What the recorder adds to a PutItem, without what the SDK and the server do because it asks for the consumed capacity.
func BenchmarkHandle(b *testing.B) {
	recorder := newRecorder(b, heat.Options{Keys: map[string][]string{"views": {"pk"}}})
	input := &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", "1")}
	units := types.ConsumedCapacity{TableName: aws.String("views"), CapacityUnits: aws.Float64(1)}
	next := middleware.InitializeHandlerFunc(func(context.Context, middleware.InitializeInput) (
		out middleware.InitializeOutput, metadata middleware.Metadata, err error,
	) {
		out.Result = &dynamodb.PutItemOutput{ConsumedCapacity: &units}
		return out, metadata, nil
	})
	b.ReportAllocs()
	for b.Loop() {
		if err := heat.Handle(b.Context(), recorder, input, next); err != nil {
			b.Fatal(err)
		}
	}
}

// startBench returns a client of a table (pk, sk), recorded or not.
func startBench(b *testing.B, recorded bool) *dynamodb.Client {
	b.Helper()
	db := local.Start(b)
	if err := db.CreateTable(b.Context(), "views", "pk", "sk"); err != nil {
		b.Fatal(err)
	}
	if recorded {
		return db.Client(newRecorder(b, heat.Options{}).Option)
	}
	return db.Client()
}

// A whole PutItem on the engine, with and without a recorder.
func BenchmarkPutItem(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", recorded), func(b *testing.B) {
			client := startBench(b, recorded)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key("a", fmt.Sprint(i%1000))}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A whole GetItem, likewise.
func BenchmarkGetItem(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", recorded), func(b *testing.B) {
			client := startBench(b, recorded)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: aws.String("views"), Key: key("a", fmt.Sprint(i%1000))}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The memory of a recorder after ten million different keys, and after a hundred thousand.
func BenchmarkTenMillionKeys(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(recorderMemory(b, 100_000)), "bytes/100k-keys")
		b.ReportMetric(float64(recorderMemory(b, 10_000_000)), "bytes/10M-keys")
	}
}

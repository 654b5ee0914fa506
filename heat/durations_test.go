package heat_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Each call is in the bucket of its duration, to the bound; one that takes longer than all is only counted.
func TestDurations(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		if err := db.CreateTable(t.Context(), "views", "pk"); err != nil {
			t.Fatal(err)
		}
		recorder := newRecorder(t, heat.Options{})
		var wait time.Duration
		client := db.Client(recorder.Option, func(o *dynamodb.Options) {
			o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
				return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("wait", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
					time.Sleep(wait)
					return next.HandleFinalize(ctx, in)
				}), middleware.Before)
			})
		})
		bounds := heat.DurationBounds()
		var sum time.Duration
		for _, wait = range append(bounds[:], 2*time.Minute, time.Nanosecond) {
			sum += wait
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}}); err != nil {
				t.Fatal(err)
			}
		}
		report := recorder.Report()
		got := report.Resources[0].Writes.Durations
		if got.Count != int64(len(bounds)+2) || got.Sum != sum {
			t.Errorf("got %d calls of %v, want %d of %v", got.Count, got.Sum, len(bounds)+2, sum)
		}
		for i, n := range got.Buckets {
			if want := map[bool]int64{true: 2, false: 1}[i == 0]; n != want {
				t.Errorf("up to %v: %d calls, want %d", bounds[i], n, want)
			}
		}
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		var again heat.Report
		if err := json.Unmarshal(text, &again); err != nil || again.Resources[0].Writes.Durations != got {
			t.Errorf("as JSON: %v, %v", again.Resources[0].Writes.Durations, err)
		}
	})
}

// Histograms of several processes are added by their bounds, so the bounds stay.
func TestDurationBounds(t *testing.T) {
	want := []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000}
	bounds := heat.DurationBounds()
	for i, bound := range bounds {
		if got := bound.Seconds() * 1000; len(bounds) != len(want) || got != want[i] {
			t.Errorf("bound %d of %d is %v ms, want %v of %d", i, len(bounds), got, want[i], len(want))
		}
	}
}

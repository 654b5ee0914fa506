package lab_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
)

// One key takes 1,000 units a second of what is offered: the figures must say so, and what happened to the rest.
func TestSustainMeasuresAHotKey(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "load", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		watch := &lab.Watch{Latency: 5 * time.Millisecond}
		client := db.Client(watch.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		load := lab.Load{PerSecond: 1500, RunIn: 2 * time.Second, Measured: 4 * time.Second}
		report := load.Sustain(t.Context(), watch, func(ctx context.Context, i int) error {
			_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String("load"),
				Item: map[string]types.AttributeValue{
					"pk": &types.AttributeValueMemberS{Value: "hot"},
					"sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
				},
			})
			return err
		})
		t.Log(report)
		if report.Offered != 6000 {
			t.Errorf("offered %d, want 6000", report.Offered)
		}
		if rate := report.AcceptedPerSecond(); rate < 980 || rate > 1020 {
			t.Errorf("accepted %.0f a second", rate)
		}
		if n := report.Traffic.Throttles; n < 1900 || n > 2100 {
			t.Errorf("%d throttles, want about 2000", n)
		}
		if units := report.Traffic.WriteUnits; units < 3900 || units > 4100 {
			t.Errorf("%.0f write units, want about 4000", units)
		}
		if report.P50 != 5*time.Millisecond || report.P999 != 5*time.Millisecond {
			t.Errorf("p50 %v, p99.9 %v, want the latency of a request", report.P50, report.P999)
		}
	})
}

// A client's retries are requests of their own.
func TestWatchSeesEveryAttempt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 1, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "load", "pk"); err != nil {
			t.Fatal(err)
		}
		var watch lab.Watch
		client := db.Client(watch.Option)
		for range 2 {
			_, _ = client.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String("load"),
				Item:      map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "hot"}},
			})
		}
		if got := watch.Traffic(); got.Requests-got.Throttles < 1 || got.Throttles == 0 || got.Requests < 3 {
			t.Errorf("got %+v, want throttled attempts", got)
		}
	})
}

package heat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
)

// empty answers everything with nothing, as a server does that is no DynamoDB.
type empty struct {
	heat.Scanner
	heatcloudwatch.InsightTables
}

func (empty) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return &dynamodb.DescribeTableOutput{}, nil
}

// A description without a table is an error of every source, and no panic.
func TestADescriptionOfNothing(t *testing.T) {
	ctx := t.Context()
	_, stream := heat.OpenStream(ctx, empty{}, nil, "orders", heat.StreamOptions{})
	_, cost := heat.EstimateScan(ctx, empty{}, "orders", heat.ScanOptions{})
	_, scan := heat.ScanTable(ctx, empty{}, "orders", heat.ScanOptions{})
	_, metrics := heatcloudwatch.Metrics(ctx, nil, empty{}, "orders", heatcloudwatch.Options{})
	_, insights := heatcloudwatch.Insights(ctx, nil, empty{}, "orders", heatcloudwatch.Options{})
	recorder := newRecorder(t, heat.Options{}).Describe(ctx, empty{}, "orders")
	for source, err := range map[string]error{"stream": stream, "cost": cost, "scan": scan, "metrics": metrics, "insights": insights, "recorder": recorder} {
		if err == nil || !strings.Contains(err.Error(), `describe table "orders": the response has no table`) {
			t.Errorf("%s: got %v", source, err)
		}
	}
}

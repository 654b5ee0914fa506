package heatcloudwatch_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/local"
)

// oddSums are no sums of what was counted.
var oddSums = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300}

// A sum that is no number of units or requests is refused, with the metric: it would spoil all that is worked out of it.
func TestMetricsThatAreNoNumbers(t *testing.T) {
	for _, sum := range oddSums {
		client := metricData(func(in *cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error) {
			out := &cloudwatch.GetMetricDataOutput{}
			for _, q := range in.MetricDataQueries {
				out.MetricDataResults = append(out.MetricDataResults, result(q, cloudwatchtypes.StatusCodeComplete, *in.StartTime, 1, sum))
			}
			return out, nil
		})
		_, err := heatcloudwatch.Metrics(t.Context(), client, describer{}, "views", heatcloudwatch.Options{})
		if err == nil || !strings.Contains(err.Error(), `metrics of table "views": ConsumedReadCapacityUnits of views: `) || !strings.Contains(err.Error(), "is not a count") {
			t.Errorf("%v: got %v", sum, err)
		}
	}
}

// The same of what Contributor Insights lists.
func TestContributorsThatAreNoNumbers(t *testing.T) {
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := db.Client()
	if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
		TableName: aws.String("views"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
	}); err != nil {
		t.Fatal(err)
	}
	for _, sum := range oddSums {
		for name, out := range map[string]cloudwatch.GetInsightRuleReportOutput{
			"of a key": {Contributors: []cloudwatchtypes.InsightRuleContributor{{Keys: []string{"a"}, ApproximateAggregateValue: &sum}}},
			"of a minute": {Contributors: []cloudwatchtypes.InsightRuleContributor{{Keys: []string{"a"}, Datapoints: []cloudwatchtypes.InsightRuleContributorDatapoint{
				{Timestamp: aws.Time(time.Now()), ApproximateValue: &sum},
			}}}},
			"of all": {AggregateValue: &sum},
		} {
			odd := insightReports{db.CloudWatchClient(), func(_ string, to *cloudwatch.GetInsightRuleReportOutput) error {
				*to = out
				return nil
			}}
			_, err := heatcloudwatch.Insights(t.Context(), odd, client, "views", heatcloudwatch.Options{})
			if err == nil || !strings.Contains(err.Error(), "rule DynamoDBContributorInsights-PK") || !strings.Contains(err.Error(), "is not a count") {
				t.Errorf("%s, %v: got %v", name, sum, err)
			}
		}
	}
}

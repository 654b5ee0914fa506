package local_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// statistics asks for a sum as programs did before GetMetricData.
func statistics(metric string, change func(*cloudwatch.GetMetricStatisticsInput)) *cloudwatch.GetMetricStatisticsInput {
	in := &cloudwatch.GetMetricStatisticsInput{
		Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String(metric),
		Dimensions: []cwtypes.Dimension{{Name: aws.String("TableName"), Value: aws.String("user-events")}},
		StartTime:  aws.Time(time.Now().Add(-time.Hour)), EndTime: aws.Time(time.Now()), Period: aws.Int32(60),
		Statistics: []cwtypes.Statistic{cwtypes.StatisticSum},
	}
	if change != nil {
		change(in)
	}
	return in
}

// Throttling is detected with GetMetricStatistics, as document 004 does it, and the sums are those of GetMetricData.
func TestGetMetricStatistics(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 5, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := db.CreateTable(t.Context(), "user-events", "userId"); err != nil {
			t.Fatal(err)
		}
		client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		refused := 0.0
		for range 3 * 60 * 10 { // ten a second where five fit, for three minutes
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("user-events"), Item: map[string]types.AttributeValue{"userId": &types.AttributeValueMemberS{Value: "user-12345"}}}); err != nil {
				refused++
			}
			time.Sleep(100 * time.Millisecond)
		}
		metrics := db.CloudWatchClient(func(o *cloudwatch.Options) { o.Retryer = aws.NopRetryer{} })
		out, err := metrics.GetMetricStatistics(t.Context(), statistics("WriteThrottleEvents", nil))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, p := range out.Datapoints {
			sum += aws.ToFloat64(p.Sum)
			if p.Unit != cwtypes.StandardUnitCount || i > 0 && !p.Timestamp.After(*out.Datapoints[i-1].Timestamp) {
				t.Errorf("point %d: %v %v", i, p.Timestamp, p.Unit)
			}
		}
		if aws.ToString(out.Label) != "WriteThrottleEvents" || len(out.Datapoints) < 3 || refused == 0 || sum != refused {
			t.Errorf("%d requests were refused; got %v in %d points, %q", int(refused), sum, len(out.Datapoints), aws.ToString(out.Label))
		}
		whole, err := metrics.GetMetricStatistics(t.Context(), statistics("WriteThrottleEvents", func(in *cloudwatch.GetMetricStatisticsInput) { in.Period = aws.Int32(3600) }))
		if err != nil || len(whole.Datapoints) == 0 || len(whole.Datapoints) > 2 {
			t.Errorf("by the hour: %v, %v", whole, err)
		}
		for name, in := range map[string]*cloudwatch.GetMetricStatisticsInput{
			"a metric that there is not": statistics("UserErrors", nil),
			"another namespace":          statistics("WriteThrottleEvents", func(in *cloudwatch.GetMetricStatisticsInput) { in.Namespace = aws.String("AWS/Other") }),
			"another unit":               statistics("WriteThrottleEvents", func(in *cloudwatch.GetMetricStatisticsInput) { in.Unit = cwtypes.StandardUnitBytes }),
			"another table":              statistics("WriteThrottleEvents", func(in *cloudwatch.GetMetricStatisticsInput) { in.Dimensions[0].Value = aws.String("other") }),
			"an index that there is not": statistics("WriteThrottleEvents", func(in *cloudwatch.GetMetricStatisticsInput) {
				in.Dimensions = append(in.Dimensions, cwtypes.Dimension{Name: aws.String("GlobalSecondaryIndexName"), Value: aws.String("i")})
			}),
		} {
			if out, err := metrics.GetMetricStatistics(t.Context(), in); err != nil || len(out.Datapoints) != 0 {
				t.Errorf("%s: got %v, %v, want nothing", name, out, err)
			}
		}
		for name, test := range map[string]struct {
			change func(*cloudwatch.GetMetricStatisticsInput)
			want   string
		}{
			"average": {func(in *cloudwatch.GetMetricStatisticsInput) {
				in.Statistics = append(in.Statistics, cwtypes.StatisticAverage)
			}, `only Sum is implemented, not "Average"`},
			"percentile": {func(in *cloudwatch.GetMetricStatisticsInput) { in.ExtendedStatistics = []string{"p99"} }, `only Sum is implemented, not "p99"`},
			"none":       {func(in *cloudwatch.GetMetricStatisticsInput) { in.Statistics = nil }, "At least one of the parameters"},
			"seconds":    {func(in *cloudwatch.GetMetricStatisticsInput) { in.Period = aws.Int32(1) }, "a multiple of 60 seconds"},
			"too many": {func(in *cloudwatch.GetMetricStatisticsInput) {
				in.StartTime = aws.Time(time.Now().Add(-25 * time.Hour))
			}, "exceeds the limit of 1,440"},
			"backwards": {func(in *cloudwatch.GetMetricStatisticsInput) { in.StartTime, in.EndTime = in.EndTime, in.StartTime }, "StartTime must be before EndTime"},
			"no name":   {func(in *cloudwatch.GetMetricStatisticsInput) { in.MetricName = aws.String("") }, "a Namespace and a MetricName"},
		} {
			if _, err := metrics.GetMetricStatistics(t.Context(), statistics("WriteThrottleEvents", test.change)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", name, err, test.want)
			}
		}
	})
}

// Without physics nothing is counted. An empty answer would say that nothing was throttled.
func TestNoMetricsWithoutPhysics(t *testing.T) {
	metrics := local.Start(t).CloudWatchClient(func(o *cloudwatch.Options) { o.Retryer = aws.NopRetryer{} })
	_, err := metrics.GetMetricStatistics(t.Context(), statistics("WriteThrottleEvents", nil))
	if err == nil || !strings.Contains(err.Error(), "metrics need physics: set local.Options.Physics") {
		t.Errorf("got %v, want that metrics need physics", err)
	}
}

package heatcloudwatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// burn offers a table so many writes a second of one key for so long, without retries.
func burn(ctx context.Context, client *dynamodb.Client, table, key string, perTick int, ticks int) {
	for tick := range ticks {
		for i := range perTick {
			_, _ = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: map[string]dynamotypes.AttributeValue{
				"pk": &dynamotypes.AttributeValueMemberS{Value: key}, "sk": &dynamotypes.AttributeValueMemberS{Value: fmt.Sprint(tick, i)},
			}})
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// 004-13, 004-14, X17, X24, X25: an hour in sums of a minute, throttles by their reason and not UserErrors: a hot
// partition while the table has room. The engine answers as CloudWatch does, through the SDK's own client.
func TestMetricsShowAHotPartition(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		// Partitions of a tenth of the usual size, so that less makes them hot.
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 100, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		burn(t.Context(), client, "views", "hot", 13, 900) // 130 a second for 90 seconds
		time.Sleep(2 * time.Minute)
		report, err := heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), client, "views", heatcloudwatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Resources) != 1 || report.Elapsed() != time.Hour+30*time.Second {
			t.Fatalf("got %+v", report)
		}
		w := report.Resources[0].Writes
		if w.Units < 8900 || w.Units > 9300 || w.Peak < 95 || w.Peak > 105 || len(w.Trend) < 2 || len(w.Trend) > 3 {
			t.Errorf("consumed %v, peak %v, trend %+v", w.Units, w.Peak, w.Trend)
		}
		if len(w.Throttles) != 1 || w.Throttles[0].Reason != "TableWriteKeyRangeThroughputExceeded" || w.Throttled < 2500 || w.Throttles[0].Count != w.Throttled {
			t.Errorf("throttled %d: %+v", w.Throttled, w.Throttles)
		}
		findings := heat.Explain(report, heat.Rules{})
		if len(findings) != 1 || findings[0].Kind != heat.HotPartition || findings[0].Severity != heat.Critical ||
			findings[0].Message != "A hot partition: writes throttled by key range while the table has spare capacity" {
			t.Errorf("got %+v", findings)
		}
	})
}

// A steady rate is the same at any second of a minute, and no report ends in the future.
func TestMetricsOfASteadyRate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
		burn(t.Context(), db.Client(), "views", "a", 3, 1250) // 30 a second for 2m05s
		for range 3 {
			report, err := heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), db.Client(), "views", heatcloudwatch.Options{Last: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			rate := report.Resources[0].Writes.Units / report.Elapsed().Seconds()
			if rate != 30 || report.To.After(time.Now()) {
				t.Errorf("at %s: %v writes a second until %s, want 30", time.Now().UTC().Format(time.TimeOnly), rate, report.To.Format(time.TimeOnly))
			}
			burn(t.Context(), db.Client(), "views", "a", 3, 270)
		}
	})
}

// failing is a CloudWatch that has seen DynamoDB fail, as the engine never does. It remembers what it was asked.
type failing struct {
	*cloudwatch.Client
	asked   map[string]int     // metrics
	periods map[int32]int      // seconds
	sums    map[string]float64 // of the last minute, by metric and, if it has one, operation
}

func (f *failing) GetMetricData(ctx context.Context, in *cloudwatch.GetMetricDataInput, o ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error) {
	out, err := f.Client.GetMetricData(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	for i, q := range in.MetricDataQueries {
		metric := q.MetricStat.Metric
		f.asked[*metric.MetricName]++
		f.periods[*q.MetricStat.Period]++
		name := *metric.MetricName
		for _, d := range metric.Dimensions {
			if *d.Name == "Operation" {
				name = *metric.MetricName + " " + *d.Value
			}
		}
		if n := f.sums[name]; n > 0 {
			result := &out.MetricDataResults[i]
			if *result.Id != *q.Id {
				return nil, fmt.Errorf("answer %d is %q, want that to %q", i, *result.Id, *q.Id)
			}
			result.Timestamps, result.Values = []time.Time{in.EndTime.Add(-time.Minute)}, []float64{n}
		}
	}
	return out, nil
}

// 004-13: SystemErrors are reported, apart from throttles and by direction; UserErrors are not even asked for.
func TestMetricsReportSystemErrors(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		metrics := &failing{
			Client: db.CloudWatchClient(), asked: map[string]int{}, periods: map[int32]int{},
			sums: map[string]float64{"SystemErrors PutItem": 7, "SystemErrors TransactWriteItems": 2, "SystemErrors Query": 3},
		}
		report, err := heatcloudwatch.Metrics(t.Context(), metrics, db.Client(), "views", heatcloudwatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := report.Resources[0]
		if r.Writes.Errors != 9 || r.Reads.Errors != 3 || r.Writes.Throttled != 0 || r.Reads.Throttled != 0 {
			t.Errorf("got %d failed writes, %d failed reads, %d and %d throttles, want 9, 3 and none", r.Writes.Errors, r.Reads.Errors, r.Writes.Throttled, r.Reads.Throttled)
		}
		findings := heat.Explain(report, heat.Rules{})
		if len(findings) != 2 {
			t.Fatalf("got %v, want one finding for writes and one for reads", findings)
		}
		for i, want := range []string{"9 write requests failed inside DynamoDB", "3 read requests failed inside DynamoDB"} {
			if f := findings[i]; f.Kind != heat.SystemErrors || f.Severity != heat.Warning || f.Message != want {
				t.Errorf("got %s %s, want %q", f.Kind, f, want)
			}
		}
		if metrics.asked["UserErrors"] != 0 || metrics.asked["WriteKeyRangeThroughputThrottleEvents"] != 1 {
			t.Errorf("asked for %v", metrics.asked)
		}
		if len(metrics.periods) != 1 || metrics.periods[60] == 0 {
			t.Errorf("asked for sums of so many seconds: %v, want 60 only", metrics.periods)
		}

		// Throttles alert whatever metric counts them, also without a reason.
		metrics.sums = map[string]float64{"WriteThrottleEvents": 4}
		if report, err = heatcloudwatch.Metrics(t.Context(), metrics, db.Client(), "views", heatcloudwatch.Options{}); err != nil {
			t.Fatal(err)
		}
		if findings := heat.Explain(report, heat.Rules{}); len(findings) != 1 || findings[0].Kind != heat.Throttled || findings[0].Direction != heat.Write {
			t.Errorf("four throttles without a reason: got %v, want an alert", findings)
		}
	})
}

// paged answers one query at a time.
type paged struct{ *cloudwatch.Client }

func (p paged) GetMetricData(ctx context.Context, in *cloudwatch.GetMetricDataInput, o ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error) {
	few := *in
	few.MaxDatapoints = aws.Int32(1)
	return p.Client.GetMetricData(ctx, &few, o...)
}

// All pages are read, whatever their size.
func TestMetricsReadAllPages(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		burn(t.Context(), db.Client(), "views", "a", 1, 1200)
		time.Sleep(time.Minute)
		whole, err := heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), db.Client(), "views", heatcloudwatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pages, err := heatcloudwatch.Metrics(t.Context(), paged{db.CloudWatchClient()}, db.Client(), "views", heatcloudwatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprintf("%+v", whole.Resources[0].Writes), fmt.Sprintf("%+v", pages.Resources[0].Writes); a != b || whole.Resources[0].Writes.Units != 1200 {
			t.Errorf("whole %s\npages %s", a, b)
		}
	})
}

func TestMetricsRefuseWhatIsWrong(t *testing.T) {
	db := local.StartWith(t, local.Options{Physics: &local.Physics{}})
	if _, err := heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), db.Client(), "nothing", heatcloudwatch.Options{}); err == nil || !strings.Contains(err.Error(), `describe table "nothing"`) {
		t.Errorf("got %v", err)
	}
	if _, err := heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), db.Client(), "nothing", heatcloudwatch.Options{Last: -time.Hour, Top: 99}); err == nil || !strings.Contains(err.Error(), "Last") || !strings.Contains(err.Error(), "Top") {
		t.Errorf("got %v", err)
	}
	now := time.Now()
	_, err := db.CloudWatchClient().GetMetricData(t.Context(), &cloudwatch.GetMetricDataInput{
		StartTime: &now, EndTime: aws.Time(now.Add(-time.Hour)),
		MetricDataQueries: []types.MetricDataQuery{{Id: aws.String("a")}},
	})
	if err == nil || !strings.Contains(err.Error(), "StartTime must be before EndTime") {
		t.Errorf("got %v", err)
	}
	if _, err := db.CloudWatchClient().ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{}); err == nil || !strings.Contains(err.Error(), "ListMetrics") {
		t.Errorf("got %v", err)
	}
}

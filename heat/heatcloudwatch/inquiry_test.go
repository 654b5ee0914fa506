package heatcloudwatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/heatsink-go/heatsink/local"
)

// metricData is a CloudWatch that answers as the function does.
type metricData func(*cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error)

func (f metricData) GetMetricData(_ context.Context, in *cloudwatch.GetMetricDataInput, _ ...func(*cloudwatch.Options)) (
	*cloudwatch.GetMetricDataOutput, error,
) {
	return f(in)
}

// describer knows one table, with so many global indexes.
type describer struct{ indexes int }

func (d describer) DescribeTable(_ context.Context, in *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options)) (
	*dynamodb.DescribeTableOutput, error,
) {
	table := &dynamotypes.TableDescription{TableName: in.TableName}
	for i := range d.indexes {
		index := dynamotypes.GlobalSecondaryIndexDescription{IndexName: aws.String(fmt.Sprint("by", i))}
		table.GlobalSecondaryIndexes = append(table.GlobalSecondaryIndexes, index)
	}
	return &dynamodb.DescribeTableOutput{Table: table}, nil
}

// result answers a query with the minutes from a time on.
func result(q types.MetricDataQuery, status types.StatusCode, from time.Time, sums ...float64) types.MetricDataResult {
	r := types.MetricDataResult{Id: q.Id, StatusCode: status, Values: sums}
	for i := range sums {
		r.Timestamps = append(r.Timestamps, from.Add(time.Duration(i)*time.Minute))
	}
	return r
}

func metricOf(q types.MetricDataQuery) string { return aws.ToString(q.MetricStat.Metric.MetricName) }

// Fifteen days of minutes, in pages of which some overlap and none is in order, are summed up to the unit.
func TestMetricsOfFifteenDays(t *testing.T) {
	const minutes = 15 * 24 * 60
	units, throttled := make([]float64, minutes), make([]float64, minutes)
	wantUnits, wantThrottled, wantPoints := 0.0, 0.0, 0
	for i := range minutes {
		units[i] = float64(i%7) / 2
		if i%3 == 1 {
			throttled[i] = float64(i % 5)
		}
		wantUnits += units[i]
		wantThrottled += throttled[i]
		if units[i] > 0 || throttled[i] > 0 {
			wantPoints++
		}
	}
	const pages, overlap = 9, 10
	pageOf := func(q types.MetricDataQuery, in *cloudwatch.GetMetricDataInput, sums []float64, page int) types.MetricDataResult {
		begin := (pages - 1 - page) * minutes / pages // the latest first
		end := min(minutes, begin+minutes/pages+overlap)
		return result(q, types.StatusCodeComplete, in.StartTime.Add(time.Duration(begin)*time.Minute), sums[begin:end]...)
	}
	client := metricData(func(in *cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error) {
		page := len(aws.ToString(in.NextToken))
		out := &cloudwatch.GetMetricDataOutput{}
		if page < pages-1 {
			out.NextToken = aws.String(strings.Repeat("x", page+1))
		}
		for _, q := range in.MetricDataQueries {
			switch metricOf(q) {
			case "ConsumedWriteCapacityUnits", "ConsumedReadCapacityUnits":
				out.MetricDataResults = append(out.MetricDataResults, pageOf(q, in, units, page))
			case "WriteThrottleEvents", "WriteKeyRangeThroughputThrottleEvents", "ReadThrottleEvents":
				out.MetricDataResults = append(out.MetricDataResults, pageOf(q, in, throttled, page))
			default:
				out.MetricDataResults = append(out.MetricDataResults, result(q, types.StatusCodeComplete, *in.StartTime))
			}
		}
		return out, nil
	})
	report, err := heatcloudwatch.Metrics(t.Context(), client, describer{}, "views", heatcloudwatch.Options{Last: minutes * time.Minute})
	if err != nil || len(report.Notes) != 1 {
		t.Fatalf("%v, notes %q", err, report.Notes)
	}
	for d, reason := range map[heat.Direction]string{heat.Write: "TableWriteKeyRangeThroughputExceeded", heat.Read: ""} {
		f := report.Resources[0].Flow(d)
		if f.Units != wantUnits || float64(f.Throttled) != wantThrottled || f.Peak != 3.0/60 {
			t.Errorf("%v: %v units and %d throttled, %v a second at most; want %v and %v, 0.05",
				d, f.Units, f.Throttled, f.Peak, wantUnits, wantThrottled)
		}
		if want := []heat.ThrottleCount{{Reason: reason, Count: int64(wantThrottled)}}; !slices.Equal(f.Throttles, want) {
			t.Errorf("%v: %+v, want %+v", d, f.Throttles, want)
		}
		if len(f.Trend) != wantPoints || !slices.IsSortedFunc(f.Trend, func(a, b heat.Point) int { return a.From.Compare(b.From) }) {
			t.Errorf("%v: %d minutes, want %d in order", d, len(f.Trend), wantPoints)
		}
		for _, p := range f.Trend {
			if i := int(p.From.Sub(report.From) / time.Minute); p.Units != units[i] || float64(p.Throttled) != throttled[i] || p.For != time.Minute {
				t.Fatalf("%v: minute %d is %+v, want %v and %v", d, i, p, units[i], throttled[i])
			}
		}
	}
}

// A part of the data and an error are not the last word while there are pages. What remains incomplete is noted, what is
// refused is an error, and so is what makes no sense.
func TestMetricsOfIncompleteAnswers(t *testing.T) {
	partial := types.MessageData{Code: aws.String("Limit"), Value: aws.String("too much at once")}
	type page struct {
		status types.StatusCode // of the write units
		minute int
		next   string
		other  func(*cloudwatch.GetMetricDataOutput)
	}
	for name, test := range map[string]struct {
		pages     []page
		units     float64
		note, err string
	}{
		"complete": {pages: []page{{status: types.StatusCodeComplete}}, units: 7},
		"partial, then more": {pages: []page{
			{types.StatusCodePartialData, 0, "a", nil}, {status: types.StatusCodeComplete, minute: 1},
		}, units: 14},
		"partial for good": {
			pages: []page{{status: types.StatusCodePartialData}}, units: 7,
			note: "incomplete, there may be more: ConsumedWriteCapacityUnits of views",
		},
		"error, then again": {pages: []page{
			{types.StatusCodeInternalError, 0, "a", nil}, {status: types.StatusCodeComplete},
		}, units: 7},
		"error for good": {
			pages: []page{{status: types.StatusCodeInternalError}}, err: "ConsumedWriteCapacityUnits of views: InternalError",
		},
		"forbidden": {
			pages: []page{{types.StatusCodeForbidden, 0, "a", nil}},
			err:   "ConsumedWriteCapacityUnits of views: Forbidden, Limit: too much at once",
		},
		"the same page": {pages: []page{
			{types.StatusCodePartialData, 0, "a", nil}, {types.StatusCodePartialData, 1, "a", nil},
		}, err: "the same page again"},
		"a message": {pages: []page{{types.StatusCodeComplete, 0, "", func(out *cloudwatch.GetMetricDataOutput) {
			out.Messages = []types.MessageData{partial, partial}
		}}}, units: 7, note: "CloudWatch: Limit: too much at once"},
		"a message about a metric": {pages: []page{{types.StatusCodeComplete, 0, "", func(out *cloudwatch.GetMetricDataOutput) {
			out.MetricDataResults[1].Messages = []types.MessageData{partial}
		}}}, units: 7, note: "ReadThrottleEvents of views: Limit: too much at once"},
		"no answer": {pages: []page{{types.StatusCodeComplete, 0, "", func(out *cloudwatch.GetMetricDataOutput) {
			out.MetricDataResults = out.MetricDataResults[1:]
		}}}, units: 7, note: "incomplete, there may be more: ConsumedReadCapacityUnits of views"},
		"an answer to nothing": {pages: []page{{types.StatusCodeComplete, 0, "", func(out *cloudwatch.GetMetricDataOutput) {
			out.MetricDataResults[1].Id = aws.String("q99")
		}}}, err: `CloudWatch returned a result for "q99", which was not requested`},
		"times without values": {pages: []page{{types.StatusCodeComplete, 0, "", func(out *cloudwatch.GetMetricDataOutput) {
			out.MetricDataResults[1].Timestamps = make([]time.Time, 2)
		}}}, err: "ReadThrottleEvents of views: CloudWatch returned 2 times but 0 values"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			client := metricData(func(in *cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error) {
				p := test.pages[asked]
				asked++
				out := &cloudwatch.GetMetricDataOutput{NextToken: aws.String(p.next)}
				for _, q := range in.MetricDataQueries {
					if metricOf(q) != "ConsumedWriteCapacityUnits" {
						out.MetricDataResults = append(out.MetricDataResults, result(q, types.StatusCodeComplete, *in.StartTime))
						continue
					}
					r := result(q, p.status, in.StartTime.Add(time.Duration(p.minute)*time.Minute), 7)
					if p.status == types.StatusCodeForbidden {
						r.Messages = []types.MessageData{partial}
					}
					out.MetricDataResults = append(out.MetricDataResults, r)
				}
				if p.other != nil {
					p.other(out)
				}
				return out, nil
			})
			report, err := heatcloudwatch.Metrics(t.Context(), client, describer{}, "views", heatcloudwatch.Options{})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), `metrics of table "views": `) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || asked != len(test.pages) {
				t.Fatalf("after %d pages: %v", asked, err)
			}
			if got := report.Resources[0].Writes.Units; got != test.units {
				t.Errorf("%v units, want %v", got, test.units)
			}
			notes := report.Notes[1:]
			if test.note == "" && len(notes) > 0 || test.note != "" && (len(notes) != 1 || !strings.HasSuffix(notes[0], test.note)) {
				t.Errorf("notes %q, want %q", notes, test.note)
			}
		})
	}
}

// CloudWatch takes 500 queries at a time. A table with sixty indexes has more.
func TestMetricsOfManyIndexes(t *testing.T) {
	var asked []int
	client := metricData(func(in *cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error) {
		asked = append(asked, len(in.MetricDataQueries))
		out := &cloudwatch.GetMetricDataOutput{}
		for _, q := range in.MetricDataQueries {
			r := result(q, types.StatusCodeComplete, *in.StartTime)
			if dimensions := q.MetricStat.Metric.Dimensions; metricOf(q) == "ConsumedReadCapacityUnits" && len(dimensions) == 2 {
				r = result(q, types.StatusCodeComplete, *in.StartTime, float64(len(*dimensions[1].Value)))
			}
			out.MetricDataResults = append(out.MetricDataResults, r)
		}
		return out, nil
	})
	report, err := heatcloudwatch.Metrics(t.Context(), client, describer{indexes: 60}, "views", heatcloudwatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{500, 22 + 60*12 - 500}; !slices.Equal(asked, want) || len(report.Notes) != 1 {
		t.Errorf("asked %v at a time, want %v; notes %q", asked, want, report.Notes)
	}
	for _, r := range report.Resources {
		if r.Reads.Units != float64(len(r.Index)) || r.Writes.Units != 0 {
			t.Errorf("%s: %v and %v units", r.Resource, r.Reads.Units, r.Writes.Units)
		}
	}
}

// Throttles are listed by reason, the most frequent first, and what has no reason is among them.
func TestThrottlesMostFrequentFirst(t *testing.T) {
	counts := map[string]float64{
		"WriteThrottleEvents": 100, "WriteKeyRangeThroughputThrottleEvents": 10, "WriteAccountLimitThrottleEvents": 60,
		"WriteMaxOnDemandThroughputThrottleEvents": 5,
	}
	client := metricData(func(in *cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error) {
		out := &cloudwatch.GetMetricDataOutput{}
		for _, q := range in.MetricDataQueries {
			out.MetricDataResults = append(out.MetricDataResults, result(q, types.StatusCodeComplete, *in.StartTime, counts[metricOf(q)], 0))
		}
		return out, nil
	})
	report, err := heatcloudwatch.Metrics(t.Context(), client, describer{indexes: 1}, "views", heatcloudwatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, arm := range []string{"Table", "Index"} {
		want := []heat.ThrottleCount{
			{Reason: arm + "WriteAccountLimitExceeded", Count: 60},
			{Count: 25},
			{Reason: arm + "WriteKeyRangeThroughputExceeded", Count: 10},
			{Reason: arm + "WriteMaxOnDemandThroughputExceeded", Count: 5},
		}
		if got := report.Resources[i].Writes; !slices.Equal(got.Throttles, want) || len(got.Trend) != 1 {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestMetricsEndWithTheirContext(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, metrics := heatcloudwatch.Metrics(ctx, db.CloudWatchClient(), describer{}, "views", heatcloudwatch.Options{})
	_, insights := heatcloudwatch.Insights(ctx, db.CloudWatchClient(), db.Client(), "views", heatcloudwatch.Options{})
	if !errors.Is(metrics, context.Canceled) || !errors.Is(insights, context.Canceled) {
		t.Errorf("got %v and %v", metrics, insights)
	}
}

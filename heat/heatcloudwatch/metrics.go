// Package heatcloudwatch makes heat reports of what AWS has recorded: CloudWatch's metrics by the minute, and the keys that
// Contributor Insights lists where it is turned on.
//
// CloudWatch knows no keys, but it does know which throttles were a key's: the KeyRange metrics count those of a range of
// keys that was too busy, and nothing else. UserErrors, which is often looked at instead, leaves throttles out.
package heatcloudwatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
)

// MetricsClient is the part of the SDK's CloudWatch client that metrics are read with.
type MetricsClient interface {
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
}

// Options say which time is looked at. Fields that are zero have the defaults given here.
type Options struct {
	// To is the end of it. Default: now. CloudWatch is a few minutes behind.
	To time.Time

	// Last is how long it is. Default: an hour.
	Last time.Duration

	// Top is how many keys of each kind Contributor Insights is asked for, 25 at most. Default: 25.
	Top int
}

func (o Options) validate() error {
	var faults []error
	if o.Last < 0 || o.Last > 15*24*time.Hour {
		faults = append(faults, fmt.Errorf("metrics by the minute are kept for 15 days; Last is %v", o.Last))
	}
	if o.Top < 0 || o.Top > mostContributors {
		faults = append(faults, fmt.Errorf("up to %d keys can be asked for, not Top %d", mostContributors, o.Top))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.To.IsZero() {
		o.To = time.Now()
	}
	if o.Last == 0 {
		o.Last = time.Hour
	}
	if o.Top == 0 {
		o.Top = mostContributors
	}
	if whole := o.To.UTC().Truncate(time.Minute); !whole.Equal(o.To) {
		o.To = whole.Add(time.Minute) // the minute that is not over counts as far as it is
	}
	o.To = o.To.UTC()
	return o
}

func (o Options) from() time.Time { return o.To.Add(-o.Last).Truncate(time.Minute) }

const (
	namespace   = "AWS/DynamoDB"
	mostQueries = 500 // of one GetMetricData
)

// operations are those that SystemErrors are counted by.
var operations = []string{
	"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem",
	"TransactGetItems", "TransactWriteItems",
}

// reasons are the metrics that count throttles by their reason, without "Read" or "Write", and how DynamoDB's reasons end.
var reasons = []struct{ metric, reason string }{
	{"KeyRangeThroughputThrottleEvents", "KeyRangeThroughputExceeded"},
	{"ProvisionedThroughputThrottleEvents", "ProvisionedThroughputExceeded"},
	{"AccountLimitThrottleEvents", "AccountLimitExceeded"},
	{"MaxOnDemandThroughputThrottleEvents", "MaxOnDemandThroughputExceeded"},
}

// Metrics reports what CloudWatch has of a table and its global indexes, minute by minute.
func Metrics(ctx context.Context, client MetricsClient, tables heat.Describer, table string, options Options) (heat.Report, error) {
	if err := options.validate(); err != nil {
		return heat.Report{}, err
	}
	o := options.withDefaults()
	out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err != nil {
		return heat.Report{}, fmt.Errorf("describe table %q: %w", table, err)
	}
	report := heat.Report{
		Source: heat.CloudWatch, From: o.from(), To: o.To,
		Notes: []string{"CloudWatch has sums by the minute and no keys: a second of heat does not show"},
	}
	var questions []question
	report.Resources = resources(out.Table)
	for i := range report.Resources {
		questions = append(questions, ask(&report.Resources[i])...)
	}
	if err := answer(ctx, client, o, questions); err != nil {
		return heat.Report{}, fmt.Errorf("metrics of table %q: %w", table, err)
	}
	for i := range report.Resources {
		finish(&report.Resources[i])
	}
	return report, nil
}

// resources returns a table and its global indexes, empty.
func resources(d *dynamotypes.TableDescription) []heat.ResourceReport {
	own := heat.ResourceReport{Resource: heat.Resource{Table: aws.ToString(d.TableName)}, Capacity: heat.CapacityOf(d, "")}
	own.Key = partitionKey(d.KeySchema)
	all := []heat.ResourceReport{own}
	for _, index := range d.GlobalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		all = append(all, heat.ResourceReport{
			Resource: heat.Resource{Table: own.Table, Index: name}, Capacity: heat.CapacityOf(d, name), Key: partitionKey(index.KeySchema),
		})
	}
	return all
}

func partitionKey(elements []dynamotypes.KeySchemaElement) []string {
	var names []string
	for _, element := range elements {
		if element.KeyType == dynamotypes.KeyTypeHash {
			names = append(names, aws.ToString(element.AttributeName))
		}
	}
	return names
}

// question is a metric to ask for, and what to do with each minute of it.
type question struct {
	metric     string
	dimensions []types.Dimension
	minute     func(at time.Time, sum float64)
}

// ask returns the questions about a table or index.
func ask(r *heat.ResourceReport) []question {
	dimensions := []types.Dimension{{Name: aws.String("TableName"), Value: aws.String(r.Table)}}
	arm := "Table"
	if r.Index != "" {
		dimensions = append(dimensions, types.Dimension{Name: aws.String("GlobalSecondaryIndexName"), Value: aws.String(r.Index)})
		arm = "Index"
	}
	var all []question
	for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
		f, side := r.Flow(d), "Read"
		if d == heat.Write {
			side = "Write"
		}
		all = append(all,
			question{"Consumed" + side + "CapacityUnits", dimensions, func(at time.Time, sum float64) { point(f, at).Units += sum }},
			question{side + "ThrottleEvents", dimensions, func(at time.Time, sum float64) { point(f, at).Throttled += int64(sum) }})
		for _, reason := range reasons {
			name := arm + side + reason.reason
			all = append(all, question{side + reason.metric, dimensions, func(_ time.Time, sum float64) { throttled(f, name, int64(sum)) }})
		}
	}
	if r.Index == "" {
		for _, operation := range operations {
			f := r.Flow(directionOf(operation))
			all = append(all, question{
				"SystemErrors",
				append(dimensions[:len(dimensions):len(dimensions)], types.Dimension{Name: aws.String("Operation"), Value: aws.String(operation)}),
				func(_ time.Time, sum float64) { f.Errors += int64(sum) },
			})
		}
	}
	return all
}

func directionOf(operation string) heat.Direction {
	switch operation {
	case "GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems":
		return heat.Read
	}
	return heat.Write
}

// point returns the minute of a flow's trend. Minutes come in order, but metric by metric.
func point(f *heat.Flow, at time.Time) *heat.Point {
	for i := range f.Trend {
		switch {
		case f.Trend[i].From.Equal(at):
			return &f.Trend[i]
		case f.Trend[i].From.After(at):
			f.Trend = append(f.Trend[:i], append([]heat.Point{{From: at, For: time.Minute}}, f.Trend[i:]...)...)
			return &f.Trend[i]
		}
	}
	f.Trend = append(f.Trend, heat.Point{From: at, For: time.Minute})
	return &f.Trend[len(f.Trend)-1]
}

func throttled(f *heat.Flow, reason string, n int64) {
	if n == 0 {
		return
	}
	for i := range f.Throttles {
		if f.Throttles[i].Reason == reason {
			f.Throttles[i].Count += n
			return
		}
	}
	f.Throttles = append(f.Throttles, heat.ThrottleCount{Reason: reason, Count: n})
}

// answer asks CloudWatch, as many questions at a time as it takes, all pages of it.
func answer(ctx context.Context, client MetricsClient, o Options, questions []question) error {
	for begin := 0; begin < len(questions); begin += mostQueries {
		some := questions[begin:min(begin+mostQueries, len(questions))]
		in := &cloudwatch.GetMetricDataInput{StartTime: aws.Time(o.from()), EndTime: aws.Time(o.To), ScanBy: types.ScanByTimestampAscending}
		for i, q := range some {
			in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{
				Id: aws.String(fmt.Sprintf("q%d", i)),
				MetricStat: &types.MetricStat{
					Metric: &types.Metric{Namespace: aws.String(namespace), MetricName: aws.String(q.metric), Dimensions: q.dimensions},
					Period: aws.Int32(60), Stat: aws.String("Sum"),
				},
			})
		}
		for {
			out, err := client.GetMetricData(ctx, in)
			if err != nil {
				return err
			}
			for _, result := range out.MetricDataResults {
				if err := take(some, result); err != nil {
					return err
				}
			}
			if aws.ToString(out.NextToken) == "" {
				break
			}
			in.NextToken = out.NextToken
		}
	}
	return nil
}

func take(questions []question, result types.MetricDataResult) error {
	var i int
	if _, err := fmt.Sscanf(aws.ToString(result.Id), "q%d", &i); err != nil || i < 0 || i >= len(questions) {
		return fmt.Errorf("an answer to nothing asked: %q", aws.ToString(result.Id))
	}
	if result.StatusCode == types.StatusCodeForbidden || result.StatusCode == types.StatusCodeInternalError {
		return fmt.Errorf("%s: %s", questions[i].metric, result.StatusCode)
	}
	for j, at := range result.Timestamps {
		if j < len(result.Values) {
			questions[i].minute(at.UTC(), result.Values[j])
		}
	}
	return nil
}

// finish sums the minutes up.
func finish(r *heat.ResourceReport) {
	for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
		f := r.Flow(d)
		known := int64(0)
		for _, t := range f.Throttles {
			known += t.Count
		}
		for _, p := range f.Trend {
			f.Units += p.Units
			f.Throttled += p.Throttled
			f.Peak = max(f.Peak, p.Units/60)
		}
		if f.Throttled > known { // from before the reasons were counted
			f.Throttles = append(f.Throttles, heat.ThrottleCount{Count: f.Throttled - known})
		}
	}
}

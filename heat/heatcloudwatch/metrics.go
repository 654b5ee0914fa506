// Package heatcloudwatch makes heat reports from CloudWatch's metrics by the minute, and from the keys that Contributor
// Insights lists where it is turned on.
//
// CloudWatch knows no keys, but it knows which throttles a hot key caused: the KeyRange metrics count only throttles of a
// key range that was too busy. UserErrors, which many people watch instead, does not count throttles.
package heatcloudwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
)

// MetricsClient is the part of the SDK's CloudWatch client that reads metrics.
type MetricsClient interface {
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
}

// Metrics reports CloudWatch's metrics of a table and its global indexes, minute by minute. The report's Notes say where
// CloudWatch's response is incomplete.
func Metrics(ctx context.Context, client MetricsClient, tables heat.Describer, table string, options Options) (heat.Report, error) {
	if err := options.validate(); err != nil {
		return heat.Report{}, err
	}
	o := options.withDefaults()
	all, err := resourcesOf(ctx, tables, table)
	if err != nil {
		return heat.Report{}, err
	}
	report := heat.Report{
		Source: heat.CloudWatch, From: o.from(), To: o.To,
		Notes:     []string{"CloudWatch has sums by the minute and no keys: a hot second does not show"},
		Resources: all,
	}
	var questions []*question
	for i := range report.Resources {
		questions = append(questions, questionsAbout(&report.Resources[i])...)
	}
	for some := range slices.Chunk(questions, mostQueries) {
		asked := inquiry{questions: some}
		if err := asked.run(ctx, client, o); err != nil {
			return heat.Report{}, fmt.Errorf("metrics of table %q: %w", table, err)
		}
		report.Notes = append(report.Notes, asked.notes...)
	}
	for _, q := range questions {
		q.use(q.sums)
	}
	for i := range report.Resources {
		finish(&report.Resources[i])
	}
	return report, nil
}

// resourcesOf looks a table up and returns it and its global indexes, empty.
func resourcesOf(ctx context.Context, tables heat.Describer, table string) ([]heat.ResourceReport, error) {
	out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err == nil && out.Table == nil {
		err = errors.New("the response has no table")
	}
	if err != nil {
		return nil, fmt.Errorf("describe table %q: %w", table, err)
	}
	return resources(out.Table), nil
}

// resources returns a table and its global indexes, empty.
func resources(d *dynamotypes.TableDescription) []heat.ResourceReport {
	own := heat.ResourceReport{Resource: heat.Resource{Table: aws.ToString(d.TableName)}, Capacity: heat.CapacityOf(d, "")}
	own.Key, own.Sort = keyNames(d.KeySchema)
	all := []heat.ResourceReport{own}
	for _, index := range d.GlobalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		of := heat.ResourceReport{Resource: heat.Resource{Table: own.Table, Index: name}, Capacity: heat.CapacityOf(d, name)}
		of.Key, of.Sort = keyNames(index.KeySchema)
		all = append(all, of)
	}
	return all
}

// keyNames returns the attributes of a partition key, and those of the sort key, which are not nil.
func keyNames(elements []dynamotypes.KeySchemaElement) (partition, sort []string) {
	sort = []string{}
	for _, element := range elements {
		if element.KeyType == dynamotypes.KeyTypeHash {
			partition = append(partition, aws.ToString(element.AttributeName))
		} else {
			sort = append(sort, aws.ToString(element.AttributeName))
		}
	}
	return partition, sort
}

// finish sums the minutes up.
func finish(r *heat.ResourceReport) {
	for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
		f := r.Flow(d)
		for _, p := range f.Trend {
			f.Units += p.Units
			f.Throttled += p.Throttled
			f.Peak = max(f.Peak, p.Units/time.Minute.Seconds())
		}
		known := int64(0)
		for _, t := range f.Throttles {
			known += t.Count
		}
		if f.Throttled > known { // from before the reasons were counted
			f.Throttles = append(f.Throttles, heat.ThrottleCount{Count: f.Throttled - known})
		}
		slices.SortStableFunc(f.Throttles, func(a, b heat.ThrottleCount) int { return cmp.Compare(b.Count, a.Count) })
	}
}

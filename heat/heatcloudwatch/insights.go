package heatcloudwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
)

// InsightsClient is the part of the SDK's CloudWatch client that reads Contributor Insights.
type InsightsClient interface {
	GetInsightRuleReport(context.Context, *cloudwatch.GetInsightRuleReportInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetInsightRuleReportOutput, error)
}

// InsightTables is the part of the SDK's DynamoDB client that tells where Contributor Insights is on.
type InsightTables interface {
	heat.Describer
	DescribeContributorInsights(context.Context, *dynamodb.DescribeContributorInsightsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContributorInsightsOutput, error)
}

// Insights reports the keys that Contributor Insights lists for a table and its global indexes: the most used and the most
// throttled ones. Contributor Insights does not distinguish reads from writes, so all traffic is in Writes. A read unit
// counts as a third of a write unit, as a partition serves three times as many, and units stand for requests. Keys are in
// clear text. The report's Notes say where Contributor Insights is off, or a rule is missing.
func Insights(ctx context.Context, client InsightsClient, tables InsightTables, table string, options Options) (heat.Report, error) {
	if err := options.validate(); err != nil {
		return heat.Report{}, err
	}
	o := options.withDefaults()
	all, err := resourcesOf(ctx, tables, table)
	if err != nil {
		return heat.Report{}, err
	}
	report := heat.Report{
		Source: heat.Insights, From: o.from(), To: o.To,
		Notes: []string{"Contributor Insights counts reads and writes together; rates are of the busiest minute"},
	}
	for _, r := range all {
		rules, off, err := rulesOf(ctx, tables, table, r.Resource)
		if err != nil {
			return heat.Report{}, err
		}
		if off != "" {
			report.Notes = append(report.Notes, fmt.Sprintf("Contributor Insights of %s: %s", r.Resource, off))
			continue
		}
		listed := newContributors(r.Key, all[0].Key)
		for _, rule := range rules {
			err := readRule(ctx, client, listed, rule, o)
			if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
				note := fmt.Sprintf("Contributor Insights of %s: rule %s does not exist (yet, or no longer)", r.Resource, rule)
				report.Notes = append(report.Notes, note)
				continue
			}
			if err != nil {
				return heat.Report{}, fmt.Errorf("rule %s: %w", rule, err)
			}
		}
		if n := len(listed.controlKeys); n > 0 {
			report.Notes = append(report.Notes, fmt.Sprintf(
				"Contributor Insights of %s: %d of the keys that it lists are of control items of heatsink, and are left out", r.Resource, n))
		}
		r.Writes = listed.flow(report.Elapsed())
		report.Resources = append(report.Resources, r)
	}
	return report, nil
}

// rulesOf returns the names of the rules of a table or index, or why there are none. The table goes by the name that
// the caller has for it: an ARN can be another account's.
func rulesOf(ctx context.Context, tables InsightTables, table string, r heat.Resource) (
	rules []string, off string, err error,
) {
	in := &dynamodb.DescribeContributorInsightsInput{TableName: aws.String(table)}
	if r.Index != "" {
		in.IndexName = aws.String(r.Index)
	}
	out, err := tables.DescribeContributorInsights(ctx, in)
	if err != nil {
		return nil, "", fmt.Errorf("describe Contributor Insights of %s: %w", r, err)
	}
	if out.ContributorInsightsStatus != dynamotypes.ContributorInsightsStatusEnabled {
		off = strings.ToLower(string(out.ContributorInsightsStatus))
		if failure := out.FailureException; failure != nil {
			off += ", " + aws.ToString(failure.ExceptionName) + ": " + aws.ToString(failure.ExceptionDescription)
		}
	}
	return out.ContributorInsightsRuleList, off, nil
}

// readRule adds what a rule lists. Its name tells what it is: PKC are partition keys that were used, PKT those that
// were throttled. Others, such as SKC and SKT, which are the same by item, are left alone.
func readRule(ctx context.Context, client InsightsClient, listed *contributors, rule string, o Options) error {
	used := strings.HasPrefix(rule, "DynamoDBContributorInsights-PKC-")
	if !used && !strings.HasPrefix(rule, "DynamoDBContributorInsights-PKT-") {
		return nil
	}
	out, err := client.GetInsightRuleReport(ctx, &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String(rule), StartTime: aws.Time(o.from()), EndTime: aws.Time(o.end()), Period: aws.Int32(60),
		MaxContributorCount: aws.Int32(int32(o.Top)), OrderBy: aws.String("Sum"),
		Metrics: []string{"MaxContributorValue", "Maximum"},
	})
	if err != nil {
		return err
	}
	if err := countedAll(out); err != nil {
		return err
	}
	listed.take(out, used)
	return nil
}

// countedAll returns an error if a figure of a report cannot be of what was counted.
func countedAll(out *cloudwatch.GetInsightRuleReportOutput) error {
	faults := []error{counted(aws.ToFloat64(out.AggregateValue))}
	for _, from := range out.Contributors {
		faults = append(faults, counted(aws.ToFloat64(from.ApproximateAggregateValue)))
		for _, minute := range from.Datapoints {
			faults = append(faults, counted(aws.ToFloat64(minute.ApproximateValue)))
		}
	}
	return cmp.Or(faults...)
}

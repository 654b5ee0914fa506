package heatcloudwatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
)

// InsightsClient is the part of the SDK's CloudWatch client that Contributor Insights are read with.
type InsightsClient interface {
	GetInsightRuleReport(context.Context, *cloudwatch.GetInsightRuleReportInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetInsightRuleReportOutput, error)
}

// InsightTables is the part of the SDK's DynamoDB client that tells where Contributor Insights are on.
type InsightTables interface {
	heat.Describer
	DescribeContributorInsights(context.Context, *dynamodb.DescribeContributorInsightsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContributorInsightsOutput, error)
}

// mostContributors is how many keys a report of a rule has.
const mostContributors = 25

// Insights reports the keys that Contributor Insights lists for a table and its global indexes: those that were used most,
// and those that were throttled. It does not tell reads from writes, so all of it is in Writes, in accesses in place of
// units; and it prints keys in clear.
func Insights(ctx context.Context, client InsightsClient, tables InsightTables, table string, options Options) (heat.Report, error) {
	if err := options.validate(); err != nil {
		return heat.Report{}, err
	}
	o := options.withDefaults()
	out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err != nil {
		return heat.Report{}, fmt.Errorf("describe table %q: %w", table, err)
	}
	report := heat.Report{
		Source: heat.Insights, From: o.from(), To: o.To,
		Notes: []string{"Contributor Insights counts reads and writes together; rates are of the busiest minute"},
	}
	for _, r := range resources(out.Table) {
		rules, status, err := rulesOf(ctx, tables, r.Resource)
		if err != nil {
			return heat.Report{}, err
		}
		if status != dynamotypes.ContributorInsightsStatusEnabled {
			report.Notes = append(report.Notes, fmt.Sprintf("Contributor Insights of %s: %s", r.Resource, strings.ToLower(string(status))))
			continue
		}
		for _, rule := range rules {
			if err := readRule(ctx, client, &r, rule, o); err != nil {
				return heat.Report{}, fmt.Errorf("rule %s: %w", rule, err)
			}
		}
		report.Resources = append(report.Resources, r)
	}
	return report, nil
}

// rulesOf returns the names of the rules of a table or index.
func rulesOf(ctx context.Context, tables InsightTables, r heat.Resource) ([]string, dynamotypes.ContributorInsightsStatus, error) {
	in := &dynamodb.DescribeContributorInsightsInput{TableName: aws.String(r.Table)}
	if r.Index != "" {
		in.IndexName = aws.String(r.Index)
	}
	out, err := tables.DescribeContributorInsights(ctx, in)
	if err != nil {
		return nil, "", fmt.Errorf("describe Contributor Insights of %s: %w", r, err)
	}
	return out.ContributorInsightsRuleList, out.ContributorInsightsStatus, nil
}

// readRule adds what a rule lists to a report. Its name tells what it is: PKC are partition keys that were used, PKT those
// that were throttled. Others, such as SKC and SKT, which are the same by item, are left alone.
func readRule(ctx context.Context, client InsightsClient, r *heat.ResourceReport, rule string, o Options) error {
	kind := kindOf(rule)
	if kind == "" {
		return nil
	}
	out, err := client.GetInsightRuleReport(ctx, &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String(rule), StartTime: aws.Time(o.from()), EndTime: aws.Time(o.To), Period: aws.Int32(60),
		MaxContributorCount: aws.Int32(int32(o.Top)), OrderBy: aws.String("Sum"),
		Metrics: []string{"MaxContributorValue", "Maximum"},
	})
	if err != nil {
		return err
	}
	if kind == "PKC" {
		r.Writes.Units = aws.ToFloat64(out.AggregateValue)
		r.Writes.Requests = int64(r.Writes.Units)
		r.Writes.Distinct.Keys = aws.ToInt64(out.ApproximateUniqueCount)
	}
	for _, c := range out.Contributors {
		takeContributor(r, kind, c, o)
	}
	return nil
}

func kindOf(rule string) string {
	for _, kind := range []string{"PKC", "PKT"} {
		if strings.HasPrefix(rule, "DynamoDBContributorInsights-"+kind+"-") {
			return kind
		}
	}
	return ""
}

func takeContributor(r *heat.ResourceReport, kind string, c types.InsightRuleContributor, o Options) {
	if len(c.Keys) == 0 {
		return
	}
	f := &r.Writes
	key := strings.Join(c.Keys[:min(len(c.Keys), max(1, len(r.Key)))], "|")
	i := slices.IndexFunc(f.Keys, func(k heat.KeyHeat) bool { return k.Key == key })
	if i < 0 {
		i = len(f.Keys)
		f.Keys = append(f.Keys, heat.KeyHeat{Key: key})
	}
	k := &f.Keys[i]
	sum := aws.ToFloat64(c.ApproximateAggregateValue)
	switch kind {
	case "PKC":
		busiest := 0.0
		for _, minute := range c.Datapoints {
			busiest = max(busiest, aws.ToFloat64(minute.ApproximateValue))
		}
		k.Units, k.Low, k.Requests = sum, sum, int64(sum)
		k.Rate = max(busiest/time.Minute.Seconds(), sum/o.Last.Seconds())
		k.RateLow, k.Consumed = k.Rate, k.Rate
		if f.Units > 0 {
			k.Share = sum / f.Units
		}
	case "PKT":
		k.Throttled += int64(sum)
		f.Throttled += int64(sum)
		if len(f.Throttles) == 0 {
			f.Throttles = append(f.Throttles, heat.ThrottleCount{}) // for a reason that is not told
		}
		f.Throttles[0].Count += int64(sum)
	}
}

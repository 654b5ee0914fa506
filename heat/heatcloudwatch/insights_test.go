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
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// X25: Contributor Insights list the keys that were used most and those that were throttled, through the SDK's own clients;
// and they agree with a recorder on who is hottest.
func TestInsightsNameTheHotKey(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 100, Window: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		recorder, err := heat.NewRecorder(heat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		off, err := heatcloudwatch.Insights(t.Context(), db.CloudWatchClient(), client, "views", heatcloudwatch.Options{})
		if err != nil || len(off.Resources) != 0 || !strings.Contains(strings.Join(off.Notes, " "), "views: disabled") {
			t.Fatalf("while they are off: %+v, %v", off, err)
		}
		if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
			TableName: aws.String("views"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
		}); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			burn(t.Context(), client, "views", fmt.Sprint("PAGE#", i), 1, 1+i%3)
		}
		burn(t.Context(), client, "views", "PAGE#viral", 13, 300)
		time.Sleep(time.Minute)
		report, err := heatcloudwatch.Insights(t.Context(), db.CloudWatchClient(), client, "views", heatcloudwatch.Options{})
		if err != nil || len(report.Resources) != 1 {
			t.Fatalf("got %+v, %v", report, err)
		}
		keys := report.Resources[0].Writes.Keys
		hot := keys[0]
		if hot.Key != "PAGE#viral" || hot.Units < 3000 || hot.Throttled < 700 || hot.Share < 0.9 {
			t.Errorf("got %+v", hot)
		}
		live := recorder.Report().Resources[0].Writes
		if got, want := hot.Units, live.Keys[0].Units; got != want || live.Keys[0].Throttled != hot.Throttled {
			t.Errorf("insights count %v and %d throttled, the recorder %v and %d", got, hot.Throttled, want, live.Keys[0].Throttled)
		}
		if !slices.ContainsFunc(keys, func(k heat.KeyHeat) bool { return k.Key == "PAGE#2" }) || len(keys) != 21 {
			t.Errorf("%d keys", len(keys))
		}
	})
}

// insightReports is a CloudWatch whose reports of rules are the engine's, changed or refused.
type insightReports struct {
	heatcloudwatch.InsightsClient
	change func(rule string, out *cloudwatch.GetInsightRuleReportOutput) error
}

func (c insightReports) GetInsightRuleReport(
	ctx context.Context, in *cloudwatch.GetInsightRuleReportInput, o ...func(*cloudwatch.Options),
) (*cloudwatch.GetInsightRuleReportOutput, error) {
	out, err := c.InsightsClient.GetInsightRuleReport(ctx, in, o...)
	if err == nil {
		err = c.change(*in.RuleName, out)
	}
	return out, err
}

// reversed lists the rules of a table the other way round.
type reversed struct{ *dynamodb.Client }

func (r reversed) DescribeContributorInsights(
	ctx context.Context, in *dynamodb.DescribeContributorInsightsInput, o ...func(*dynamodb.Options),
) (*dynamodb.DescribeContributorInsightsOutput, error) {
	out, err := r.Client.DescribeContributorInsights(ctx, in, o...)
	if err == nil {
		slices.Reverse(out.ContributorInsightsRuleList)
	}
	return out, err
}

// busy returns an engine whose table "views" has 300 writes of a hot key, 200 of them refused, and a few of others.
func busy(t *testing.T, mode types.ContributorInsightsMode) (*local.DB, *dynamodb.Client) {
	t.Helper()
	db, err := local.New(local.Options{Physics: &local.Physics{PartitionWrites: 100, Window: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
		TableName: aws.String("views"), ContributorInsightsAction: types.ContributorInsightsActionEnable, ContributorInsightsMode: mode,
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		burn(t.Context(), client, "views", fmt.Sprint("PAGE#", i), 1+i, 1)
	}
	time.Sleep(2 * time.Second)
	burn(t.Context(), client, "views", "PAGE#viral", 300, 1)
	return db, client
}

func insightsOf(
	t *testing.T, client heatcloudwatch.InsightsClient, tables heatcloudwatch.InsightTables, o heatcloudwatch.Options,
) heat.Report {
	t.Helper()
	report, err := heatcloudwatch.Insights(t.Context(), client, tables, "views", o)
	if err != nil || len(report.Resources) != 1 {
		t.Fatalf("got %+v, %v", report, err)
	}
	return report
}

// Totals are those of all keys however few are listed; requests are those that were refused as well; rates are those of
// whole minutes; and the order of the rules does not matter.
func TestInsightsOfUsedAndRefusedKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, client := busy(t, types.ContributorInsightsModeAccessedAndThrottledKeys)
		whole := insightsOf(t, db.CloudWatchClient(), client, heatcloudwatch.Options{}).Resources[0].Writes
		if whole.Units != 110 || whole.Throttled != 200 || whole.Requests != 310 || whole.Distinct.Keys != 5 || len(whole.Keys) != 5 {
			t.Errorf("got %+v", whole)
		}
		want := heat.KeyHeat{
			Key: "PAGE#viral", Units: 100, Low: 100, Requests: 300, Throttled: 200, Share: 300.0 / 310,
			Rate: 300.0 / 60, RateLow: 100.0 / 60, Consumed: 100.0 / 60, Refused: 200.0 / 60,
		}
		if whole.Keys[0] != want {
			t.Errorf("got %+v, want %+v", whole.Keys[0], want)
		}
		for i, key := range []string{"PAGE#viral", "PAGE#3", "PAGE#2", "PAGE#1", "PAGE#0"} {
			if whole.Keys[i].Key != key {
				t.Errorf("key %d is %s, want %s", i, whole.Keys[i].Key, key)
			}
		}
		for name, got := range map[string]heat.Flow{
			"the other way round": insightsOf(t, db.CloudWatchClient(), reversed{client}, heatcloudwatch.Options{}).Resources[0].Writes,
			"a second":            insightsOf(t, db.CloudWatchClient(), client, heatcloudwatch.Options{Last: time.Second}).Resources[0].Writes,
		} {
			if fmt.Sprint(got) != fmt.Sprint(whole) {
				t.Errorf("%s: %+v, want %+v", name, got, whole)
			}
		}
		top := insightsOf(t, db.CloudWatchClient(), client, heatcloudwatch.Options{Top: 1}).Resources[0].Writes
		if len(top.Keys) != 1 || top.Keys[0] != want || top.Units != 110 || top.Throttled != 200 || top.Requests != 310 {
			t.Errorf("one key: %+v", top)
		}
	})
}

// Without minutes and totals, which CloudWatch calls approximate and may leave out, rates are averages and totals those of
// the listed keys.
func TestInsightsWithoutMinutes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, client := busy(t, types.ContributorInsightsModeAccessedAndThrottledKeys)
		bare := insightReports{db.CloudWatchClient(), func(_ string, out *cloudwatch.GetInsightRuleReportOutput) error {
			out.AggregateValue, out.ApproximateUniqueCount = nil, nil
			out.Contributors = append(out.Contributors, cloudwatchtypes.InsightRuleContributor{}) // of no key
			for i := range out.Contributors {
				out.Contributors[i].Datapoints = nil
			}
			return nil
		}}
		got := insightsOf(t, bare, client, heatcloudwatch.Options{Last: 90 * time.Second}).Resources[0].Writes
		if got.Units != 110 || got.Throttled != 200 || got.Distinct.Keys != 5 || len(got.Keys) != 5 ||
			got.Keys[0].Rate != 300.0/122.5 || got.Keys[0].Share != 300.0/310 {
			t.Errorf("got %+v", got)
		}
	})
}

// Where only throttled keys are listed, nothing else is claimed.
func TestInsightsOfThrottledKeysOnly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, client := busy(t, types.ContributorInsightsModeThrottledKeys)
		report := insightsOf(t, db.CloudWatchClient(), client, heatcloudwatch.Options{})
		got := report.Resources[0].Writes
		if len(got.Keys) != 1 || got.Keys[0].Key != "PAGE#viral" || got.Keys[0].Throttled != 200 ||
			got.Units != 0 || got.Throttled != 200 || got.Requests != 200 {
			t.Errorf("got %+v", got)
		}
		if findings := heat.Explain(report, heat.Rules{}); len(findings) != 1 || findings[0].Kind != heat.Throttled {
			t.Errorf("got %+v", findings)
		}
	})
}

// A rule that has gone since it was listed leaves the others; anything else that CloudWatch refuses is an error.
func TestInsightsOfARuleThatIsRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, client := busy(t, types.ContributorInsightsModeAccessedAndThrottledKeys)
		refuse := func(err error) insightReports {
			return insightReports{db.CloudWatchClient(), func(rule string, _ *cloudwatch.GetInsightRuleReportOutput) error {
				if strings.Contains(rule, "-PKT-") {
					return err
				}
				return nil
			}}
		}
		report := insightsOf(t, refuse(&cloudwatchtypes.ResourceNotFoundException{}), client, heatcloudwatch.Options{})
		got, notes := report.Resources[0].Writes, strings.Join(report.Notes[1:], "; ")
		if got.Units != 110 || got.Throttled != 0 || !strings.Contains(notes, "rule DynamoDBContributorInsights-PKT-views-") {
			t.Errorf("got %+v, notes %s", got, notes)
		}
		denied := errors.New("access denied")
		_, err := heatcloudwatch.Insights(t.Context(), refuse(denied), client, "views", heatcloudwatch.Options{})
		if !errors.Is(err, denied) || !strings.Contains(err.Error(), "rule DynamoDBContributorInsights-PKT-views-") {
			t.Errorf("got %v", err)
		}
	})
}

// failed is a table whose Contributor Insights could not be turned on.
type failed struct{ describer }

func (failed) DescribeContributorInsights(context.Context, *dynamodb.DescribeContributorInsightsInput, ...func(*dynamodb.Options)) (
	*dynamodb.DescribeContributorInsightsOutput, error,
) {
	return &dynamodb.DescribeContributorInsightsOutput{
		ContributorInsightsStatus: types.ContributorInsightsStatusFailed,
		FailureException: &types.FailureException{
			ExceptionName: aws.String("LimitExceeded"), ExceptionDescription: aws.String("100 rules"),
		},
	}, nil
}

func TestInsightsSayWhyThereAreNone(t *testing.T) {
	report, err := heatcloudwatch.Insights(t.Context(), nil, failed{}, "views", heatcloudwatch.Options{})
	const note = "Contributor Insights of views: failed, LimitExceeded: 100 rules"
	if err != nil || len(report.Resources) != 0 || !slices.Contains(report.Notes, note) {
		t.Errorf("got %+v, %v", report, err)
	}
}

// Reads and writes are measured by what a partition serves of them: three read units are one of a write.
func TestInsightsOfReadsAndWrites(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, client := busy(t, types.ContributorInsightsModeAccessedAndThrottledKeys)
		for range 30 {
			if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("views"), ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "PAGE#read"}, "sk": &types.AttributeValueMemberS{Value: "1"},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		got := insightsOf(t, db.CloudWatchClient(), client, heatcloudwatch.Options{}).Resources[0].Writes
		if k := got.Keys[1]; k.Key != "PAGE#read" || k.Units != 10 || got.Units != 120 {
			t.Errorf("got %+v", got)
		}
	})
}

// A key of several attributes reads as the recorder has it, in an index as well.
func TestInsightsOfAKeyOfSeveralAttributes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		recorder, err := heat.NewRecorder(heat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client := db.Client(recorder.Option)
		text := func(name string) types.AttributeDefinition {
			return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
		}
		hash := func(name string) types.KeySchemaElement {
			return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: types.KeyTypeHash}
		}
		if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("views"), BillingMode: types.BillingModePayPerRequest, KeySchema: []types.KeySchemaElement{hash("pk")},
			AttributeDefinitions: []types.AttributeDefinition{text("pk"), text("tenant"), text("status"), text("at")},
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				KeySchema: []types.KeySchemaElement{hash("tenant"), hash("status"), {AttributeName: aws.String("at"), KeyType: types.KeyTypeRange}},
			}},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
			TableName: aws.String("views"), IndexName: aws.String("byStatus"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
		}); err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			item := make(map[string]types.AttributeValue)
			status := []string{"DONE", "DONE", "OPEN"}[i%3]
			for name, value := range map[string]string{"pk": fmt.Sprint(i), "tenant": "acme", "status": status, "at": fmt.Sprint(i)} {
				item[name] = &types.AttributeValueMemberS{Value: value}
			}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		got := insightsOf(t, db.CloudWatchClient(), client, heatcloudwatch.Options{})
		index := got.Resources[0]
		if index.String() != "views/byStatus" || !slices.Equal(index.Key, []string{"tenant", "status"}) ||
			!slices.Contains(got.Notes, "Contributor Insights of views: disabled") {
			t.Fatalf("got %+v", got)
		}
		live := recorder.Report().Resources[1].Writes.Keys
		for i, want := range []string{"acme|DONE", "acme|OPEN"} {
			if k := index.Writes.Keys[i]; k.Key != want || live[i].Key != want || k.Units != live[i].Units {
				t.Errorf("insights: %s took %v, the recorder: %s took %v, want %s", k.Key, k.Units, live[i].Key, live[i].Units, want)
			}
		}
	})
}

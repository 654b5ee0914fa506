package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// One API key is checked 1,500 times a second, with a limit that is not reached, on a table of forty partitions: with a
// record of every request that is counted back at each check, as documents have it; and by limiters.
func TestSustained(t *testing.T) {
	const offered = 1500
	limited := func(options ratelimit.Options) func(*testing.T, *dynamodb.Client) func(context.Context, int) error {
		options.Limit, options.Timeout = 1_000_000_000, time.Second
		return func(t *testing.T, client *dynamodb.Client) func(context.Context, int) error {
			limiter := open(t, client, options)
			return func(ctx context.Context, _ int) error {
				d, err := limiter.Allow(ctx, "api-key")
				if err == nil && !d.Allowed {
					err = errors.New(d.String())
				}
				return err
			}
		}
	}
	sustain := func(name string, use func(*testing.T, *dynamodb.Client) func(context.Context, int) error) (report lab.Report) {
		bubble.Test(t, func(t *testing.T) {
			db := warm(t)
			watch := &lab.Watch{Latency: 5 * time.Millisecond}
			load := lab.Load{PerSecond: offered, RunIn: 300 * time.Millisecond, Measured: 700 * time.Millisecond}
			report = load.Sustain(context.Background(), watch, use(t, db.Client(watch.Option)))
			t.Logf("%s: %v", name, report)
		})
		return report
	}

	records := sustain("a record of each", recordAndCount)
	single := sustain("one shard", limited(ratelimit.Options{}))
	ten := sustain("ten shards", limited(ratelimit.Options{Shards: 10}))
	lease := sustain("one shard, leases of 100", limited(ratelimit.Options{Lease: 100}))

	if rate := records.AcceptedPerSecond(); rate > 600 {
		t.Errorf("records of each request take %.0f/s, so much that there is no need for a limiter", rate)
	}
	if rate := single.AcceptedPerSecond(); rate < 800 || rate > 1100 {
		t.Errorf("one shard takes %.0f/s, want about what a partition does", rate)
	}
	for name, report := range map[string]lab.Report{"ten shards": ten, "leases": lease} {
		if rate := report.AcceptedPerSecond(); rate < 0.99*offered || report.Failed > 0 {
			t.Errorf("%s: %.0f/s, %d failed, want all of %d", name, rate, report.Failed, offered)
		}
	}
	if units := ten.Traffic.WriteUnits / float64(ten.Accepted); units > 1.05 {
		t.Errorf("ten shards: %.2f write units a check, want 1", units)
	}
	if units := lease.Traffic.WriteUnits / float64(lease.Accepted); units > 0.1 {
		t.Errorf("leases: %.2f write units a check, want few", units)
	}
	if ten.P99 > 20*time.Millisecond || lease.P99 > 20*time.Millisecond {
		t.Errorf("p99 is %v over ten shards and %v with leases, want about the latency of a request", ten.P99, lease.P99)
	}
}

// warm starts an engine with physics whose table has forty partitions.
func warm(t *testing.T) *local.DB {
	t.Helper()
	db, err := local.New(local.Options{Physics: &local.Physics{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Client().CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:   aws.String(table),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		WarmThroughput: &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(40_000), ReadUnitsPerSecond: aws.Int64(40_000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// recordAndCount is the limiter of the documents, on one key, with the SDK's own retries, and with sort keys that are
// compared in the format in which they are written: what was recorded in the last hour is counted, then one more
// recorded.
func recordAndCount(_ *testing.T, client *dynamodb.Client) func(context.Context, int) error {
	const format = "2006-01-02T15:04:05.000Z"
	str := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	return func(ctx context.Context, i int) error {
		now := time.Now().UTC()
		counted := 0
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
			TableName:              aws.String(table),
			KeyConditionExpression: aws.String("pk = :pk AND sk >= :since"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":pk": str("RATE_LIMIT#api-key"), ":since": str(now.Add(-time.Hour).Format(format)),
			},
			Select: types.SelectCount,
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			counted += int(page.Count)
		}
		if counted >= 1_000_000_000 {
			return errors.New("refused")
		}
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(table), Item: map[string]types.AttributeValue{
			"pk": str("RATE_LIMIT#api-key"), "sk": str(fmt.Sprint(now.Format(format), "#", i)),
			"apiKey": str("api-key"), "endpoint": str("/v1/orders"), "timestamp": str(now.Format(format)),
			"ttl": &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(24 * time.Hour).Unix())},
		}})
		return err
	}
}

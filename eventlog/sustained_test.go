package eventlog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// An operations log under load, as one text keeps it and as this package does: a key for each day with an index over
// all of them, then eight shards with that index, then without. The index's one key holds its table back (X15), and a
// bucket spreads nothing at the moment (X14): only shards without it take the load. The table is warm for four times
// what is offered.
func TestSustained(t *testing.T) {
	const offered = 2000
	load := lab.Load{PerSecond: offered, RunIn: 500 * time.Millisecond, Measured: time.Second}
	options := eventlog.Options{Table: "logs", Bucket: layout.Day, Precision: time.Millisecond, Index: eventlog.Index{Name: "GSI1"}}
	sharded := options
	sharded.Shards = 8
	alone := sharded
	alone.Index = eventlog.Index{}
	for _, c := range []struct {
		name     string
		options  eventlog.Options
		by       func(*dynamodb.Client) func(ctx context.Context, i int) error
		min, max float64 // accepted a second
	}{
		{"a key for each day, by hand", options, byHand, 0, 0.55 * offered},
		{"eventlog, 8 shards and the index", sharded, byLog(t, sharded), 0, 0.55 * offered},
		{"eventlog, 8 shards", alone, byLog(t, alone), 0.98 * offered, 1.02 * offered},
	} {
		bubble.Test(t, func(t *testing.T) {
			db, err := local.New(local.Options{Physics: &local.Physics{}})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			warmTable(t, db.Client(), c.options, 4*offered)
			watch := &lab.Watch{Latency: 5 * time.Millisecond}
			report := load.Sustain(t.Context(), watch, c.by(db.Client(watch.Option)))
			t.Logf("%s: %v", c.name, report)
			if rate := report.AcceptedPerSecond(); rate < c.min || rate > c.max {
				t.Errorf("%s: accepted %.0f a second, want %.0f to %.0f", c.name, rate, c.min, c.max)
			}
			if c.min > 0 && (report.P99 > 100*time.Millisecond || report.Failed > 0) {
				t.Errorf("%s: p99 is %v, %d failed", c.name, report.P99, report.Failed)
			}
		})
	}
}

// byHand writes the log as the text does, with the SDK's own retries.
func byHand(client *dynamodb.Client) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		at := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("logs"), Item: heatsink.Item{
			"pk": text("OPS_LOG#" + at[:10]), "sk": text(fmt.Sprint(at, "#agent-", i)), "GSI1PK": text("OPS_LOG"), "GSI1SK": text(at),
		}})
		return err
	}
}

// byLog writes the same events with a Log.
func byLog(t *testing.T, options eventlog.Options) func(*dynamodb.Client) func(ctx context.Context, i int) error {
	return func(client *dynamodb.Client) func(ctx context.Context, i int) error {
		logs := open(t, client, options)
		return func(ctx context.Context, i int) error {
			_, err := logs.Append(ctx, event{Log: "OPS_LOG", Body: op{N: i}})
			return err
		}
	}
}

// warmTable creates the table of options, with as many partitions as take so many write units a second.
func warmTable(t *testing.T, client *dynamodb.Client, options eventlog.Options, units int64) {
	t.Helper()
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	warm := &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(units), ReadUnitsPerSecond: aws.Int64(3 * units)}
	in := &dynamodb.CreateTableInput{
		TableName: &options.Table, BillingMode: types.BillingModePayPerRequest, KeySchema: key("pk", "sk"), WarmThroughput: warm,
	}
	names := []string{"pk", "sk"}
	if options.Index.Name != "" {
		names = append(names, "GSI1PK", "GSI1SK")
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName: aws.String("GSI1"), KeySchema: key("GSI1PK", "GSI1SK"), WarmThroughput: warm,
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}
	}
	for _, name := range names {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

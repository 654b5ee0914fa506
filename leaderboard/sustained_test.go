package leaderboard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
)

// The same scores, 2,000 a second and all of them better than the player's last: each put under one key, as the
// documents do before they shard; listed by an index with one key; and through the recipe as it comes.
func TestSustained(t *testing.T) {
	onePut := func(client *dynamodb.Client) func(ctx context.Context, i int) error {
		return func(ctx context.Context, i int) error {
			_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("scores"), Item: heatsink.Item{
				"pk":     text("GAME#galaxy#SCORES"),
				"sk":     text(fmt.Sprintf("%s#%s", time.Now().UTC().Format(timeLayout), loadPlayer(i))),
				"player": text(loadPlayer(i)),
				"score":  number(fmt.Sprint(i)),
			}})
			return err
		}
	}
	through := func(shards int) func(client *dynamodb.Client) func(ctx context.Context, i int) error {
		return func(client *dynamodb.Client) func(ctx context.Context, i int) error {
			boards, err := Open(client, Options{Table: table, Shards: shards})
			if err != nil {
				t.Fatal(err)
			}
			board := named(t, boards, "galaxy")
			return func(ctx context.Context, i int) error {
				_, err := board.Submit(ctx, Submission{Player: loadPlayer(i), Score: int64(i)})
				return err
			}
		}
	}
	oneKey := sustain(t, "one key, put", onePut)
	oneListing := sustain(t, "one key in an index", through(1))
	recipe := sustain(t, "the recipe, 20 shards", through(0))

	if rate := oneKey.AcceptedPerSecond(); rate > 1100 {
		t.Errorf("one key took %.0f a second: it is not one", rate)
	}
	if rate := oneListing.AcceptedPerSecond(); rate > 700 {
		t.Errorf("an index with one key took %.0f changes a second: it is not one", rate)
	}
	if rate, offered := recipe.AcceptedPerSecond(), float64(sustainedLoad.PerSecond); rate < 0.97*offered {
		t.Errorf("the recipe took %.0f a second of %.0f", rate, offered)
	}
	if recipe.P99 > 20*time.Millisecond || recipe.Failed > 0 {
		t.Errorf("the recipe: p99 %v, %d failed", recipe.P99, recipe.Failed)
	}
}

var sustainedLoad = lab.Load{PerSecond: 2000, RunIn: 500 * time.Millisecond, Measured: time.Second}

func loadPlayer(i int) string { return fmt.Sprintf("player-%04d", i%500) }

// sustain offers the load to what makes an operation of a client, on tables that are warm, and prints what became of
// it.
func sustain(t *testing.T, name string, operation func(*dynamodb.Client) func(ctx context.Context, i int) error) (report lab.Report) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		warmTables(t, db.Client())
		watch := &lab.Watch{Latency: 5 * time.Millisecond}
		report = sustainedLoad.Sustain(t.Context(), watch, operation(db.Client(watch.Option)))
	})
	t.Logf("%-22s %v", name, report)
	return report
}

// warmTables creates the boards' table, and one for the contrast, each ready for 40,000 write units a second.
func warmTables(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	warm := &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(40_000), ReadUnitsPerSecond: aws.Int64(40_000)}
	boards := Options{Table: table}.withDefaults().table().Input()
	boards.WarmThroughput, boards.GlobalSecondaryIndexes[0].WarmThroughput = warm, warm
	scores := &dynamodb.CreateTableInput{
		TableName: aws.String("scores"), BillingMode: types.BillingModePayPerRequest, WarmThroughput: warm,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
	for _, in := range []*dynamodb.CreateTableInput{boards, scores} {
		if _, err := client.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
}

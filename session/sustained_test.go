package session_test

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
	"github.com/heatsink-go/heatsink/session"
)

// Logins and page views on a table that is warm enough, with sessions under one key, and with the recipe.
func TestSustained(t *testing.T) {
	logins := lab.Load{PerSecond: 2000, RunIn: 300 * time.Millisecond, Measured: 700 * time.Millisecond}
	views := lab.Load{PerSecond: 4500, RunIn: 500 * time.Millisecond, Measured: 500 * time.Millisecond}
	oneKeyLogins, oneKeyViews := sustainOneKey(t, logins, views)
	recipeLogins, recipeViews := sustainRecipe(t, logins, views)
	t.Logf("logins, one key:     %v", oneKeyLogins)
	t.Logf("logins, recipe:      %v", recipeLogins)
	t.Logf("page views, one key: %v", oneKeyViews)
	t.Logf("page views, recipe:  %v", recipeViews)
	if got, than := recipeLogins.AcceptedPerSecond(), oneKeyLogins.AcceptedPerSecond(); got < 1.8*than || got < 1950 {
		t.Errorf("%.0f logins a second, and %.0f with one key", got, than)
	}
	if got, than := recipeViews.AcceptedPerSecond(), oneKeyViews.AcceptedPerSecond(); got < 1.3*than || got < 4400 {
		t.Errorf("%.0f page views a second, and %.0f with one key", got, than)
	}
	if recipeLogins.Failed+recipeViews.Failed > 0 || recipeLogins.P999 > 100*time.Millisecond {
		t.Errorf("the recipe fails or is slow: %v, %v", recipeLogins, recipeViews)
	}
}

// inBubble runs a load in virtual time.
func inBubble(t *testing.T, run func(t *testing.T, db *local.DB, watch *lab.Watch, client *dynamodb.Client)) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, local.Options{Physics: &local.Physics{}, TTLInterval: time.Hour})
		watch := &lab.Watch{Latency: 5 * time.Millisecond}
		run(t, db, watch, db.Client(watch.Option))
	})
}

var warm = &types.WarmThroughput{WriteUnitsPerSecond: aws.Int64(40_000), ReadUnitsPerSecond: aws.Int64(40_000)}

// sustainOneKey does it as one would begin: all sessions under one key, by their id.
func sustainOneKey(t *testing.T, logins, views lab.Load) (login, view lab.Report) {
	inBubble(t, func(t *testing.T, db *local.DB, watch *lab.Watch, client *dynamodb.Client) {
		table := aws.String("sessions")
		_, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: table, BillingMode: types.BillingModePayPerRequest, WarmThroughput: warm,
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
				{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
			},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		key := func(i int) heatsink.Item {
			return heatsink.Item{
				"pk": &types.AttributeValueMemberS{Value: "ACTIVE_SESSIONS"},
				"sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("session-%d", i)},
			}
		}
		login = logins.Sustain(t.Context(), watch, func(ctx context.Context, i int) error {
			item := key(i)
			item["userId"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("user-%d", i)}
			item["ttl"] = &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(30 * time.Minute).Unix())}
			return second(client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item}))
		})
		view = views.Sustain(t.Context(), watch, func(ctx context.Context, i int) error {
			return second(client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key(i % 1500), ConsistentRead: aws.Bool(true)}))
		})
	})
	return login, view
}

// sustainRecipe does it with a Store. One page view in 18 touches.
func sustainRecipe(t *testing.T, logins, views lab.Load) (login, view lab.Report) {
	inBubble(t, func(t *testing.T, db *local.DB, watch *lab.Watch, client *dynamodb.Client) {
		options := session.Options{Table: "sessions"}
		input := session.Schema(options).Input()
		input.WarmThroughput = warm
		for i := range input.GlobalSecondaryIndexes {
			input.GlobalSecondaryIndexes[i].WarmThroughput = warm
		}
		if _, err := db.Client().CreateTable(t.Context(), input); err != nil {
			t.Fatal(err)
		}
		_, err := db.Client().UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
			TableName:               input.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
		})
		if err != nil {
			t.Fatal(err)
		}
		open(t, db.Client(), options) // checks the table
		var ids [2000]string
		for i := range ids {
			ids[i] = fmt.Sprintf("session-%d", i)
		}
		sessions := openOn(t, client, options)
		login = logins.Sustain(t.Context(), watch, func(ctx context.Context, i int) error {
			return second(sessions.Create(ctx, fmt.Sprintf("user-%d", i), cart{}, session.WithID(ids[i])))
		})
		if n, err := sessions.Count(t.Context()); n != len(ids) || err != nil {
			t.Errorf("counted %d sessions, %v, want %d", n, err, len(ids))
		}
		view = views.Sustain(t.Context(), watch, func(ctx context.Context, i int) error {
			if i%18 != 0 {
				return second(sessions.Get(ctx, ids[i%1500]))
			}
			s, err := sessions.Get(ctx, ids[i%1500])
			s.Expires = s.Expires.Add(-5 * time.Minute) // as if it had been touched so long ago
			s.Idle += 3 * time.Minute
			if err == nil {
				_, err = sessions.Touch(ctx, s)
			}
			return err
		})
	})
	return login, view
}

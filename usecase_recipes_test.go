package heatsink_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/layout"
)

// More use cases: what people build out of a sharded collection.

// 000-10, 000-11, X21: API calls of a key over ten shards, kept for a day. A call is allowed while fewer than the limit were
// made in the last hour, at every hour of the day.
func TestRateLimit(t *testing.T) { enginetest.Each(t, rateLimit) }

func rateLimit(t *testing.T, client *dynamodb.Client) {
	type call struct {
		Key    string `dynamodbav:"pk"`
		At     string `dynamodbav:"sk"`
		Expiry int64  `dynamodbav:"ttl,omitempty"`
	}
	calls := open[call](t, client, heatsink.Options{Layout: layout.Layout{Shards: 10}, TTL: "ttl", TTLAfter: 24 * time.Hour})
	const limit = 20
	allowed := func(key string, now time.Time) bool {
		n, err := calls.Count(t.Context(), heatsink.Query{
			Key: key, Sort: heatsink.Greater(now.Add(-time.Hour).Format(time.RFC3339Nano)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return n < limit
	}
	for hour := range 24 {
		key := fmt.Sprintf("RATE_LIMIT#key-%d", hour)
		now := time.Date(2024, 12, 2, hour, 30, 0, 0, time.UTC)
		batch := []call{{Key: key, At: now.Add(-61 * time.Minute).Format(time.RFC3339Nano)}} // too long ago to count
		for i := range limit - 1 {
			batch = append(batch, call{Key: key, At: now.Add(-time.Duration(i)*time.Minute).Format(time.RFC3339Nano) + fmt.Sprint("#", i)})
		}
		put(t, calls, batch)
		if !allowed(key, now) {
			t.Errorf("hour %d: refused although one below the limit", hour)
		}
		put(t, calls, []call{{Key: key, At: now.Format(time.RFC3339Nano) + "#last"}})
		if allowed(key, now) {
			t.Errorf("hour %d: allowed at the limit", hour)
		}
	}
	day := time.Now().Add(24 * time.Hour).Unix()
	for item, err := range calls.Query(t.Context(), heatsink.Query{Key: "RATE_LIMIT#key-0", Limit: 1}) {
		if err != nil || item.Expiry < day-60 || item.Expiry > day+60 {
			t.Errorf("expires at %d, want about %d; %v", item.Expiry, day, err)
		}
	}
}

// 000-12: a leaderboard over twenty shards: the best of each player, the greatest first, zero and less included.
func TestLeaderboard(t *testing.T) { enginetest.Each(t, leaderboard) }

func leaderboard(t *testing.T, client *dynamodb.Client) {
	type score struct {
		Game   string `dynamodbav:"pk"`
		ID     string `dynamodbav:"sk"`
		Player string
		Points int
	}
	scores := open[score](t, client, heatsink.Options{Layout: layout.Layout{Shards: 20}})
	best := make(map[string]int)
	var batch []score
	for i := range 600 {
		s := score{"LEADERBOARD", fmt.Sprintf("%04d", i), fmt.Sprintf("player-%03d", i%150), (i*7919)%1000 - 300}
		batch = append(batch, s)
		if old, ok := best[s.Player]; !ok || s.Points > old {
			best[s.Player] = s.Points
		}
	}
	put(t, scores, batch)

	got, err := heatsink.Fold(t.Context(), scores, heatsink.Query{Key: "LEADERBOARD"},
		func() map[string]int { return make(map[string]int) },
		func(best map[string]int, s score) map[string]int {
			if old, ok := best[s.Player]; !ok || s.Points > old {
				best[s.Player] = s.Points
			}
			return best
		},
		func(best, part map[string]int) map[string]int {
			for player, points := range part {
				if old, ok := best[player]; !ok || points > old {
					best[player] = points
				}
			}
			return best
		})
	if err != nil || !maps.Equal(got, best) {
		t.Fatalf("got %v, %v, want %v", got, err, best)
	}

	top, err := heatsink.Top(t.Context(), scores, heatsink.Query{Key: "LEADERBOARD"}, 100, func(a, b score) int { return cmp.Compare(a.Points, b.Points) })
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(batch, func(a, b score) int { return cmp.Compare(b.Points, a.Points) })
	for i := range 100 {
		if top[i].Points != batch[i].Points {
			t.Fatalf("place %d has %d points, want %d", i, top[i].Points, batch[i].Points)
		}
	}
}

// 000-13, 000-14: sessions over 25 shards, found by their id with one request and counted with 25.
func TestSessions(t *testing.T) { enginetest.Each(t, sessions) }

func sessions(t *testing.T, client *dynamodb.Client) {
	type session struct {
		Key    string `dynamodbav:"pk"`
		ID     string `dynamodbav:"sk"`
		User   string
		Expiry int64 `dynamodbav:"ttl,omitempty"`
	}
	sessions := open[session](t, client, heatsink.Options{
		Layout: layout.Layout{Shards: 25, Strategy: layout.Calculated}, TTL: "ttl", TTLAfter: 30 * time.Minute,
	})
	var batch []session
	for i := range 300 {
		s := session{Key: "SESSIONS", ID: fmt.Sprintf("s-%03d", i), User: fmt.Sprintf("user-%d", i%50)}
		if i%3 == 0 {
			s.Expiry = time.Now().Add(-time.Hour).Unix()
		}
		batch = append(batch, s)
	}
	put(t, sessions, batch)

	var meter heatsink.Meter
	ctx := heatsink.WithMeter(t.Context(), &meter)
	n, err := sessions.Count(ctx, heatsink.Query{Key: "SESSIONS"})
	if err != nil || n != 200 || meter.Cost().Requests != 25 {
		t.Errorf("counted %d, %v with %d requests, want 200 with 25", n, err, meter.Cost().Requests)
	}
	if living, _ := read(t, sessions, heatsink.Query{Key: "SESSIONS"}); len(living) != 200 {
		t.Errorf("listed %d, want 200", len(living))
	}
	before := meter.Cost().Requests
	one, err := sessions.Get(ctx, session{Key: "SESSIONS", ID: "s-100"})
	if err != nil || one.User != "user-0" || meter.Cost().Requests != before+1 {
		t.Errorf("got %v, %v with %d requests", one, err, meter.Cost().Requests-before)
	}
	if _, err := sessions.Get(ctx, session{Key: "SESSIONS", ID: "s-000"}); !errors.Is(err, heatsink.ErrNotFound) {
		t.Errorf("an expired session: got error %v", err)
	}
}

// 003-11, X16: users by status through a sharded key of an index. All active users are listed, not those of one shard, also
// after some have changed.
func TestStatusIndex(t *testing.T) { enginetest.Each(t, statusIndex) }

func statusIndex(t *testing.T, client *dynamodb.Client) {
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("statusShard"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("StatusIndex"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("statusShard"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("id"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	enginetest.DropTable(t, client, table)
	type user struct {
		ID     string `dynamodbav:"id"`
		Status string `dynamodbav:"statusShard,omitempty"`
	}
	users, err := heatsink.Open[user](client, heatsink.Options{
		Table: table, PartitionKey: "id",
		Index:  heatsink.Index{Name: "StatusIndex", PartitionKey: "statusShard", SortKey: "id"},
		Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated, Format: layout.SharpNumber()},
	})
	if err != nil {
		t.Fatal(err)
	}
	var batch []user
	for i := range 200 {
		batch = append(batch, user{fmt.Sprintf("u-%03d", i), "STATUS#ACTIVE"})
	}
	put(t, users, batch)
	active, cost := read(t, users, heatsink.Query{Key: "STATUS#ACTIVE"})
	if !slices.Equal(active, batch) || cost.Requests != 10 {
		t.Errorf("%d active users with %d requests", len(active), cost.Requests)
	}
	some, cost := read(t, users, heatsink.Query{Key: "STATUS#ACTIVE", Sample: 1})
	if len(some) == 0 || len(some) > 50 || cost.Requests != 1 { // a tenth of 200 or so
		t.Errorf("a sample of one shard has %d active users, with %d requests", len(some), cost.Requests)
	}
	for _, u := range some {
		if layout.XXHash.Shard(u.ID, 10) != layout.XXHash.Shard(some[0].ID, 10) {
			t.Errorf("a sample of one shard has %s and %s, of two", some[0].ID, u.ID)
		}
	}
	stored, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: heatsink.Item{"id": &types.AttributeValueMemberS{Value: "u-000"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	decoded, place, err := users.Decode(stored.Item)
	if err != nil || decoded != batch[0] || place.Key != "STATUS#ACTIVE" || place.Shard != layout.XXHash.Shard("u-000", 10) {
		t.Errorf("stored as %v: %v at %v, %v", stored.Item, decoded, place, err)
	}
	for i := 0; i < 200; i += 2 {
		_, err := users.Update(t.Context(), user{fmt.Sprintf("u-%03d", i), "STATUS#AWAY"})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range []string{"STATUS#ACTIVE", "STATUS#AWAY"} {
		if n, err := users.Count(t.Context(), heatsink.Query{Key: status}); n != 100 || err != nil {
			t.Errorf("%d users are %s, %v", n, status, err)
		}
	}
}

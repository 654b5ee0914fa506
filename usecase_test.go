package heatsink_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// These are the use cases of the texts that docs/requirements.md lists, acted out on the engine. Each logs what it cost.

type event struct {
	Key string `dynamodbav:"pk"`
	At  string `dynamodbav:"sk"`
	Who string `dynamodbav:",omitempty"`
}

const (
	table        = "events"
	partitionKey = "pk"
	sortKey      = "sk"
)

// open creates a table and opens a collection on it.
func open[T any](t *testing.T, client *dynamodb.Client, options heatsink.Options) *heatsink.Collection[T] {
	t.Helper()
	create(t, client, types.ScalarAttributeTypeS)
	return reopen[T](t, client, options)
}

// create creates the table, with a sort key of some type.
func create(t *testing.T, client *dynamodb.Client, sort types.ScalarAttributeType) {
	t.Helper()
	_, _ = client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(table)})
	enginetest.DropTable(t, client, table)
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(partitionKey), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(sortKey), AttributeType: sort},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(partitionKey), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(sortKey), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reopen opens a collection on the table that open created.
func reopen[T any](t *testing.T, client heatsink.Client, options heatsink.Options) *heatsink.Collection[T] {
	t.Helper()
	options.Table, options.PartitionKey, options.SortKey = table, partitionKey, sortKey
	c, err := heatsink.Open[T](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put[T any](t *testing.T, c *heatsink.Collection[T], items []T) {
	t.Helper()
	if err := c.BatchPut(t.Context(), items); err != nil {
		t.Fatal(err)
	}
}

// read returns all of a query, and what it cost.
func read[T any](t *testing.T, c *heatsink.Collection[T], q heatsink.Query) ([]T, heatsink.Cost) {
	t.Helper()
	var meter heatsink.Meter
	var items []T
	for item, err := range c.Query(heatsink.WithMeter(t.Context(), &meter), q) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	cost := meter.Cost()
	t.Logf("%d items for %d requests, %d items read, %.1f read units", len(items), cost.Requests, cost.Items, cost.ReadUnits)
	return items, cost
}

// inPages returns all of a query, page by page.
func inPages[T any](t *testing.T, c *heatsink.Collection[T], q heatsink.Query) (items []T) {
	t.Helper()
	for token := ""; ; {
		page, err := c.Page(t.Context(), q, token)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
		if token = page.Next; token == "" {
			return items
		}
	}
}

// inPartition returns the sort keys stored under a partition key, in order.
func inPartition(t *testing.T, client *dynamodb.Client, key string) []string {
	t.Helper()
	var keys []string
	pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName: aws.String(table), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: heatsink.Item{":pk": &types.AttributeValueMemberS{Value: key}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			keys = append(keys, item[sortKey].(*types.AttributeValueMemberS).Value)
		}
	}
	return keys
}

func ats(events []event) []string {
	at := make([]string, 0, len(events))
	for _, e := range events {
		at = append(at, e.At)
	}
	return at
}

// every returns n events of a key, one every step, with the times that they are sorted by.
func every(step time.Duration, start time.Time, key string, n int) []event {
	events := make([]event, n)
	for i := range events {
		at := start.Add(time.Duration(i) * step).Format(time.RFC3339)
		events[i] = event{key, fmt.Sprintf("%s#user-%d", at, i), fmt.Sprintf("user-%d", i)}
	}
	return events
}

// 000-06, 000-07, 000-22: a thousand users over ten shards. All are there, in order, about a hundred in each shard, and one
// shard after another has the same.
func TestThousandActiveUsers(t *testing.T) { enginetest.Each(t, thousandActiveUsers) }

func thousandActiveUsers(t *testing.T, client *dynamodb.Client) {
	users := open[event](t, client, heatsink.Options{Layout: layout.Layout{Shards: 10}})
	all := every(time.Second, time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC), "ACTIVE_USERS", 1000)
	put(t, users, all)
	q := heatsink.Query{Key: "ACTIVE_USERS"}
	got, cost := read(t, users, q)
	if !slices.Equal(got, all) {
		t.Errorf("got %d users, not the %d that were put, in order", len(got), len(all))
	}
	if cost.Requests != 10 {
		t.Errorf("%d requests for ten shards", cost.Requests)
	}

	even, err := users.Distribution(t.Context(), q)
	if err != nil || even.Skewed() || even.Total != 1000 || len(even.Counts) != 10 {
		t.Errorf("got %v, %v", even, err)
	}
	var apart []string
	for shard := range 10 {
		apart = append(apart, inPartition(t, client, fmt.Sprintf("ACTIVE_USERS#SHARD_%d", shard))...)
	}
	slices.Sort(apart)
	if !slices.Equal(apart, ats(all)) {
		t.Errorf("shard by shard there are %d users, want %d", len(apart), len(all))
	}
}

// 000-08, 000-09: page views over 50 shards. The last hour takes 50 requests and holds nothing older.
func TestPageViewsOfTheLastHour(t *testing.T) { enginetest.Each(t, pageViewsOfTheLastHour) }

func pageViewsOfTheLastHour(t *testing.T, client *dynamodb.Client) {
	views := open[event](t, client, heatsink.Options{Layout: layout.Layout{Shards: 50}})
	start := time.Date(2024, 12, 2, 13, 0, 0, 0, time.UTC)
	all := every(4*time.Second, start, "PAGE_VIEWS", 1800) // two hours
	for i := range all {
		all[i].Who = []string{"/home", "/news", "/home"}[i%3] // who was looked at
	}
	put(t, views, all)

	cutoff := start.Add(time.Hour).Format(time.RFC3339)
	q := heatsink.Query{Key: "PAGE_VIEWS", Sort: heatsink.AtLeast(cutoff)}
	got, cost := read(t, views, q)
	if !slices.Equal(got, all[900:]) {
		t.Errorf("got %d views, want the last 900", len(got))
	}
	if cost.Requests != 50 {
		t.Errorf("%d requests for 50 shards", cost.Requests)
	}
	groups, err := heatsink.CountBy(t.Context(), views, q, func(e event) string { return e.Who })
	want := []heatsink.Group[string]{{Key: "/home", Count: 600}, {Key: "/news", Count: 300}}
	if err != nil || !slices.Equal(groups, want) {
		t.Errorf("got %v, %v, want %v", groups, err, want)
	}
}

// daily is the log of 001: a bucket a day.
var daily = heatsink.Options{
	Layout:    layout.Layout{Bucket: layout.Day},
	EventTime: heatsink.EventTime{Attribute: sortKey},
}

// 001-07, 001-09: an operations log in daily buckets; the newest 50 of the last seven days.
func TestLastSevenDays(t *testing.T) { enginetest.Each(t, lastSevenDays) }

func lastSevenDays(t *testing.T, client *dynamodb.Client) {
	logs := open[event](t, client, daily)
	end := time.Date(2026, 6, 23, 0, 0, 0, 0, time.UTC)
	all := every(time.Hour, end.AddDate(0, 0, -10), "OPS_LOG", 240)
	put(t, logs, all)
	if got := inPartition(t, client, "OPS_LOG#2026-06-22"); len(got) != 24 || got[1] != all[217].At {
		t.Errorf("the day's bucket holds %q", got)
	}

	q := heatsink.Query{Key: "OPS_LOG", From: end.AddDate(0, 0, -7), To: end, Reverse: true, Limit: 50, Prefetch: 6}
	got, cost := read(t, logs, q)
	want := slices.Clone(all[190:])
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want the newest 50", ats(got))
	}
	if cost.Requests > 7 {
		t.Errorf("%d requests for seven buckets", cost.Requests)
	}
	q.Prefetch = 0
	if _, cost = read(t, logs, q); cost.Requests != 3 {
		t.Errorf("%d requests, although three buckets are enough", cost.Requests)
	}
}

// 001-13, 001-14: threats by brand in monthly buckets. Three months are three requests.
func TestThreeMonthlyBuckets(t *testing.T) { enginetest.Each(t, threeMonthlyBuckets) }

func threeMonthlyBuckets(t *testing.T, client *dynamodb.Client) {
	threats := open[event](t, client, heatsink.Options{
		Layout:    layout.Layout{Bucket: layout.Month},
		EventTime: heatsink.EventTime{Attribute: "Who"},
	})
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var all []event
	for i := range 122 * 2 { // twice a day until the end of June
		at := start.Add(time.Duration(i) * 12 * time.Hour).Format(time.RFC3339)
		all = append(all, event{"THREAT#abc", "ALERT#" + at + "#phishing", at})
	}
	put(t, threats, all)
	if got := inPartition(t, client, "THREAT#abc#2026-06"); len(got) != 60 {
		t.Errorf("June's bucket has %d items", len(got))
	}
	q := heatsink.Query{Key: "THREAT#abc", From: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)}
	got, cost := read(t, threats, q)
	if !slices.Equal(got, all[62:]) || cost.Requests != 3 {
		t.Errorf("got %d items with %d requests, want %d with 3", len(got), cost.Requests, len(all)-62)
	}
}

// 001-11, 001-15: the same items through an index with one key for all, as a way out when the gather fails: same order.
func TestIndexInsteadOfGather(t *testing.T) { enginetest.Each(t, indexInsteadOfGather) }

func indexInsteadOfGather(t *testing.T, client *dynamodb.Client) {
	enginetest.DropTable(t, client, table)
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"pk", "sk", "GSI1PK", "GSI1SK"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: attributes,
		KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("GSI1"),
			KeySchema:  []types.KeySchemaElement{key("GSI1PK", types.KeyTypeHash), key("GSI1SK", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Key     string `dynamodbav:"pk"`
		At      string `dynamodbav:"sk"`
		Listing string `dynamodbav:"GSI1PK"`
		Listed  string `dynamodbav:"GSI1SK"`
	}
	flaky := faulty.On(t, client, nil)
	threats := reopen[line](t, flaky, heatsink.Options{
		Layout:    layout.Layout{Bucket: layout.Month, Shards: 2},
		EventTime: heatsink.EventTime{Attribute: "sk"}, Retry: heatsink.Retry{Attempts: 1},
	})
	start := time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC)
	for i := range 60 {
		at := start.AddDate(0, 0, i).Format(time.RFC3339)
		if _, err := threats.Put(t.Context(), line{"THREAT#abc", at, "BRAND#abc", "THREAT#" + at}); err != nil {
			t.Fatal(err)
		}
	}
	listing, err := heatsink.Open[line](client, heatsink.Options{
		Table: table, PartitionKey: "pk", SortKey: "sk", Index: heatsink.Index{Name: "GSI1", PartitionKey: "GSI1PK", SortKey: "GSI1SK"},
	})
	if err != nil {
		t.Fatal(err)
	}
	gathered, _ := read(t, threats, heatsink.Query{Key: "THREAT#abc", Reverse: true, Limit: 50, From: start, To: start.AddDate(0, 0, 60)})

	flaky.Decide(faulty.Always(faulty.LostRequest).Of("Query"))
	for _, err := range threats.Query(t.Context(), heatsink.Query{Key: "THREAT#abc", From: start, To: start.AddDate(0, 0, 60)}) {
		if failed, ok := errors.AsType[*heatsink.GatherError](err); !ok || len(failed.Shards) == 0 {
			t.Errorf("got error %v", err)
		}
	}
	listed, cost := read(t, listing, heatsink.Query{Key: "BRAND#abc", Sort: heatsink.BeginsWith("THREAT"), Reverse: true, Limit: 50})
	if cost.Requests != 1 || len(listed) != 50 || len(gathered) != 50 {
		t.Fatalf("%d items with %d requests instead of %d with 1", len(listed), cost.Requests, len(gathered))
	}
	for i := range listed {
		if listed[i].At != gathered[i].At {
			t.Fatalf("item %d is %s in the index and %s in the gather", i, listed[i].At, gathered[i].At)
		}
	}
}

// 001-18: what was written before there were buckets is read along with what is written since, in one order, page by page
// and from both ends.
func TestUnshardedPastIsReadAlong(t *testing.T) { enginetest.Each(t, unshardedPastIsReadAlong) }

func unshardedPastIsReadAlong(t *testing.T, client *dynamodb.Client) {
	past := open[event](t, client, heatsink.Options{})
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	all := every(5*time.Hour, start, "OPS_LOG", 60)
	var before, since []event
	for i, e := range all { // both were running for a while
		if i < 20 || i < 40 && i%2 == 0 {
			before = append(before, e)
		} else {
			since = append(since, e)
		}
	}
	put(t, past, before)

	options := daily
	options.Layout.Shards = 3
	options.Older = []layout.Layout{{}}
	logs := reopen[event](t, client, options)
	put(t, logs, since)

	for _, reverse := range []bool{false, true} {
		want := slices.Clone(all)
		if reverse {
			slices.Reverse(want)
		}
		q := heatsink.Query{Key: "OPS_LOG", From: start, To: start.AddDate(0, 0, 14), Reverse: reverse}
		if got, _ := read(t, logs, q); !slices.Equal(got, want) {
			t.Errorf("reverse %v: got %v", reverse, ats(got))
		}
		for size := 1; size <= 7; size++ {
			q.Limit = size
			got := inPages(t, logs, q)
			if !slices.Equal(got, want) {
				t.Errorf("reverse %v, pages of %d: got %v", reverse, size, ats(got))
			}
		}
	}
	if n, err := logs.Count(t.Context(), heatsink.Query{Key: "OPS_LOG", From: start, To: start.AddDate(0, 0, 14)}); err != nil || n != 60 {
		t.Errorf("count %d, %v", n, err)
	}
}

// 002-01, 002-02, 002-04, 002-06: the orders of a day over 200 suffixes, read as one day, and one of them by its id.
func TestTwoHundredSuffixesOfADay(t *testing.T) { enginetest.Each(t, twoHundredSuffixesOfADay) }

func twoHundredSuffixesOfADay(t *testing.T, client *dynamodb.Client) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		t.Run(strategy.String(), func(t *testing.T) {
			orders := open[event](t, client, heatsink.Options{
				Layout: layout.Layout{Shards: 200, Strategy: strategy, Format: layout.DotFromOne()},
			})
			var all []event
			for i := range 2000 {
				all = append(all, event{"2014-07-09", fmt.Sprintf("ORDER-%06d", i), "someone"})
			}
			put(t, orders, all)
			got, cost := read(t, orders, heatsink.Query{Key: "2014-07-09"})
			if !slices.Equal(got, all) || cost.Requests != 200 {
				t.Errorf("got %d orders with %d requests", len(got), cost.Requests)
			}
			if n := len(inPartition(t, client, "2014-07-09.0")) + len(inPartition(t, client, "2014-07-09.201")); n > 0 {
				t.Errorf("%d orders outside of 1 to 200", n)
			}

			var meter heatsink.Meter
			order, err := orders.Get(heatsink.WithMeter(t.Context(), &meter), event{Key: "2014-07-09", At: "ORDER-001234"})
			if err != nil || order != all[1234] {
				t.Errorf("got %v, %v", order, err)
			}
			want := 1
			if strategy == layout.Random {
				want = 2 // batches of 100
			}
			if n := meter.Cost().Requests; n != want {
				t.Errorf("%d requests to get one order, want %d", n, want)
			}
		})
	}
}

// 004-12, 003-09: buckets and shards together: a day of five shards is five requests, sorted by time.
func TestBucketsAndShards(t *testing.T) { enginetest.Each(t, bucketsAndShards) }

func bucketsAndShards(t *testing.T, client *dynamodb.Client) {
	options := daily
	options.Layout = layout.Layout{Shards: 5, Bucket: layout.Day, Format: layout.PlainNumber()}
	events := open[event](t, client, options)
	day := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	all := every(time.Hour, day.AddDate(0, 0, -1), "user-12345", 72)
	put(t, events, all)
	got, cost := read(t, events, heatsink.Query{Key: "user-12345", From: day, To: day.AddDate(0, 0, 1)})
	if !slices.Equal(got, all[24:48]) || cost.Requests != 5 {
		t.Errorf("got %d events with %d requests, want 24 with 5", len(got), cost.Requests)
	}
	stored := 0
	for shard := range 5 {
		stored += len(inPartition(t, client, fmt.Sprintf("user-12345#2024-01-15#%d", shard)))
	}
	if stored != 24 {
		t.Errorf("%d events under the day's five keys", stored)
	}
}

// 004-11, X22: a range of days ends before its end: the first of January up to the tenth is nine buckets.
func TestRangesAreHalfOpen(t *testing.T) { enginetest.Each(t, rangesAreHalfOpen) }

func rangesAreHalfOpen(t *testing.T, client *dynamodb.Client) {
	logs := open[event](t, client, daily)
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	all := every(24*time.Hour, first, "user-12345", 12)
	put(t, logs, all)
	for days, to := range map[int]time.Time{9: first.AddDate(0, 0, 9), 10: first.AddDate(0, 0, 10)} {
		q := heatsink.Query{Key: "user-12345", From: first, To: to}
		plan, err := logs.Plan(t.Context(), q)
		if err != nil || plan.Buckets != days || plan.Shards != days {
			t.Errorf("plan %+v, %v, want %d buckets", plan, err, days)
		}
		if got, cost := read(t, logs, q); !slices.Equal(got, all[:days]) || cost.Requests != days {
			t.Errorf("got %d with %d requests, want %d", len(got), cost.Requests, days)
		}
	}
}

// 004-09, 004-27: events are spread by their own id and queried by their user: the gather has all of them.
func TestShardedByEventQueriedByUser(t *testing.T) { enginetest.Each(t, shardedByEventQueriedByUser) }

func shardedByEventQueriedByUser(t *testing.T, client *dynamodb.Client) {
	type occurrence struct {
		User string `dynamodbav:"pk"`
		At   int64  `dynamodbav:"sk"`
		ID   string
	}
	create(t, client, types.ScalarAttributeTypeN)
	events := reopen[occurrence](t, client, heatsink.Options{
		Layout:  layout.Layout{Shards: 10, Strategy: layout.Calculated, Hash: layout.MD5, Format: layout.PlainNumber()},
		ShardBy: []string{"ID"},
	})
	var all []occurrence
	for i := range 300 {
		all = append(all, occurrence{"user-12345", int64(1_700_000_000 + i), fmt.Sprintf("event-%d", i)})
	}
	put(t, events, all)
	got, cost := read(t, events, heatsink.Query{Key: "user-12345"})
	if !slices.Equal(got, all) || cost.Requests != 10 {
		t.Errorf("got %d events with %d requests", len(got), cost.Requests)
	}
	var meter heatsink.Meter
	one, err := events.Get(heatsink.WithMeter(t.Context(), &meter), occurrence{User: "user-12345", At: 1_700_000_042, ID: "event-42"})
	if err != nil || one != all[42] || meter.Cost().Requests != 1 {
		t.Errorf("got %v, %v with %d requests", one, err, meter.Cost().Requests)
	}
}

// 000-21, X31: what has expired is not returned, although DynamoDB has not deleted it.
func TestExpiredItemsAreLeftOut(t *testing.T) { enginetest.Each(t, expiredItemsAreLeftOut) }

func expiredItemsAreLeftOut(t *testing.T, client *dynamodb.Client) {
	type session struct {
		Key    string `dynamodbav:"pk"`
		ID     string `dynamodbav:"sk"`
		Expiry int64  `dynamodbav:"ttl,omitempty"`
	}
	sessions := open[session](t, client, heatsink.Options{Layout: layout.Layout{Shards: 4}, TTL: "ttl", TTLAfter: 30 * time.Minute})
	now := time.Now()
	put(t, sessions, []session{{"SESSIONS", "over", now.Add(-time.Hour).Unix()}, {"SESSIONS", "fresh", 0}})
	q := heatsink.Query{Key: "SESSIONS"}
	got, _ := read(t, sessions, q)
	if len(got) != 1 || got[0].ID != "fresh" || got[0].Expiry < now.Add(29*time.Minute).Unix() || got[0].Expiry > now.Add(31*time.Minute).Unix() {
		t.Errorf("got %v", got)
	}
	if n, err := sessions.Count(t.Context(), q); n != 1 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
	if _, err := sessions.Get(t.Context(), session{Key: "SESSIONS", ID: "over"}); !errors.Is(err, heatsink.ErrNotFound) {
		t.Errorf("got error %v", err)
	}
	q.IncludeExpired = true
	if got, _ := read(t, sessions, q); len(got) != 2 {
		t.Errorf("with what expired, got %v", got)
	}
}

// Metamorphic: the same data through 1, 7 and 64 shards reads back the same, in any page size and direction.
func TestShardCountDoesNotShow(t *testing.T) { enginetest.Each(t, shardCountDoesNotShow) }

func shardCountDoesNotShow(t *testing.T, client *dynamodb.Client) {
	all := every(time.Second, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "KEY", 120)
	for _, shards := range []int{0, 1, 7, 64} {
		for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
			c := open[event](t, client, heatsink.Options{Layout: layout.Layout{Shards: shards, Strategy: strategy}})
			put(t, c, all)
			for _, reverse := range []bool{false, true} {
				want := slices.Clone(all)
				if reverse {
					slices.Reverse(want)
				}
				for _, size := range []int{10, 77, 120, 1000} {
					q := heatsink.Query{Key: "KEY", Reverse: reverse, Limit: size}
					got := inPages(t, c, q)
					if !slices.Equal(got, want) {
						t.Errorf("%d shards, %v, reverse %v, pages of %d: got %d items, or not in order", shards, strategy, reverse, size, len(got))
					}
				}
			}
		}
	}
}

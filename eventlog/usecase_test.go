package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// The logs of the texts that docs/requirements.md lists, kept with this package.

// allShards is the form of shard keys that has a number for shard 0, too.
var allShards = layout.Format{ShardPrefix: "#SHARD_"}

// 000-06, 000-22: a thousand users over ten shards, about a hundred in each, sorted by time and user; and a judgement
// of how even that is.
func TestThousandActiveUsers(t *testing.T) { enginetest.Each(t, thousandActiveUsers) }

func thousandActiveUsers(t *testing.T, client *dynamodb.Client) {
	users := setup(t, client, eventlog.Options{Shards: 10, Format: allShards, Precision: time.Millisecond})
	start := time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC)
	var all []event
	for i := range 1000 {
		all = append(all, event{Log: "ACTIVE_USERS", At: start.Add(time.Duration(i) * time.Millisecond), ID: fmt.Sprint("user-", i)})
	}
	appendAll(t, users, all)
	got, cost := read(t, users, eventlog.Query{Log: "ACTIVE_USERS"})
	if !slices.Equal(got, all) || cost.Requests != 10 {
		t.Errorf("got %d users with %d requests, not the %d that were appended, in order, with 10", len(got), cost.Requests, len(all))
	}
	shards := partitions(t, client, "logs")
	if len(shards) != 10 {
		t.Errorf("there are %v, want ten shards", shards)
	}
	for shard := range 10 {
		if n := shards[fmt.Sprintf("ACTIVE_USERS#SHARD_%d", shard)]; n < 60 || n > 140 {
			t.Errorf("shard %d has %d users, want about 100", shard, n)
		}
	}
	if key := attribute(stored(t, client, "logs")[0], "sk"); len(key) < 30 || key[:20] != "2024-12-02T15:30:00." || key[23:30] != "Z#user-" {
		t.Errorf("the sort key is %q, want time and user", key)
	}

	even, err := users.Distribution(t.Context(), eventlog.Query{Log: "ACTIVE_USERS"})
	if err != nil || even.Skewed() || even.Total != 1000 || len(even.Counts) != 10 {
		t.Errorf("got %v, %v", even, err)
	}
	for _, e := range every(time.Second, start.Add(time.Hour), "ACTIVE_USERS", 100) { // somebody writes to one shard only
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("logs"), Item: heatsink.Item{
			"pk": &types.AttributeValueMemberS{Value: "ACTIVE_USERS#SHARD_3"},
			"sk": &types.AttributeValueMemberS{Value: e.At.Format("2006-01-02T15:04:05.000Z") + "#" + e.ID},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	even, err = users.Distribution(t.Context(), eventlog.Query{Log: "ACTIVE_USERS"})
	if err != nil || !even.Skewed() || !even.Over(0.2) || even.Counts[3] != even.Max {
		t.Errorf("with a hot shard 3: %v, %v", even, err)
	}
}

// slow is a client whose queries take a second each, or what delay says.
type slow struct {
	*dynamodb.Client
	delay func(partition string) time.Duration

	mu      sync.Mutex
	queries []*dynamodb.QueryInput
}

func (c *slow) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.mu.Lock()
	c.queries = append(c.queries, in)
	c.mu.Unlock()
	wait := time.Second
	if c.delay != nil {
		wait = c.delay(attribute(in.ExpressionAttributeValues, ":hs_pk"))
	}
	time.Sleep(wait)
	return c.Client.Query(ctx, in, options...)
}

// 000-07, 000-20: one shard after another takes the sum of their times, all at once the longest; both return what was
// appended.
func TestOneAfterAnotherAndAllAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &slow{Client: local.Start(t).Client()}
		options := eventlog.Options{Shards: 10}
		all := every(time.Second, time.Now().Add(-500*time.Second), "ACTIVE_USERS", 500)
		appendAll(t, setup(t, client.Client, options), all)
		for concurrency, took := range map[int]time.Duration{1: 10 * time.Second, 10: time.Second} {
			options.MaxConcurrency = concurrency
			users := open(t, client, options)
			start := time.Now()
			got, _ := read(t, users, eventlog.Query{Log: "ACTIVE_USERS"})
			if !slices.Equal(got, all) || time.Since(start) != took {
				t.Errorf("%d at a time: %d events in %v, want %d in %v", concurrency, len(got), time.Since(start), len(all), took)
			}
		}
	})
}

// 000-08, 000-09: the last hour of a page-view log over 50 shards takes 50 requests and holds nothing older; the pages
// are ranked by their views.
func TestPageViewsOfTheLastHour(t *testing.T) { enginetest.Each(t, pageViewsOfTheLastHour) }

func pageViewsOfTheLastHour(t *testing.T, client *dynamodb.Client) {
	views := setup(t, client, eventlog.Options{Shards: 50})
	now := time.Now().UTC()
	all := every(4*time.Second, now.Add(-2*time.Hour), "PAGE_VIEWS", 1800)
	for i := range all {
		all[i].ID, all[i].Body.Agent = fmt.Sprint(i), []string{"/home", "/news", "/home"}[i%3] // the page that was viewed
	}
	appendAll(t, views, all)
	q := eventlog.Query{Log: "PAGE_VIEWS", From: now.Add(-time.Hour)}
	got, cost := read(t, views, q)
	if !slices.Equal(got, all[900:]) || cost.Requests != 50 {
		t.Errorf("got %d views with %d requests, want the last 900 with 50", len(got), cost.Requests)
	}
	groups, err := eventlog.CountBy(t.Context(), views, q, func(e event) string { return e.Body.Agent })
	want := []heatsink.Group[string]{{Key: "/home", Count: 600}, {Key: "/news", Count: 300}}
	if err != nil || !slices.Equal(groups, want) {
		t.Errorf("got %v, %v, want %v", groups, err, want)
	}
}

// opsLog is the log of 001: a bucket a day, and an index as a way out.
var opsLog = eventlog.Options{
	Bucket: layout.Day, Precision: time.Second, Begin: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	Index: eventlog.Index{Name: "GSI1"},
}

// 001-07: what is stored for an entry of the log: the bucket of its UTC day, time and agent, and the index's key.
func TestOpsLogEntry(t *testing.T) { enginetest.Each(t, opsLogEntry) }

func opsLogEntry(t *testing.T, client *dynamodb.Client) {
	logs := setup(t, client, opsLog)
	west := time.FixedZone("", -2*3600)
	for _, at := range []time.Time{
		time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC),
		time.Date(2026, 6, 22, 23, 30, 0, 0, west), // by then it is the next day in UTC
	} {
		if _, err := logs.Append(t.Context(), event{Log: "OPS_LOG", At: at, ID: "threat_detector", Body: op{N: 340}}); err != nil {
			t.Fatal(err)
		}
	}
	items := stored(t, client, "logs")
	want := []map[string]string{
		{"pk": "OPS_LOG#2026-06-22", "sk": "2026-06-22T01:00:00Z#threat_detector", "GSI1PK": "OPS_LOG", "GSI1SK": "2026-06-22T01:00:00Z", "n": "340"},
		{"pk": "OPS_LOG#2026-06-23", "sk": "2026-06-23T01:30:00Z#threat_detector", "GSI1PK": "OPS_LOG", "GSI1SK": "2026-06-23T01:30:00Z", "n": "340"},
	}
	if len(items) != len(want) {
		t.Fatalf("%d items are stored", len(items))
	}
	for i, item := range items {
		for name, value := range want[i] {
			if got := attribute(item, name); got != value {
				t.Errorf("item %d: %s is %q, want %q", i, name, got, value)
			}
		}
		if len(item) != len(want[i]) {
			t.Errorf("item %d has attributes %v", i, slices.Collect(maps.Keys(item)))
		}
	}
}

// 001-08: a year of the log has a partition key for each of its days.
func TestKeysOfAYear(t *testing.T) {
	client := local.Start(t).Client()
	options := opsLog
	options.Begin = time.Time{}
	logs := setup(t, client, options)
	all := 0
	for year, days := range map[int]int{2026: 365, 2028: 366} {
		start := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		appendAll(t, logs, every(4*time.Hour, start, "OPS_LOG", 6*days))
		plan, err := logs.Plan(t.Context(), eventlog.Query{Log: "OPS_LOG", From: start, To: start.AddDate(1, 0, 0)})
		if err != nil || plan.Buckets != days || plan.Shards != days {
			t.Errorf("%d: %+v, %v, want %d buckets", year, plan, err, days)
		}
		all += days
	}
	if keys := partitions(t, client, "logs"); len(keys) != all {
		t.Errorf("there are %d partition keys, want %d", len(keys), all)
	}
}

// 001-09, 001-10: the last seven days are seven queries of 50 events at most, newest first, and take as long as the
// slowest.
func TestSevenQueriesOfFifty(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		now := time.Date(2026, 6, 22, 23, 59, 0, 0, time.UTC)
		time.Sleep(time.Until(now))
		end := layout.Day.Next(now)
		client := &slow{Client: local.Start(t).Client(), delay: func(partition string) time.Duration {
			day, err := time.Parse("OPS_LOG#"+time.DateOnly, partition)
			if err != nil {
				t.Errorf("a query of %s", partition)
			}
			return end.Sub(day) / 24 // an hour for the last day, seven for the first
		}}
		all := every(3*time.Hour, end.AddDate(0, 0, -10), "OPS_LOG", 80) // eight a day
		appendAll(t, setup(t, client.Client, opsLog), all)
		got, _ := read(t, open(t, client, opsLog), eventlog.Query{
			Log: "OPS_LOG", From: end.AddDate(0, 0, -7), To: end, Newest: true, Limit: 50, Prefetch: 6,
		})
		if !slices.Equal(got, reversed(all[30:])) {
			t.Errorf("got %d events, not the newest 50", len(got))
		}
		if took := time.Since(now); took != 7*time.Hour {
			t.Errorf("took %v, want the 7h of the slowest query", took)
		}
		if len(client.queries) != 7 {
			t.Errorf("%d queries, want 7", len(client.queries))
		}
		for _, in := range client.queries {
			if n := aws.ToInt32(in.Limit); n < 1 || n > 50 || aws.ToBool(in.ScanIndexForward) {
				t.Errorf("a query of %d events, forwards %v", n, aws.ToBool(in.ScanIndexForward))
			}
		}
	})
}

// broken is a client whose queries of the table fail from some number on; those of the index do not.
type broken struct {
	*dynamodb.Client
	after int // this many succeed; negative: all

	mu            sync.Mutex
	table, listed int // queries
}

func (c *broken) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.mu.Lock()
	fails := false
	if in.IndexName != nil {
		c.listed++
	} else {
		fails = c.after >= 0 && c.table >= c.after
		c.table++
	}
	c.mu.Unlock()
	if fails {
		return nil, errors.New("no route to host")
	}
	return c.Client.Query(ctx, in, options...)
}

// 001-11: a gather that fails, or takes more requests than are allowed, is replaced by one query of the index, in the
// same order, whether that is known before, or turns out in the middle.
func TestFallBackToTheIndex(t *testing.T) { enginetest.Each(t, fallBackToTheIndex) }

func fallBackToTheIndex(t *testing.T, client *dynamodb.Client) {
	options := opsLog
	options.Retry.Attempts = 1
	end := time.Date(2026, 6, 23, 0, 0, 0, 0, time.UTC)
	all := every(2*time.Hour, end.AddDate(0, 0, -7), "OPS_LOG", 84)
	for i := range all { // three at a time, so that the index alone does not know the order
		all[i].At = end.AddDate(0, 0, -7).Add(time.Duration(i/3) * 6 * time.Hour)
		all[i].ID = fmt.Sprintf("%d-agent", i%3)
	}
	appendAll(t, setup(t, client, options), all)
	q := eventlog.Query{Log: "OPS_LOG", From: end.AddDate(0, 0, -7), To: end, Newest: true}
	forwards := q
	forwards.Newest = false
	for _, c := range []struct {
		name    string
		q       eventlog.Query
		limit   int
		allowed int
		after   int
		table   int // queries of it, at most
		listed  int // queries of the index
		want    []event
	}{
		{name: "gather", q: q, limit: 50, after: -1, table: 7, want: reversed(all)[:50]},
		{name: "within the budget", q: q, limit: 51, after: -1, allowed: 7, table: 7, want: reversed(all)[:51]},
		{name: "over the budget at once", q: q, after: -1, allowed: 6, table: 0, listed: 1, want: reversed(all)},
		{name: "over the budget on the way", q: q, limit: 50, after: -1, allowed: 2, table: 2, listed: 1, want: reversed(all)[:50]},
		{name: "broken", q: q, limit: 51, after: 0, table: 7, listed: 1, want: reversed(all)[:51]},
		{name: "broken, in the middle of a time", q: q, limit: 50, after: 0, table: 7, listed: 2, want: reversed(all)[:50]},
		{name: "broken on the way", q: q, limit: 60, after: 2, table: 7, listed: 1, want: reversed(all)[:60]},
		{name: "broken, forwards", q: forwards, limit: 50, after: 0, table: 7, listed: 2, want: all[:50]},
		{name: "broken on the way, forwards", q: forwards, after: 3, table: 7, listed: 1, want: all},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := options
			options.Index.MaxRequests = c.allowed
			queries := &broken{Client: client, after: c.after}
			logs := open(t, queries, options)
			c.q.Limit = c.limit
			got, _ := read(t, logs, c.q)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %d events, want %d", len(got), len(c.want))
			}
			if queries.table > c.table || queries.listed != c.listed {
				t.Errorf("%d queries of the table and %d of the index, want %d at most and %d", queries.table, queries.listed, c.table, c.listed)
			}
		})
	}

	queries := &broken{Client: client}
	logs := open(t, queries, options)
	if n, err := logs.Count(t.Context(), q); n != 84 || err != nil || queries.listed != 1 {
		t.Errorf("counted %d, %v with %d queries of the index", n, err, queries.listed)
	}
	groups, err := eventlog.CountBy(t.Context(), logs, q, func(e event) string { return e.ID })
	if len(groups) != 3 || err != nil || groups[0].Count != 28 {
		t.Errorf("got groups %v, %v", groups, err)
	}
	q.Limit = 4 // pages whose ends are not those of times
	if got := inPages(t, logs, q); !slices.Equal(got, reversed(all)) {
		t.Errorf("in pages, got %d events", len(got))
	}
}

// 001-13, 001-15: alerts by brand in monthly buckets; the index returns the newest 50 across months, by prefix, among
// other things that it has of the brand.
func TestAlertsOfABrand(t *testing.T) { enginetest.Each(t, alertsOfABrand) }

func alertsOfABrand(t *testing.T, client *dynamodb.Client) {
	options := eventlog.Options{
		Prefix: "ALERT#", Bucket: layout.Month, Precision: time.Second, Begin: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Index: eventlog.Index{Name: "GSI1", Prefix: "THREAT#", Key: func(log string) string { return "BRAND#" + log[len("THREAT#"):] }},
	}
	alerts := setup(t, client, options)
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var all []event
	for i := range 122 * 2 { // twice a day until the end of June
		all = append(all, event{Log: "THREAT#abc", At: start.Add(time.Duration(i) * 12 * time.Hour), ID: "geographic_anomaly", Body: op{N: i}})
	}
	appendAll(t, alerts, all)
	appendAll(t, alerts, []event{{Log: "THREAT#xyz", At: start, ID: "phishing"}})
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("logs"), Item: heatsink.Item{
		"pk": &types.AttributeValueMemberS{Value: "SCAN#1"}, "sk": &types.AttributeValueMemberS{Value: "SCAN"},
		"GSI1PK": &types.AttributeValueMemberS{Value: "BRAND#abc"}, "GSI1SK": &types.AttributeValueMemberS{Value: "SCAN#2026-06-30T00:00:00Z"},
	}})
	if err != nil {
		t.Fatal(err)
	}

	item := stored(t, client, "logs")[1+184] // behind the scan, the first of June's
	for name, want := range map[string]string{
		"pk": "THREAT#abc#2026-06", "sk": "ALERT#2026-06-01T00:00:00Z#geographic_anomaly",
		"GSI1PK": "BRAND#abc", "GSI1SK": "THREAT#2026-06-01T00:00:00Z", "at": "2026-06-01T00:00:00Z",
	} {
		if got := attribute(item, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	got, cost := read(t, alerts, eventlog.Query{
		Log: "THREAT#abc", From: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
	})
	if !slices.Equal(got, all[62:]) || cost.Requests != 3 {
		t.Errorf("got %d alerts with %d requests, want %d with 3", len(got), cost.Requests, len(all)-62)
	}
	to := time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)
	listed, cost := read(t, alerts, eventlog.Query{Log: "THREAT#abc", To: to, Newest: true, Limit: 50, Index: true})
	if !slices.Equal(listed, reversed(all[:212])[:50]) || cost.Requests != 1 {
		t.Errorf("the index has %d alerts with %d requests, want 50 with 1", len(listed), cost.Requests)
	}
}

// 001-18: what was written before there were buckets is read along with what is written since, in one order, page by
// page and from both ends; also where sort keys have a prefix, and nothing else tells the time of the old ones.
func TestUnbucketedPastIsReadAlong(t *testing.T) { enginetest.Each(t, unbucketedPastIsReadAlong) }

func unbucketedPastIsReadAlong(t *testing.T, client *dynamodb.Client) {
	for _, prefix := range []string{"", "ALERT#"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			options := eventlog.Options{
				Table: "logs" + prefix[:max(len(prefix)-1, 0)], Prefix: prefix, Bucket: layout.Day, Shards: 3, Precision: time.Second,
				Older: []layout.Layout{{}}, Begin: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			}
			logs := setup(t, client, options)
			start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
			all := every(5*time.Hour, start, "OPS_LOG", 60)
			var since []event
			for i, e := range all { // both were running for a while
				if i >= 40 || i >= 20 && i%2 == 1 {
					since = append(since, e)
					continue
				}
				_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &options.Table, Item: heatsink.Item{
					"pk": &types.AttributeValueMemberS{Value: "OPS_LOG"}, "n": &types.AttributeValueMemberN{Value: fmt.Sprint(i)},
					"sk": &types.AttributeValueMemberS{Value: prefix + e.At.Format(time.RFC3339) + "#" + e.ID},
				}})
				if err != nil {
					t.Fatal(err)
				}
			}
			appendAll(t, logs, since)
			q := eventlog.Query{Log: "OPS_LOG", From: start, To: start.AddDate(0, 0, 14)}
			for _, newest := range []bool{false, true} {
				want := all
				if newest {
					want = reversed(all)
				}
				q.Newest, q.Limit = newest, 0
				if got, _ := read(t, logs, q); !slices.Equal(got, want) {
					t.Errorf("newest first %v: got %d events", newest, len(got))
				}
				for _, q.Limit = range []int{4, 7} {
					if got := inPages(t, logs, q); !slices.Equal(got, want) {
						t.Errorf("newest first %v, in pages of %d: got %d events", newest, q.Limit, len(got))
					}
				}
			}
			q.Limit = 0
			if n, err := logs.Count(t.Context(), q); err != nil || n != 60 {
				t.Errorf("counted %d, %v", n, err)
			}
			options.OlderUntil = all[39].At
			q.From = all[39].At
			got, cost := read(t, open(t, client, options), q)
			if !slices.Equal(got, reversed(all[39:])) || cost.Requests != 3*int(layout.Day.Count(q.From, q.To)) {
				t.Errorf("since then: %d events with %d requests", len(got), cost.Requests)
			}
		})
	}
}

// 004-16: a profile whose parts are logged over three shards takes three requests to put together, and that is what is
// reported.
func TestProfileInThreeParts(t *testing.T) { enginetest.Each(t, profileInThreeParts) }

func profileInThreeParts(t *testing.T, client *dynamodb.Client) {
	options := eventlog.Options{Table: "profiles", Shards: 3, Format: layout.PlainNumber()}
	if err := eventlog.Setup(t.Context(), client, options); err != nil {
		t.Fatal(err)
	}
	enginetest.DropTable(t, client, options.Table)
	profiles, err := eventlog.Open[map[string]string](client, options)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	for i, part := range []map[string]string{{"name": "Ann"}, {"email": "ann@old.example"}, {"theme": "dark"}, {"email": "ann@example.com"}, {"city": "Rome"}, {"plan": "pro"}} {
		if _, err := profiles.Append(t.Context(), eventlog.Event[map[string]string]{Log: "user-12345", At: start.Add(time.Duration(i)), ID: fmt.Sprint(i), Body: part}); err != nil {
			t.Fatal(err)
		}
	}
	if keys := slices.Sorted(maps.Keys(partitions(t, client, options.Table))); !slices.Equal(keys, []string{"user-12345#0", "user-12345#1", "user-12345#2"}) {
		t.Fatalf("the parts are in %v", keys)
	}
	var meter heatsink.Meter
	profile := map[string]string{}
	for part, err := range profiles.Events(heatsink.WithMeter(t.Context(), &meter), eventlog.Query{Log: "user-12345"}) {
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(profile, part.Body)
	}
	want := map[string]string{"name": "Ann", "email": "ann@example.com", "theme": "dark", "city": "Rome", "plan": "pro"}
	if cost := meter.Cost(); !maps.Equal(profile, want) || cost.Requests != 3 || cost.ReadUnits != 1.5 {
		t.Errorf("got %v for %+v, want %v for 3 requests and 1.5 units", profile, cost, want)
	}
}

// 004-19: whatever the hour, the last 24 are in two daily buckets at most.
func TestLast24Hours(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		logs := setup(t, client, eventlog.Options{Bucket: layout.Day})
		for range 25 {
			if _, err := logs.Append(t.Context(), event{Log: "user-12345"}); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			got, cost := read(t, logs, eventlog.Query{Log: "user-12345", From: now.Add(-24 * time.Hour), To: now.Add(1)})
			if cost.Requests > 2 || len(got) == 0 || !got[len(got)-1].At.Equal(now) || got[0].At.Before(now.Add(-24*time.Hour)) {
				t.Errorf("at %v: %d events with %d requests", now, len(got), cost.Requests)
			}
			time.Sleep(61 * time.Minute)
		}
	})
}

// 004-20: a tenant whose load nobody can predict is spread over five shards of each day: tenant-456#2024-01-15#0 to #4.
func TestTenantByDayAndShard(t *testing.T) { enginetest.Each(t, tenantByDayAndShard) }

func tenantByDayAndShard(t *testing.T, client *dynamodb.Client) {
	logs := setup(t, client, eventlog.Options{Bucket: layout.Day, Shards: 5, Format: layout.PlainNumber()})
	day := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	all := every(time.Minute, day, "tenant-456", 2*24*60)
	appendAll(t, logs, all)
	var want []string
	for _, date := range []string{"2024-01-15", "2024-01-16"} {
		for shard := range 5 {
			want = append(want, fmt.Sprintf("tenant-456#%s#%d", date, shard))
		}
	}
	if got := slices.Sorted(maps.Keys(partitions(t, client, "logs"))); !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	got, cost := read(t, logs, eventlog.Query{Log: "tenant-456", From: day, To: day.AddDate(0, 0, 1)})
	if !slices.Equal(got, all[:24*60]) || cost.Requests != 5 {
		t.Errorf("got %d events of the day with %d requests, want %d with 5", len(got), cost.Requests, 24*60)
	}
}

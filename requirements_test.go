package heatsink_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What docs/requirements.md asks for and no other test shows.

// recorder is a client that keeps the queries it sends, and delays them.
type recorder struct {
	*dynamodb.Client
	delay func(shardKey string) time.Duration

	mu      sync.Mutex
	queries []*dynamodb.QueryInput
	under   int // under way
	most    int // the most that ever were
}

func (r *recorder) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	r.mu.Lock()
	r.queries = append(r.queries, in)
	r.under++
	r.most = max(r.most, r.under)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.under--
	}()
	if r.delay != nil {
		time.Sleep(r.delay(in.ExpressionAttributeValues[":hs_pk"].(*types.AttributeValueMemberS).Value))
	}
	return r.Client.Query(ctx, in, options...)
}

// 000-07: one shard after another or all at once, what is read is what was written.
func TestOneAfterAnotherAndAllAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &recorder{Client: local.Start(t).Client(), delay: func(string) time.Duration { return time.Second }}
		written := every(time.Second, time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC), "ACTIVE_USERS", 500)
		put(t, open[event](t, client.Client, heatsink.Options{Layout: layout.Layout{Shards: 10}}), written)
		for concurrency, took := range map[int]time.Duration{1: 10 * time.Second, 10: time.Second} {
			users := reopen[event](t, client, heatsink.Options{Layout: layout.Layout{Shards: 10}, MaxConcurrency: concurrency})
			client.most = 0
			start := time.Now()
			got, _ := read(t, users, heatsink.Query{Key: "ACTIVE_USERS"})
			if !slices.Equal(got, written) {
				t.Errorf("%d at a time: got %d users, not the %d that were put", concurrency, len(got), len(written))
			}
			if client.most != concurrency || time.Since(start) != took {
				t.Errorf("%d at a time in %v, want %d in %v", client.most, time.Since(start), concurrency, took)
			}
		}
	})
}

// 000-14, X02: 25 shards are counted by 25 queries for a COUNT, all at the same time.
func TestCountsAreCounts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &recorder{Client: local.Start(t).Client(), delay: func(string) time.Duration { return time.Second }}
		options := heatsink.Options{Layout: layout.Layout{Shards: 25, Strategy: layout.Calculated}}
		put(t, open[event](t, client.Client, options), every(time.Second, time.Now(), "SESSIONS", 300))
		start := time.Now()
		n, err := reopen[event](t, client, options).Count(t.Context(), heatsink.Query{Key: "SESSIONS"})
		if n != 300 || err != nil || time.Since(start) != time.Second {
			t.Errorf("counted %d, %v in %v, want 300 in 1s", n, err, time.Since(start))
		}
		if len(client.queries) != 25 || client.most != 25 {
			t.Errorf("%d queries, %d at a time, want 25", len(client.queries), client.most)
		}
		for _, in := range client.queries {
			if in.Select != types.SelectCount {
				t.Errorf("a query for %q, want a COUNT", in.Select)
			}
		}
	})
}

// 000-22: a warning is both: a shard is off by more than a fifth, and chance does not explain it.
func TestImbalance(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		want   bool
	}{
		{"even", []int{1000, 1000, 1000, 1000}, false},
		{"a fifth over", []int{1200, 900, 900, 1000}, false},
		{"a fifth under", []int{800, 1100, 1100, 1000}, false},
		{"more than a fifth over", []int{1201, 900, 900, 999}, true},
		{"more than a fifth under", []int{799, 1100, 1100, 1001}, true},
		{"more than a fifth, of few", []int{13, 9, 9, 9}, false},
		{"far off, of very few", []int{3, 0, 0, 0}, false},
	} {
		e := layout.NewEvenness(c.counts)
		if got := e.Over(0.2) && e.Skewed(); got != c.want {
			t.Errorf("%s: got %v, want %v: %v", c.name, got, c.want, e)
		}
	}
}

// logItem is an item of a bucketed log that an index lists as well.
type logItem struct {
	Key     string `dynamodbav:"pk"`
	At      string `dynamodbav:"sk"`
	Listing string `dynamodbav:"GSI1PK"`
	Listed  string `dynamodbav:"GSI1SK"`
}

// createListed creates the table with the index GSI1, and opens that as a collection of its own.
func createListed(t *testing.T, client *dynamodb.Client, queries heatsink.Client) *heatsink.Collection[logItem] {
	t.Helper()
	enginetest.DropTable(t, client, table)
	in := &dynamodb.CreateTableInput{TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest}
	for _, name := range []string{"pk", "sk", "GSI1PK", "GSI1SK"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash}, {AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	in.KeySchema = key("pk", "sk")
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName: aws.String("GSI1"), KeySchema: key("GSI1PK", "GSI1SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	listing, err := heatsink.Open[logItem](queries, heatsink.Options{
		Table: table, PartitionKey: "pk", SortKey: "sk", Index: heatsink.Index{Name: "GSI1", PartitionKey: "GSI1PK", SortKey: "GSI1SK"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

// 001-07: what is stored for an item of the log: the bucket of its UTC day, time and agent, and the index's key.
func TestDailyLogEntry(t *testing.T) { enginetest.Each(t, dailyLogEntry) }

func dailyLogEntry(t *testing.T, client *dynamodb.Client) {
	listing := createListed(t, client, client)
	logs := reopen[logItem](t, client, daily)
	const at = "2026-06-22T01:00:00Z"
	for sk, want := range map[string]string{
		at + "#agent-7":                     "OPS_LOG#2026-06-22",
		"2026-06-22T23:30:00-02:00#agent-7": "OPS_LOG#2026-06-23", // by then it is the next day in UTC
	} {
		written, err := logs.Put(t.Context(), logItem{Key: "OPS_LOG", At: sk, Listing: "OPS_LOG", Listed: sk[:len(at)]})
		if err != nil || written.ShardKey != want {
			t.Errorf("%s is in %s, %v, want %s", sk, written.ShardKey, err, want)
		}
	}
	stored, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: heatsink.Item{
		"pk": &types.AttributeValueMemberS{Value: "OPS_LOG#2026-06-22"}, "sk": &types.AttributeValueMemberS{Value: at + "#agent-7"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pk": "OPS_LOG#2026-06-22", "sk": at + "#agent-7", "GSI1PK": "OPS_LOG", "GSI1SK": at} {
		if got, ok := stored.Item[name].(*types.AttributeValueMemberS); !ok || got.Value != want {
			t.Errorf("%s is %v, want %s", name, stored.Item[name], want)
		}
	}
	if listed, _ := read(t, listing, heatsink.Query{Key: "OPS_LOG"}); len(listed) != 2 || listed[0].Listed != at {
		t.Errorf("the index lists %v", listed)
	}
}

// 001-09, 001-10: the last seven days are seven queries of 50 items at most, and take as long as the slowest.
func TestSevenQueriesOfFifty(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		end := time.Date(2026, 6, 23, 0, 0, 0, 0, time.UTC)
		client := &recorder{Client: local.Start(t).Client(), delay: func(shardKey string) time.Duration {
			day, err := time.Parse("OPS_LOG#"+time.DateOnly, shardKey)
			if err != nil {
				t.Errorf("a query of %s", shardKey)
			}
			return end.Sub(day) / 24 // an hour for the last day, seven for the first
		}}
		written := every(3*time.Hour, end.AddDate(0, 0, -10), "OPS_LOG", 80) // eight a day
		put(t, open[event](t, client.Client, daily), written)
		q := heatsink.Query{Key: "OPS_LOG", From: end.AddDate(0, 0, -7), To: end, Reverse: true, Limit: 50, Prefetch: 6}
		start := time.Now()
		got, _ := read(t, reopen[event](t, client, daily), q)
		slices.Reverse(got)
		if !slices.Equal(got, written[30:]) {
			t.Errorf("got %v, want the newest 50", ats(got))
		}
		if took := time.Since(start); took != 7*time.Hour {
			t.Errorf("took %v, want the 7h of the slowest query", took)
		}
		if len(client.queries) != 7 {
			t.Errorf("%d queries, want 7", len(client.queries))
		}
		for _, in := range client.queries {
			if n := aws.ToInt32(in.Limit); n < 1 || n > 50 {
				t.Errorf("a query of %d items", n)
			}
		}
	})
}

// 001-11: a gather that fails, or would cost more than is allowed, is replaced by one query of the index, in the same order.
func TestFallBackToTheIndex(t *testing.T) {
	client := local.Start(t).Client()
	index := &recorder{Client: client}
	listing := createListed(t, client, index)
	gathered := faulty.On(t, client, nil)
	options := daily
	options.Retry.Attempts = 1
	logs := reopen[logItem](t, gathered, options)
	end := time.Date(2026, 6, 23, 0, 0, 0, 0, time.UTC)
	var want []string
	for i := range 70 {
		at := end.Add(-time.Duration(i+1) * 2 * time.Hour).Format(time.RFC3339)
		if _, err := logs.Put(t.Context(), logItem{"OPS_LOG", at + "#agent", "OPS_LOG", at}); err != nil {
			t.Fatal(err)
		}
		want = append(want, at)
	}

	recent := func(allowed int) ([]string, error) {
		q := heatsink.Query{Key: "OPS_LOG", From: end.AddDate(0, 0, -7), To: end, Reverse: true, Limit: 50}
		plan, err := logs.Plan(t.Context(), q)
		if err != nil {
			return nil, err
		}
		var page heatsink.Page[logItem]
		if plan.Shards <= allowed {
			page, err = logs.Page(t.Context(), q, "")
		}
		if plan.Shards > allowed || err != nil {
			page, err = listing.Page(t.Context(), heatsink.Query{Key: "OPS_LOG", Reverse: true, Limit: 50}, "")
		}
		var at []string
		for _, e := range page.Items {
			at = append(at, e.Listed)
		}
		return at, err
	}
	for _, c := range []struct {
		name    string
		allowed int
		fault   faulty.Fault // of queries of the shards
		ofIndex int
	}{
		{"gather", 7, faulty.None, 0},
		{"too expensive", 6, faulty.None, 1},
		{"broken", 7, faulty.LostRequest, 1},
	} {
		index.queries = nil
		gathered.Decide(faulty.Always(c.fault).Of("Query"))
		got, err := recent(c.allowed)
		if err != nil || !slices.Equal(got, want[:50]) || len(index.queries) != c.ofIndex {
			t.Errorf("%s: got %v, %v with %d queries of the index, want the newest 50 with %d", c.name, got, err, len(index.queries), c.ofIndex)
		}
	}
}

// 002-01: the suffixes .1 to .200 and no other, drawn evenly.
func TestSuffixesFromOneAreEven(t *testing.T) {
	spread := layout.Layout{Shards: 200, Format: layout.DotFromOne()}
	r := rand.New(rand.NewPCG(2, 1))
	drawn := map[string]int{}
	for range 100_000 {
		key, err := spread.ShardKey("2014-07-09", time.Time{}, spread.Draw(r))
		if err != nil {
			t.Fatal(err)
		}
		drawn[key]++
	}
	counts := make([]int, 200)
	for i := range counts {
		counts[i] = drawn[fmt.Sprintf("2014-07-09.%d", i+1)]
	}
	if e := layout.NewEvenness(counts); len(drawn) != 200 || e.Total != 100_000 || e.Min == 0 || e.Skewed() {
		t.Errorf("%d suffixes: %v", len(drawn), e)
	}
}

// 003-10, X03, X04, X23: a counter over ten shards. Increments are ADDs, the total is a number, what was never written is 0.
func TestShardedCounter(t *testing.T) { enginetest.Each(t, shardedCounter) }

func shardedCounter(t *testing.T, client *dynamodb.Client) {
	type counter struct {
		Key   string `dynamodbav:"pk"`
		ID    string `dynamodbav:"sk"`
		Slot  string `dynamodbav:"slot,omitempty"` // decides the shard, is not stored
		Count int    `dynamodbav:"count,omitempty"`
	}
	views := open[counter](t, client, heatsink.Options{
		Layout:  layout.Layout{Shards: 10, Strategy: layout.Calculated, Format: layout.SharpNumber()},
		ShardBy: []string{"slot"},
	})
	add := func(slot int, value types.AttributeValue) error {
		like := counter{Key: "COUNTER#VIEWS", ID: "COUNT", Slot: fmt.Sprint("slot-", slot)}
		_, err := views.Update(t.Context(), like, func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression = aws.String("ADD #count :value")
			in.ExpressionAttributeNames = map[string]string{"#count": "count"}
			in.ExpressionAttributeValues = heatsink.Item{":value": value}
		})
		return err
	}
	one := &types.AttributeValueMemberN{Value: "1"}
	wantTotal := func(want int) {
		t.Helper()
		plus := func(a, b int) int { return a + b }
		got, err := heatsink.Fold(t.Context(), views, heatsink.Query{Key: "COUNTER#VIEWS", Consistent: true},
			func() int { return 0 }, func(sum int, c counter) int { return sum + c.Count }, plus)
		if got != want || err != nil {
			t.Errorf("the total is %d, %v, want %d", got, err, want)
		}
	}
	wantTotal(0)
	if err := add(1, one); err != nil {
		t.Fatal(err)
	}
	wantTotal(1) // of one shard, nine are not there

	const goroutines, each = 8, 25
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				if err := add(g*each+i, one); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantTotal(1 + goroutines*each)
	shards := 0
	for shard := range 10 {
		shards += len(inPartition(t, client, fmt.Sprintf("COUNTER#VIEWS#SHARD#%d", shard)))
	}
	if shards != 10 {
		t.Errorf("the counter is in %d shards, want 10", shards)
	}

	// What ruins a counter that is SET is refused.
	if err := add(1, &types.AttributeValueMemberM{Value: heatsink.Item{"increment": one}}); err == nil {
		t.Error("a map was added to a number")
	}
	wantTotal(1 + goroutines*each)
}

// 004-10: buckets of a day and of an hour, with epoch seconds and a tie-break as the sort key.
func TestEpochSeconds(t *testing.T) { enginetest.Each(t, epochSeconds) }

func epochSeconds(t *testing.T, client *dynamodb.Client) {
	first := time.Date(2024, 1, 15, 23, 59, 58, 0, time.UTC)
	var written []event
	for i := range 8 { // two a second, over midnight
		at := first.Add(time.Duration(i/2) * time.Second)
		written = append(written, event{"user-12345", fmt.Sprintf("%d#%c", at.Unix(), 'a'+i%2), at.Format(time.RFC3339)})
	}
	for bucket, keys := range map[layout.Bucket][]string{
		layout.Day:  {"user-12345#2024-01-15", "user-12345#2024-01-16"},
		layout.Hour: {"user-12345#2024-01-15T23", "user-12345#2024-01-16T00"},
	} {
		t.Run(bucket.String(), func(t *testing.T) {
			events := open[event](t, client, heatsink.Options{
				Layout:    layout.Layout{Bucket: bucket},
				EventTime: heatsink.EventTime{Attribute: sortKey, Unit: heatsink.UnixSeconds},
			})
			put(t, events, written)
			for i, key := range keys {
				if got := inPartition(t, client, key); !slices.Equal(got, ats(written[4*i:4*i+4])) {
					t.Errorf("%s holds %v", key, got)
				}
			}
			got, cost := read(t, events, heatsink.Query{Key: "user-12345", From: first, To: first.Add(time.Hour)})
			if !slices.Equal(got, written) || cost.Requests != 2 {
				t.Errorf("got %v with %d requests", ats(got), cost.Requests)
			}
		})
	}
}

// X01, 003-08: five forms of one key are read and taken apart, and one is written.
func TestAnyFormIsRead(t *testing.T) { enginetest.Each(t, anyFormIsRead) }

func anyFormIsRead(t *testing.T, client *dynamodb.Client) {
	forms := []layout.Format{{}, layout.SharpNumber(), layout.PlainNumber(), layout.DotFromOne(), {Width: 3}}
	create(t, client, types.ScalarAttributeTypeS)
	var written []event
	older := make([]layout.Layout, len(forms))
	for i, form := range forms {
		older[i] = layout.Layout{Shards: 10, Format: form}
		part := every(time.Second, time.Date(2024, 12, 2, 15, i, 0, 0, time.UTC), "STATUS#ACTIVE", 20)
		put(t, reopen[event](t, client, heatsink.Options{Layout: older[i]}), part)
		written = append(written, part...)
	}
	for i, form := range forms {
		if form.Width > 0 {
			continue // the default form again
		}
		users := reopen[event](t, client, heatsink.Options{Layout: older[i], Older: slices.Delete(slices.Clone(older), i, i+1)})
		if got, _ := read(t, users, heatsink.Query{Key: "STATUS#ACTIVE"}); !slices.Equal(got, written) {
			t.Errorf("%v: got %d of %d", form, len(got), len(written))
		}
		more := every(time.Second, time.Date(2024, 12, 3, 15, i, 0, 0, time.UTC), "STATUS#ACTIVE", 20)
		put(t, users, more)
		written = append(written, more...)
		mine := 0
		for shard := range 10 {
			key, err := older[i].ShardKey("STATUS#ACTIVE", time.Time{}, shard)
			if err != nil {
				t.Fatal(err)
			}
			stored := inPartition(t, client, key)
			mine += len(stored)
			if len(stored) == 0 {
				continue
			}
			item := heatsink.Item{"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: stored[0]}}
			_, place, err := users.Decode(item)
			if want := (layout.Place{Key: "STATUS#ACTIVE", Shard: shard}); place != want || err != nil {
				t.Errorf("%s: got %+v, %v, want %+v", key, place, err, want)
			}
		}
		if mine != 40 {
			t.Errorf("%v: %d items have this form, want the 20 of its own writer and 20 more", form, mine)
		}
	}
}

// X02: a field that Options or a Query does not have does not compile. A value that means nothing, or a field that would have
// no effect, is refused.
func TestNoOptionIsIgnored(t *testing.T) {
	client := local.Start(t).Client()
	for name, c := range map[string]struct {
		edit func(*heatsink.Options)
		says string
	}{
		"strategy":               {func(o *heatsink.Options) { o.Layout.Strategy = 9 }, "Strategy(9)"},
		"bucket":                 {func(o *heatsink.Options) { o.Layout.Bucket = 9 }, "Bucket(9)"},
		"hash":                   {func(o *heatsink.Options) { o.Layout.Hash = 9 }, "Hash(9)"},
		"unit of time":           {func(o *heatsink.Options) { o.EventTime = heatsink.EventTime{Attribute: "at", Unit: 9} }, "Unit is 9"},
		"bucket without a time":  {func(o *heatsink.Options) { o.Layout.Bucket = layout.Day }, "EventTime"},
		"random index":           {func(o *heatsink.Options) { o.Index = heatsink.Index{Name: "GSI1", PartitionKey: "GSI1PK"} }, "Calculated"},
		"index without a key":    {func(o *heatsink.Options) { o.Index.Name, o.Layout.Strategy = "GSI1", layout.Calculated }, "Index.PartitionKey is empty"},
		"key without an index":   {func(o *heatsink.Options) { o.Index.PartitionKey = "status" }, "its Name is empty"},
		"shard without an index": {func(o *heatsink.Options) { o.Index.ShardAttribute = "shard" }, "its Name is empty"},
		"life without attribute": {func(o *heatsink.Options) { o.TTLAfter = time.Hour }, "TTLAfter"},
		"short key":              {func(o *heatsink.Options) { o.TokenKeys = [][]byte{[]byte("secret")} }, "TokenKeys"},
		"older buckets":          {func(o *heatsink.Options) { o.Older = []layout.Layout{{Bucket: layout.Day}} }, "Older[0]"},
		"no table":               {func(o *heatsink.Options) { o.Table = "" }, "Table"},
		"negative":               {func(o *heatsink.Options) { o.MaxConcurrency = -1 }, "MaxConcurrency"},
	} {
		t.Run(name, func(t *testing.T) {
			options := heatsink.Options{Table: table, PartitionKey: "tenant", SortKey: "at", Layout: layout.Layout{Shards: 4}}
			if _, err := heatsink.Open[heatsink.Item](client, options); err != nil {
				t.Fatal(err)
			}
			c.edit(&options)
			_, err := heatsink.Open[heatsink.Item](client, options)
			if !errors.Is(err, heatsink.ErrOptions) && !errors.Is(err, layout.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %v, want one about %s", err, c.says)
			}
		})
	}
}

// X13: a shard without items costs a request and half a read unit, as many as the plan says.
func TestEmptyShardsCost(t *testing.T) {
	client := local.Start(t).Client()
	views := open[event](t, client, heatsink.Options{Layout: layout.Layout{Shards: 10}})
	q := heatsink.Query{Key: "PAGE_VIEWS"}
	plan, err := views.Plan(t.Context(), q)
	if err != nil || plan.Shards != 10 {
		t.Errorf("the plan is %+v, %v, want 10 requests", plan, err)
	}
	for n := range 2 { // items
		if got, cost := read(t, views, q); len(got) != n || cost.Requests != 10 || cost.ReadUnits != 5 {
			t.Errorf("%d items for %+v, want 10 requests and 5 read units", len(got), cost)
		}
		put(t, views, []event{{"PAGE_VIEWS", "12:00:00", ""}})
	}
}

// X21: the hour before any moment of the day, to the millisecond, with times of one width.
func TestRateLimitToTheMillisecond(t *testing.T) { enginetest.Each(t, rateLimitToTheMillisecond) }

func rateLimitToTheMillisecond(t *testing.T, client *dynamodb.Client) {
	const sortable = "2006-01-02T15:04:05.000Z"
	calls := open[event](t, client, heatsink.Options{Layout: layout.Layout{Shards: 10}})
	now := func(hour int) time.Time { return time.Date(2024, 12, 2, hour, 0, 0, 500_000_000, time.UTC) }
	var batch []event
	for hour := range 24 {
		for _, ago := range []time.Duration{time.Hour + time.Millisecond, time.Hour, time.Hour - time.Millisecond, 30 * time.Minute, 0} {
			batch = append(batch, event{fmt.Sprint("RATE_LIMIT#key-", hour), now(hour).Add(-ago).Format(sortable), ""})
		}
	}
	put(t, calls, batch)
	for hour := range 24 {
		q := heatsink.Query{Key: fmt.Sprint("RATE_LIMIT#key-", hour), Sort: heatsink.Greater(now(hour).Add(-time.Hour).Format(sortable))}
		if n, err := calls.Count(t.Context(), q); n != 3 || err != nil {
			t.Errorf("hour %d: %d calls, %v, want the 3 of the past hour", hour, n, err)
		}
	}
}

// X22: a range has its start and not its end, unless that is moved behind it; items of one instant are told apart.
func TestItemsOfOneInstant(t *testing.T) { enginetest.Each(t, itemsOfOneInstant) }

func itemsOfOneInstant(t *testing.T, client *dynamodb.Client) {
	options := daily
	options.Layout.Shards = 3
	events := open[event](t, client, options)
	from := time.Date(2024, 1, 15, 12, 0, 0, 0, time.UTC)
	to := from.Add(time.Hour)
	var written []event
	for _, at := range []time.Time{from.Add(-time.Second), from, to, to.Add(time.Second)} {
		for _, who := range []string{"ann", "bob", "cem"} {
			written = append(written, event{"OPS_LOG", at.Format(time.RFC3339) + "#" + who, who})
		}
	}
	put(t, events, written)
	for _, c := range []struct {
		name string
		to   time.Time
		want []event
	}{
		{"exclusive", to, written[3:6]},
		{"inclusive", to.Add(1), written[3:9]},
		{"the day", layout.Day.Next(from), written[3:]},
	} {
		if got, _ := read(t, events, heatsink.Query{Key: "OPS_LOG", From: from, To: c.to}); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, ats(got), ats(c.want))
		}
	}
}

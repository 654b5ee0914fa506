package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// X22: ranges have their first moment and not their last, wherever buckets begin.
func TestRangesAreHalfOpen(t *testing.T) {
	for _, bucket := range []layout.Bucket{layout.NoBucket, layout.Hour, layout.Day} {
		logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: bucket, Shards: 3, Precision: time.Second})
		midnight := noon.Add(12 * time.Hour)
		all := every(time.Second, midnight.Add(-5*time.Second), "LOG", 10)
		appendAll(t, logs, all)
		for _, c := range []struct {
			from, to time.Time
			want     []event
		}{
			{midnight, midnight.Add(3 * time.Second), all[5:8]},
			{midnight.Add(-2 * time.Second), midnight, all[3:5]},
			{midnight, midnight, nil},
			{midnight, midnight.Add(1), all[5:6]},
			{midnight.Add(1), midnight.Add(time.Second + 1), all[6:7]},
			{midnight.Add(-1), midnight.Add(time.Second), all[5:6]},
			{midnight.AddDate(0, 0, -1), midnight.AddDate(0, 0, 1), all},
		} {
			q := eventlog.Query{Log: "LOG", From: c.from, To: c.to}
			if got, _ := read(t, logs, q); !slices.Equal(got, c.want) {
				t.Errorf("%v, [%v, %v): got %v, want %v", bucket, c.from, c.to, got, c.want)
			}
			if n, err := logs.Count(t.Context(), q); n != len(c.want) || err != nil {
				t.Errorf("%v, [%v, %v): counted %d, %v, want %d", bucket, c.from, c.to, n, err, len(c.want))
			}
		}
	}
}

// Without From and To a query is of what there is, up to now and a bit.
func TestWholeLog(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		begin := time.Now().Add(-48 * time.Hour)
		options := eventlog.Options{Bucket: layout.Hour, Shards: 2, Begin: begin, Settle: 10 * time.Second}
		logs := setup(t, client, options)
		now := time.Now().UTC()
		all := []event{
			{Log: "LOG", At: now.Add(-48 * time.Hour), ID: "first"},
			{Log: "LOG", At: now, ID: "now"},
			{Log: "LOG", At: now.Add(10*time.Second - 1), ID: "ahead"},
			{Log: "LOG", At: now.Add(10 * time.Second), ID: "later"},
			{Log: "LOG", At: now.Add(time.Hour), ID: "much later"},
		}
		appendAll(t, logs, all)
		if got, _ := read(t, logs, eventlog.Query{Log: "LOG"}); !slices.Equal(got, all[:3]) {
			t.Errorf("got %v", got)
		}
		if got, err := logs.Newest(t.Context(), "LOG", 2); err != nil || !slices.Equal(got, reversed(all[1:3])) {
			t.Errorf("got %v, %v", got, err)
		}
		if got, _ := read(t, logs, eventlog.Query{Log: "LOG", To: now.Add(2 * time.Hour)}); !slices.Equal(got, all) {
			t.Errorf("with what is to come, got %v", got)
		}
		time.Sleep(time.Hour)
		if got, _ := read(t, logs, eventlog.Query{Log: "LOG"}); !slices.Equal(got, all) {
			t.Errorf("an hour later, got %v", got)
		}
		if got, _ := read(t, logs, eventlog.Query{Log: "OTHER"}); got != nil {
			t.Errorf("of another log, got %v", got)
		}
	})
}

// What has expired is not returned, although it is still there; whether by the log's retention or by a time to live
// that somebody else has set.
func TestExpiredEventsAreLeftOut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{TTLInterval: 1000 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		options := eventlog.Options{Bucket: layout.Day, Shards: 2, Retention: 30 * time.Hour, Index: eventlog.Index{Name: "GSI1"}}
		logs := setup(t, db.Client(), options)
		for range 40 { // an event every hour
			if _, err := logs.Append(t.Context(), event{Log: "LOG"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
		tail, err := logs.Tail("LOG", eventlog.TailOptions{From: time.Now().Add(-40 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		want := 29 // the one of 30 hours ago is over
		newest, err := logs.Newest(t.Context(), "LOG", 100)
		listed, _ := read(t, logs, eventlog.Query{Log: "LOG", Index: true})
		n, err2 := logs.Count(t.Context(), eventlog.Query{Log: "LOG", From: time.Now().Add(-100 * time.Hour)})
		followed := follow(t, tail, time.Minute)
		if err != nil || err2 != nil || len(newest) != want || len(listed) != want || n != want || len(followed) != want {
			t.Errorf("got %d, %d, %d and %d events, %v, %v, want %d", len(newest), len(listed), n, len(followed), err, err2, want)
		}
		if items := stored(t, db.Client(), "logs"); len(items) != 40 {
			t.Errorf("%d items are stored: nothing was left out", len(items))
		}

		longer := options
		longer.Retention = 1000 * time.Hour // but the items have the time to live that they had
		if got, _ := read(t, open(t, db.Client(), longer), eventlog.Query{Log: "LOG"}); len(got) > want+1 || len(got) < want {
			t.Errorf("with a longer retention, got %d events, want those that have not expired", len(got))
		}
		none := options
		none.Retention, none.TTL, none.Begin = 0, "ttl", time.Now().Add(-100*time.Hour)
		if got, _ := read(t, open(t, db.Client(), none), eventlog.Query{Log: "LOG"}); len(got) > want+1 || len(got) < want {
			t.Errorf("without a retention, got %d events, want those that have not expired", len(got))
		}
	})
}

func TestWrongQueriesAreRefused(t *testing.T) {
	client := faulty.On(t, local.Start(t).Client(), nil)
	logs := open(t, client, eventlog.Options{Bucket: layout.Day})
	day := time.Date(2026, 6, 22, 0, 0, 0, 0, time.UTC)
	whole := eventlog.Query{Log: "LOG", From: day, To: day.AddDate(0, 0, 1)}
	for _, c := range []struct {
		name string
		edit func(*eventlog.Query)
		want string
	}{
		{"no name", func(q *eventlog.Query) { q.Log = "" }, "no name"},
		{"a shard key", func(q *eventlog.Query) { q.Log = "LOG#SHARD_1" }, "invalid key"},
		{"no beginning", func(q *eventlog.Query) { q.From = time.Time{} }, "neither Options.Begin nor the Retention"},
		{"backwards", func(q *eventlog.Query) { q.From, q.To = q.To, q.From }, "is before From"},
		{"negative limit", func(q *eventlog.Query) { q.Limit = -1 }, "Limit is negative"},
		{"negative ahead", func(q *eventlog.Query) { q.Prefetch = -1 }, "Prefetch is negative"},
		{"before 1970", func(q *eventlog.Query) { q.From = time.Unix(-1, 0) }, "is not in the years 1970 to 9998"},
		{"after 9999", func(q *eventlog.Query) { q.To = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }, "is not in the years 1970 to 9998"},
		{"no index", func(q *eventlog.Query) { q.Index = true }, "Options have none"},
	} {
		q := whole
		c.edit(&q)
		for _, err := range logs.Events(t.Context(), q) {
			if !errors.Is(err, eventlog.ErrQuery) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
		}
		q.Limit = min(q.Limit, 0)
		if _, err := logs.Count(t.Context(), q); !errors.Is(err, eventlog.ErrQuery) {
			t.Errorf("%s: counting, got %v", c.name, err)
		}
	}
	_, newest := logs.Newest(t.Context(), "LOG", 0)
	_, page := logs.Page(t.Context(), whole, "")
	limited := whole
	limited.Limit = 5
	_, count := logs.Count(t.Context(), limited)
	_, groups := eventlog.CountBy(t.Context(), logs, limited, func(e event) string { return e.ID })
	for name, err := range map[string]error{"the newest 0": newest, "a page without a limit": page, "a count of five": count, "groups of five": groups} {
		if !errors.Is(err, eventlog.ErrQuery) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	listed := open(t, client, eventlog.Options{Index: eventlog.Index{Name: "GSI1"}})
	for _, err := range listed.Events(t.Context(), eventlog.Query{Log: "LOG", Index: true, Consistent: true}) {
		if !errors.Is(err, eventlog.ErrQuery) {
			t.Errorf("a consistent index: got %v", err)
		}
	}
	if sent := client.Requests(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
}

// A page's token is good for its log and direction; a damaged one is refused.
func TestPageTokens(t *testing.T) {
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Shards: 3})
	appendAll(t, logs, every(time.Second, noon, "LOG", 10))
	q := eventlog.Query{Log: "LOG", Limit: 3}
	page, err := logs.Page(t.Context(), q, "")
	if err != nil || len(page.Events) != 3 || page.Next == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	other, back := q, q
	other.Log, back.Newest = "OTHER", true
	for name, c := range map[string]struct {
		q     eventlog.Query
		token string
	}{
		"another log": {other, page.Next}, "another direction": {back, page.Next}, "damaged": {q, page.Next[1:]}, "nonsense": {q, "nonsense"},
	} {
		if _, err := logs.Page(t.Context(), c.q, c.token); !errors.Is(err, eventlog.ErrToken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := len(page.Next); n > 120 {
		t.Errorf("a token has %d characters", n)
	}
}

// spoil stores something in a log that is not an event of it.
func spoil(t *testing.T, client *dynamodb.Client, item heatsink.Item) {
	t.Helper()
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("logs"), Item: item}); err != nil {
		t.Fatal(err)
	}
}

// What does not fit ends a read with an error that shows it.
func TestWhatDoesNotFit(t *testing.T) {
	for name, item := range map[string]heatsink.Item{
		"body": {"sk": &types.AttributeValueMemberS{Value: "2026-06-22T12:00:02Z#x"}, "n": &types.AttributeValueMemberS{Value: "many"}},
		"key":  {"sk": &types.AttributeValueMemberS{Value: "2026-06-22T12:00:02X"}, "n": &types.AttributeValueMemberN{Value: "2"}},
	} {
		client := local.Start(t).Client()
		logs := setup(t, client, eventlog.Options{Bucket: layout.Day, Precision: time.Second})
		all := every(time.Second, noon, "LOG", 5)
		appendAll(t, logs, slices.Concat(all[:2], all[3:]))
		item["pk"] = &types.AttributeValueMemberS{Value: "LOG#2026-06-22"}
		spoil(t, client, item)
		q := eventlog.Query{Log: "LOG", From: noon, To: noon.Add(time.Minute)}
		var got []event
		var failed *eventlog.DecodeError
		for e, err := range logs.Events(t.Context(), q) {
			if err == nil {
				got = append(got, e)
			} else if !errors.As(err, &failed) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if !slices.Equal(got, all[:2]) || failed == nil || failed.Log != "LOG" || !strings.HasPrefix(failed.SortKey, "2026-06-22T12:00:02") || failed.Item["n"] == nil || failed.Position != "" {
			t.Errorf("%s: got %v and %+v", name, got, failed)
		}
		if _, err := eventlog.CountBy(t.Context(), logs, q, func(e event) string { return e.ID }); !errors.As(err, &failed) {
			t.Errorf("%s: grouping, got %v", name, err)
		}
		if n, err := logs.Count(t.Context(), q); n != 5 || err != nil {
			t.Errorf("%s: counted %d, %v", name, n, err)
		}
	}
}

// Leaving a loop ends what is under way, and a context that ends is the last error.
func TestLeavingALoop(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &slow{Client: local.Start(t).Client()}
		options := eventlog.Options{Bucket: layout.Day, Shards: 4, Begin: noon.AddDate(-27, 0, 0)}
		begin := time.Now()
		appendAll(t, setup(t, client.Client, options), every(time.Minute, begin, "LOG", 500))
		logs := open(t, client, options)
		q := eventlog.Query{Log: "LOG", From: begin, To: begin.AddDate(0, 0, 3)}
		n := 0
		for range logs.Events(context.Background(), q) { // which nothing but the loop ends
			if n++; n == 7 {
				break
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		errs := 0
		for e, err := range logs.Events(ctx, q) {
			if err == nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, %v", e, err)
			}
			errs++
		}
		if errs != 1 {
			t.Errorf("%d errors", errs)
		}
	})
}

// The index is not read where it does not have everything: unless it lists the adopted events, too.
func TestIndexWithoutTheAdopted(t *testing.T) {
	client := local.Start(t).Client()
	options := eventlog.Options{
		Bucket: layout.Day, Precision: time.Second, Older: []layout.Layout{{}}, Begin: noon.AddDate(0, 0, -9),
		Index: eventlog.Index{Name: "GSI1"}, Retry: heatsink.Retry{Attempts: 1},
	}
	setup(t, client, options)
	queries := &broken{Client: client}
	var gathered *heatsink.GatherError
	q := eventlog.Query{Log: "LOG", From: noon, To: noon.Add(time.Hour)}
	if _, err := open(t, queries, options).Count(t.Context(), q); !errors.As(err, &gathered) || queries.listed > 0 {
		t.Errorf("got %v after %d queries of the index", err, queries.listed)
	}
	options.OlderUntil = noon
	if _, err := open(t, queries, options).Count(t.Context(), q); err != nil || queries.listed != 1 {
		t.Errorf("after their time: got %v", err)
	}
	options.OlderUntil, options.Index.Older = time.Time{}, true
	if _, err := open(t, queries, options).Count(t.Context(), q); err != nil || queries.listed != 2 {
		t.Errorf("listed: got %v", err)
	}
}

// Two failures are both told.
func TestNeitherShardsNorIndex(t *testing.T) {
	client := faulty.On(t, local.Start(t).Client(), nil)
	client.Decide(faulty.Always(faulty.Denied))
	logs := open(t, client, eventlog.Options{Index: eventlog.Index{Name: "GSI1"}})
	_, err := logs.Newest(t.Context(), "LOG", 5)
	if text := fmt.Sprint(err); strings.Count(text, "AccessDenied") < 2 || !strings.Contains(text, "GSI1") {
		t.Errorf("got %v", err)
	}
}

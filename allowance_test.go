package heatsink

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// daily is a made-up collection in daily buckets of four shards, of which those of some days have items.
func daily(t testing.TB, full func(day string) bool, edit ...func(*Options)) (*Collection[Item], *watched) {
	store := &made{TB: t, keys: func(shardKey string) []string {
		if day := strings.Split(shardKey, "#")[1]; !full(day) {
			return nil
		}
		return ranks(3)
	}}
	store.item = func(shardKey, sk string) Item { return Item{"id": text(shardKey + "|" + sk)} }
	options := sharded(4)
	options.Layout.Bucket, options.EventTime = layout.Day, EventTime{Attribute: "at"}
	for _, edit := range edit {
		edit(&options)
	}
	client := &watched{Client: store}
	return collection(t, client, options), client
}

// From 1970 on, days in four shards take some 83,000 requests. Nobody meant that.
func TestReadOfEverythingIsRefused(t *testing.T) {
	none := func(string) bool { return false }
	epoch, now := time.Unix(0, 0), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	forever := Query{Key: "k", From: epoch, To: now}
	for name, edit := range map[string]func(*Options){
		"fixed":    func(*Options) {},
		"adaptive": func(o *Options) { o.Widths = &growing{width: layout.Width{Write: 4, Read: 4}} },
		"older":    func(o *Options) { o.Older = []layout.Layout{{Shards: 2, Format: layout.SharpNumber()}} },
	} {
		items, client := daily(t, none, edit)
		refused := func(what string, err error, texts ...string) {
			t.Helper()
			if !errors.Is(err, ErrQuery) || !errors.Is(err, ErrTooManyRequests) {
				t.Errorf("%s: %s: got %v, want %v and %v", name, what, err, ErrQuery, ErrTooManyRequests)
				return
			}
			for _, text := range append(texts, `"k"`, "raise MaxRequests") {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %s: %v does not say %q", name, what, err, text)
				}
			}
		}
		_, err := all(bg, items, forever, "id")
		refused("query", err, "MaxRequests is 10000", "20758")
		_, err = items.Count(bg, forever)
		refused("count", err)
		_, err = items.Distribution(bg, forever)
		refused("distribution", err)
		_, err = CountBy(bg, items, forever, func(Item) int { return 0 })
		refused("count by", err)
		_, err = Top(bg, items, forever, 3, func(a, b Item) int { return 0 })
		refused("top", err)
		week := Query{Key: "k", From: now.AddDate(0, 0, -7), To: now, MaxRequests: 27}
		_, err = all(bg, items, week, "id")
		refused("a week", err, "MaxRequests is 27", "28", "7 buckets")
		if queries, _, _ := client.seen(); queries != 0 {
			t.Errorf("%s: %d queries were sent", name, queries)
		}
		if plan, err := items.Plan(bg, forever); err != nil || plan.Shards < 83_000 {
			t.Errorf("%s: plan: %+v, %v", name, plan, err)
		}
		week.MaxRequests = 28 + 2
		if _, err := all(bg, items, week, "id"); err != nil {
			t.Errorf("%s: as many as are needed: %v", name, err)
		}
		week.MaxRequests = -1
		if _, err := items.Count(bg, week); err != nil {
			t.Errorf("%s: without a limit: %v", name, err)
		}
	}
}

// More shards than requests are allowed for are not begun with, whatever the limit.
func TestOneBucketOfTooManyShards(t *testing.T) {
	client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(2) }}}
	items := collection(t, client, sharded(50))
	for name, q := range map[string]Query{
		"all": {Key: "k", MaxRequests: 49}, "some": {Key: "k", MaxRequests: 49, Limit: 3},
	} {
		if _, err := all(bg, items, q, "sk"); !errors.Is(err, ErrTooManyRequests) || !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), "50") {
			t.Errorf("%s: got %v, want %v", name, err, ErrTooManyRequests)
		}
	}
	if queries, _, _ := client.seen(); queries != 0 {
		t.Errorf("%d queries were sent", queries)
	}
}

// A read with a limit ends when it has sent as many requests as it may, and says how far it got.
func TestLimitedReadsEnd(t *testing.T) {
	none := func(string) bool { return false }
	for _, hedge := range []bool{false, true} {
		for _, ahead := range []int{0, 5, 1000} {
			items, client := daily(t, none)
			q := Query{Key: "k", From: firstDay, To: firstDay.AddDate(1, 0, 0), Limit: 10, MaxRequests: 100, Prefetch: ahead, Hedge: hedge}
			check := func(what string, err error) {
				t.Helper()
				queries, _, _ := client.seen()
				if !errors.Is(err, ErrTooManyRequests) || errors.Is(err, ErrQuery) || queries > 100 || queries < 90 {
					t.Errorf("%s: got %v with %d queries, want %v with 100", what, err, queries, ErrTooManyRequests)
					return
				}
				sent := "100 requests returned"
				if hedge { // some of which are called off before they reach the client
					sent = " requests returned"
				}
				for _, text := range []string{sent, "bucket of 2026-03-2", "raise MaxRequests"} {
					if !strings.Contains(err.Error(), text) {
						t.Errorf("%s: %v does not say %q", what, err, text)
					}
				}
				client.queries = 0
			}
			_, err := all(bg, items, q, "id")
			check("query", err)
			_, err = items.Page(bg, q, "")
			check("page", err)
			_, err = items.Count(bg, q)
			check("count", err)
		}
	}
}

// The error names the bucket that the read has come to, also if it was opened before its time.
func TestLimitedReadsSayWhereTheyEnd(t *testing.T) {
	store := &made{TB: t, keys: func(string) []string { return ranks(500) }}
	store.passes = func(shardKey, sk string) bool {
		return sk == "000000" && strings.Contains(shardKey, firstDay.Format("2006-01-02"))
	}
	options := sharded(1)
	options.Layout.Bucket, options.EventTime = layout.Day, EventTime{Attribute: "at"}
	options.ReadMemory = 1 << 10
	items := collection(t, store, options)
	q := Query{
		Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, 3), Limit: 5, Prefetch: 1, Filter: "attribute_exists(x)",
		MaxRequests: 12, // the first day takes about eight
	}
	got, err := all(bg, items, q, "sk")
	second := "bucket of " + firstDay.AddDate(0, 0, 1).Format(time.RFC3339)
	if !errors.Is(err, ErrTooManyRequests) || !strings.Contains(err.Error(), second) || len(got) != 1 {
		t.Errorf("got %d items, %v, want one and the %s", len(got), err, second)
	}
}

// TestShortPages reads days that are mostly empty, in pages that may not send many requests: all of it comes, in order, and
// a page is an error only if it has found nothing.
func TestShortPages(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		most := rapid.IntRange(8, 40).Draw(t, "requests")
		gap := rapid.IntRange(1, 10).Draw(t, "days between")
		items, client := daily(tb, func(day string) bool {
			at, err := time.Parse(time.DateOnly, day)
			if err != nil {
				t.Fatal(err)
			}
			return int(at.Sub(firstDay).Hours()/24)%gap == 0
		}, func(o *Options) { o.ReadMemory = rapid.SampledFrom([]int{1, 64 << 20}).Draw(t, "memory") })
		q := Query{
			Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, 30), Limit: rapid.IntRange(1, 50).Draw(t, "limit"),
			Reverse: rapid.Bool().Draw(t, "reverse"), Prefetch: rapid.IntRange(0, 3).Draw(t, "ahead"), MaxRequests: most,
		}
		unlimited := q
		unlimited.Limit, unlimited.MaxRequests = 0, -1
		want, err := all(tb.Context(), items, unlimited, "id")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		short := 0
		for token := ""; ; {
			before, _, _ := client.seen()
			page, err := items.Page(tb.Context(), q, token)
			if after, _, _ := client.seen(); after-before > most {
				t.Fatalf("%d requests for a page, want %d at most", after-before, most)
			}
			if err != nil {
				if !errors.Is(err, ErrTooManyRequests) || len(page.Items) > 0 || page.Next != "" {
					t.Fatal(page, err)
				}
				if !slices.Equal(got, want[:len(got)]) {
					t.Fatalf("got\n%v, want\n%v", got, want)
				}
				return // days without an item that one page cannot cross
			}
			if len(page.Items) < q.Limit && page.Next != "" {
				short++
			}
			for _, item := range page.Items {
				got = append(got, str(item, "id"))
			}
			if token = page.Next; token == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%v, want\n%v", got, want)
		}
		t.Logf("%d short pages", short)
	})
}

// A short page of an index goes on behind its last item, also if the projection leaves the table's key out.
func TestShortPageOfAnIndex(t *testing.T) {
	client, options := indexOfDays(t)
	items := collection(t, client, options)
	q := Query{Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, 20), Projection: "n", Limit: 100, MaxRequests: 7}
	var got []string
	pages := 0
	for token := ""; ; pages++ {
		page, err := items.Page(bg, q, token)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			got = append(got, attrText(item, "n"))
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if !slices.Equal(got, ranks(20)) || pages < 2 {
		t.Errorf("got %v in %d pages", got, pages)
	}
}

// Hedges count as requests.
func TestHedgesAreRequests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(2) }}}
		items := collection(t, client, sharded(10))
		if _, err := all(context.Background(), items, Query{Key: "k"}, "sk"); err != nil { // how long requests take
			t.Fatal(err)
		}
		client.queries = 0
		client.delay = func(shardKey string, nth int) time.Duration {
			if strings.HasSuffix(shardKey, "_3") && nth == 1 {
				return time.Hour
			}
			return time.Millisecond
		}
		for most, want := range map[int]time.Duration{10: time.Hour, 11: time.Second} {
			client.queries = 0
			client.shards = map[string]int{"k#SHARD_3": 1}
			start := time.Now()
			got, err := all(context.Background(), items, Query{Key: "k", Limit: 20, Hedge: true, MaxRequests: most}, "sk")
			if took := time.Since(start); err != nil || len(got) != 20 || client.queries != most || took > want || took < want/1000 {
				t.Errorf("at most %d: %d items, %v with %d queries in %v", most, len(got), err, client.queries, took)
			}
		}
	})
}

// Limits and bounds as large as they come do not wrap around.
func TestHugeLimits(t *testing.T) {
	full := func(string) bool { return true }
	items, _ := daily(t, full)
	q := Query{Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, 3), Limit: math.MaxInt, MaxRequests: math.MaxInt, Prefetch: math.MaxInt}
	if got, err := all(bg, items, q, "id"); err != nil || len(got) != 36 {
		t.Errorf("query: %d items, %v, want 36", len(got), err)
	}
	if page, err := items.Page(bg, q, ""); err != nil || len(page.Items) != 36 || page.Next != "" {
		t.Errorf("page: %d items, %v, want 36", len(page.Items), err)
	}
	if n, err := items.Count(bg, q); err != nil || n != 36 {
		t.Errorf("counted %d, %v, want 36", n, err)
	}
	for name, test := range map[string]struct{ from, to time.Time }{
		"year 1":     {time.Time{}.Add(1), time.Time{}.Add(48 * time.Hour)},
		"year 10000": {time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 1, time.UTC)},
		"before":     {time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-5, 1, 2, 0, 0, 0, 0, time.UTC)},
	} {
		q := Query{Key: "k", From: test.from, To: test.to}
		if got, err := all(bg, items, q, "id"); len(got) != 0 || !errors.Is(err, ErrQuery) || !errors.Is(err, layout.ErrTime) {
			t.Errorf("%s: got %d items, %v, want %v before any of them", name, len(got), err, layout.ErrTime)
		}
	}
	last := Query{Key: "k", From: time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC), To: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Limit: 5}
	if got, sizes := pages(t, items, last, "id"); len(got) != 24 {
		t.Errorf("the last days: %d items in pages of %v", len(got), sizes)
	}
}

// indexOfDays is a real index in daily buckets of two shards, with an item on each of 20 days.
func indexOfDays(t *testing.T) (Client, Options) {
	client := local.Start(t).Client()
	makeTable(t, client, "items", byIndex(false))
	options := Options{
		Table: "items", PartitionKey: "id", Index: Index{Name: "listing", PartitionKey: "pk", SortKey: "sk"}, EventTime: EventTime{Attribute: "at"},
		Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: layout.Day},
	}
	c := collection(t, client, options)
	for i, n := range ranks(20) {
		at := firstDay.AddDate(0, 0, i)
		if _, err := c.Put(bg, ov("id", "i"+n, "pk", "k", "sk", "s", "n", n, "at", at.Format(time.RFC3339))); err != nil {
			t.Fatal(err)
		}
	}
	return client, options
}

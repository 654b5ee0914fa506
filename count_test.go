package heatsink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// 000-14: 25 counts in parallel, pages summed.
func TestCountSumsPages(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout = layout.Layout{Shards: 25}
	large := text(strings.Repeat("x", 100<<10))
	var stored []Item
	counts := []int{35, 0, 1} // 3.5 MB, nothing, one
	for len(counts) < 25 {
		counts = append(counts, 2)
	}
	for shardKey, keys := range shelves(options.Layout, "SESSIONS", counts...) {
		for i, sk := range keys {
			item := Item{"pk": text(shardKey), "sk": text(sk), "odd": number(fmt.Sprint(i % 2))}
			if len(keys) > 2 {
				item["x"] = large
			}
			stored = append(stored, item)
		}
	}
	load(t, client, options.Table, stored)
	w := &watched{Client: client}
	items := collection(t, w, options)
	odd := Query{Key: "SESSIONS", Filter: "odd = :one", Values: Item{":one": number("1")}}
	for _, test := range []struct {
		name    string
		query   Query
		want    int
		queries int
	}{
		{"all", Query{Key: "SESSIONS"}, 80, 24 + 4},
		{"filter", odd, 17 + 22, 24 + 4},
		{"range", Query{Key: "SESSIONS", Sort: Less("000010")}, 10, 25},
		{"limit", Query{Key: "SESSIONS", Limit: 7}, 7, 25},
		{"limit above", Query{Key: "SESSIONS", Limit: 700}, 80, 24 + 4},
		{"projection with names of its own", Query{Key: "SESSIONS", Projection: "#o, #p.q[1]", Names: map[string]string{"#o": "odd", "#p": "p"}}, 80, 24 + 4},
		{"no such key", Query{Key: "NOBODY"}, 0, 25},
	} {
		w.queries = 0
		got, err := items.Count(t.Context(), test.query)
		if err != nil || got != test.want || w.queries != test.queries {
			t.Errorf("%s: got %d, %v with %d queries, want %d with %d", test.name, got, err, w.queries, test.want, test.queries)
		}
	}
	even, err := items.Distribution(t.Context(), Query{Key: "SESSIONS"})
	if err != nil || !slices.Equal(even.Counts, counts) || even.Total != 80 || even.Max != 35 {
		t.Errorf("got %+v, %v, want %v", even, err, counts)
	}
}

// Ranges of time that cut buckets count what is inside.
func TestCountOfUnalignedTimes(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout, options.EventTime = layout.Layout{Shards: 3, Bucket: layout.Day}, EventTime{Attribute: "at"}
	var stored []Item
	var times []time.Time
	for i := range 300 { // a hundred hours, one every 20 minutes
		at := firstDay.Add(time.Duration(i) * 20 * time.Minute)
		times = append(times, at)
		shardKey, err := options.Layout.ShardKey("k", at, i%3)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, Item{"pk": text(shardKey), "sk": text(fmt.Sprintf("%d", 1000-i)), "at": text(at.Format(time.RFC3339))})
	}
	load(t, client, options.Table, stored)
	items := collection(t, client, options)
	rapid.Check(t, func(rt *rapid.T) {
		minute := rapid.SampledFrom([]int{0, 1, 719, 720, 1439, 1440, 1441, 2880, 4320, 5760, 6000, 7000})
		from, to := minute.Draw(rt, "from"), minute.Draw(rt, "to")
		if from > to {
			from, to = to, from
		}
		q := Query{Key: "k", From: firstDay.Add(time.Duration(from) * time.Minute), To: firstDay.Add(time.Duration(to) * time.Minute)}
		want := 0
		for _, at := range times {
			if !at.Before(q.From) && at.Before(q.To) {
				want++
			}
		}
		if got, err := items.Count(t.Context(), q); err != nil || got != want {
			rt.Fatalf("from minute %d to %d: got %d, %v, want %d", from, to, got, err, want)
		}
		if got, err := all(t.Context(), items, q, "sk"); err != nil || len(got) != want {
			rt.Fatalf("from minute %d to %d: got %d items, %v, want %d", from, to, len(got), err, want)
		}
		q.Projection = "pk"
		if got, err := items.Count(t.Context(), q); err != nil || got != want {
			rt.Fatalf("with a projection: got %d, %v, want %d", got, err, want)
		}
	})
}

// The number of requests is known before they are made.
func TestPlanIsWhatIsDone(t *testing.T) {
	for _, test := range []struct {
		name   string
		edit   func(*Options)
		want   Plan
		parent bool
	}{
		{"one", func(o *Options) { o.Layout = layout.Layout{} }, Plan{1, 1}, true},
		{"shards", func(o *Options) { o.Layout = layout.Layout{Shards: 50} }, Plan{1, 50}, false},
		{"buckets", func(o *Options) { o.Layout = layout.Layout{Bucket: layout.Day} }, Plan{7, 7}, false},
		{"both", func(o *Options) { o.Layout = layout.Layout{Shards: 5, Bucket: layout.Day} }, Plan{7, 35}, false},
		{"older", func(o *Options) {
			o.Layout = layout.Layout{Shards: 5, Bucket: layout.Day}
			o.Older = []layout.Layout{{}, {Shards: 2}, {Shards: 3}}
		}, Plan{7, 39}, false},
		{"older and bare zero", func(o *Options) {
			o.Layout = layout.Layout{Shards: 4, Format: layout.Format{BareZero: true}}
			o.Older = []layout.Layout{{}, {Shards: 6}}
		}, Plan{1, 4 + 3}, false}, // SHARD_1 to 3 are in both, SHARD_0 only in the older one
		{"width", func(o *Options) {
			o.Layout = layout.Layout{Shards: 4}
			o.Widths = &growing{width: layout.Width{Write: 2, Read: 16}}
		}, Plan{1, 16}, false},
	} {
		w := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(2) }}}
		options := sharded(0)
		options.EventTime = EventTime{Attribute: "none"}
		test.edit(&options)
		items := collection(t, w, options)
		q := Query{Key: "k"}
		if options.Layout.Bucket != layout.NoBucket {
			q.From, q.To = firstDay, firstDay.AddDate(0, 0, 7)
		}
		plan, err := items.Plan(t.Context(), q)
		if err != nil || plan != test.want {
			t.Errorf("%s: got %+v, %v, want %+v", test.name, plan, err, test.want)
		}
		if w.queries != 0 {
			t.Errorf("%s: planning took %d queries", test.name, w.queries)
		}
		for what, do := range map[string]func() error{
			"query": func() error { _, err := all(t.Context(), items, q, "sk"); return err },
			"count": func() error { _, err := items.Count(t.Context(), q); return err },
			"fold": func() error {
				_, err := CountBy(t.Context(), items, q, func(item Item) string { return str(item, "sk") })
				return err
			},
		} {
			w.queries = 0
			if err := do(); err != nil || w.queries != plan.Shards {
				t.Errorf("%s: %s: %d queries, %v, want %d", test.name, what, w.queries, err, plan.Shards)
			}
		}
	}
}

func TestQueryRefuses(t *testing.T) {
	plain := sharded(4)
	plain.EventTime = EventTime{Attribute: "at"}
	daily := plain
	daily.Layout.Bucket = layout.Day
	hashOnly := plain
	hashOnly.SortKey, hashOnly.Layout.Shards = "", 1
	index := plain
	index.PartitionKey, index.SortKey, index.Layout.Strategy = "id", "", layout.Calculated
	index.Index = Index{Name: "listing", PartitionKey: plain.PartitionKey, SortKey: plain.SortKey}
	timeless := plain
	timeless.EventTime = EventTime{}
	day := firstDay.AddDate(0, 0, 1)
	for _, test := range []struct {
		name string
		Options
		Query
		want string
	}{
		{"no key", plain, Query{}, "Key is empty"},
		{"limit", plain, Query{Key: "k", Limit: -1}, "Limit"},
		{"ahead", plain, Query{Key: "k", Prefetch: -1}, "Prefetch"},
		{"sort without a sort key", hashOnly, Query{Key: "k", Sort: Equal("a")}, "no SortKey"},
		{"consistent index", index, Query{Key: "k", Consistent: true}, "consistent"},
		{"only from", plain, Query{Key: "k", From: firstDay}, "only one of From and To"},
		{"only to", plain, Query{Key: "k", To: firstDay}, "only one of From and To"},
		{"buckets without times", daily, Query{Key: "k"}, "From and To are not set"},
		{"times without an attribute", timeless, Query{Key: "k", From: firstDay, To: day}, "no EventTime"},
		{"backwards", plain, Query{Key: "k", From: day, To: firstDay}, "want a time that is not before From"},
		{"all of history", daily, Query{Key: "k", From: time.Time{}.Add(1), To: day}, "buckets"},
		{"our names", plain, Query{Key: "k", Names: map[string]string{"#hs_pk": "a"}}, "which heatsink reserves"},
		{"our values", plain, Query{Key: "k", Values: Item{":hs_pk": text("a")}}, "which heatsink reserves"},
		{"our names in a filter", plain, Query{Key: "k", Filter: "x = :hs_pk"}, "which heatsink reserves"},
		{"our names in a projection", plain, Query{Key: "k", Projection: "#hs_pk"}, "which heatsink reserves"},
		{"a shard key", plain, Query{Key: "k#SHARD_3"}, "already ends like a shard"},
		{"Sort", plain, Query{Key: "k", Sort: Between("b", "a")}, "before the first"},
	} {
		items := collection(t, &made{TB: t, keys: func(string) []string { return nil }}, test.Options)
		_, err := all(t.Context(), items, test.Query, "sk")
		if !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
		if _, err := items.Count(t.Context(), test.Query); !errors.Is(err, ErrQuery) && test.name != "our names in a projection" {
			t.Errorf("%s: count: %v", test.name, err)
		}
		if test.Query.Limit == 0 {
			test.Query.Limit = 1
		}
		if _, err := items.Page(t.Context(), test.Query, ""); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: page: %v", test.name, err)
		}
	}
	items := collection(t, &made{TB: t, keys: func(string) []string { return nil }}, plain)
	if _, err := items.Page(t.Context(), Query{Key: "k"}, ""); !errors.Is(err, ErrQuery) {
		t.Errorf("a page without a limit: %v", err)
	}
}

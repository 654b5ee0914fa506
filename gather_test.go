package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/internal/sortkey/sortkeytest"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// sharded are options for a table that is made up: pk and sk, so many shards.
func sharded(n int) Options {
	return Options{Table: "made", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: n}, Retry: Retry{Attempts: 1}}
}

// backwards returns the list from its end.
func backwards[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// Shards of 15 and 25 items in pages of 10: a fixed share of each page for each shard, or a page per shard, would lose or
// repeat some.
func TestPagesOfFifteenAndTwentyFive(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout = layout.Layout{Shards: 2}
	stock(t, client, options.Table, shelves(options.Layout, "k", 15, 25))
	items := collection(t, client, options)
	for _, reverse := range []bool{false, true} {
		got, sizes := pages(t, items, Query{Key: "k", Limit: 10, Reverse: reverse}, "sk")
		want := ranks(40)
		if reverse {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("reverse %t: got %v", reverse, got)
		}
		if last := len(sizes) - 1; last == 4 && sizes[last] == 0 {
			sizes = sizes[:last]
		}
		if !slices.Equal(sizes, []int{10, 10, 10, 10}) {
			t.Errorf("reverse %t: pages of %v", reverse, sizes)
		}
	}
}

// 000-20, 002-02: with t for a query, a gather takes t and not N × t.
func TestGatherTakesAsLongAsOneShard(t *testing.T) {
	for _, test := range []struct {
		shards, concurrency int
		want                time.Duration
	}{
		{1, 0, time.Second},
		{10, 0, time.Second},
		{100, 0, time.Second},
		{100, 1, 100 * time.Second}, // one after another
		{200, 0, 2 * time.Second},   // 128 at once to begin with
	} {
		bubble.Test(t, func(t *testing.T) {
			client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(5) }}, delay: after(time.Second)}
			options := sharded(test.shards)
			options.MaxConcurrency = test.concurrency
			items := collection(t, client, options)
			start := time.Now()
			page, err := items.Page(context.Background(), Query{Key: "k", Limit: test.shards}, "")
			if err != nil || len(page.Items) != test.shards {
				t.Fatalf("%d items, %v", len(page.Items), err)
			}
			took := time.Since(start)
			queries, _, most := client.seen()
			t.Logf("%d shards: a page of %d in %v with %d queries, %d at a time", test.shards, len(page.Items), took, queries, most)
			if took > test.want*13/10 {
				t.Errorf("%d shards: %v, want %v", test.shards, took, test.want)
			}
			if test.concurrency > 0 && most > test.concurrency {
				t.Errorf("%d at a time, want %d", most, test.concurrency)
			}
			start = time.Now()
			if n, err := items.Count(context.Background(), Query{Key: "k"}); err != nil || n != 5*test.shards {
				t.Errorf("counted %d, %v", n, err)
			}
			if took := time.Since(start); took > test.want*13/10 {
				t.Errorf("counting %d shards: %v, want %v", test.shards, took, test.want)
			}
		})
	}
}

// 001-09, 001-10, 004-11: the newest 50 of seven daily buckets.
func TestSevenDailyBuckets(t *testing.T) {
	const days = 7
	for _, test := range []struct {
		name        string
		perDay      int
		ahead       int
		took        time.Duration
		least, most int // queries
	}{
		{"all at once, full days", 60, days - 1, time.Second, 7, 7},
		{"all at once, quiet days", 8, days - 1, time.Second, 7, 7},
		{"full days", 60, 0, time.Second, 1, 1},
		{"quiet days", 8, 0, 5 * time.Second, 7, 7}, // 1, 1, 1, 2 and 2 at a time
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var want []string
				stored := map[string][]string{}
				for day := range days {
					at := firstDay.AddDate(0, 0, day)
					for i := range test.perDay {
						shardKey := "OPS_LOG#" + at.Format(time.DateOnly)
						stored[shardKey] = append(stored[shardKey], at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339)+"#agent")
					}
				}
				for _, day := range slices.Sorted(maps.Keys(stored)) {
					want = append(want, stored[day]...)
				}
				want = backwards(want)[:50]
				client := &watched{Client: &made{TB: t, keys: func(shardKey string) []string { return stored[shardKey] }}, delay: after(time.Second)}
				options := sharded(0)
				options.Layout.Bucket, options.EventTime = layout.Day, EventTime{Attribute: "sk"}
				items := collection(t, client, options)
				q := Query{Key: "OPS_LOG", From: firstDay, To: firstDay.AddDate(0, 0, 7), Reverse: true, Limit: 50, Prefetch: test.ahead}
				start := time.Now()
				got, err := all(context.Background(), items, q, "sk")
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("got %d items: %v, %v", len(got), got, err)
				}
				took := time.Since(start)
				queries, scanned, most := client.seen()
				t.Logf("%v, %d queries, %d at a time, %d items read", took, queries, most, scanned)
				if took != test.took || queries < test.least || queries > test.most {
					t.Errorf("%v and %d queries, want %v and %d to %d", took, queries, test.took, test.least, test.most)
				}
				plan, err := items.Plan(context.Background(), q)
				if want := (Plan{Buckets: 7, Shards: 7}); err != nil || plan != want {
					t.Errorf("plan %+v, %v, want %+v", plan, err, want)
				}
			})
		})
	}
}

// 000-08, 002-06, 004-12: as many queries as there are shards, in order, whether the shards were drawn or calculated.
func TestOneQueryForEachShard(t *testing.T) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(20) }}}
		options := sharded(50)
		options.Layout.Strategy = strategy
		items := collection(t, client, options)
		got, err := all(t.Context(), items, Query{Key: "PAGE_VIEWS", Sort: AtLeast("000015")}, "sk")
		if err != nil || len(got) != 250 || !slices.IsSorted(got) || got[0] != "000015" {
			t.Fatalf("%d items, %v", len(got), err)
		}
		if queries, scanned, _ := client.seen(); queries != 50 || scanned != 250 {
			t.Errorf("%d queries read %d items, want 50 and 250", queries, scanned)
		}
	}
}

// uneven are shards that are hard on a merge.
var uneven = map[string]func(n int, r *rand.Rand) (shard int){
	"one has all":    func(int, *rand.Rand) int { return 3 },
	"one has most":   func(_ int, r *rand.Rand) int { return max(r.IntN(200)-192, 0) },
	"one by one":     func(n int, _ *rand.Rand) int { return n / 75 % 8 }, // each has a range of its own, as after growing
	"mostly empty":   func(n int, _ *rand.Rand) int { return n % 2 * 999 },
	"round by round": func(n int, _ *rand.Rand) int { return n % 8 },
}

func TestUnevenShards(t *testing.T) {
	for name, place := range uneven {
		t.Run(name, func(t *testing.T) {
			shards := 8
			if name == "mostly empty" {
				shards = 1000
			}
			r := rand.New(rand.NewPCG(1, 1))
			keys, want := map[string][]string{}, ranks(600)
			for n, sk := range want {
				shardKey := fmt.Sprintf("k#SHARD_%d", place(n, r))
				keys[shardKey] = append(keys[shardKey], sk)
			}
			client := &watched{Client: &made{TB: t, keys: func(shardKey string) []string { return keys[shardKey] }}}
			items := collection(t, client, sharded(shards))
			for _, reverse := range []bool{false, true} {
				want := want
				if reverse {
					want = backwards(want)
				}
				for _, limit := range []int{0, 1, 10, 599, 600, 601, math.MaxInt} {
					client.queries, client.scanned = 0, 0
					q := Query{Key: "k", Reverse: reverse, Limit: limit}
					got, err := all(t.Context(), items, q, "sk")
					if limit == 0 {
						limit = len(want)
					}
					if err != nil || !slices.Equal(got, want[:min(limit, len(want))]) {
						t.Errorf("reverse %t, limit %d: %d items, %v", reverse, limit, len(got), err)
					}
					t.Logf("limit %d: %d items read with %d queries", limit, client.scanned, client.queries)
				}
				for _, limit := range []int{7, 100, 600, 601} {
					if shards == 1000 && limit == 7 {
						continue
					}
					got, sizes := pages(t, items, Query{Key: "k", Reverse: reverse, Limit: limit}, "sk")
					if !slices.Equal(got, want) {
						t.Errorf("reverse %t, pages of %d: %d items in %v", reverse, limit, len(got), sizes)
					}
				}
			}
		})
	}
}

// TestLeavingAndCancelling leaves a read at any item, or cancels it at any time: everything that it started has ended when
// it returns.
func TestLeavingAndCancelling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := rapid.IntRange(1, 30).Draw(rt, "shards")
		leave := rapid.IntRange(0, 400).Draw(rt, "leave after")
		cancelled := time.Duration(rapid.IntRange(0, 6000).Draw(rt, "cancelled at")) * time.Millisecond
		cancels := rapid.Bool().Draw(rt, "cancels")
		q := Query{Key: "k", Hedge: rapid.Bool().Draw(rt, "hedge"), Limit: rapid.SampledFrom([]int{0, 0, 1, 50, 1000}).Draw(rt, "limit")}
		options := sharded(shards)
		options.ReadMemory = rapid.SampledFrom([]int{1, 100 << 10}).Draw(rt, "memory")
		options.MaxConcurrency = rapid.SampledFrom([]int{0, 1, 5}).Draw(rt, "concurrency")
		if rapid.Bool().Draw(rt, "buckets") {
			options.Layout.Bucket, options.EventTime = layout.Day, EventTime{Attribute: "none"}
			q.From, q.To, q.Prefetch = firstDay, firstDay.AddDate(0, 0, 3), rapid.IntRange(0, 3).Draw(rt, "ahead")
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		bubble.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(seed, 1))
			client := &watched{
				Client: &made{TB: t, keys: func(string) []string { return ranks(15) }},
				delay: func(string, int) time.Duration {
					mu.Lock()
					defer mu.Unlock()
					return time.Duration(r.IntN(1000)) * time.Millisecond
				},
			}
			ctx := context.Background() // t.Context would end what leaks
			start := time.Now()
			if cancels {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				timer := time.AfterFunc(cancelled, cancel)
				defer timer.Stop()
				defer cancel()
			}
			n, ended := 0, false
			for _, err := range collection(t, client, options).Query(ctx, q) {
				if ended {
					rt.Fatal("a pair after an error")
				}
				if err != nil {
					if ended = true; !cancels || !errors.Is(err, context.Canceled) {
						rt.Errorf("%v; cancels %t", err, cancels)
					}
					if took := time.Since(start); took != cancelled {
						rt.Errorf("cancelled after %v, ended after %v", cancelled, took)
					}
					continue
				}
				if n++; n == leave {
					break
				}
			}
			client.mu.Lock()
			defer client.mu.Unlock()
			if client.under != 0 {
				rt.Errorf("%d queries are still under way", client.under)
			}
		})
	})
}

// On partitions that throttle, a gather gets through, and learns how much it may ask for at a time.
func TestGatherIsThrottled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionReads: 60, PartitionWrites: 1 << 20, TableWrites: -1, Window: time.Second, NoSplits: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		client := db.Client()
		options := shapes[0].create(t, client)
		options.Layout = layout.Layout{Shards: 64}
		counts := make([]int, 64)
		for i := range counts {
			counts[i] = 60
		}
		stock(t, client, options.Table, shelves(options.Layout, "k", counts...))
		w := &watched{Client: client, delay: after(5 * time.Millisecond)}
		options.Retry = Retry{Attempts: 20, Burst: 10_000}
		options.ReadMemory = 256 << 10 // many pages
		items := collection(t, w, options)
		var meter Meter
		start := time.Now()
		got, err := all(WithMeter(context.Background(), &meter), items, Query{Key: "k", Consistent: true}, "sk")
		if err != nil || !slices.Equal(got, ranks(64*60)) {
			t.Fatalf("%d items, %v", len(got), err)
		}
		cost := meter.Cost()
		t.Logf("%v, %+v, the limit is %d", time.Since(start), cost, items.core.readers.Limit())
		if cost.Throttles == 0 || cost.Retries < cost.Throttles {
			t.Errorf("%+v: want throttles, each followed by a retry", cost)
		}
		if limit := items.core.readers.Limit(); limit > 64 || limit < 4 {
			t.Errorf("the limit is %d, want less than the 128 of the start", limit)
		}
		if queries, _, _ := w.seen(); queries != cost.Requests {
			t.Errorf("%d queries, but %d were counted", queries, cost.Requests)
		}
	})
}

// Nothing is sent before the loop; ranging again reads again.
func TestQueryIsLazyAndRepeatable(t *testing.T) {
	keys := ranks(3)
	client := &watched{Client: &made{TB: t, keys: func(string) []string { return keys }}}
	items := collection(t, client, sharded(4))
	sequence := items.Query(t.Context(), Query{Key: "k"})
	if queries, _, _ := client.seen(); queries != 0 {
		t.Errorf("%d queries before the loop", queries)
	}
	for round := range 2 {
		n := 0
		for _, err := range sequence {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if queries, _, _ := client.seen(); n != 4*len(keys) || queries != 4*(round+1) {
			t.Errorf("round %d: %d items, %d queries", round, n, queries)
		}
		keys = ranks(5)
	}
	for range items.Query(t.Context(), Query{Key: "k"}) {
		break
	}
	pairs := 0
	for _, err := range items.Query(t.Context(), Query{}) {
		if pairs++; !errors.Is(err, ErrQuery) {
			t.Errorf("got %v, want %v", err, ErrQuery)
		}
	}
	if pairs != 1 {
		t.Errorf("%d pairs, want one with the error", pairs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all(ctx, items, Query{Key: "k"}, "sk"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestStrangeSortKeys reads sort keys at the borders of what there is, up to 1,024 bytes long, through every range, in
// pages that resume at each of them, from a table and from an index where many have the same.
func TestStrangeSortKeys(tb *testing.T) {
	client := local.Start(tb).Client()
	for _, s := range []shape{shapes[0], shapes[1], shapes[2], shapes[4], shapes[5]} {
		options := s.create(tb, client)
		options.Layout = layout.Layout{Shards: 3}
		if s.index {
			options.Layout.Strategy = layout.Calculated
		}
		items := collection(tb, client, options)
		run := 0
		rapid.Check(tb, func(t *rapid.T) {
			run++
			key := fmt.Sprintf("key-%d", run)
			type place struct {
				shard int
				sort  sortkey.Value
				id    string
			}
			var stored []place
			var raw []Item
			for i := range rapid.IntRange(1, 25).Draw(t, "items") {
				p := place{rapid.IntRange(0, 2).Draw(t, "shard"), sortkeytest.Draw(t, s.sort, "sort"), fmt.Sprintf("%s-%d", key, i)}
				taken := slices.ContainsFunc(stored, func(o place) bool { return !s.index && o.shard == p.shard && o.sort == p.sort })
				if p.sort.Text == "" || taken {
					continue
				}
				stored = append(stored, p)
				raw = append(raw, Item{"pk": text(fmt.Sprintf("%s#SHARD_%d", key, p.shard)), "sk": p.sort.Attribute(), "id": text(p.id)})
			}
			load(tb, client, options.Table, raw)
			at := sortkeytest.Draw(t, s.sort, "at")
			if at.Text == "" {
				at.Text = "b"
			}
			v := at.Attribute()
			ranges := []struct {
				Range
				has func(sortkey.Value) bool
			}{
				{Range{}, func(sortkey.Value) bool { return true }},
				{Equal(v), func(v sortkey.Value) bool { return v == at }},
				{Less(v), func(v sortkey.Value) bool { return v.Compare(at) < 0 }},
				{AtMost(v), func(v sortkey.Value) bool { return v.Compare(at) <= 0 }},
				{Greater(v), func(v sortkey.Value) bool { return v.Compare(at) > 0 }},
				{AtLeast(v), func(v sortkey.Value) bool { return v.Compare(at) >= 0 }},
				{BeginsWith(v), func(v sortkey.Value) bool { return strings.HasPrefix(v.Text, at.Text) }},
			}
			if v, ok := v.(*types.AttributeValueMemberN); ok {
				ranges = ranges[:len(ranges)-1]
				v.Value = strings.Replace(v.Value+".0", ".0.0", ".0", 1) // the same number
				if strings.Count(v.Value, ".") > 1 || len(v.Value) > 38 {
					v.Value = v.Value[:len(v.Value)-2]
				}
			}
			r := rapid.SampledFrom(ranges).Draw(t, "range")
			q := Query{Key: key, Sort: r.Range, Reverse: rapid.Bool().Draw(t, "reverse")}
			var want []string
			slices.SortStableFunc(stored, func(a, b place) int {
				return cmp.Or(a.sort.Compare(b.sort), cmp.Compare(a.shard, b.shard))
			})
			for _, p := range stored {
				if r.has(p.sort) {
					want = append(want, p.id)
				}
			}
			if q.Reverse {
				slices.Reverse(want)
			}
			got, err := all(tb.Context(), items, q, "id")
			if err != nil {
				t.Fatal(err)
			}
			q.Limit = rapid.IntRange(1, 4).Draw(t, "page size")
			paged, _ := pages(tb, items, q, "id")
			if !slices.Equal(got, paged) {
				t.Fatalf("%s: in pages\n%v, all at once\n%v", s.name, paged, got)
			}
			if s.index { // ties have an order of the engine's own
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: got\n%v, want\n%v", s.name, got, want)
			}
			if n, err := items.Count(tb.Context(), q); err != nil || n != min(len(want), q.Limit) {
				t.Fatalf("%s: counted %d, %v of %d", s.name, n, err, len(want))
			}
		})
	}
}

// What is asked for is what is there, whatever heatsink asks for beside it.
func TestProjections(t *testing.T) {
	client := local.Start(t).Client()
	nested := &types.AttributeValueMemberM{Value: Item{
		"b": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("zero"), text("one")}}, "status": text("deep"),
	}}
	for _, s := range []shape{shapes[0], shapes[4], shapes[7]} {
		options := s.create(t, client)
		options.Layout, options.EventTime, options.TTL = layout.Layout{Shards: 2}, EventTime{Attribute: "at"}, "ttl"
		if s.index {
			options.Layout.Strategy = layout.Calculated
		}
		var raw []Item
		for i := range 9 {
			item := Item{
				"pk": text(fmt.Sprintf("k#SHARD_%d", i%2)), "sk": text(fmt.Sprint(i)), "id": text(fmt.Sprintf("id%d", i)), "at": text("2026-02-27T12:00:00Z"),
				"a": nested, "status": text("fine"), "name": text("n"),
			}
			if s.number {
				item["pk"], item["shard"] = text("k"), number(fmt.Sprint(i%2))
			}
			raw = append(raw, item)
		}
		load(t, client, options.Table, raw)
		items := collection(t, client, options)
		all := map[string]string{"#s": "status", "#n": "name", "#id": "id", "#pk": "pk", "#sk": "sk", "#at": "at"}
		for _, test := range []struct {
			projection string
			filter     string
			want       []string
		}{
			{"#s", "", []string{"status"}},
			{"#s, #n", "", []string{"status", "name"}},
			{" #s ,#n ", "", []string{"status", "name"}},
			{"a.b[1]", "", []string{"a"}},
			{"a.b[1], a.#s", "", []string{"a"}},
			{"sk", "", []string{"sk"}},
			{"#sk,pk", "", []string{"sk", "pk"}},
			{"id", "#n = :n", []string{"id"}},
			{"#id, #at", "#s = :f AND a.#s = :d", []string{"id", "at"}},
			{"nothing", "", nil},
			{"#pk, a.b[0], #n", "begins_with(#n, :n)", []string{"pk", "a", "name"}},
		} {
			q := Query{Key: "k", Projection: test.projection, Filter: test.filter, Names: map[string]string{}, Values: Item{}}
			for name, of := range all {
				if slices.Contains(placeholders.FindAllString(test.projection+" "+test.filter, -1), name) {
					q.Names[name] = of
				}
			}
			for name, v := range map[string]string{":n": "n", ":f": "fine", ":d": "deep"} {
				if strings.Contains(test.filter, name) {
					q.Values[name] = text(v)
				}
			}
			for _, timed := range []bool{false, true} {
				if timed {
					q.From, q.To = firstDay, firstDay.AddDate(0, 0, 1)
				}
				check := func(what string, got []Item) {
					t.Helper()
					if len(got) != 9 {
						t.Fatalf("%s, %q: %s: %d items", s.name, test.projection, what, len(got))
					}
					for _, item := range got {
						if names := slices.Sorted(maps.Keys(item)); !slices.Equal(names, slices.Sorted(slices.Values(test.want))) {
							t.Fatalf("%s, %q: %s: got %v, want %v", s.name, test.projection, what, names, test.want)
						}
						if pk := str(item, "pk"); pk != "" && pk != "k" {
							t.Errorf("the key is %q", pk)
						}
					}
				}
				var got []Item
				for item, err := range items.Query(t.Context(), q) {
					if err != nil {
						t.Fatalf("%s, %q: %v", s.name, test.projection, err)
					}
					got = append(got, item)
				}
				check("query", got)
				got = nil
				q.Limit = 2
				for token := ""; ; {
					page, err := items.Page(t.Context(), q, token)
					if err != nil {
						t.Fatalf("%s, %q: %v", s.name, test.projection, err)
					}
					got = append(got, page.Items...)
					if token = page.Next; token == "" {
						break
					}
				}
				check("pages", got)
				q.Limit = 0
				if n, err := items.Count(t.Context(), q); err != nil || n != 9 {
					t.Errorf("%s, %q: counted %d, %v", s.name, test.projection, n, err)
				}
				folded, err := Fold(t.Context(), items, q, func() []Item { return nil },
					func(list []Item, item Item) []Item { return append(list, item) },
					func(a, b []Item) []Item { return append(a, b...) })
				if err != nil {
					t.Errorf("%s, %q: %v", s.name, test.projection, err)
				}
				check("fold", folded)
			}
		}
	}
}

// Items on the border of a bucket are in one of two, whatever the bucket and however the range is cut.
func TestBucketBorders(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.EventTime = EventTime{Attribute: "sk"}
	for _, bucket := range []layout.Bucket{layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year} {
		options.Layout = layout.Layout{Shards: 2, Bucket: bucket}
		items := collection(t, client, options)
		var borders []time.Time
		for at := bucket.Start(firstDay); len(borders) < 3; at = bucket.Next(at) {
			borders = append(borders, at)
		}
		var times []time.Time
		var raw []Item
		for i, border := range borders {
			for j, off := range []time.Duration{-time.Second, 0, time.Second} {
				at := border.Add(off)
				shardKey, err := options.Layout.ShardKey(bucket.String(), at, (i+j)%2)
				if err != nil {
					t.Fatal(err)
				}
				times = append(times, at)
				raw = append(raw, Item{"pk": text(shardKey), "sk": text(at.Format(time.RFC3339) + "#x")})
			}
		}
		load(t, client, options.Table, raw)
		for i, from := range times {
			for j := i; j < len(times); j++ {
				for _, reverse := range []bool{false, true} {
					q := Query{Key: bucket.String(), From: from, To: times[j], Reverse: reverse, Limit: 2}
					var want []string
					for _, at := range times[i:j] {
						want = append(want, at.Format(time.RFC3339)+"#x")
					}
					if reverse {
						slices.Reverse(want)
					}
					if got, _ := pages(t, items, q, "sk"); !slices.Equal(got, want) {
						t.Fatalf("%v, from %v to %v, reverse %t: got %v, want %v", bucket, from, times[j], reverse, got, want)
					}
				}
			}
		}
	}
}

// Sessions listed by when they end: the time to live is the sort key, which no filter may name.
func TestTimeToLiveAsSortKey(t *testing.T) {
	client := local.Start(t).Client()
	options := shape{name: "sessions", sort: shapes[5].sort, index: true}.create(t, client)
	options.Layout, options.TTL = layout.Layout{Shards: 2, Strategy: layout.Calculated}, "sk"
	now := time.Now().Unix()
	var raw []Item
	for i := range 10 { // every other one has ended
		raw = append(raw, Item{"pk": text(fmt.Sprintf("k#SHARD_%d", i%4/2)), "id": text(fmt.Sprint(i)), "sk": number(fmt.Sprint(now + int64(i%2*20000) - 10000))})
	}
	load(t, client, options.Table, raw)
	items := collection(t, client, options)
	for want, q := range map[int]Query{5: {Key: "k"}, 10: {Key: "k", IncludeExpired: true}} {
		got, err := all(t.Context(), items, q, "id")
		if err != nil || len(got) != want {
			t.Errorf("got %v, %v, want %d", got, err, want)
		}
		if n, err := items.Count(t.Context(), q); err != nil || n != want {
			t.Errorf("counted %d, %v, want %d", n, err, want)
		}
		q.Limit = 2
		if got, sizes := pages(t, items, q, "id"); len(got) != want {
			t.Errorf("in pages of %v: %v", sizes, got)
		}
	}
}

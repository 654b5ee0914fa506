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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/local"
)

// sharded are options for a table that is made up: pk and sk, so many shards.
func sharded(n int) Options {
	return Options{Table: "made", PartitionKey: "pk", SortKey: "sk", Layout: Layout{Shards: n}, Retry: Retry{Attempts: 1}}
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
	options.Layout = Layout{Shards: 2}
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
		synctest.Test(t, func(t *testing.T) {
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
			synctest.Test(t, func(t *testing.T) {
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
				options.Layout.Bucket, options.EventTime = Day, EventTime{Attribute: "sk"}
				items := collection(t, client, options)
				q := Query{Key: "OPS_LOG", From: firstDay, To: firstDay.AddDate(0, 0, 7), Reverse: true, Limit: 50, Ahead: test.ahead}
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
				if want := (Plan{Buckets: 7, Shards: 7, Requests: 7}); err != nil || plan != want {
					t.Errorf("plan %+v, %v, want %+v", plan, err, want)
				}
			})
		})
	}
}

// 000-08, 002-06, 004-12: as many queries as there are shards, in order, whether the shards were drawn or calculated.
func TestOneQueryForEachShard(t *testing.T) {
	for _, strategy := range []Strategy{Random, Calculated} {
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

// The target is to read 4.5 × 100 items at most for a limit of 100 over 64 shards.
func TestItemsReadForALimit(t *testing.T) {
	const shards = 64
	for _, test := range []struct {
		limit int
		most  float64 // items read for each one returned
	}{{10, 15}, {25, 8}, {100, 4.5}, {1000, 2}} {
		read, rounds := 0, 0
		const seeds = 20
		for seed := range seeds {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			keys := map[string][]string{}
			for _, sk := range ranks(4000) {
				shardKey := fmt.Sprintf("k#SHARD_%d", r.IntN(shards))
				keys[shardKey] = append(keys[shardKey], sk)
			}
			client := &watched{Client: &made{TB: t, keys: func(shardKey string) []string { return keys[shardKey] }}}
			got, err := all(t.Context(), collection(t, client, sharded(shards)), Query{Key: "k", Limit: test.limit}, "sk")
			if err != nil || !slices.Equal(got, ranks(test.limit)) {
				t.Fatalf("%d items, %v", len(got), err)
			}
			queries, scanned, _ := client.seen()
			read += scanned
			rounds += queries
		}
		each := float64(read) / float64(seeds*test.limit)
		t.Logf("limit %d over %d shards: %.2f items read for each, %.1f queries", test.limit, shards, each, float64(rounds)/seeds)
		if each > test.most {
			t.Errorf("limit %d: %.2f items read for each, want %g at most", test.limit, each, test.most)
		}
	}
}

// hoard counts the bytes that have been read and not returned.
type hoard struct{ now, most atomic.Int64 }

func (h *hoard) add(n int) {
	now := h.now.Add(int64(n))
	for most := h.most.Load(); now > most && !h.most.CompareAndSwap(most, now); {
		most = h.most.Load()
	}
}

func TestReadMemory(t *testing.T) {
	keys := ranks(2000)
	sized := func(n int) types.AttributeValue { return text(strings.Repeat("x", n)) } // one for all: only its length counts
	small, page, large := sized(10), sized(20<<10), sized(390<<10)
	few := func(shardKey string) bool { return strings.HasSuffix(shardKey, "77") }
	tests := []struct {
		name   string
		shards int
		bucket Bucket
		query  Query
		memory int
		stop   int // items to read
		keys   int // items of a shard
		item   func(shardKey, sk string) Item
		passes func(shardKey, sk string) bool
		most   float64 // times the memory allowed
	}{
		{name: "small items", shards: 1000, stop: 10_000, item: func(string, string) Item { return Item{"x": small} }},
		{name: "items of 20 KB", shards: 1000, stop: 5000, item: func(string, string) Item { return Item{"x": page} }},
		{name: "some of 400 KB", shards: 1000, stop: 10_000, item: func(shardKey, _ string) Item {
			if few(shardKey) {
				return Item{"x": large}
			}
			return Item{"x": small}
		}},
		{name: "all of 400 KB", shards: 64, stop: 1000, most: 1.25, item: func(string, string) Item { return Item{"x": large} }},
		{name: "mixed items", shards: 1000, stop: 10_000, most: 1.5, item: func(shardKey, sk string) Item {
			if rand.New(rand.NewPCG(uint64(len(shardKey)), xxhash.Sum64String(shardKey+sk))).IntN(20) == 0 {
				return Item{"x": page}
			}
			return Item{"x": small}
		}},
		// nobody can know beforehand: there are at most two pages of 1 MB for each shard
		{name: "growing items", shards: 200, stop: 70_000, most: 6.5, item: func(_, sk string) Item {
			if sk > "000300" {
				return Item{"x": page}
			}
			return Item{"x": small}
		}},
		{
			name: "many buckets", shards: 40, bucket: Day, query: Query{From: firstDay, To: firstDay.AddDate(0, 0, 30), Ahead: 29}, stop: 10_000,
			item: func(string, string) Item { return Item{"x": page} },
		},
		{
			name: "buckets by themselves", shards: 60, bucket: Day, query: Query{From: firstDay, To: firstDay.AddDate(0, 0, 12)}, stop: 100_000, keys: 200,
			item: func(string, string) Item { return Item{"x": small} },
		},
		// nor this
		{
			name: "a filter that lets nothing pass at first", shards: 200, stop: 20_000, most: 6.5, query: Query{Filter: "attribute_exists(x)"},
			item: func(string, string) Item { return Item{"x": page} }, passes: func(_, sk string) bool { return sk > "000500" },
		},
		{name: "little memory", shards: 100, memory: 1 << 20, stop: 20_000, item: func(string, string) Item { return Item{"x": small} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hoard
				store := &made{TB: t, keys: func(string) []string { return keys[:cmp.Or(test.keys, len(keys))] }, item: test.item, passes: test.passes}
				store.answered = func(_ *dynamodb.QueryInput, size int) { h.add(size) }
				client := &watched{Client: store, delay: after(5 * time.Millisecond)} // so that all are asked before one answers
				options := sharded(test.shards)
				options.Layout.Bucket, options.EventTime, options.ReadMemory = test.bucket, EventTime{Attribute: "none"}, test.memory
				items := collection(t, client, options)
				q := test.query
				q.Key = "k"
				n := 0
				for item, err := range items.Query(context.Background(), q) {
					if err != nil {
						t.Fatal(err)
					}
					h.add(-itemSize(item))
					if n++; n == test.stop {
						break
					}
				}
				allowed := cmp.Or(test.memory, defaultReadMemory)
				used := float64(h.most.Load()) / float64(allowed)
				t.Logf("%d items, %d queries, at most %.1f MB, %.2f × what is allowed", n, client.queries, float64(h.most.Load())/(1<<20), used)
				if most := cmp.Or(test.most, 1); used > most {
					t.Errorf("%.2f × what is allowed, want %g", used, most)
				}
			})
		})
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

// A filter that 1 in 5,000 items passes leaves most pages empty.
func TestFilterThatLittlePasses(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout = Layout{Shards: 4}
	stock(t, client, options.Table, shelves(options.Layout, "k", 1250, 1250, 1250, 1250))
	w := &watched{Client: client}
	items := collection(t, w, options)
	for _, wanted := range []string{"0", "2500", "4999"} {
		w.queries, w.scanned = 0, 0
		q := Query{Key: "k", Filter: "n = :n", Values: Item{":n": number(wanted)}}
		for _, limit := range []int{0, 1, 10} {
			q.Limit = limit
			got, err := all(t.Context(), items, q, "sk")
			if err != nil || len(got) != 1 {
				t.Errorf("limit %d: got %v, %v, want %s", limit, got, err, wanted)
			}
		}
		q.Limit = 3
		if got, sizes := pages(t, items, q, "sk"); len(got) != 1 {
			t.Errorf("pages of %v: got %v, want %s", sizes, got, wanted)
		}
		if n, err := items.Count(t.Context(), q); err != nil || n != 1 {
			t.Errorf("counted %d, %v, want 1", n, err)
		}
		t.Logf("%s: %d queries, %d items read for five reads", wanted, w.queries, w.scanned)
	}
}

// Pages that end at 1 MB, before their limit.
func TestShardsOfLargeItems(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout = Layout{Shards: 3}
	large := text(strings.Repeat("x", 300<<10))
	var stored []Item
	for shardKey, keys := range shelves(options.Layout, "k", 12, 1, 5) {
		for _, sk := range keys {
			stored = append(stored, Item{"pk": text(shardKey), "sk": text(sk), "x": large})
		}
	}
	load(t, client, options.Table, stored)
	w := &watched{Client: client}
	items := collection(t, w, options)
	got, err := all(t.Context(), items, Query{Key: "k"}, "sk")
	if err != nil || !slices.Equal(got, ranks(18)) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, sizes := pages(t, items, Query{Key: "k", Limit: 7, Reverse: true}, "sk"); !slices.Equal(got, backwards(ranks(18))) {
		t.Errorf("pages of %v: %v", sizes, got)
	}
	if n, err := items.Count(t.Context(), Query{Key: "k"}); err != nil || n != 18 {
		t.Errorf("counted %d, %v", n, err)
	}
}

func TestShardThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &watched{
			Client: &made{TB: t, keys: func(string) []string { return ranks(50) }}, delay: after(time.Second),
			fail: func(shardKey string, _ int) error {
				if shardKey == "k#SHARD_7" {
					return errRefused
				}
				return nil
			},
		}
		items := collection(t, client, sharded(20))
		check := func(what string, err error) {
			t.Helper()
			gather, ok := errors.AsType[*GatherError](err)
			if !ok || len(gather.Shards) != 1 || gather.Of != 20 {
				t.Fatalf("%s: got %v, want a GatherError", what, err)
			}
			if s := gather.Shards[0]; s.ShardKey != "k#SHARD_7" || s.Shard != 7 || s.Operation != "Query" || s.Table != "made" || s.Attempts != 1 {
				t.Errorf("%s: %+v", what, *s)
			}
			if refused, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok || refused != errRefused {
				t.Errorf("%s: %v does not lead to the SDK's error", what, err)
			}
			if !strings.Contains(err.Error(), `shard "k#SHARD_7"`) {
				t.Errorf("%s: %v does not name the shard", what, err)
			}
		}
		got, err := all(context.Background(), items, Query{Key: "k"}, "sk")
		check("query", err)
		if len(got) != 0 {
			t.Errorf("%d items before the error", len(got))
		}
		page, err := items.Page(context.Background(), Query{Key: "k", Limit: 10}, "")
		check("page", err)
		if len(page.Items) > 0 || page.Next != "" {
			t.Errorf("a page beside the error: %v", page)
		}
		_, err = items.Count(context.Background(), Query{Key: "k"})
		check("count", err)
		_, err = items.Distribution(context.Background(), Query{Key: "k"})
		check("distribution", err)
		// what was refused once is refused by all: there is no part to be content with
		_, err = all(context.Background(), items, Query{Key: "k", Partial: true}, "sk")
		check("partial", err)
		client.mu.Lock()
		defer client.mu.Unlock()
		if client.under != 0 {
			t.Errorf("%d queries are still under way", client.under)
		}
	})
}

// TestPartialModel breaks shards at random pages and compares what is returned with what there is: the first Complete
// items are the first there are, and no other shard's items are missing.
func TestPartialModel(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		shards := rapid.IntRange(1, 6).Draw(t, "shards")
		reverse := rapid.Bool().Draw(t, "reverse")
		keys, want, shardOf := map[string][]string{}, ranks(rapid.IntRange(0, 60).Draw(t, "items")), map[string]string{}
		for _, sk := range want {
			shardOf[sk] = fmt.Sprintf("k#SHARD_%d", rapid.IntRange(0, shards-1).Draw(t, "shard"))
			keys[shardOf[sk]] = append(keys[shardOf[sk]], sk)
		}
		if reverse {
			slices.Reverse(want)
		}
		broken := map[string]int{} // from which query on
		for shard := range shards {
			if rapid.IntRange(0, 2).Draw(t, "broken") == 0 {
				broken[fmt.Sprintf("k#SHARD_%d", shard)] = rapid.IntRange(0, 3).Draw(t, "from")
			}
		}
		client := &watched{
			Client: &made{TB: tb, keys: func(shardKey string) []string { return keys[shardKey] }},
			fail: func(shardKey string, nth int) error {
				if from, ok := broken[shardKey]; ok && nth >= from {
					return errBroken
				}
				return nil
			},
		}
		options := sharded(shards)
		options.ReadMemory = rapid.SampledFrom([]int{1, 10 << 10, 64 << 20}).Draw(t, "memory")
		q := Query{Key: "k", Reverse: reverse, Partial: true, Limit: rapid.SampledFrom([]int{0, 1, 7, 100}).Draw(t, "limit")}
		var got []string
		var err error
		if q.Limit > 0 && rapid.Bool().Draw(t, "page") {
			var page Page[Item]
			page, err = collection(tb, client, options).Page(tb.Context(), q, "")
			for _, item := range page.Items {
				got = append(got, str(item, "sk"))
			}
			if err != nil && page.Next != "" {
				t.Error("a token beside an error")
			}
		} else {
			got, err = all(tb.Context(), collection(tb, client, options), q, "sk")
		}
		complete, missing := len(got), map[string]bool{}
		if err != nil {
			gather, ok := errors.AsType[*GatherError](err)
			if !ok {
				t.Fatal(err)
			}
			complete = gather.Complete
			for _, s := range gather.Shards {
				if _, ok := broken[s.ShardKey]; !ok || missing[s.ShardKey] {
					t.Errorf("%s is missing, but is not broken, or twice", s.ShardKey)
				}
				missing[s.ShardKey] = true
			}
			if len(missing) == 0 || gather.Of != shards {
				t.Errorf("%d of %d missing, want of %d", len(missing), gather.Of, shards)
			}
		}
		if complete > len(got) || !slices.Equal(got[:complete], want[:complete]) {
			t.Fatalf("the first %d are not\n%v\n%v", complete, got, want)
		}
		// behind those, all that other shards have is there, in order
		var rest []string
		for _, sk := range want {
			if !missing[shardOf[sk]] || slices.Contains(got, sk) {
				rest = append(rest, sk)
			}
		}
		if q.Limit > 0 {
			rest = rest[:min(q.Limit, len(rest))]
		}
		if !slices.Equal(got, rest) {
			t.Fatalf("missing %v:\ngot  %v\nwant %v", missing, got, rest)
		}
	})
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
			options.Layout.Bucket, options.EventTime = Day, EventTime{Attribute: "none"}
			q.From, q.To, q.Ahead = firstDay, firstDay.AddDate(0, 0, 3), rapid.IntRange(0, 3).Draw(rt, "ahead")
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		synctest.Test(t, func(t *testing.T) {
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

// X19: one slow answer of many is what N shards make likely, and what hedging is for.
func TestHedging(t *testing.T) {
	slowFirst := func(shardKey string, nth int) time.Duration {
		if shardKey == "k#SHARD_13" && nth == 0 {
			return 10 * time.Second
		}
		return time.Second
	}
	for _, hedge := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(3) }}, delay: slowFirst}
			items := collection(t, client, sharded(20))
			start := time.Now()
			got, err := all(context.Background(), items, Query{Key: "k", Hedge: hedge}, "sk")
			if err != nil || len(got) != 60 {
				t.Fatalf("%d items, %v", len(got), err)
			}
			took := time.Since(start)
			queries, _, _ := client.seen()
			t.Logf("hedge %t: %v with %d queries", hedge, took, queries)
			if hedge && (took > 2200*time.Millisecond || queries != 21) || !hedge && (took != 10*time.Second || queries != 20) {
				t.Errorf("hedge %t: %v with %d queries", hedge, took, queries)
			}
		})
	}
}

// Over many reads, hedging costs one request in twenty at most, whatever the tail is like.
func TestHedgingBudget(t *testing.T) {
	for _, shards := range []int{9, 20, 100} {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			var mu sync.Mutex
			client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(3) }}, delay: func(string, int) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				if r.IntN(10) == 0 {
					return 10 * time.Second
				}
				return time.Second
			}}
			items := collection(t, client, sharded(shards))
			const reads = 100
			for range reads {
				if got, err := all(context.Background(), items, Query{Key: "k", Hedge: true}, "sk"); err != nil || len(got) != 3*shards {
					t.Fatalf("%d items, %v", len(got), err)
				}
			}
			queries, _, _ := client.seen()
			extra := float64(queries-reads*shards) / float64(reads*shards)
			t.Logf("%d shards: %.1f %% more requests", shards, 100*extra)
			if extra > 0.0501 {
				t.Errorf("%d shards: %.1f %% more requests", shards, 100*extra)
			}
		})
	}
}

// A shard that is throttled is not asked again before its time.
func TestNoHedgingAfterAThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &watched{
			Client: &made{TB: t, keys: func(string) []string { return ranks(3) }}, delay: after(time.Second),
			fail: func(shardKey string, nth int) error {
				if shardKey == "k#SHARD_13" && nth == 0 {
					return errThrottled
				}
				return nil
			},
		}
		options := sharded(40)
		options.Retry = Retry{Attempts: 2, Base: time.Hour, Max: time.Hour} // a random part of an hour
		options.Rand = rand.NewPCG(1, 1)
		start := time.Now()
		got, err := all(context.Background(), collection(t, client, options), Query{Key: "k", Hedge: true}, "sk")
		if err != nil || len(got) != 120 {
			t.Fatalf("%d items, %v", len(got), err)
		}
		if queries, _, _ := client.seen(); queries != 41 || time.Since(start) < 10*time.Second {
			t.Errorf("%d queries in %v, want 40 and a retry that waits", queries, time.Since(start))
		}
	})
}

// A reader that takes its time does not make answers late that have long been there.
func TestNoHedgingForASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &watched{Client: &made{TB: t, keys: func(string) []string { return ranks(20) }}, delay: after(time.Second)}
		options := sharded(10)
		options.ReadMemory = 20 << 10
		items := collection(t, client, options)
		reads := func(hedge bool) int {
			before, _, _ := client.seen()
			for _, err := range items.Query(context.Background(), Query{Key: "k", Hedge: hedge}) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
			}
			queries, _, _ := client.seen()
			return queries - before
		}
		reads(false)
		if without, with := reads(false), reads(true); with != without {
			t.Errorf("%d queries with hedging, %d without", with, without)
		}
	})
}

// On partitions that throttle, a gather gets through, and learns how much it may ask for at a time.
func TestGatherIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{PartitionReads: 60, PartitionWrites: 1 << 20, TableWrites: -1, Window: time.Second, NoSplits: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		client := db.Client()
		options := shapes[0].create(t, client)
		options.Layout = Layout{Shards: 64}
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
		t.Logf("%v, %+v, the limit is %.1f", time.Since(start), cost, items.core.readers.limit)
		if cost.Throttles == 0 || cost.Retries < cost.Throttles {
			t.Errorf("%+v: want throttles, each followed by a retry", cost)
		}
		if limit := items.core.readers.limit; limit > 64 || limit < leastConcurrency {
			t.Errorf("the limit is %.1f, want less than the 128 of the start", limit)
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

// TestOlderModel reads buckets together with an unsharded past and a sharded one. Sort keys have nothing to do with time,
// so that an older item may come before or after those of any bucket; still each is there once.
func TestOlderModel(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		options := sharded(rapid.IntRange(0, 3).Draw(t, "shards"))
		options.EventTime = EventTime{Attribute: "at"}
		options.Older = []Layout{{}, {Shards: 2, Format: ShardHash}}
		options.Layout.Format.BareZero = rapid.Bool().Draw(t, "bare zero")
		days := 1
		if rapid.Bool().Draw(t, "buckets") {
			options.Layout.Bucket, days = Day, 3
		}
		keys, at := map[string][]string{}, map[string]time.Time{}
		for range rapid.IntRange(0, 40).Draw(t, "items") {
			layout, day := options.Layout, firstDay.AddDate(0, 0, rapid.IntRange(0, days-1).Draw(t, "day"))
			if n := rapid.IntRange(-2, 1).Draw(t, "older"); n >= 0 {
				layout = options.Older[n]
			}
			shardKey, err := layout.ShardKey("k", day, rapid.IntRange(0, max(layout.Shards, 1)-1).Draw(t, "shard"))
			if err != nil {
				t.Fatal(err)
			}
			sk := fmt.Sprintf("%02d", rapid.IntRange(0, 12).Draw(t, "sort"))
			if i, there := slices.BinarySearch(keys[shardKey], sk); !there {
				keys[shardKey] = slices.Insert(keys[shardKey], i, sk)
				at[shardKey+sk] = day.Add(time.Hour)
			}
		}
		store := &made{TB: tb, keys: func(shardKey string) []string { return keys[shardKey] }}
		store.item = func(shardKey, sk string) Item {
			return Item{"id": text(shardKey + "|" + sk), "at": text(at[shardKey+sk].Format(time.RFC3339))}
		}
		items := collection(tb, store, options)
		q := Query{Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, rapid.IntRange(0, days).Draw(t, "to")), Reverse: rapid.Bool().Draw(t, "reverse")}
		var want []string
		for shardKey, list := range keys {
			for _, sk := range list {
				if at[shardKey+sk].Before(q.To) {
					want = append(want, shardKey+"|"+sk)
				}
			}
		}
		got, err := all(tb.Context(), items, q, "id")
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		if n, err := items.Count(tb.Context(), q); err != nil || n != len(want) {
			t.Fatalf("counted %d, %v, want %d", n, err, len(want))
		}
		q.Limit = rapid.IntRange(1, 5).Draw(t, "page size")
		paged, _ := pages(tb, items, q, "id")
		if !slices.Equal(paged, got) {
			t.Fatalf("in pages of %d\n%v, all at once\n%v", q.Limit, paged, got)
		}
	})
}

// A shard that both the layout and an older one have is read once, however wide the key is at the moment.
func TestOlderShardsOfTheSameFormat(t *testing.T) {
	for width := 1; width <= 8; width *= 2 {
		keys := map[string][]string{}
		for n, sk := range ranks(32) {
			shardKey := fmt.Sprintf("k#SHARD_%d", n%8)
			keys[shardKey] = append(keys[shardKey], sk)
		}
		for _, shards := range []int{1, 2, 8} {
			options := sharded(shards)
			options.Older = []Layout{{Shards: 8}, {Shards: 4}}
			options.Widths = &growing{width: Width{Write: width, Read: width}}
			client := &watched{Client: &made{TB: t, keys: func(shardKey string) []string { return keys[shardKey] }}}
			items := collection(t, client, options)
			got, err := all(t.Context(), items, Query{Key: "k"}, "sk")
			if err != nil || !slices.Equal(got, ranks(32)) {
				t.Errorf("layout of %d, width %d: %d items, %v", shards, width, len(got), err)
			}
			if n, err := items.Count(t.Context(), Query{Key: "k"}); err != nil || n != 32 {
				t.Errorf("layout of %d, width %d: counted %d, %v", shards, width, n, err)
			}
			if queries, _, _ := client.seen(); queries != 16 {
				t.Errorf("layout of %d, width %d: %d queries, want 8 for each", shards, width, queries)
			}
			if got, _ := pages(t, items, Query{Key: "k", Limit: 5}, "sk"); !slices.Equal(got, ranks(32)) {
				t.Errorf("layout of %d, width %d: in pages %v", shards, width, got)
			}
		}
	}
}

// TestStrangeSortKeys reads sort keys at the borders of what there is, up to 1,024 bytes long, through every range, in
// pages that resume at each of them, from a table and from an index where many have the same.
func TestStrangeSortKeys(tb *testing.T) {
	client := local.Start(tb).Client()
	for _, s := range []shape{shapes[0], shapes[1], shapes[2], shapes[4], shapes[5]} {
		options := s.create(tb, client)
		options.Layout = Layout{Shards: 3}
		if s.index {
			options.Layout.Strategy = Calculated
		}
		items := collection(tb, client, options)
		run := 0
		rapid.Check(tb, func(t *rapid.T) {
			run++
			key := fmt.Sprintf("key-%d", run)
			type place struct {
				shard int
				sort  sortValue
				id    string
			}
			var stored []place
			var raw []Item
			for i := range rapid.IntRange(1, 25).Draw(t, "items") {
				p := place{rapid.IntRange(0, 2).Draw(t, "shard"), drawSort(t, s.sort, "sort"), fmt.Sprintf("%s-%d", key, i)}
				taken := slices.ContainsFunc(stored, func(o place) bool { return !s.index && o.shard == p.shard && o.sort == p.sort })
				if p.sort.text == "" || taken {
					continue
				}
				stored = append(stored, p)
				raw = append(raw, Item{"pk": text(fmt.Sprintf("%s#SHARD_%d", key, p.shard)), "sk": p.sort.attribute(), "id": text(p.id)})
			}
			load(tb, client, options.Table, raw)
			at := drawSort(t, s.sort, "at")
			if at.text == "" {
				at.text = "b"
			}
			v := at.attribute()
			ranges := []struct {
				Range
				has func(sortValue) bool
			}{
				{Range{}, func(sortValue) bool { return true }},
				{Equal(v), func(v sortValue) bool { return v == at }},
				{Less(v), func(v sortValue) bool { return v.compare(at) < 0 }},
				{AtMost(v), func(v sortValue) bool { return v.compare(at) <= 0 }},
				{Greater(v), func(v sortValue) bool { return v.compare(at) > 0 }},
				{AtLeast(v), func(v sortValue) bool { return v.compare(at) >= 0 }},
				{BeginsWith(v), func(v sortValue) bool { return strings.HasPrefix(v.text, at.text) }},
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
				return cmp.Or(a.sort.compare(b.sort), cmp.Compare(a.shard, b.shard))
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
		options.Layout, options.EventTime, options.TTL = Layout{Shards: 2}, EventTime{Attribute: "at"}, "ttl"
		if s.index {
			options.Layout.Strategy = Calculated
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
	for _, bucket := range []Bucket{Hour, Day, Week, Month, Year} {
		options.Layout = Layout{Shards: 2, Bucket: bucket}
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
	options.Layout, options.TTL = Layout{Shards: 2, Strategy: Calculated}, "sk"
	now := time.Now().Unix()
	var raw []Item
	for i := range 10 { // every other one has ended
		raw = append(raw, Item{"pk": text(fmt.Sprintf("k#SHARD_%d", i%4/2)), "id": text(fmt.Sprint(i)), "sk": number(fmt.Sprint(now + int64(i%2*20000) - 10000))})
	}
	load(t, client, options.Table, raw)
	items := collection(t, client, options)
	for want, q := range map[int]Query{5: {Key: "k"}, 10: {Key: "k", Expired: true}} {
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

package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

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

// hoard counts the bytes that have been read and neither returned nor dropped. It is a logger's handler to be told of the
// latter.
type hoard struct {
	slog.Handler
	now, most, dropped atomic.Int64
}

func (h *hoard) add(n int) {
	now := h.now.Add(int64(n))
	for most := h.most.Load(); now > most && !h.most.CompareAndSwap(most, now); {
		most = h.most.Load()
	}
}

func (h *hoard) Enabled(context.Context, slog.Level) bool { return true }

func (h *hoard) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "bytes" {
			h.add(-int(a.Value.Int64()))
			h.dropped.Add(a.Value.Int64())
		}
		return true
	})
	return nil
}

// sized returns a part of items with a value of so many bytes. All items share it: only its length counts.
func sized(n int) Item { return Item{"x": text(strings.Repeat("x", n))} }

var smallItem, pageItem, largeItem = sized(10), sized(20 << 10), sized(390 << 10)

// Whatever the items' sizes: what Options.ReadMemory promises, and its exceptions.
func TestReadMemory(t *testing.T) {
	always := func(item Item) func(string, string) Item { return func(string, string) Item { return item } }
	growing := func(from string) func(string, string) Item {
		return func(_, sk string) Item {
			if sk > from {
				return pageItem
			}
			return smallItem
		}
	}
	later := func(shardKey, _ string) Item { // another key's are larger
		if strings.HasPrefix(shardKey, "k#") {
			return largeItem
		}
		return smallItem
	}
	tests := []struct {
		name   string
		shards int
		bucket layout.Bucket
		query  Query
		memory int
		warm   bool // another key has been read before
		stop   int  // items to read
		keys   int  // items of a shard
		item   func(shardKey, sk string) Item
		passes func(shardKey, sk string) bool
		most   int // bytes, if not the memory
		reads  int // the most items to read from all shards, if it matters
	}{
		{name: "small items", shards: 1000, stop: 10_000, item: always(smallItem)},
		{name: "items of 20 KB", shards: 1000, stop: 5000, item: always(pageItem)},
		{name: "some of 400 KB", shards: 1000, stop: 10_000, item: func(shardKey, _ string) Item {
			if strings.HasSuffix(shardKey, "77") {
				return largeItem
			}
			return smallItem
		}},
		{name: "all of 400 KB", shards: 64, stop: 1000, keys: 20, item: always(largeItem)},
		{name: "all of 400 KB in more shards than fit", shards: 1000, stop: 1500, keys: 5, item: always(largeItem), reads: 4000},
		{name: "mixed items", shards: 1000, stop: 10_000, item: func(shardKey, sk string) Item {
			if rand.New(rand.NewPCG(uint64(len(shardKey)), xxhash.Sum64String(shardKey+sk))).IntN(20) == 0 {
				return pageItem
			}
			return smallItem
		}},
		{name: "growing items", shards: 200, stop: 70_000, item: growing("000300")},
		{name: "growing items in many shards", shards: 1000, stop: 105_000, keys: 200, item: growing("000100")},
		{
			name: "many buckets", shards: 40, bucket: layout.Day, query: Query{From: firstDay, To: firstDay.AddDate(0, 0, 30), Prefetch: 29}, stop: 10_000,
			item: always(pageItem),
		},
		{
			name: "many buckets of 400 KB", shards: 40, bucket: layout.Day, query: Query{From: firstDay, To: firstDay.AddDate(0, 0, 30), Prefetch: 29}, stop: 500,
			keys: 10, item: always(largeItem),
		},
		{
			name: "buckets by themselves", shards: 60, bucket: layout.Day, query: Query{From: firstDay, To: firstDay.AddDate(0, 0, 12)}, stop: 100_000, keys: 200,
			item: always(smallItem),
		},
		{
			name: "a filter that lets nothing pass at first", shards: 200, stop: 20_000, query: Query{Filter: "attribute_exists(x)"},
			item: always(pageItem), passes: func(_, sk string) bool { return sk > "000500" },
		},
		{name: "little memory", shards: 100, memory: 1 << 20, stop: 20_000, item: always(smallItem)},
		{name: "hedged", shards: 300, stop: 1000, keys: 5, query: Query{Hedge: true}, item: always(largeItem), reads: 2200},

		// the exceptions
		{
			name: "a limit, and items of 400 KB that nobody knew of", shards: 200, stop: 1000, keys: 10, query: Query{Limit: 1000},
			item: always(largeItem), most: firstPages * maxPageBytes,
		},
		{
			name: "small items before those of 400 KB", shards: 200, stop: 1000, keys: 20, warm: true, item: later, most: firstPages * maxPageBytes,
		},
		{
			name: "items that grow within the first page", shards: 1000, stop: 45_000, keys: 100, item: growing("000040"),
			most: firstPages * maxPageBytes,
		},
		{
			name: "little memory and growing items", shards: 50, memory: 1 << 20, stop: 16_000, keys: 400, item: growing("000300"), most: gather.LeastPages * maxPageBytes,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				keys := ranks(cmp.Or(test.keys, 2000))
				var h hoard
				store := &made{TB: t, keys: func(string) []string { return keys }, item: test.item, passes: test.passes}
				client := &watched{Client: store, delay: after(5 * time.Millisecond)} // so that all are asked before one answers
				options := sharded(test.shards)
				options.Layout.Bucket, options.EventTime, options.ReadMemory = test.bucket, EventTime{Attribute: "none"}, test.memory
				options.Logger = slog.New(&h)
				items := collection(t, client, options)
				if test.warm {
					if _, err := all(context.Background(), items, Query{Key: "other", Limit: 10 * test.shards}, "sk"); err != nil {
						t.Fatal(err)
					}
				}
				store.answered = func(_ *dynamodb.QueryInput, size int) { h.add(size) }
				q := test.query
				q.Key = "k"
				start, n, last := time.Now(), 0, ""
				for item, err := range items.Query(context.Background(), q) {
					if err != nil {
						t.Fatal(err)
					}
					if sk := str(item, "sk"); test.bucket == layout.NoBucket {
						if sk < last || n%test.shards != 0 && sk != last {
							t.Fatalf("item %d is %s, after %s", n, sk, last)
						}
						last = sk
					}
					h.add(-attribute.TotalSize(item) - len(fmt.Sprintf("#SHARD_%d", n%test.shards))) // which was taken off the key
					if n++; n == test.stop {
						break
					}
				}
				queries, scanned, most := client.seen()
				const mb = 1 << 20
				t.Logf("%d items: %d read in %v by %d queries, %d at a time; at most %.1f MB, %.1f MB dropped",
					n, scanned, time.Since(start), queries, most, float64(h.most.Load())/mb, float64(h.dropped.Load())/mb)
				if n != test.stop {
					t.Errorf("%d items, want %d", n, test.stop)
				}
				if test.reads > 0 && scanned > test.reads {
					t.Errorf("%d items read, want %d at most: too many are read again", scanned, test.reads)
				}
				if want := cmp.Or(test.most, test.memory, defaultReadMemory); h.most.Load() > int64(want) {
					t.Errorf("%.1f MB, want %.1f at most", float64(h.most.Load())/mb, float64(want)/mb)
				}
			})
		})
	}
}

// A filter that 1 in 5,000 items passes leaves most pages empty.
func TestFilterThatLittlePasses(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	options.Layout = layout.Layout{Shards: 4}
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
	options.Layout = layout.Layout{Shards: 3}
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

// Folds keep to it as well, whether items are large or a filter suddenly lets them pass.
func TestReadMemoryOfAFold(t *testing.T) {
	for name, item := range map[string]Item{"items of 400 KB": largeItem, "items of 20 KB": pageItem, "small items": smallItem} {
		for _, filter := range []string{"", "attribute_exists(x)"} {
			t.Run(name+" "+filter, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					var h hoard
					keys := ranks(40)
					store := &made{
						TB: t, keys: func(string) []string { return keys }, item: func(string, string) Item { return item },
						passes: func(_, sk string) bool { return sk >= "000020" },
					}
					store.answered = func(_ *dynamodb.QueryInput, size int) { h.add(size) }
					client := &watched{Client: store, delay: after(5 * time.Millisecond)}
					q := Query{Key: "k", Filter: filter}
					n, err := Fold(context.Background(), collection(t, client, sharded(100)), q, func() int { return 0 },
						func(n int, item Item) int {
							h.add(-attribute.TotalSize(item) - len("#SHARD_00"))
							time.Sleep(time.Millisecond)
							return n + 1
						}, func(a, b int) int { return a + b })
					want := 4000
					if filter != "" {
						want = 2000
					}
					if err != nil || n != want {
						t.Errorf("folded %d, %v, want %d", n, err, want)
					}
					queries, _, most := client.seen()
					t.Logf("%d queries, %d at a time, at most %.1f MB", queries, most, float64(h.most.Load())/(1<<20))
					if h.most.Load() > defaultReadMemory {
						t.Errorf("%.1f MB", float64(h.most.Load())/(1<<20))
					}
				})
			})
		}
	}
}

package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"

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

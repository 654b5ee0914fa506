package heatsink

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
)

// TestOlderModel reads buckets together with an unsharded past and a sharded one. Sort keys have nothing to do with time,
// so that an older item may come before or after those of any bucket; still each is there once.
func TestOlderModel(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		options := sharded(rapid.IntRange(0, 3).Draw(t, "shards"))
		options.EventTime = EventTime{Attribute: "at"}
		options.Older = []layout.Layout{{}, {Shards: 2, Format: layout.SharpNumber()}}
		options.Layout.Format.BareZero = rapid.Bool().Draw(t, "bare zero")
		days := 1
		if rapid.Bool().Draw(t, "buckets") {
			options.Layout.Bucket, days = layout.Day, 3
		}
		keys, at := map[string][]string{}, map[string]time.Time{}
		for range rapid.IntRange(0, 40).Draw(t, "items") {
			spread, day := options.Layout, firstDay.AddDate(0, 0, rapid.IntRange(0, days-1).Draw(t, "day"))
			if n := rapid.IntRange(-2, 1).Draw(t, "older"); n >= 0 {
				spread = options.Older[n]
			}
			shardKey, err := spread.ShardKey("k", day, rapid.IntRange(0, max(spread.Shards, 1)-1).Draw(t, "shard"))
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
			options.Older = []layout.Layout{{Shards: 8}, {Shards: 4}}
			options.Widths = &growing{width: layout.Width{Write: width, Read: width}}
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

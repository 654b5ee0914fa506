package layout_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

func ExampleLayout() {
	spread := layout.Layout{Shards: 4, Bucket: layout.Day}
	viewed := time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC)

	key, _ := spread.ShardKey("PAGE_VIEWS", viewed, 3)
	fmt.Println(key)

	place, _ := spread.Parse(key)
	fmt.Println(place.Key, place.Bucket.Format(time.DateOnly), place.Shard)
	fmt.Println(spread)
	// Output:
	// PAGE_VIEWS#2024-12-02#SHARD_3
	// PAGE_VIEWS 2024-12-02 3
	// random over 4 shards per day: {key}#{bucket}#SHARD_{shard}
}

func ExampleLayout_ShardKey_refused() {
	_, err := layout.Layout{Shards: 4}.ShardKey("PAGE_VIEWS#SHARD_3", time.Time{}, 0)
	fmt.Println(err)
	// Output: invalid key "PAGE_VIEWS#SHARD_3": it already ends like a shard of {key}#{bucket}#SHARD_{shard}
}

func ExampleLayout_ShardKeys() {
	spread := layout.Layout{Shards: 2, Bucket: layout.Day, Format: layout.PlainNumber()}
	from := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	last := time.Date(2024, 1, 16, 0, 0, 0, 0, time.UTC)
	keys, _ := spread.ShardKeys("user-12345", from, layout.Day.Next(last))
	for _, key := range keys {
		fmt.Println(key)
	}
	// Output:
	// user-12345#2024-01-15#0
	// user-12345#2024-01-15#1
	// user-12345#2024-01-16#0
	// user-12345#2024-01-16#1
}

func ExampleLayout_Shard() {
	spread := layout.Layout{Shards: 10, Strategy: layout.Calculated, Hash: layout.MD5, Format: layout.PlainNumber()}
	key, _ := spread.ShardKey("user-12345", time.Time{}, spread.Shard("event-67890"))
	fmt.Println(key)
	// Output: user-12345#9
}

func ExampleLayout_Evenness() {
	ids := []string{"order-1001", "order-1002", "order-1003", "order-1004", "order-1005", "order-1006", "order-1007", "order-1008"}
	spread := layout.Layout{Shards: 2, Strategy: layout.Calculated, Hash: layout.Product}
	fmt.Println(spread.Evenness(slices.Values(ids)))
	// Output: 8 items on 2 shards, 0 to 8 each: fullest 100.0%, furthest 100.0% off, p=0.0047, too few to tell
}

func ExampleParseFormat() {
	format, err := layout.ParseFormat("{key}.{shard1:03}")
	if err != nil {
		fmt.Println(err)
		return
	}
	key, _ := layout.Layout{Shards: 200, Format: format}.ShardKey("2014-07-09", time.Time{}, 0)
	fmt.Println(key)
	// Output: 2014-07-09.001
}

func ExampleShardNumber() {
	for _, key := range []string{"ACTIVE_USERS#SHARD_7", "STATUS#ACTIVE#SHARD#7", "REGULAR_KEY"} {
		fmt.Println(layout.ShardNumber(key))
	}
	// Output:
	// 7 true
	// 7 true
	// 0 false
}

package heatsink_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink"
)

func ExampleLayout() {
	layout := heatsink.Layout{Shards: 4, Bucket: heatsink.Day}
	viewed := time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC)

	key, _ := layout.ShardKey("PAGE_VIEWS", viewed, 3)
	fmt.Println(key)

	place, _ := layout.Parse(key)
	fmt.Println(place.Key, place.Bucket.Format(time.DateOnly), place.Shard)
	fmt.Println(layout)
	// Output:
	// PAGE_VIEWS#2024-12-02#SHARD_3
	// PAGE_VIEWS 2024-12-02 3
	// random over 4 shards per day: {key}#{bucket}#SHARD_{shard}
}

func ExampleLayout_ShardKey_refused() {
	_, err := heatsink.Layout{Shards: 4}.ShardKey("PAGE_VIEWS#SHARD_3", time.Time{}, 0)
	fmt.Println(err)
	// Output: invalid key "PAGE_VIEWS#SHARD_3": it already ends like a shard of {key}#{bucket}#SHARD_{shard}
}

func ExampleLayout_ShardKeys() {
	layout := heatsink.Layout{Shards: 2, Bucket: heatsink.Day, Format: heatsink.PlainNumber}
	from := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	last := time.Date(2024, 1, 16, 0, 0, 0, 0, time.UTC)
	keys, _ := layout.ShardKeys("user-12345", from, heatsink.Day.Next(last))
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
	layout := heatsink.Layout{Shards: 10, Strategy: heatsink.Calculated, Hash: heatsink.MD5, Format: heatsink.PlainNumber}
	key, _ := layout.ShardKey("user-12345", time.Time{}, layout.Shard("event-67890"))
	fmt.Println(key)
	// Output: user-12345#9
}

func ExampleLayout_Evenness() {
	ids := []string{"order-1001", "order-1002", "order-1003", "order-1004", "order-1005", "order-1006", "order-1007", "order-1008"}
	layout := heatsink.Layout{Shards: 2, Strategy: heatsink.Calculated, Hash: heatsink.Product}
	fmt.Println(layout.Evenness(slices.Values(ids)))
	// Output: 8 items on 2 shards, 0 to 8 each: fullest 100.0%, furthest 100.0% off, p=0.0047, too few to tell
}

func ExampleParseFormat() {
	format, err := heatsink.ParseFormat("{key}.{shard1:03}")
	if err != nil {
		fmt.Println(err)
		return
	}
	key, _ := heatsink.Layout{Shards: 200, Format: format}.ShardKey("2014-07-09", time.Time{}, 0)
	fmt.Println(key)
	// Output: 2014-07-09.001
}

func ExampleShardNumber() {
	for _, key := range []string{"ACTIVE_USERS#SHARD_7", "STATUS#ACTIVE#SHARD#7", "REGULAR_KEY"} {
		fmt.Println(heatsink.ShardNumber(key))
	}
	// Output:
	// 7 true
	// 7 true
	// 0 false
}

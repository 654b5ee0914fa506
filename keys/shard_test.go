package keys_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/keys"
	"github.com/heatsink-go/heatsink/layout"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// 000-28: every kind of key can be spread, and both the shard key and the key can be taken apart again.
func TestKeysComposeWithShards(t *testing.T) {
	at := time.Date(2024, 12, 2, 15, 30, 0, 0, time.UTC)
	for _, key := range []struct {
		name, key string
		parses    func(key string) bool
	}{
		{"entity", must(keys.Entity("USER", "123")), func(key string) bool {
			typ, id, err := keys.ParseEntity(key)
			return typ == "USER" && id == "123" && err == nil
		}},
		{"composite", must(keys.Composite("TENANT", "abc", "active")), func(key string) bool {
			parts, err := keys.ParseComposite(key)
			return slices.Equal(parts, []string{"TENANT", "abc", "active"}) && err == nil
		}},
		{"path", must(keys.Hierarchy("docs", "2024", "a.pdf")), func(key string) bool {
			segments, err := keys.ParseHierarchy(key)
			return slices.Equal(segments, []string{"docs", "2024", "a.pdf"}) && err == nil
		}},
		{"time series", must(keys.TimeSeries(at, keys.Hour)), func(key string) bool {
			start, g, err := keys.ParseTimeSeries(key)
			return start.Equal(at.Truncate(time.Hour)) && g == keys.Hour && err == nil
		}},
		{"time series of an entity", must(keys.Entity("METRIC", must(keys.TimeSeries(at, keys.Day)))), func(key string) bool {
			_, day, err := keys.ParseEntity(key)
			_, g, timeErr := keys.ParseTimeSeries(day)
			return g == keys.Day && err == nil && timeErr == nil
		}},
		{"sparse index", keys.Sparse(true, must(keys.IndexKey("PremiumIndex", "USER", "active"))), func(key string) bool {
			typ, value, err := keys.ParseEntity(key)
			return typ == "USER" && value == "active" && err == nil
		}},
	} {
		for _, spread := range []layout.Layout{
			{Shards: 10},
			{Shards: 10, Format: layout.SharpNumber()},
			{Shards: 10, Format: layout.Format{BareZero: true}},
			{Shards: 10, Bucket: layout.Week, Format: layout.Format{Width: 2, First: 1}},
			{Shards: 10, Bucket: layout.Month, Format: layout.Format{HourMark: "-", BareZero: true}},
		} {
			t.Run(key.name+"/"+spread.String(), func(t *testing.T) {
				for shard := range spread.Shards {
					text, err := spread.ShardKey(key.key, at, shard)
					if err != nil {
						t.Fatal(err)
					}
					place, err := spread.Parse(text)
					if want := (layout.Place{Key: key.key, Bucket: spread.Bucket.Start(at), Shard: shard}); place != want || err != nil {
						t.Fatalf("%q: got %+v, %v, want %+v", text, place, err, want)
					}
					if !key.parses(place.Key) {
						t.Fatalf("%q did not come back from %q", key.key, text)
					}
				}
			})
		}
	}
}

// 001-07, 001-13: the partition, sort and index keys of a bucketed log, and of alerts by brand and month.
func TestBucketedItemKeys(t *testing.T) {
	at := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	stamp := at.Format(time.RFC3339)
	for _, c := range []struct{ name, got, want string }{
		{"log PK", must(layout.Layout{Bucket: layout.Day}.ShardKey("OPS_LOG", at, 0)), "OPS_LOG#2026-06-22"},
		{"log SK", must(keys.Composite(stamp, "agent-7")), "2026-06-22T01:00:00Z#agent-7"},
		{"alert PK", must(layout.Layout{Bucket: layout.Month}.ShardKey(must(keys.Entity("THREAT", "abc")), at, 0)), "THREAT#abc#2026-06"},
		{"alert SK", must(keys.Composite("ALERT", stamp, "phishing")), "ALERT#2026-06-22T01:00:00Z#phishing"},
		{"alert GSI1PK", must(keys.IndexKey("GSI1", "BRAND", "abc")), "BRAND#abc"},
		{"alert GSI1SK", must(keys.IndexKey("GSI1", "THREAT", stamp)), "THREAT#2026-06-22T01:00:00Z"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

func ExampleComposite() {
	key, err := keys.Composite("USER", "123", "ORDER", "456")
	fmt.Println(key, err)
	_, err = keys.Composite("USER#123", "ORDER")
	fmt.Println(err)
	// Output:
	// USER#123#ORDER#456 <nil>
	// invalid key part 0: "USER#123" contains the separator "#"
}

func ExampleEntity() {
	key, _ := keys.Entity("STATUS", "ACTIVE")
	shardKey, _ := layout.Layout{Shards: 10}.ShardKey(key, time.Time{}, 7)
	fmt.Println(shardKey)
	// Output: STATUS#ACTIVE#SHARD_7
}

func ExampleHierarchyPrefix() {
	prefix, _ := keys.HierarchyPrefix("root", "folder1")
	fmt.Println(prefix)
	// Output: root/folder1/
}

func ExampleMulti() {
	values, err := keys.Multi("USA", "CA", nil, nil)
	fmt.Println(values, err)
	_, err = keys.Multi("USA", nil, "Berkeley")
	fmt.Println(err)
	// Output:
	// [USA CA] <nil>
	// invalid key part: the value at index 1 is missing, but other values follow
}

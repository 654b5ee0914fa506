package heatsink

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What is inside a range of time by a fraction of a second is returned.
func TestRangesOfFractions(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	for _, bucket := range []layout.Bucket{layout.NoBucket, layout.Hour} {
		key := "k" + bucket.String()
		c := openItems(t, client, Options{Layout: layout.Layout{Bucket: bucket}, EventTime: EventTime{Attribute: "at", Unit: UnixSeconds}})
		for sk, at := range map[string]string{"a": "1718000000", "b": "1718000000.25", "c": "1718000000.75"} {
			if _, err := c.Put(bg, ov("pk", key, "sk", sk, "at", number(at))); err != nil {
				t.Fatal(err)
			}
		}
		q := Query{Key: key, From: time.Unix(1718000000, 100e6), To: time.Unix(1718000000, 700e6)}
		if got, err := all(bg, c, q, "sk"); err != nil || !slices.Equal(got, []string{"b"}) {
			t.Errorf("%v: got %v, %v, want b", bucket, got, err)
		}
	}
}

// inEveryWay reads with Query, Page, Count and Fold, and returns their errors by name.
func inEveryWay[T any](c *Collection[T], q Query) map[string]error {
	errs := make(map[string]error)
	for _, err := range c.Query(bg, q) {
		if err != nil {
			errs["query"] = err
			break
		}
	}
	_, errs["count"] = c.Count(bg, q)
	_, errs["fold"] = Fold(bg, c, q, func() int { return 0 }, func(n int, _ T) int { return n + 1 }, func(a, b int) int { return a + b })
	q.Limit = 10
	_, errs["page"] = c.Page(bg, q, "")
	_, errs["limited count"] = c.Count(bg, q)
	return errs
}

// An index that does not project the event time cannot be asked for a range of time.
func TestIndexWithoutTheEventTime(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items", byIndex(false), func(in *dynamodb.CreateTableInput) {
		in.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	})
	for _, bucket := range []layout.Bucket{layout.NoBucket, layout.Day} {
		c := openItems(t, client, Options{
			Index: Index{Name: "listing"}, EventTime: EventTime{Attribute: "at"},
			Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: bucket},
		})
		key := "k" + bucket.String()
		for i, hour := range []string{"01", "12", "23"} {
			item := ov("id", key+hour, "pk", key, "sk", "s", "at", "2026-02-27T"+hour+":00:00Z", "n", i)
			if _, err := c.Put(bg, item); err != nil {
				t.Fatal(err)
			}
		}
		for what, err := range inEveryWay(c, Query{Key: key, From: firstDay.Add(10 * time.Hour), To: firstDay.Add(15 * time.Hour)}) {
			if !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), "project") || !regexp.MustCompile(`["[]at["\]]`).MatchString(err.Error()) {
				t.Errorf("%v: %s: got %v, want that the index does not project the attribute", bucket, what, err)
			}
		}
	}
	// whole buckets need no time
	c := openItems(t, client, Options{
		Index: Index{Name: "listing"}, EventTime: EventTime{Attribute: "at"},
		Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: layout.Day},
	})
	q := Query{Key: "kday", From: firstDay, To: firstDay.AddDate(0, 0, 1)}
	if got, err := all(bg, c, q, "id"); err != nil || len(got) != 3 {
		t.Errorf("a whole day: got %v, %v, want 3 items", got, err)
	}
}

// An item whose time cannot be read is neither in a range nor out of it: it is returned as an error, and reading goes on.
func TestUnreadableEventTimes(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	load(t, client, "items", []Item{
		ov("pk", "k", "sk", "a", "at", "2026-02-27T12:00:00Z"),
		ov("pk", "k", "sk", "b", "at", 1718000000), // in another unit
		ov("pk", "k", "sk", "c"),
		ov("pk", "k", "sk", "d", "at", &types.AttributeValueMemberNULL{Value: true}),
		ov("pk", "k", "sk", "e", "at", "2026-02-27T13:00:00Z"),
		ov("pk", "k#2026-02-27", "sk", "a", "at", "2026-02-27T12:00:00Z"),
		ov("pk", "k#2026-02-27", "sk", "b"),
		ov("pk", "k#2026-02-27", "sk", "c", "at", "noon"),
		ov("pk", "k#2026-02-27", "sk", "d", "at", "2026-02-27T13:00:00Z"),
	})
	for _, test := range []struct {
		bucket    layout.Bucket
		good, bad []string
	}{
		{layout.NoBucket, []string{"a", "e"}, []string{"b"}},
		{layout.Day, []string{"a", "d"}, []string{"b", "c"}},
	} {
		c := openItems(t, client, Options{Layout: layout.Layout{Bucket: test.bucket}, EventTime: EventTime{Attribute: "at"}})
		for _, projection := range []string{"", "n"} {
			q := Query{Key: "k", From: firstDay.Add(time.Hour), To: firstDay.Add(23 * time.Hour), Projection: projection}
			good, bad := sorted(t, c.Query(context.Background(), q))
			if len(good) != len(test.good) || !slices.Equal(bad, test.bad) {
				t.Errorf("%v: got %v and %v, want %v and %v", test.bucket, good, bad, test.good, test.bad)
			}
			if projection == "" && !slices.Equal(good, test.good) {
				t.Errorf("%v: got %v, want %v", test.bucket, good, test.good)
			}
			for what, err := range inEveryWay(c, q) {
				failed, ok := errors.AsType[*DecodeError](err)
				if !ok || str(failed.Key, "sk") != test.bad[0] || str(failed.Key, "pk") != "k" || !strings.Contains(err.Error(), `"`+test.bad[0]+`"`) {
					t.Errorf("%v: %s: got %v, want a DecodeError with the key of %s", test.bucket, what, err, test.bad[0])
				}
			}
		}
		if n, err := c.Count(bg, Query{Key: "k", From: firstDay, To: firstDay.AddDate(0, 0, 1)}); test.bucket == layout.Day && (n != 4 || err != nil) {
			t.Errorf("a whole day: counted %d, %v, want 4", n, err)
		}
	}
}

// sorted returns the sort keys of a sequence's items, and of those that could not be decoded.
func sorted(t *testing.T, sequence func(func(Item, error) bool)) (good, bad []string) {
	t.Helper()
	for item, err := range sequence {
		failed, ok := errors.AsType[*DecodeError](err)
		switch {
		case err == nil:
			good = append(good, str(item, "sk"))
		case ok && item == nil:
			bad = append(bad, str(failed.Key, "sk"))
		default:
			t.Fatalf("got %v, %v", item, err)
		}
	}
	return good, bad
}

// Items that do not decode are no end: Query and Page go on behind them.
func TestItemsThatDoNotDecode(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	var items []Item
	var good, bad []string
	for i, sk := range ranks(30) {
		item := ov("pk", []string{"k#SHARD_0", "k#SHARD_1", "k#SHARD_2"}[i%3], "sk", sk, "n", i)
		if good = append(good, sk); i%4 == 0 {
			item["n"] = text("none")
			good, bad = good[:len(good)-1], append(bad, sk)
		}
		items = append(items, item)
	}
	load(t, client, "items", items)
	type record struct {
		Sort string `dynamodbav:"sk"`
		N    int    `dynamodbav:"n"`
	}
	rows := As[record](openItems(t, client, Options{Layout: layout.Layout{Shards: 3}}))
	for _, reverse := range []bool{false, true} {
		wantGood, wantBad := good, bad
		if reverse {
			wantGood, wantBad = backwards(good), backwards(bad)
		}
		var gotGood, gotBad []string
		for r, err := range rows.Query(bg, Query{Key: "k", Reverse: reverse}) {
			if failed, ok := errors.AsType[*DecodeError](err); ok && r == (record{}) {
				gotBad = append(gotBad, str(failed.Key, "sk"))
				if str(failed.Item, "pk") != "k" || !strings.Contains(err.Error(), str(failed.Key, "sk")) {
					t.Errorf("got %v with %v, want the logical key and the sort key", err, failed.Item)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			gotGood = append(gotGood, r.Sort)
		}
		if !slices.Equal(gotGood, wantGood) || !slices.Equal(gotBad, wantBad) {
			t.Errorf("reverse %t: got %v and %v", reverse, gotGood, gotBad)
		}
		gotGood, gotBad = nil, nil
		for token := ""; ; {
			page, err := rows.Page(bg, Query{Key: "k", Reverse: reverse, Limit: 7}, token)
			for _, r := range page.Items {
				gotGood = append(gotGood, r.Sort)
			}
			if err != nil {
				if !errors.As(err, new(*DecodeError)) {
					t.Fatal(err)
				}
				list, ok := err.(interface{ Unwrap() []error })
				if !ok {
					t.Fatalf("got %T, want all of them", err)
				}
				for _, err := range list.Unwrap() {
					gotBad = append(gotBad, str(err.(*DecodeError).Key, "sk"))
				}
			}
			if token = page.Next; token == "" {
				break
			}
		}
		if !slices.Equal(gotGood, wantGood) || !slices.Equal(gotBad, wantBad) {
			t.Errorf("reverse %t: in pages %v and %v", reverse, gotGood, gotBad)
		}
	}
	if _, err := CountBy(bg, rows, Query{Key: "k"}, func(record) int { return 0 }); !errors.As(err, new(*DecodeError)) {
		t.Errorf("count by: got %v, want a DecodeError", err)
	}
	if n, err := rows.Count(bg, Query{Key: "k"}); err != nil || n != 30 {
		t.Errorf("counted %d, %v: nothing has to be decoded for that", n, err)
	}
}

// A DecodeError says which item it is, also if the projection leaves its key out.
func TestDecodeErrorNamesItsItem(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items", byIndex(false))
	load(t, client, "items", []Item{ov("id", "i1", "pk", "k#SHARD_0", "sk", "s", "n", "none")})
	type record struct {
		ID string `dynamodbav:"id"`
		N  int    `dynamodbav:"n"`
	}
	c := As[record](openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 1, Strategy: layout.Calculated}}))
	for what, err := range inEveryWay(c, Query{Key: "k", Projection: "n"}) {
		if strings.HasSuffix(what, "count") {
			continue
		}
		failed, ok := errors.AsType[*DecodeError](err)
		if !ok || str(failed.Key, "id") != "i1" || str(failed.Key, "pk") != "k" || str(failed.Key, "sk") != "s" || len(failed.Item) != 1 {
			t.Errorf("%s: got %v, want the item's keys", what, err)
		}
	}
	_, err := c.Get(bg, record{ID: "i1"})
	if failed, ok := errors.AsType[*DecodeError](err); !ok || str(failed.Key, "id") != "i1" || !strings.Contains(err.Error(), `"i1"`) {
		t.Errorf("get: got %v, want the item's key", err)
	}
	if _, _, err := c.Decode(ov("id", "i1", "pk", "k#SHARD_0", "n", "none")); err == nil || !strings.Contains(err.Error(), `"i1"`) {
		t.Errorf("decode: got %v, want the item's key", err)
	}
}

package heatsink

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/layout"
)

// The tests of this file keep what a hostile tester found.

// What is under the bare key is older than what is anywhere else, so that it counts last.
func TestBareKeyCountsLast(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	bare := layout.Format{BareZero: true}
	steps := []Options{
		{Layout: layout.Layout{Format: bare}},
		{Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Format: bare}},
		{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: bare}, Older: []layout.Layout{{Shards: 2, Strategy: layout.Calculated, Format: bare}}},
	}
	for i := range 16 {
		like := ov("pk", "k", "sk", fmt.Sprint(i))
		for n, options := range steps[:2] {
			if _, err := openItems(t, client, options).Put(ctx, ov("pk", "k", "sk", fmt.Sprint(i), "n", n)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := openItems(t, client, steps[2]).Get(ctx, like)
		if err != nil || attrText(got, "n") != "1" {
			t.Errorf("%d: got %s, %v, want what was put last", i, showItem(got), err)
		}
	}
}

// With a version the copy that was written last counts, wherever the collection would look first.
func TestNewestCopyCounts(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	open := func(write int) *Collection[Item] {
		return openItems(t, client, Options{
			Layout: layout.Layout{Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}, Widths: layout.Width{Write: write, Read: 4}, Version: "v", TTL: "ttl",
		})
	}
	for i := range 16 {
		like := ov("pk", "k", "sk", fmt.Sprint(i))
		for n, write := range []int{1, 4} {
			if _, err := open(write).Put(ctx, ov("pk", "k", "sk", fmt.Sprint(i), "n", n)); err != nil {
				t.Fatal(err)
			}
		}
		for _, write := range []int{1, 4} {
			if got, err := open(write).Get(ctx, like); err != nil || attrText(got, "n") != "1" {
				t.Errorf("%d, width %d: got %s, %v, want what was put last", i, write, showItem(got), err)
			}
		}
		if _, err := open(1).Update(ctx, like, setN(2)); err != nil {
			t.Fatal(err)
		}
		if got, err := open(4).Get(ctx, like); err != nil || attrText(got, "n") != "2" {
			t.Errorf("%d: got %s, %v, want the copy that counts to be changed", i, showItem(got), err)
		}
		if _, err := open(1).Delete(ctx, like); err != nil {
			t.Fatal(err)
		}
		for _, write := range []int{1, 4} {
			if got, err := open(write).Get(ctx, like); !errors.Is(err, ErrNotFound) {
				t.Errorf("%d, width %d: got %s, %v, want nothing after the delete", i, write, showItem(got), err)
			}
		}
	}
}

// An update that creates an item through an index lists it, with the sort key that like has; an item that is there keeps
// its own.
func TestUpdateCreatesWhatIsListed(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	if _, err := users.Put(ctx, ov("id", "old", "pk", "ACTIVE", "sk", "2025")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"new", "old"} {
		if _, err := users.Update(ctx, ov("id", id, "pk", "ACTIVE", "sk", "2026"), setN(1)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := all(ctx, users, Query{Key: "ACTIVE"}, "id"); err != nil || strings.Join(got, " ") != "old new" {
		t.Errorf("got %v, %v, want both, each under its own sort key", got, err)
	}
	if _, err := users.Update(ctx, ov("id", "old", "pk", "ACTIVE", "sk", "2026"), expression("SET sk = :sk", ":sk", "2027")); err != nil {
		t.Errorf("an update of the sort key: got %v", err)
	}
}

// With a version, an update of what has expired is one of what is not there, as Get says.
func TestVersionedUpdateOfWhatHasExpired(t *testing.T) {
	items := openItems(t, onItems(t), Options{Version: "v", TTL: "ttl"})
	past := time.Now().Add(-time.Hour).Unix()
	if _, err := items.Put(t.Context(), ov("pk", "a", "sk", "1", "ttl", int(past))); err != nil {
		t.Fatal(err)
	}
	if _, err := items.Update(t.Context(), ov("pk", "a", "sk", "1"), setN(1)); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// Parentheses cannot end what heatsink begins, and so get at what is deleted or expired.
func TestUnbalancedExpressions(t *testing.T) {
	ctx := t.Context()
	items := openItems(t, onItems(t), Options{Version: "v", TTL: "ttl"})
	like := ov("pk", "a", "sk", "1")
	if _, err := items.Put(ctx, like); err != nil {
		t.Fatal(err)
	}
	if _, err := items.Delete(ctx, like); err != nil {
		t.Fatal(err)
	}
	const escape = "attribute_exists(zz)) OR (attribute_exists(pk)"
	for _, filter := range []string{"attribute_exists(zz)) OR (attribute_exists(v)", "(attribute_exists(v)", "attribute_exists(v))"} {
		if got, err := all(ctx, items, Query{Key: "a", Filter: filter}, "sk"); !errors.Is(err, ErrQuery) {
			t.Errorf("filter %q: got %v, %v, want ErrQuery", filter, got, err)
		}
	}
	if _, err := items.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
		setN(1)(in)
		in.ConditionExpression = aws.String(escape)
	}); !errors.Is(err, ErrItem) {
		t.Errorf("update: got %v, want ErrItem", err)
	}
	if _, err := items.Put(ctx, like, func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String(escape) }); !errors.Is(err, ErrItem) {
		t.Errorf("put: got %v, want ErrItem", err)
	}
	random := openItems(t, onItems(t), Options{Layout: layout.Layout{Shards: 4}})
	if _, err := random.Put(ctx, like); err != nil {
		t.Fatal(err)
	}
	if _, err := random.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
		setN(1)(in)
		in.ConditionExpression = aws.String(escape)
	}); !errors.Is(err, ErrItem) {
		t.Errorf("update of a random layout: got %v, want ErrItem", err)
	}
}

// A projection of a part of what Get needs itself is refused, instead of returning what is deleted or expired.
func TestGetOfAPart(t *testing.T) {
	items := openItems(t, onItems(t), Options{Version: "v", TTL: "ttl"})
	for _, projection := range []string{"v.foo, n", "n, #t.a", "#t[0]"} {
		_, err := items.Get(t.Context(), ov("pk", "a", "sk", "1"), func(in *dynamodb.GetItemInput) {
			in.ProjectionExpression = &projection
			if strings.Contains(projection, "#t") {
				in.ExpressionAttributeNames = map[string]string{"#t": "ttl"}
			}
		})
		if !errors.Is(err, ErrQuery) {
			t.Errorf("%s: got %v, want ErrQuery", projection, err)
		}
	}
}

// An attribute that somebody else keeps does not hide items.
func TestForeignVersionsAreRead(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Version: "v", TTL: "ttl"})
	foreign := []string{"hello!", "a!b", "1", "!"}
	for i, v := range foreign {
		load(t, client, "items", []Item{ov("pk", "a", "sk", fmt.Sprint(i), "v", v)})
		if _, err := items.Get(ctx, ov("pk", "a", "sk", fmt.Sprint(i))); err != nil {
			t.Errorf("get %q: %v", v, err)
		}
	}
	if n, err := items.Count(ctx, Query{Key: "a"}); err != nil || n != len(foreign) {
		t.Errorf("got %d, %v, want %d", n, err, len(foreign))
	}
}

// Attributes that heatsink writes have no other role, and lists of attributes name each once.
func TestRolesThatSpoilEachOther(t *testing.T) {
	client := onItems(t)
	calculated := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	index := Options{Table: "items", PartitionKey: "id", Index: Index{Name: "listing", PartitionKey: "pk", SortKey: "sk"}, Layout: calculated}
	with := func(o Options, change func(*Options)) Options {
		change(&o)
		return o
	}
	table := Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: calculated}
	for name, o := range map[string]Options{
		"shard attribute and time":    with(index, func(o *Options) { o.Index.ShardAttribute, o.EventTime.Attribute = "s", "s" }),
		"shard attribute and ShardBy": with(index, func(o *Options) { o.Index.ShardAttribute, o.ShardBy = "s", []string{"s"} }),
		"shard attribute and TTL":     with(index, func(o *Options) { o.Index.ShardAttribute, o.TTL = "s", "s" }),
		"key and TTL":                 with(table, func(o *Options) { o.TTL = "pk" }),
		"key and time":                with(table, func(o *Options) { o.EventTime.Attribute = "pk" }),
		"key and ShardBy":             with(table, func(o *Options) { o.ShardBy = []string{"pk"} }),
		"the same twice":              with(index, func(o *Options) { o.SortKey = "id" }),
		"no name":                     with(index, func(o *Options) { o.Index.Name = "" }),
		"no key of the table":         with(index, func(o *Options) { o.PartitionKey = "" }),
		"no key of the index":         with(index, func(o *Options) { o.Index.PartitionKey = "" }),
		"one key for both":            with(index, func(o *Options) { o.Index.PartitionKey = "id" }),
		"the index's key twice":       with(index, func(o *Options) { o.Index.SortKey = "pk" }),
		"index key and TTL":           with(index, func(o *Options) { o.TTL = "pk" }),
		"shard attribute and a key":   with(index, func(o *Options) { o.Index.ShardAttribute = "id" }),
		"ShardBy twice":               with(table, func(o *Options) { o.ShardBy = []string{"a", "a"} }),
		"ShardBy nothing":             with(table, func(o *Options) { o.ShardBy = []string{""} }),
		"a budget that is no number":  with(table, func(o *Options) { o.Retry.Budget = math.NaN() }),
	} {
		if _, err := Open[Item](client, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: got %v, want ErrOptions", name, err)
		}
	}
	for _, o := range []Options{index, table} {
		if _, err := Open[Item](client, o); err != nil {
			t.Errorf("without that: got %v", err)
		}
	}
}

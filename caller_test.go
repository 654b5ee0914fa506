package heatsink

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What the caller got wrong is told as such, and not as shards that are missing.
func TestCallersMistakes(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	for _, test := range []struct {
		name    string
		table   string
		query   Query
		invalid bool // is it ErrQuery?
		sent    bool // is it DynamoDB that finds out?
		want    string
	}{
		{"an empty prefix", "items", Query{Sort: BeginsWith("")}, true, false, "empty"},
		{"an empty binary", "items", Query{Sort: AtLeast([]byte{})}, true, false, "empty"},
		{"a number for a string", "items", Query{Sort: Equal(7)}, true, true, "ValidationException"},
		{"a filter on a key", "items", Query{Filter: "sk = :v", Values: ov(":v", "a")}, true, true, "key attribute"},
		{"an unused value", "items", Query{Values: ov(":v", "a")}, true, true, ":v"},
		{"an unused name", "items", Query{Names: map[string]string{"#n": "n"}}, true, true, "#n"},
		{"a part of a key", "items", Query{Projection: "n, sk.part"}, true, false, `"sk.part"`},
		{"no such table", "nothing", Query{}, false, true, "ResourceNotFoundException"},
	} {
		c := openItems(t, client, Options{Table: test.table, Layout: layout.Layout{Shards: 4}})
		for _, partial := range []bool{false, true} {
			q := test.query
			q.Key, q.Partial = "k", partial
			for what, err := range inEveryWay(c, q) {
				if test.query.Projection != "" && strings.HasSuffix(what, "count") {
					continue // counts do without
				}
				what = fmt.Sprintf("%s: %s, partial %t", test.name, what, partial)
				if errors.Is(err, ErrQuery) != test.invalid || err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: got %v, want %q", what, err, test.want)
				}
				if errors.As(err, new(*GatherError)) {
					t.Errorf("%s: %v: no shard is missing", what, err)
				}
				_, plain := err.(*ShardError)
				if plain != test.sent || test.sent && !errors.As(err, new(smithy.APIError)) {
					t.Errorf("%s: got %T, from DynamoDB: %t", what, err, test.sent)
				}
			}
		}
	}
}

// A count that has enough stops, and asks for about as much as that takes.
func TestLimitedCountIsCheap(t *testing.T) {
	store := &made{TB: t, keys: func(string) []string { return ranks(5000) }}
	store.item = func(string, string) Item { return Item{"x": text(strings.Repeat("x", 100))} }
	items := collection(t, store, sharded(8))
	for limit, most := range map[int]int{1: 20, 10: 200, 100: 300, 1000: 1500} {
		var meter Meter
		n, err := items.Count(WithMeter(bg, &meter), Query{Key: "k", Limit: limit})
		if read := meter.Cost().Items; err != nil || n != limit || read > most {
			t.Errorf("limit %d: got %d, %v, having read %d items, want %d at most", limit, n, err, read, most)
		}
		t.Logf("limit %d: %d items read", limit, meter.Cost().Items)
	}
	if mean, seen := items.core.history.MeanSize(); seen {
		t.Errorf("got items of %g bytes from counting, which reads keys only: later reads would take items to be that small", mean)
	}
	if n, err := items.Count(bg, Query{Key: "k", Limit: 100_000}); err != nil || n != 40_000 {
		t.Errorf("got %d, %v, want all 40,000", n, err)
	}
}

// Limited counts are those of a Query: of tables without a sort key, of indexes, and with filters.
func TestLimitedCounts(t *testing.T) {
	client := local.Start(t).Client()
	for _, s := range shapes {
		options := s.create(t, client)
		options.Layout = layout.Layout{Shards: 4}
		if s.calculated() {
			options.Layout.Strategy = layout.Calculated
		}
		var raw []Item
		for i := range 12 {
			item := Item{"pk": text(fmt.Sprintf("k#SHARD_%d", i%4)), "id": text(fmt.Sprint(i)), "n": number(fmt.Sprint(i % 2))}
			if s.number {
				item["pk"], item["shard"] = text("k"), number(fmt.Sprint(i%4))
			}
			if s.sort != attr.Invalid {
				item["sk"] = s.value(i % sortValues)
			}
			if s.index || s.sort != attr.Invalid || i < 4 {
				raw = append(raw, item)
			}
		}
		load(t, client, options.Table, raw)
		items := collection(t, client, options)
		odd := Query{Key: "k", Filter: "#n = :one", Projection: "#n, #id", Names: map[string]string{"#n": "n", "#id": "id"}, Values: Item{":one": number("1")}}
		for limit, want := range map[int]int{1: 1, 2: 2, 50: len(raw)} {
			if n, err := items.Count(bg, Query{Key: "k", Limit: limit}); err != nil || n != want {
				t.Errorf("%s: limit %d: got %d, %v, want %d", s.name, limit, n, err, want)
			}
			odd.Limit = limit
			if n, err := items.Count(bg, odd); err != nil || n != min(limit, len(raw)/2) {
				t.Errorf("%s: filtered, limit %d: got %d, %v, want %d", s.name, limit, n, err, min(limit, len(raw)/2))
			}
		}
	}
}

// Spaces in a projection are as DynamoDB takes them, and what is asked for twice is DynamoDB's to refuse.
func TestOddProjections(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	deep := &types.AttributeValueMemberM{Value: ov("b", "c")}
	load(t, client, "items", []Item{ov("pk", "k#SHARD_0", "sk", "s", "a", deep), ov("pk", "k#SHARD_1", "sk", "t", "a", deep)})
	c := openItems(t, client, Options{Layout: layout.Layout{Shards: 2}})
	for projection, names := range map[string]map[string]string{
		"\ta .b ,\n sk":    nil,
		"#a . b,#s":        {"#a": "a", "#s": "sk"},
		"sk , #a.#b":       {"#a": "a", "#b": "b"},
		" #s\t,a":          {"#s": "sk"},
		"a, #s, #s , a .b": {"#s": "sk"},
	} {
		got, err := all(bg, c, Query{Key: "k", Projection: projection, Names: names}, "sk")
		twice := strings.Count(projection, "#s") > 1
		if !twice && (err != nil || len(got) != 2 || got[0] != "s") || twice && !errors.Is(err, ErrQuery) {
			t.Errorf("%q: got %v, %v", projection, got, err)
		}
	}
}

package pagetoken

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func interval(t *testing.T, op sortkey.Op, lo, hi any) sortkey.Interval {
	iv, err := sortkey.NewInterval(op, lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// TestFingerprintsStayTheSame has fingerprints from before this package came to be: with others, no token is good any more.
func TestFingerprintsStayTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		query Query
		want  Fingerprints
	}{
		"key alone": {Query{Table: "t", PartitionKey: "pk", Key: "k"}, Fingerprints{0x53d04d3e6a4c284f, 0x3a54eda81d6066f1}},
		"everything": {
			Query{
				Table: "t", PartitionKey: "pk", SortKey: "sk", FirstSuffix: ".001", Older: []layout.Layout{{}, {Shards: 2}},
				Layout: layout.Layout{
					Shards: 4, Bucket: layout.Hour,
					Format: layout.Format{BucketPrefix: "/", HourMark: "h", ShardPrefix: ".", First: 1, Width: 3},
				},
				Key: "k", Filter: "#a <> :s", Projection: "#b", Reverse: true, Expired: true, Interval: interval(t, sortkey.BeginsWith, "a", nil),
				Names: map[string]string{"#a": "a", "#b": "b"},
				Values: attributes{
					":s": text("s"), ":n": number("1.50"), ":b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
					":ss": &types.AttributeValueMemberSS{Value: []string{"y", "x"}}, ":ns": &types.AttributeValueMemberNS{Value: []string{"2", "10"}},
					":bs": &types.AttributeValueMemberBS{Value: [][]byte{{2}, {1}}}, ":t": &types.AttributeValueMemberBOOL{Value: true},
					":f": &types.AttributeValueMemberBOOL{}, ":null": &types.AttributeValueMemberNULL{Value: true},
					":l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a"), number("1")}},
					":m": &types.AttributeValueMemberM{Value: attributes{"b": text("b"), "a": number("2")}},
				},
			},
			Fingerprints{0xbb2bc0604d292583, 0xcfd08898ac0cad9d},
		},
		"shard attribute": {
			Query{
				Table: "t", Index: "i", PartitionKey: "pk", SortKey: "sk", ShardAttribute: "n",
				Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Key: "k", Interval: interval(t, sortkey.Between, 1, 10),
			},
			Fingerprints{0xae14b3287c1e3530, 0xae14b3287c1e3530},
		},
	} {
		if got := test.query.Fingerprints(); got != test.want {
			t.Errorf("%s: got %#x, want %#x", name, got, test.want)
		}
	}
}

// Every field of a query counts, on one shard and on many, unless it is only about how shards are spelt.
func TestFingerprintsDiffer(t *testing.T) {
	values := func(v types.AttributeValue) func(*Query) {
		return func(q *Query) { q.Values = attributes{":a": v} }
	}
	spelt := func(f layout.Format) func(*Query) { return func(q *Query) { q.Layout.Format = f } }
	edits := map[string]func(*Query){
		"nothing":         func(*Query) {},
		"table":           func(q *Query) { q.Table = "u" },
		"index":           func(q *Query) { q.Index = "i" },
		"partition key":   func(q *Query) { q.PartitionKey = "p" },
		"sort key":        func(q *Query) { q.SortKey = "s" },
		"shard attribute": func(q *Query) { q.ShardAttribute = "n" },
		"bucket":          func(q *Query) { q.Layout.Bucket = layout.Hour },
		"bucket prefix":   spelt(layout.Format{BucketPrefix: "/"}),
		"hour mark":       spelt(layout.Format{HourMark: "h"}),
		"first suffix":    func(q *Query) { q.FirstSuffix = "#0" },
		"older":           func(q *Query) { q.Older = []layout.Layout{{}} },
		"another older":   func(q *Query) { q.Older = []layout.Layout{{Shards: 2}} },
		"key":             func(q *Query) { q.Key = "k2" },
		"filter":          func(q *Query) { q.Filter = "a = b" },
		"projection":      func(q *Query) { q.Projection = "a = b" },
		"reverse":         func(q *Query) { q.Reverse = true },
		"expired":         func(q *Query) { q.Expired = true },
		"names":           func(q *Query) { q.Names = map[string]string{"#a": "a"} },
		"less":            func(q *Query) { q.Interval = interval(t, sortkey.Less, nil, "m") },
		"at most":         func(q *Query) { q.Interval = interval(t, sortkey.AtMost, nil, "m") },
		"greater":         func(q *Query) { q.Interval = interval(t, sortkey.Greater, "m", nil) },
		"at least":        func(q *Query) { q.Interval = interval(t, sortkey.AtLeast, "m", nil) },
		"begins with":     func(q *Query) { q.Interval = interval(t, sortkey.BeginsWith, "m", nil) },
		"begins as range": func(q *Query) {
			q.Interval = interval(t, sortkey.BeginsWith, "m", nil)
			q.Interval.Prefix = false
		},
		"a list of none":  values(&types.AttributeValueMemberL{}),
		"a list of lists": values(&types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberL{}, text("a")}}),
		"one in another":  values(&types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberL{Value: []types.AttributeValue{text("a")}}}}),
		"a map":           values(&types.AttributeValueMemberM{Value: attributes{"a": text("a")}}),
		"a map of maps":   values(&types.AttributeValueMemberM{Value: attributes{"a": &types.AttributeValueMemberM{Value: attributes{"a": text("a")}}}}),
	}
	base := func() *Query {
		return &Query{Table: "t", PartitionKey: "pk", Key: "k", Layout: layout.Layout{Shards: 8, Bucket: layout.Day}}
	}
	one, many := map[uint64]string{}, map[uint64]string{}
	for name, edit := range edits {
		q := base()
		edit(q)
		f := q.Fingerprints()
		if f.At(1) != f.One || f.At(0) != f.One || f.At(2) != f.Many {
			t.Errorf("%s: At confuses one and many", name)
		}
		if other, ok := one[f.One]; ok {
			t.Errorf("%s and %s are the same on one shard", name, other)
		}
		if other, ok := many[f.Many]; ok {
			t.Errorf("%s and %s are the same on many shards", name, other)
		}
		one[f.One], many[f.Many] = name, name
	}
	same := base().Fingerprints()
	for name, f := range map[string]layout.Format{"prefix": {ShardPrefix: "."}, "first": {First: 1}, "width": {Width: 3}} {
		q := base()
		q.Layout.Format = f
		if got := q.Fingerprints(); got.One != same.One || got.Many == same.Many {
			t.Errorf("%s: got %#x, want only the second of %#x to change", name, got, same)
		}
	}
	wider := base()
	wider.Layout.Shards, wider.Layout.Strategy = 64, layout.Calculated
	if wider.Fingerprints() != same {
		t.Error("how many shards there are, or who chooses them, changes the fingerprints")
	}
}

// The order of a set does not count, and hashing one leaves it as it was.
func TestFingerprintsOfSets(t *testing.T) {
	elements := []string{"y", "x"}
	of := func(elements ...string) Fingerprints {
		q := Query{Values: attributes{":a": &types.AttributeValueMemberSS{Value: elements}}}
		return q.Fingerprints()
	}
	if of("x", "y") != of(elements...) {
		t.Error("the order of a set changes the fingerprints")
	}
	if !slices.Equal(elements, []string{"y", "x"}) {
		t.Error("the caller's set was sorted")
	}
}

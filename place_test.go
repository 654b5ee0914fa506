package heatsink

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
)

// coreOf returns the core of a collection that is never asked to send anything.
func coreOf(t testing.TB, options Options) *core {
	t.Helper()
	return openItems(t, &dynamodb.Client{}, options).core
}

func TestEventTime(t *testing.T) {
	want := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		unit  TimeUnit
		value types.AttributeValue
		want  time.Time
	}{
		{"text", RFC3339, sv("2026-06-22T01:00:00Z"), want},
		{"text with an offset", RFC3339, sv("2026-06-22T03:00:00+02:00"), want},
		{"text with a fraction", RFC3339, sv("2026-06-22T01:00:00.5Z"), want.Add(time.Second / 2)},
		{"text followed by more", RFC3339, sv("2026-06-22T01:00:00Z#order#7"), want},
		{"seconds", UnixSeconds, nv(int(want.Unix())), want},
		{"seconds with an exponent", UnixSeconds, &types.AttributeValueMemberN{Value: "1E9"}, time.Unix(1_000_000_000, 0)},
		{"seconds with a fraction", UnixSeconds, &types.AttributeValueMemberN{Value: "1000000000.9"}, time.Unix(1_000_000_000, 900e6)},
		{"seconds before 1970", UnixSeconds, &types.AttributeValueMemberN{Value: "-0.5"}, time.Unix(-1, 500e6)},
		{"seconds as text", UnixSeconds, sv("1000000000#x"), time.Unix(1_000_000_000, 0)},
		{"milliseconds", UnixMilliseconds, nv(1_000_000_000_123), time.UnixMilli(1_000_000_000_123)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := EventTime{Attribute: "at", Unit: c.unit}.of(Item{"at": c.value})
			if err != nil || !got.Equal(c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestEventTimeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		unit  TimeUnit
		value types.AttributeValue
		says  string
	}{
		{"missing", RFC3339, nil, "missing"},
		{"not a time", RFC3339, sv("yesterday"), `"yesterday"`},
		{"number for text", RFC3339, nv(5), `"5"`},
		{"text for a number", UnixSeconds, sv("soon"), `"soon"`},
		{"too large", UnixSeconds, &types.AttributeValueMemberN{Value: "1E15"}, `"1E15"`},
		{"far too large", UnixMilliseconds, &types.AttributeValueMemberN{Value: "1E100"}, `"1E100"`},
		{"list", UnixSeconds, &types.AttributeValueMemberL{}, "a L"},
	} {
		t.Run(c.name, func(t *testing.T) {
			item := Item{}
			if c.value != nil {
				item["at"] = c.value
			}
			_, err := EventTime{Attribute: "at", Unit: c.unit}.of(item)
			if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"at"`) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an ErrItem that names the attribute and %s", err, c.says)
			}
		})
	}
}

func TestID(t *testing.T) {
	one := coreOf(t, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	for _, c := range []struct {
		value types.AttributeValue
		want  string
	}{
		{sv("order-7"), "order-7"},
		{&types.AttributeValueMemberB{Value: []byte{0, 255}}, "\x00\xff"},
		{&types.AttributeValueMemberN{Value: "1.50E1"}, "15"},
		{&types.AttributeValueMemberN{Value: "015.0"}, "15"},
	} {
		if got, err := one.id(Item{"sk": c.value}); got != c.want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, c.want)
		}
	}
	for _, item := range []Item{{}, {"sk": &types.AttributeValueMemberBOOL{}}, {"sk": &types.AttributeValueMemberN{Value: "x"}}} {
		if _, err := one.id(item); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"sk"`) {
			t.Errorf("%v: got %v, want an ErrItem that names the attribute", item, err)
		}
	}
}

// Ids of several attributes are the same only if the attributes are.
func TestIDOfSeveral(t *testing.T) {
	c := coreOf(t, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, ShardBy: []string{"a", "b"}})
	value := rapid.Custom(func(t *rapid.T) types.AttributeValue {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("01S\x01")), 1, 3, -1).Draw(t, "text")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return sv(text)
		case 1:
			return nv(len(text))
		}
		return &types.AttributeValueMemberB{Value: []byte(text)}
	})
	rapid.Check(t, func(t *rapid.T) {
		x := Item{"a": value.Draw(t, "a"), "b": value.Draw(t, "b")}
		y := Item{"a": value.Draw(t, "c"), "b": value.Draw(t, "d")}
		idX, _ := c.id(x)
		idY, _ := c.id(y)
		if (idX == idY) != attribute.Same(x, y) {
			t.Fatalf("%s has id %q and %s has %q", showItem(x), idX, showItem(y), idY)
		}
	})
}

func TestPlaceRefuses(t *testing.T) {
	bucketed := Options{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}}
	for _, c := range []struct {
		name    string
		options Options
		item    Item
		says    string
	}{
		{"no key", Options{}, ov("sk", "1"), `"pk" is missing`},
		{"empty key", Options{}, ov("pk", "", "sk", "1"), `"pk"`},
		{"number for a key", Options{}, ov("pk", 5, "sk", "1"), `"pk" is the number "5"`},
		{"no sort key", Options{}, ov("pk", "a"), `"sk" is missing`},
		{"no time", bucketed, ov("pk", "a", "sk", "1"), `"at" is missing`},
		{"shard key for a key", Options{Layout: layout.Layout{Shards: 4}}, ov("pk", "a#SHARD_1", "sk", "1"), "already ends like"},
		{"no id", Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, ShardBy: []string{"user"}}, ov("pk", "a", "sk", "1"), `"user"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			core := coreOf(t, c.options)
			if _, err := core.place(context.Background(), c.item); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an ErrItem with %s", err, c.says)
			}
		})
	}
}

func TestWidthsAreChecked(t *testing.T) {
	for _, c := range []struct {
		width      layout.Width
		calculated bool
		ok         bool
	}{
		{layout.Width{Write: 1, Read: 1}, false, true},
		{layout.Width{Write: 3, Read: 5}, false, true},
		{layout.Width{Write: 2, Read: 8}, true, true},
		{layout.Width{Write: 0, Read: 1}, false, false},
		{layout.Width{Write: 2, Read: 1}, false, false},
		{layout.Width{Write: 1, Read: layout.MaxShards + 1}, false, false},
		{layout.Width{Write: 3, Read: 4}, true, false},
		{layout.Width{Write: 2, Read: 6}, true, false},
	} {
		options := Options{Widths: &growing{width: c.width}, Layout: layout.Layout{Shards: 1}}
		if c.calculated {
			options.Layout.Strategy = layout.Calculated
		}
		_, err := coreOf(t, options).place(context.Background(), ov("pk", "hot", "sk", "1"))
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), `"hot"`) {
			t.Errorf("%+v, calculated %t: got %v, want ok to be %t and an error to name the key", c.width, c.calculated, err, c.ok)
		}
	}
}

func TestHomes(t *testing.T) {
	keys := func(homes []target) (keys []string) {
		for _, h := range homes {
			keys = append(keys, h.shardKey)
		}
		return keys
	}
	calculated := layout.Layout{Shards: 8, Strategy: layout.Calculated}
	home := func(n int) string {
		key, err := calculated.ShardKey("k", time.Time{}, calculated.WithShards(n).Shard("id"))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	distinct := func(keys ...string) (distinct []string) {
		for _, key := range keys {
			if !slices.Contains(distinct, key) {
				distinct = append(distinct, key)
			}
		}
		return distinct
	}
	bare := layout.Format{BareZero: true}
	for _, c := range []struct {
		name    string
		options Options
		every   bool
		want    []string
	}{
		{"not spread", Options{}, false, []string{"k"}},
		{"random", Options{Layout: layout.Layout{Shards: 3}}, false, []string{"k#SHARD_0", "k#SHARD_1", "k#SHARD_2"}},
		{"calculated", Options{Layout: calculated}, false, []string{home(8)}},
		{"calculated, every", Options{Layout: calculated.WithShards(2)}, true, []string{"k#SHARD_0", "k#SHARD_1"}},
		{
			"calculated and growing",
			Options{Layout: calculated, Widths: &growing{width: layout.Width{Write: 8, Read: 8}}},
			false,
			distinct(home(8), home(4), home(2), home(1)),
		},
		{
			"calculated and narrower again",
			Options{Layout: calculated, Widths: &growing{width: layout.Width{Write: 2, Read: 8}}},
			false,
			distinct(home(2), home(8), home(4), home(1)),
		},
		{
			"older layouts",
			Options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{{}, {Shards: 2, Format: layout.SharpNumber()}}},
			false,
			[]string{"k#SHARD_0", "k#SHARD_1", "k", "k#SHARD#0", "k#SHARD#1"},
		},
		{"the same older shard", Options{Layout: layout.Layout{Shards: 2, Format: bare}, Older: []layout.Layout{{}}}, false, []string{"k", "k#SHARD_1"}},
		{"older and calculated", Options{Older: []layout.Layout{calculated}}, false, []string{"k", home(8)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			homes, err := coreOf(t, c.options).homes(context.Background(), ov("pk", "k", "sk", "id"), c.every)
			if got := keys(homes); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// What is stored is restored: by whom knows the key, and by whom does not.
func TestRestore(t *testing.T) {
	day := EventTime{Attribute: "at"}
	index := Options{Index: "listing", TableKey: []string{"id"}}
	with := func(o Options, edit func(*Options)) Options { edit(&o); return o }
	for _, c := range []struct {
		name    string
		options Options
	}{
		{"not spread", Options{}},
		{"random", Options{Layout: layout.Layout{Shards: 10}}},
		{"calculated", Options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}}},
		{"growing", Options{Widths: &growing{width: layout.Width{Write: 64, Read: 64}}}},
		{"by day", Options{Layout: layout.Layout{Shards: 10, Bucket: layout.Day}, EventTime: day}},
		{"index", with(index, func(o *Options) { o.Layout = layout.Layout{Shards: 10, Strategy: layout.Calculated} })},
		{"index by day", with(index, func(o *Options) {
			o.Layout, o.EventTime = layout.Layout{Shards: 10, Strategy: layout.Calculated, Bucket: layout.Day}, day
		})},
		{"index with a number", with(index, func(o *Options) {
			o.Layout, o.ShardAttribute = layout.Layout{Shards: 10, Strategy: layout.Calculated}, "shard"
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			core := coreOf(t, c.options)
			item := ov("pk", "PAGE#1", "sk", "s", "id", "i7", "at", "2026-06-22T01:00:00Z", "n", 1)
			p, err := core.place(context.Background(), item)
			if err != nil {
				t.Fatal(err)
			}
			known, parsed := core.stored(p, item), core.stored(p, item)
			if c.options.Layout.Shards > 0 && attribute.Same(known, item) {
				t.Errorf("stored as %s, want another key", showItem(known))
			}
			core.restore(known, sv("PAGE#1"))
			core.restoreParsed(parsed)
			wantItem(t, "restored by key", known, item)
			wantItem(t, "restored by parsing", parsed, item)
		})
	}

	core := coreOf(t, Options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{{}, {Shards: 2, Format: layout.SharpNumber()}}})
	for stored, want := range map[string]string{"a#SHARD_1": "a", "a#SHARD#1": "a", "a": "a", "a#SHARD_x": "a#SHARD_x"} {
		item := ov("pk", stored)
		core.restoreParsed(item)
		wantItem(t, stored, item, ov("pk", want))
	}
	part := ov("n", 1)
	core.restore(part, sv("a"))
	core.restoreParsed(part)
	wantItem(t, "a part without the key", part, ov("n", 1))
}

package place

import (
	"context"
	"errors"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
)

// What is stored is restored: by whom knows the key, and by whom does not.
func TestRestore(t *testing.T) {
	day := EventTime{Attribute: "at"}
	index := options{Index: "listing", TableKey: []string{"id"}}
	with := func(o options, edit func(*options)) options { edit(&o); return o }
	for _, c := range []struct {
		name    string
		options options
	}{
		{"not spread", options{}},
		{"random", options{Layout: layout.Layout{Shards: 10}}},
		{"calculated", options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}}},
		{"growing", options{Widths: layout.Width{Write: 64, Read: 64}}},
		{"by day", options{Layout: layout.Layout{Shards: 10, Bucket: layout.Day}, EventTime: day}},
		{"index", with(index, func(o *options) { o.Layout = layout.Layout{Shards: 10, Strategy: layout.Calculated} })},
		{"index by day", with(index, func(o *options) {
			o.Layout, o.EventTime = layout.Layout{Shards: 10, Strategy: layout.Calculated, Bucket: layout.Day}, day
		})},
		{"index with a number", with(index, func(o *options) {
			o.Layout, o.ShardAttribute = layout.Layout{Shards: 10, Strategy: layout.Calculated}, "shard"
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			placer := placerOf(c.options)
			schema := placer.schema
			item := ov("pk", "PAGE#1", "sk", "s", "id", "i7", "at", "2026-06-22T01:00:00Z", "n", 1)
			p, err := placer.Place(context.Background(), item, false)
			if err != nil {
				t.Fatal(err)
			}
			known, parsed := placer.Stored(p, item), placer.Stored(p, item)
			if c.options.Layout.Shards > 0 && attribute.Same(known, item) {
				t.Errorf("stored as %s, want another key", showItem(known))
			}
			schema.Restore(known, sv("PAGE#1"))
			schema.restoreParsed(parsed)
			wantItem(t, "restored by key", known, item)
			wantItem(t, "restored by parsing", parsed, item)
		})
	}

	schema := schemaOf(options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{{}, {Shards: 2, Format: layout.SharpNumber()}}})
	for stored, want := range map[string]string{"a#SHARD_1": "a", "a#SHARD#1": "a", "a": "a", "a#SHARD_x": "a#SHARD_x"} {
		item := ov("pk", stored)
		schema.restoreParsed(item)
		wantItem(t, stored, item, ov("pk", want))
	}
	part := ov("n", 1)
	schema.Restore(part, sv("a"))
	schema.restoreParsed(part)
	wantItem(t, "a part without the key", part, ov("n", 1))
}

// What reads as a bare key and as a shard of an older layout is the shard: as a key the older layout would have refused it.
func TestParseBareOrOlder(t *testing.T) {
	schema := schemaOf(options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}, Older: []layout.Layout{{Shards: 4, Format: layout.PlainNumber()}}})
	for stored, want := range map[string]layout.Place{
		"a":             {Key: "a"},
		"a#1":           {Key: "a", Shard: 1},
		"a#SHARD_5":     {Key: "a", Shard: 5},
		"USER#x":        {Key: "USER#x"},
		"USER#1#SHARD_": {Key: "USER#1#SHARD_"},
	} {
		if got, err := schema.parse(stored); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", stored, got, err, want)
		}
	}
}

// Widths make only the layout's own keys wide: an older layout that did not spread still has bare ones.
func TestParseBareOlderWithWidths(t *testing.T) {
	schema := schemaOf(options{Widths: layout.Width{Write: 4, Read: 4}, Older: []layout.Layout{{}}})
	for stored, want := range map[string]layout.Place{"k": {Key: "k"}, "k#SHARD_3": {Key: "k", Shard: 3}} {
		if got, err := schema.parse(stored); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", stored, got, err, want)
		}
	}
}

func TestDecodeLeavesTheStoredItem(t *testing.T) {
	schema := schemaOf(options{Index: "i", TableKey: []string{"id"}, ShardAttribute: "shard", Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}})
	for name, stored := range map[string]func() Item{
		"listed":   func() Item { return ov("id", "i", "pk", "a", "sk", "1", "shard", 1) },
		"unlisted": func() Item { return ov("id", "i", "shard", 1) },
	} {
		item := stored()
		got, _, err := schema.Decode(context.Background(), item)
		if err != nil || got["shard"] != nil {
			t.Errorf("%s: got %s, %v, want no shard", name, showItem(got), err)
		}
		wantItem(t, name, item, stored())
	}
}

func TestFirstSuffix(t *testing.T) {
	for _, c := range []struct {
		name    string
		options options
		want    string
	}{
		{"not spread", options{}, ""},
		{"spread", options{Layout: layout.Layout{Shards: 2}}, "#SHARD_0"},
		{"widths", options{Widths: layout.Width{Write: 1, Read: 1}}, "#SHARD_0"},
		{"bare", options{Layout: layout.Layout{Shards: 2, Format: layout.Format{BareZero: true}}}, ""},
		{"number", options{Index: "i", TableKey: []string{"id"}, ShardAttribute: "shard", Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}}, ""},
	} {
		if got := schemaOf(c.options).FirstSuffix(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A shard attribute is a number from 0 on; what is odd about it withholds no item that was read.
func TestShardAttribute(t *testing.T) {
	schema := schemaOf(options{Index: "i", TableKey: []string{"id"}, ShardAttribute: "shard", Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}})
	for _, c := range []struct {
		shard    any
		ok, wide bool
	}{{0, true, true}, {1, true, true}, {2, true, false}, {-1, false, true}, {"0", false, true}} {
		item := ov("id", "i", "pk", "a", "shard", c.shard)
		got, err := schema.placeOf(item)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrItem) || c.ok && (got.Key != "a" || got.Shard != c.shard) {
			t.Errorf("shard %v: got %+v, %v, want it to be read: %t", c.shard, got, err, c.ok)
		}
		if err := schema.CheckListing(context.Background(), item); errors.Is(err, ErrTooNarrow) == c.wide {
			t.Errorf("shard %v: got %v, want it to be read by queries: %t", c.shard, err, c.wide)
		}
	}
}

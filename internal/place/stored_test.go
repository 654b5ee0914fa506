package place

import (
	"context"
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

package place

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/layout"
)

func TestPlaceRefuses(t *testing.T) {
	bucketed := options{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}}
	for _, c := range []struct {
		name    string
		options options
		item    Item
		says    string
	}{
		{"no key", options{}, ov("sk", "1"), `"pk" is missing`},
		{"empty key", options{}, ov("pk", "", "sk", "1"), `"pk"`},
		{"number for a key", options{}, ov("pk", 5, "sk", "1"), `"pk" is the number "5"`},
		{"no sort key", options{}, ov("pk", "a"), `"sk" is missing`},
		{"no time", bucketed, ov("pk", "a", "sk", "1"), `"at" is missing`},
		{"shard key for a key", options{Layout: layout.Layout{Shards: 4}}, ov("pk", "a#SHARD_1", "sk", "1"), "already ends like"},
		{"no id", options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, ShardBy: []string{"user"}}, ov("pk", "a", "sk", "1"), `"user"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			placer := placerOf(c.options)
			if _, err := placer.Place(context.Background(), c.item, false); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), c.says) {
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
		options := options{Widths: c.width, Layout: layout.Layout{Shards: 1}}
		if c.calculated {
			options.Layout.Strategy = layout.Calculated
		}
		_, err := placerOf(options).Place(context.Background(), ov("pk", "hot", "sk", "1"), false)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), `"hot"`) {
			t.Errorf("%+v, calculated %t: got %v, want ok to be %t and an error to name the key", c.width, c.calculated, err, c.ok)
		}
	}
}

// With an index, an item without its key is placed in the table only, and one that the index could not list is refused.
func TestPlaceByIndex(t *testing.T) {
	ctx := context.Background()
	placer := placerOf(options{
		Index: "listing", TableKey: []string{"id"}, ShardAttribute: "shard",
		Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated},
	})
	unlisted := ov("id", "i", "pk", "")
	at, err := placer.Place(ctx, unlisted, true)
	if err != nil || at.Home != (Home{}) {
		t.Fatalf("off the list: got %+v, %v", at, err)
	}
	wantItem(t, "off the list", placer.Stored(at, unlisted), ov("id", "i"))
	if _, err := placer.Place(ctx, ov("id", "i", "pk", "a"), false); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"sk"`) {
		t.Errorf("without the index's sort key: got %v, want an ErrItem that names it", err)
	}
	if _, _, err := placer.Listing(ctx, ov("pk", "a"), nil); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"id"`) {
		t.Errorf("a listing without the table's key: got %v, want an ErrItem that names it", err)
	}
	home, listing, err := placer.Listing(ctx, ov("id", "i", "pk", "a"), nil)
	if err != nil || home.ShardKey != "a" {
		t.Errorf("listing: got %+v, %v", home, err)
	}
	wantItem(t, "listing", listing, ov("pk", "a", "shard", home.Shard))
}

// A key is placed if every older layout takes it in all its shards, also where its suffix is longest.
func TestPlaceAsksOlderLayouts(t *testing.T) {
	key := strings.Repeat("k", 2048-len("#SHARD_9"))
	for shards, ok := range map[int]bool{10: true, 11: false} {
		placer := placerOf(options{Older: []layout.Layout{{Shards: shards}}})
		_, err := placer.Place(context.Background(), ov("pk", key, "sk", "1"), false)
		if (err == nil) != ok || !ok && (!errors.Is(err, ErrItem) || !strings.Contains(err.Error(), "Older[0]")) {
			t.Errorf("%d older shards: got %v, want it to be placed: %t", shards, err, ok)
		}
	}
}

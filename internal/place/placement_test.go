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

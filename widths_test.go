package heatsink

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// Widths that are wrong for sure are refused when the collection is opened.
func TestOpenChecksWidths(t *testing.T) {
	empty := layout.WidthTable{}
	table := layout.WidthTable{Default: layout.Width{Write: 1, Read: 1}, Keys: map[string]layout.Width{"hot": {Write: 3, Read: 6}}}
	var live layout.LiveWidths
	if err := live.Replace(table); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		widths     layout.Widths
		calculated bool
		says       string
	}{
		{"width", layout.Width{Write: 4, Read: 16}, true, ""},
		{"no width", layout.Width{}, false, "Write is 0, want 1 or more"},
		{"no power of two", layout.Width{Write: 4, Read: 12}, true, "powers of two"},
		{"not calculated", layout.Width{Write: 4, Read: 12}, false, ""},
		{"table", table, false, ""},
		{"table by pointer", &table, false, ""},
		{"calculated table", table, true, `key "hot": invalid width 3/6: a Calculated layout needs powers of two`},
		{"empty table", empty, false, "default"},
		{"empty key", layout.WidthTable{Default: layout.Width{Write: 1, Read: 1}, Keys: map[string]layout.Width{"": {Write: 1, Read: 1}}}, false, `no item can have the key: invalid key "": it is empty`},
		{"shard key", layout.WidthTable{Default: layout.Width{Write: 1, Read: 1}, Keys: map[string]layout.Width{"X#SHARD_1": {Write: 1, Read: 1}}}, false, `no item can have the key: invalid key "X#SHARD_1": it already ends like a shard`},
		{"no table", (*layout.WidthTable)(nil), false, "nil"},
		{"live", &live, false, ""},
		{"calculated live", &live, true, "powers of two"},
		{"empty live", &layout.LiveWidths{}, false, "call Replace first"},
		{"no live", (*layout.LiveWidths)(nil), false, "nil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := sharded(1)
			options.Widths = c.widths
			if c.calculated {
				options.Layout.Strategy = layout.Calculated
			}
			_, err := Open[Item](&dynamodb.Client{}, options)
			if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// A key that is left out of a configuration is refused while its shards may hold items, and no item is missed meanwhile.
func TestLiveWidthsDropAKey(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	var live layout.LiveWidths
	options.Widths = &live
	replace := func(text string) error {
		var table layout.WidthTable
		if err := json.Unmarshal([]byte(text), &table); err != nil {
			t.Fatal(err)
		}
		return live.Replace(table)
	}
	if err := replace(`{"default": "1", "keys": {"hot": "16"}}`); err != nil {
		t.Fatal(err)
	}
	items := collection(t, client, options)
	for i := range 40 {
		if _, err := items.Put(t.Context(), Item{"pk": text("hot"), "sk": text(fmt.Sprintf("%02d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	err := replace(`{"default": "1"}`)
	if !errors.Is(err, layout.ErrWidth) || !strings.Contains(err.Error(), `key "hot": width 1 cannot replace 16`) ||
		!strings.Contains(err.Error(), "write to fewer shards first (1/16), and read fewer when the others are empty") {
		t.Errorf("got %v", err)
	}
	if n, err := items.Count(t.Context(), Query{Key: "hot"}); n != 40 || err != nil {
		t.Errorf("got %d items, %v, want 40", n, err)
	}
	for _, next := range []string{`{"default": "1", "keys": {"hot": "1/16"}}`, `{"default": "1"}`} {
		if err := replace(next); err != nil {
			t.Errorf("%s: %v", next, err)
		}
	}
}

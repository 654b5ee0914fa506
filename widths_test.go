package heatsink

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/local"
)

func TestWidthText(t *testing.T) {
	for text, want := range map[string]Width{"4/16": {4, 16}, "16": {16, 16}, "1": {1, 1}, "16/16": {16, 16}, "1/65536": {1, layout.MaxShards}} {
		var got Width
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
		written, err := got.MarshalText()
		var again Width
		if err != nil || again.UnmarshalText(written) != nil || again != want {
			t.Errorf("%s: written as %s, %v, and read as %+v", text, written, err, again)
		}
	}
	for text, says := range map[string]string{
		"": "such as 4/16", "/": "such as 4/16", "4/": "such as 4/16", "/4": "such as 4/16", "four": "such as 4/16", "4/16/64": "such as 4/16",
		"-1": "such as 4/16", " 4": "such as 4/16", "99999999999999999999": "such as 4/16",
		"0": "at least 1", "0/4": "at least 1", "16/4": "more shards are written than read", "1/65537": "65536 shards at most",
	} {
		w := Width{2, 3}
		if err := w.UnmarshalText([]byte(text)); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), says) || w != (Width{2, 3}) {
			t.Errorf("%q: got %+v, %v, want an error with %q and the width as it was", text, w, err, says)
		}
	}
	if _, err := (Width{}).MarshalText(); !errors.Is(err, ErrOptions) {
		t.Errorf("a width of nothing: got %v, want ErrOptions", err)
	}
}

func FuzzWidthText(f *testing.F) {
	for _, seed := range []string{"4/16", "16", "16/4", "", "00004/0016", "1/65537"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var w Width
		if w.UnmarshalText([]byte(text)) != nil {
			return
		}
		written, err := w.MarshalText()
		var again Width
		if err != nil || again.UnmarshalText(written) != nil || again != w {
			t.Errorf("%q is %+v, written as %q, %v, and read as %+v", text, w, written, err, again)
		}
	})
}

// Widths that are wrong for sure are refused when the collection is opened.
func TestOpenChecksWidths(t *testing.T) {
	empty := WidthTable{}
	table := WidthTable{Default: Width{1, 1}, Keys: map[string]Width{"hot": {3, 6}}}
	var live LiveWidths
	if err := live.Replace(table); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		widths     Widths
		calculated bool
		says       string
	}{
		{"width", Width{4, 16}, true, ""},
		{"no width", Width{}, false, "at least 1"},
		{"no power of two", Width{4, 12}, true, "powers of two"},
		{"not calculated", Width{4, 12}, false, ""},
		{"table", table, false, ""},
		{"table by pointer", &table, false, ""},
		{"calculated table", table, true, `key "hot": invalid options: width 3/6: a Calculated layout takes powers of two`},
		{"empty table", empty, false, "default"},
		{"empty key", WidthTable{Default: Width{1, 1}, Keys: map[string]Width{"": {1, 1}}}, false, `key "" has a width, but no item can have the key: it is empty`},
		{"shard key", WidthTable{Default: Width{1, 1}, Keys: map[string]Width{"X#SHARD_1": {1, 1}}}, false, `key "X#SHARD_1" has a width, but no item can have the key: it already ends like a shard`},
		{"no table", (*WidthTable)(nil), false, "nil"},
		{"live", &live, false, ""},
		{"calculated live", &live, true, "powers of two"},
		{"empty live", &LiveWidths{}, false, "call Replace first"},
		{"no live", (*LiveWidths)(nil), false, "nil"},
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

func TestWidthTable(t *testing.T) {
	var table WidthTable
	if err := json.Unmarshal([]byte(`{"default": "4", "keys": {"hot": "16/64"}}`), &table); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]Width{"hot": {16, 64}, "other": {4, 4}} {
		if got, err := table.Width(t.Context(), key, time.Time{}); got != want || err != nil {
			t.Errorf("%s: got %+v, %v, want %+v", key, got, err, want)
		}
	}
	table.Keys["hot"] = Width{5, 2}
	if err := table.Validate(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), `"hot"`) {
		t.Errorf("got %v, want an error that names the key", err)
	}
	table.Keys = map[string]Width{"": {1, 1}}
	if err := table.Validate(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), `key "" has a width, but no item can have the key: it is empty`) {
		t.Errorf("the empty key: got %v", err)
	}
}

// A configuration that says something else than was meant is refused with the place, and leaves the table as it was.
func TestWidthTableFromJSON(t *testing.T) {
	before := WidthTable{Default: Width{1, 1}, Keys: map[string]Width{"old": {2, 2}}}
	for text, want := range map[string]WidthTable{
		`{"default": "4", "keys": {"hot": "16/64"}}`:    {Default: Width{4, 4}, Keys: map[string]Width{"old": {2, 2}, "hot": {16, 64}}},
		` { "default" : 4 , "keys" : { "hot" : 16 } } `: {Default: Width{4, 4}, Keys: map[string]Width{"old": {2, 2}, "hot": {16, 16}}},
		`{"keys": null}`:           before,
		`{"keys": {"old": "3"}}`:   {Default: Width{1, 1}, Keys: map[string]Width{"old": {3, 3}}},
		`{"default": "\u0034/16"}`: {Default: Width{4, 16}, Keys: before.Keys},
		`null`:                     before,
		`{}`:                       before,
	} {
		got := WidthTable{Default: before.Default, Keys: maps.Clone(before.Keys)}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Default != want.Default || !maps.Equal(got.Keys, want.Keys) {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, says := range map[string][]string{
		`{"default": "1", "keys": {"hot": "64/16"}}`:          {`key "hot": `, "width 64/16: more shards are written than read"},
		`{"default": "8/4"}`:                                  {"default: ", "width 8/4"},
		`{"default": "1", "keys": {"hot": "0", "cold": "x"}}`: {`key "hot": `, `key "cold": `},
		`{"default": 4.5}`:                                    {`default: `, `width "4.5"`, "such as 4/16"},
		`{"default": -4}`:                                     {`default: `, `width "-4"`},
		`{"default": true}`:                                   {`default: `, `width "true": write it as text, such as "4/16"`},
		`{"default": {"Write": 4, "Read": 16}}`:               {`default: `, `write it as text, such as "4/16"`},
		`{"default": null}`:                                   {`default: `, "width null"},
		`{"default": "1", "keys": {"hot": null}}`:             {`key "hot": `, "width null"},
		`{"default": "1", "key": {"hot": "16"}}`:              {`unknown field "key": want default or keys`},
		`{"default": "1", "keys": {"hot": "4", "hot": "16"}}`: {`keys: "hot" is there twice`},
		`{"default": "1", "default": "4"}`:                    {`width table: "default" is there twice`},
		`{"default": "1", "keys": ["hot"]}`:                   {`keys: `, "is not an object"},
		`"4/16"`:                                              {`width table: `, "is not an object"},
	} {
		got := WidthTable{Default: before.Default, Keys: maps.Clone(before.Keys)}
		err := json.Unmarshal([]byte(text), &got)
		for _, says := range says {
			if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v, want %q in it", text, err, says)
			}
		}
		if got.Default != before.Default || !maps.Equal(got.Keys, before.Keys) {
			t.Errorf("%s: got %+v, want the table as it was", text, got)
		}
	}
	var config struct{ Width Width }
	if err := json.Unmarshal([]byte(`{"Width": 8}`), &config); err != nil || config.Width != (Width{8, 8}) {
		t.Errorf("got %+v, %v", config, err)
	}
	if err := json.Unmarshal([]byte(`{"Width": null}`), &config); err != nil || config.Width != (Width{8, 8}) {
		t.Errorf("null: got %+v, %v, want what it was", config, err)
	}
}

// A text that is read says the same when it is written and read again, and a bad one changes nothing.
func FuzzWidthTableJSON(f *testing.F) {
	for _, seed := range []string{`{"default": "4", "keys": {"hot": "16/64"}}`, `{"default": 4}`, `{"keys": {"": 1}}`, `null`, `{"default"`, `[]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var table WidthTable
		if err := table.UnmarshalJSON([]byte(text)); err != nil {
			if !errors.Is(err, ErrOptions) || table.Default != (Width{}) || table.Keys != nil {
				t.Errorf("%q: got %v and %+v, want ErrOptions and nothing", text, err, table)
			}
			return
		}
		if table.Default == (Width{}) {
			return // cannot be written
		}
		written, err := json.Marshal(table)
		var again WidthTable
		if err != nil || json.Unmarshal(written, &again) != nil || again.Default != table.Default || !maps.Equal(again.Keys, table.Keys) {
			t.Errorf("%q is %+v, written as %q, %v, and read as %+v", text, table, written, err, again)
		}
	})
}

// A table takes the place of another unless it would write what nobody reads yet.
func TestLiveWidths(t *testing.T) {
	var live LiveWidths
	if _, err := live.Width(t.Context(), "k", time.Time{}); !errors.Is(err, ErrOptions) {
		t.Errorf("without a table: got %v, want ErrOptions", err)
	}
	hot := func(text string) WidthTable {
		var w Width
		if err := w.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return WidthTable{Default: Width{1, 1}, Keys: map[string]Width{"hot": w}}
	}
	for _, step := range []struct {
		table WidthTable
		ok    bool
	}{
		{hot("4"), true},
		{hot("16"), false},
		{WidthTable{Default: Width{2, 2}}, false},
		{hot("4/16"), true},
		{hot("16"), true},
		{hot("4/16"), true},
		{hot("2"), false},                         // misses what was written to shards 2 and 3
		{WidthTable{Default: Width{1, 1}}, false}, // as does the default
		{WidthTable{Default: Width{1, 4}}, true},  // hot becomes like the others
		{hot("1/3"), true},                        // the others' shard 0 is read
		{hot("8/16"), false},
		{WidthTable{}, false},
	} {
		err := live.Replace(step.table)
		if (err == nil) != step.ok || err != nil && !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: got %v, want it to be accepted: %t", step.table, err, step.ok)
		}
		if err == nil && step.table.Keys != nil {
			step.table.Keys["hot"] = Width{} // which is the caller's own
		}
		if w, err := live.Width(t.Context(), "hot", time.Time{}); err != nil || w.check() != nil {
			t.Errorf("%+v: got %+v, %v, want a width", step.table, w, err)
		}
	}
}

// A key that is left out of a configuration is refused while its shards may hold items, and no item is missed meanwhile.
func TestLiveWidthsDropAKey(t *testing.T) {
	client := local.Start(t).Client()
	options := shapes[0].create(t, client)
	var live LiveWidths
	options.Widths = &live
	replace := func(text string) error {
		var table WidthTable
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
	if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), `key "hot": width 1 follows on 16`) ||
		!strings.Contains(err.Error(), "write to fewer first (1/16), and read fewer when the others are empty") {
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

// Replacing while operations ask is no race, and none of them sees half a table.
func TestLiveWidthsConcurrently(t *testing.T) {
	var live LiveWidths
	tables := []WidthTable{{Default: Width{1, 8}, Keys: map[string]Width{"k": {2, 8}}}, {Default: Width{1, 8}, Keys: map[string]Width{"k": {8, 8}}}}
	if err := live.Replace(tables[0]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				if i == 0 {
					if err := live.Replace(tables[n%2]); err != nil {
						t.Error(err)
					}
				} else if w, err := live.Width(t.Context(), "k", time.Time{}); err != nil || w != (Width{2, 8}) && w != (Width{8, 8}) {
					t.Error(fmt.Sprint(w), err)
				}
			}
		})
	}
	wg.Wait()
}

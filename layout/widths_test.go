package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestWidthText(t *testing.T) {
	for text, want := range map[string]Width{"4/16": {4, 16}, "16": {16, 16}, "1": {1, 1}, "16/16": {16, 16}, "1/65536": {1, MaxShards}} {
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
		"0": "Write is 0, want 1 or more", "0/4": "Write is 0, want 1 or more", "16/4": "more shards are written than read", "5/4": "more shards are written than read", "1/65537": "Read is 65537, want at most 65536",
	} {
		w := Width{2, 3}
		if err := w.UnmarshalText([]byte(text)); !errors.Is(err, ErrWidth) || !strings.Contains(err.Error(), says) || w != (Width{2, 3}) {
			t.Errorf("%q: got %+v, %v, want an error with %q and the width as it was", text, w, err, says)
		}
	}
	if _, err := (Width{}).MarshalText(); !errors.Is(err, ErrWidth) {
		t.Errorf("a width of nothing: got %v, want ErrWidth", err)
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
	if err := table.Validate(); !errors.Is(err, ErrWidth) || !strings.Contains(err.Error(), `"hot"`) {
		t.Errorf("got %v, want an error that names the key", err)
	}
	table.Keys = map[string]Width{"": {1, 1}}
	if err := table.Validate(); !errors.Is(err, ErrWidth) || !strings.Contains(err.Error(), `no item can have the key: invalid key "": it is empty`) {
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
		`{"default": "1", "key": {"hot": "16"}}`:              {`unknown field "key", want default or keys`},
		`{"default": "1", "keys": {"hot": "4", "hot": "16"}}`: {`keys: "hot" appears twice`},
		`{"default": "1", "default": "4"}`:                    {`width table: "default" appears twice`},
		`{"default": "1", "keys": ["hot"]}`:                   {`keys: `, "is not a JSON object"},
		`"4/16"`:                                              {`width table: `, "is not a JSON object"},
	} {
		got := WidthTable{Default: before.Default, Keys: maps.Clone(before.Keys)}
		err := json.Unmarshal([]byte(text), &got)
		for _, says := range says {
			if !errors.Is(err, ErrWidth) || !strings.Contains(err.Error(), says) {
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
			if !errors.Is(err, ErrWidth) || table.Default != (Width{}) || table.Keys != nil {
				t.Errorf("%q: got %v and %+v, want ErrWidth and nothing", text, err, table)
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
	if _, err := live.Width(t.Context(), "k", time.Time{}); !errors.Is(err, ErrWidth) {
		t.Errorf("without a table: got %v, want ErrWidth", err)
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
		if (err == nil) != step.ok || err != nil && !errors.Is(err, ErrWidth) {
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

// From 4/4, one shard more to write or one less to read is refused; what both sides know is accepted.
func TestLiveWidthsByOne(t *testing.T) {
	for next, ok := range map[Width]bool{{5, 8}: false, {1, 3}: false, {4, 8}: true, {1, 4}: true} {
		var live LiveWidths
		if err := live.Replace(WidthTable{Default: Width{4, 4}}); err != nil {
			t.Fatal(err)
		}
		if err := live.Replace(WidthTable{Default: next}); (err == nil) != ok || err != nil && !errors.Is(err, ErrWidth) {
			t.Errorf("%v: got %v, want it to be accepted: %t", next, err, ok)
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

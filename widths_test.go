package heatsink

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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
				options.Layout.Strategy = Calculated
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
	for _, text := range []string{`{"default": "8/4"}`, `{"default": "1", "keys": {"hot": "0"}}`, `{"default": 4}`} {
		if err := json.Unmarshal([]byte(text), new(WidthTable)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	table.Keys["hot"] = Width{5, 2}
	if err := table.Validate(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), `"hot"`) {
		t.Errorf("got %v, want an error that names the key", err)
	}
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
		{WidthTable{Default: Width{1, 4}}, true}, // hot becomes like the others
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

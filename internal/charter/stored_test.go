package charter

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// with returns the values with one replaced, or added.
func with(values []ledger.Value, v ledger.Value) []ledger.Value {
	values = slices.Clone(values)
	for i := range values {
		if values[i].Name == v.Name {
			values[i] = v
			return values
		}
	}
	return append(values, v)
}

func TestCharterIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCharter(t)
		values := c.Encode()
		for _, v := range values {
			if !strings.HasPrefix(v.Name, ledger.Prefix) {
				t.Fatalf("%s does not begin with %s", v.Name, ledger.Prefix)
			}
		}
		slices.Reverse(values)
		if got, err := Parse(values); err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("got %+v, %v, want %+v", got, err, c)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	base := made(t, full())
	text := func(name, text string) []ledger.Value {
		return with(base.Encode(), ledger.Value{Name: name, Text: text})
	}
	number := func(name, text string) []ledger.Value {
		return with(base.Encode(), ledger.Value{Name: name, Number: true, Text: text})
	}
	for _, c := range []struct {
		name   string
		values []ledger.Value
		want   error
		says   string
	}{
		{"nothing", nil, ErrCharter, "_hs_v is missing"},
		{"a newer version", number("_hs_v", "2"), ErrNewer, "version 2, and this process understands 1: upgrade heatsink in this process"},
		{"a newer version with other names", []ledger.Value{{Name: "_hs_v", Number: true, Text: "7"}, {Name: "_hs_x"}}, ErrNewer, "version 7"},
		{"version 0", number("_hs_v", "0"), ErrCharter, "version 0"},
		{"an unknown need", text("_hs_needs", `["compact","ledger"]`), ErrNewer, `it needs ["compact"], and this process knows ["ledger" "move" "moved"]: upgrade heatsink in this process`},
		{"an unknown need and its attribute", with(text("_hs_needs", `["compact"]`), ledger.Value{Name: "_hs_compact"}), ErrNewer, "compact"},
		{"needs twice", text("_hs_needs", `["ledger","ledger"]`), ErrCharter, "each once"},
		{"needs that are no list", text("_hs_needs", "ledger"), ErrCharter, "want a list in JSON"},
		{"a list of null", text("_hs_shard_by", "null"), ErrCharter, "want a list in JSON"},
		{"a list with more behind it", text("_hs_shard_by", `["a"] x`), ErrCharter, "want a list in JSON"},
		{"adaptive without its need", text("_hs_widths", "adaptive"), ErrCharter, `want "ledger" among them`},
		{"unknown widths", text("_hs_widths", "guessed"), ErrCharter, `_hs_widths is "guessed"`},
		{"no number of shards", text("_hs_widths", "fixed many"), ErrCharter, "fixed many"},
		{"a number of shards in another form", text("_hs_widths", "fixed +8"), ErrCharter, "fixed +8"},
		{"a negative number of shards", text("_hs_widths", "fixed -1"), ErrCharter, "-1"},
		{"too many shards", text("_hs_widths", "fixed 65537"), ErrCharter, "65537"},
		{"more shards than a number holds", text("_hs_widths", "fixed 99999999999999999999"), ErrCharter, "99999"},
		{"an unknown strategy", text("_hs_s", "magic"), ErrCharter, "magic"},
		{"an unknown hash", text("_hs_h", "sha3"), ErrCharter, "sha3"},
		{"an unknown bucket", text("_hs_bucket", "eon"), ErrCharter, "eon"},
		{"a format that is none", text("_hs_format", "{shard}"), ErrCharter, "_hs_format"},
		{"an older layout that is none", text("_hs_older", `["random 4"]`), ErrCharter, `"random 4"`},
		{"an older layout with a bucket", text("_hs_older", `["random 4 {key}#{bucket}#SHARD_{shard}"]`), ErrCharter, "{bucket}"},
		{"an older layout of an unknown strategy", text("_hs_older", `["magic 4 {key}#{shard}"]`), ErrCharter, "magic"},
		{"an older layout of an unknown hash", text("_hs_older", `["calculated 4 sha3 {key}#{shard}"]`), ErrCharter, "sha3"},
		{"an older layout of too many shards", text("_hs_older", `["random 65537 {key}#{shard}"]`), ErrCharter, "65537"},
		{"a bucket without a time", text("_hs_time", ""), ErrCharter, "event time"},
		{"an unknown unit", text("_hs_unit", "fortnights"), ErrCharter, "fortnights"},
		{"no partition key", text("_hs_pk", ""), ErrCharter, "PartitionKey is empty"},
		{"a string for a number", text("_hs_at", "3"), ErrCharter, "want a number"},
		{"a number for a string", number("_hs_pk", "3"), ErrCharter, "want a string"},
		{"a fraction", number("_hs_at", "3.5"), ErrCharter, "whole number"},
		{"an unknown name", text("_hs_new", ""), ErrCharter, `unknown attribute "_hs_new": upgrade heatsink`},
		{"a name twice", append(base.Encode(), base.Encode()[3]), ErrCharter, "twice"},
		{"a long author", text("_hs_by", strings.Repeat("x", ledger.MaxAudit+1)), ErrCharter, "200 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.values)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want %v that says %q", got, err, c.want, c.says)
			}
		})
	}
	for _, v := range base.Encode() {
		values := slices.DeleteFunc(base.Encode(), func(other ledger.Value) bool { return other.Name == v.Name })
		_, err := Parse(values)
		if want := "invalid charter: " + v.Name + " is missing"; !errors.Is(err, ErrCharter) || err.Error() != want {
			t.Errorf("without %s: got %v, want %s", v.Name, err, want)
		}
	}
}

// Whatever is stored, Parse neither panics nor takes a charter that would be another one the next time. Whatever it takes
// can be compared, and is compatible with itself.
func FuzzParse(f *testing.F) {
	f.Add("_hs_widths", false, "adaptive", "_hs_needs", `["ledger"]`)
	f.Add("_hs_older", false, `["calculated 8 md5 {key}#{shard}","random 2 {key}[#SHARD_{shard}]"]`, "_hs_format", "{key}.{shard}")
	f.Add("_hs_shard_by", false, `["a","\u2028"]`, "_hs_bucket", "none")
	f.Add("_hs_at", true, "9223372036854775807", "_hs_widths", "fixed 0")
	f.Add("_hs_v", true, "2", "_hs_index", "")
	f.Fuzz(func(t *testing.T, name string, number bool, value, other, text string) {
		base := made(t, full())
		c, err := Parse(with(with(base.Encode(), ledger.Value{Name: name, Number: number, Text: value}), ledger.Value{Name: other, Text: text}))
		if err != nil {
			if !errors.Is(err, ErrCharter) && !errors.Is(err, ErrNewer) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if again, err := Parse(c.Encode()); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("got %+v, then %+v, %v", c, again, err)
		}
		if err := Compare(c, c); err != nil {
			t.Fatalf("%+v is not compatible with itself: %v", c, err)
		}
		for _, err := range []error{Compare(c, base), Compare(base, c)} {
			if err != nil && !errors.Is(err, ErrIncompatible) {
				t.Fatalf("got %v", err)
			}
		}
	})
}

// The text of a layout is a promise to other versions.
func TestLayoutText(t *testing.T) {
	for text, want := range map[string]layout.Layout{
		"not sharded":                           {},
		"random 16 {key}#SHARD_{shard}":         {Shards: 16},
		"calculated 4 md5 {key}[.{shard1:03}]":  {Shards: 4, Strategy: layout.Calculated, Hash: layout.MD5, Format: layout.Format{ShardPrefix: ".", First: 1, Width: 3, BareZero: true}},
		"random 65536 {key} with a gap {shard}": {Shards: layout.MaxShards, Format: layout.Format{ShardPrefix: " with a gap "}},
	} {
		if got := layoutText(want); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if got, ok := parseLayout(text); !ok || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, ok, want)
		}
	}
}

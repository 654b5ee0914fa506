package layout

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseFormat(t *testing.T) {
	for _, c := range []struct {
		template string
		want     Format
		prints   string // the template with every placeholder; "" if it is the same
	}{
		{"{key}#SHARD_{shard}", Format{}, "{key}#{bucket}#SHARD_{shard}"},
		{"{key}#{bucket}#SHARD_{shard}", Format{}, ""},
		{"{key}", Format{}, "{key}#{bucket}#SHARD_{shard}"},
		{"{key}/{bucket}", Format{BucketPrefix: "/"}, "{key}/{bucket}#SHARD_{shard}"},
		{"{key}#{bucket}#SHARD#{shard}", SharpNumber(), ""},
		{"{key}#{bucket}#{shard}", PlainNumber(), ""},
		{"{key}.{shard1}", DotFromOne(), "{key}#{bucket}.{shard1}"},
		{"{key}#{bucket}#SHARD#{shard:03}", Format{ShardPrefix: "#SHARD#", Width: 3}, ""},
		{"{key}@{bucket:-}~{shard1:09}", Format{BucketPrefix: "@", HourMark: "-", ShardPrefix: "~", First: 1, Width: 9}, ""},
		{"{key}#{bucket:T}#SHARD_{shard}", Format{}, "{key}#{bucket}#SHARD_{shard}"},
		{"{key}#{bucket}[#SHARD_{shard}]", Format{BareZero: true}, ""},
		{"{key}[.{shard1:02}]", Format{ShardPrefix: ".", First: 1, Width: 2, BareZero: true}, "{key}#{bucket}[.{shard1:02}]"},
		{"{key}→{bucket}§{shard}", Format{BucketPrefix: "→", ShardPrefix: "§"}, ""},
	} {
		t.Run(c.template, func(t *testing.T) {
			got, err := ParseFormat(c.template)
			if got != c.want || err != nil {
				t.Fatalf("got %+v, %v, want %+v", got, err, c.want)
			}
			if c.prints == "" {
				c.prints = c.template
			}
			if got.String() != c.prints {
				t.Errorf("prints %s, want %s", got, c.prints)
			}
		})
	}
}

func TestParseFormatRefuses(t *testing.T) {
	for _, c := range []struct{ name, template, says string }{
		{"nothing", "", "does not begin with {key}"},
		{"text before the key", "x{key}#{shard}", "does not begin with {key}"},
		{"shard against key", "{key}{shard}", "no prefix before {shard}"},
		{"bare shard against key", "{key}[{shard}]", "no prefix before {shard}"},
		{"bucket against key", "{key}{bucket}#{shard}", "no prefix between {key} and {bucket}"},
		{"shard against bucket", "{key}#{bucket}{shard}", "no prefix before {shard}"},
		{"shard before bucket", "{key}#{shard}#{bucket}", `BucketPrefix is "#{shard}#"`},
		{"key twice", "{key}#{key}#{shard}", `ShardPrefix is "#{key}#"`},
		{"shard twice", "{key}#{shard}#{shard}", `"#{shard}" follows {shard}`},
		{"text at the end", "{key}#{shard}!", `"!" follows {shard}, want nothing after it`},
		{"text without a shard", "{key}#x", `"#x" has no {shard}`},
		{"unknown placeholder", "{key}#{id}", `"#{id}" has no {shard}`},
		{"counted from two", "{key}#{shard2}", `option "2"`},
		{"padded with blanks", "{key}#{shard:3}", `option ":3"`},
		{"padded to nothing", "{key}#{shard:00}", `option ":00"`},
		{"padded too far", "{key}#{shard:010}", `option ":010"`},
		{"no mark", "{key}#{bucket:}#{shard}", "{bucket:}"},
		{"unknown bucket", "{key}#{bucketday}#{shard}", "{bucketday}"},
		{"open bucket", "{key}#{bucket", "{bucket is not closed"},
		{"open shard", "{key}#{shard", "{shard is not closed"},
		{"open bracket", "{key}[#{shard}", "[ is not closed"},
		{"shard runs into a digit", "{key}#V2{shard}", `ShardPrefix is "#V2", which ends in a digit`},
		{"bucket runs into a digit", "{key}#1{bucket}#{shard}", `BucketPrefix is "#1", which ends in a digit`},
		{"hour runs into a digit", "{key}#{bucket:0}#{shard}", `HourMark is "0", which ends in a digit`},
		{"not UTF-8", "{key}\xff{shard}", "not valid UTF-8"},
		{"long", "{key}" + strings.Repeat("#", 65) + "{shard}", "ShardPrefix has 65 bytes, want at most 64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := ParseFormat(c.template)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want ErrInvalid that says %q", f, err, c.says)
			}
			if f != (Format{}) {
				t.Errorf("got %+v with the error", f)
			}
		})
	}
}

// drawFormat draws a valid format, mostly one whose parts are easily mistaken for each other.
func drawFormat(t *rapid.T) Format {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"", "#", "-", ".", "W", "-W", "T", "#SHARD_", "#SHARD#", "2#", "-0", "24-12-02T", "é", "SHARD"}),
		rapid.StringMatching(`[#T0-9-]{0,3}`),
		rapid.String(),
	).Filter(func(s string) bool { return checkPrefix("", s) == nil })
	return Format{
		BucketPrefix: part.Draw(t, "bucket prefix"),
		HourMark:     part.Draw(t, "hour mark"),
		ShardPrefix:  part.Draw(t, "shard prefix"),
		First:        rapid.IntRange(0, 1).Draw(t, "first"),
		Width:        rapid.IntRange(0, maxWidth).Draw(t, "width"),
		BareZero:     rapid.Bool().Draw(t, "bare zero"),
	}
}

func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFormat(t)
		got, err := ParseFormat(f.String())
		if want := f.shortened(); got != want || err != nil {
			t.Fatalf("%s: got %+v, %v, want %+v", f, got, err, want)
		}
	})
}

func FuzzParseFormat(f *testing.F) {
	for _, seed := range []string{"{key}#SHARD_{shard}", "{key}@{bucket:-}[~{shard1:09}]", "{key}{bucket}", "{key}#{shard:00}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		got, err := ParseFormat(template)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || len(err.Error()) > 2000 {
				t.Fatalf("got %v, want a short ErrInvalid", err)
			}
			return
		}
		if err := (Layout{Format: got}).Validate(); err != nil {
			t.Fatalf("%q gives %+v, which is invalid: %v", template, got, err)
		}
		if again, err := ParseFormat(got.String()); again != got || err != nil {
			t.Fatalf("%q gives %+v, and that %+v, %v", template, got, again, err)
		}
	})
}

package layout_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
)

// Every bucket, hash and strategy has a text, the one that String gives, and is read back from it.
func TestNamesAreReadBack(t *testing.T) {
	checkNames(t, layout.NoBucket, "none hour day week month year")
	checkNames(t, layout.XXHash, "xxhash fnv crc32 md5 product")
	checkNames(t, layout.Random, "random calculated")
}

func checkNames[T interface {
	~uint8
	String() string
	encoding.TextMarshaler
}](t *testing.T, first T, names string) {
	t.Helper()
	value := first
	for name := range strings.FieldsSeq(names) {
		text, err := value.MarshalText()
		if err != nil || string(text) != name || value.String() != name {
			t.Errorf("%s: got %q, %v, want %q", value, text, err, name)
		}
		var back T
		if err := any(&back).(encoding.TextUnmarshaler).UnmarshalText([]byte(name)); err != nil || back != value {
			t.Errorf("%q: got %s, %v, want %s", name, back, err, value)
		}
		value++
	}
	if text, err := value.MarshalText(); !errors.Is(err, layout.ErrInvalid) || !strings.Contains(err.Error(), value.String()) {
		t.Errorf("%s: got %q, %v, want an error that names it", value, text, err)
	}
	for _, text := range []string{"", "decade", strings.ToUpper(first.String()), value.String()} {
		kept := first + 1
		err := any(&kept).(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
		if !errors.Is(err, layout.ErrInvalid) || !strings.Contains(err.Error(), first.String()) || kept != first+1 {
			t.Errorf("%q: got %s, %v, want an error that lists the names", text, kept, err)
		}
	}
}

// A layout as JSON is short, and is the same layout when it is read.
func TestLayoutAsJSON(t *testing.T) {
	l := layout.Layout{Shards: 10, Strategy: layout.Calculated, Bucket: layout.Day, Hash: layout.MD5, Format: layout.DotFromOne()}
	const want = `{"Shards":10,"Strategy":"calculated","Bucket":"day","Hash":"md5","Format":"{key}#{bucket}.{shard1}"}`
	text, err := json.Marshal(l)
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	var back layout.Layout
	if err := json.Unmarshal(text, &back); err != nil || back != l {
		t.Errorf("got %+v, %v, want %+v", back, err, l)
	}
}

// The text of a valid format is read as a format that spells the same; one that is not valid has no text.
func TestFormatsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"", "#", "T", ":", "#SHARD_", "#SHARD#", "1", "{", "]", "-a", "\xff", strings.Repeat("#", 65)})
		f := layout.Format{
			BucketPrefix: part.Draw(t, "bucket prefix"), HourMark: part.Draw(t, "hour mark"), ShardPrefix: part.Draw(t, "shard prefix"),
			First: rapid.IntRange(-1, 2).Draw(t, "first"), Width: rapid.IntRange(-1, 10).Draw(t, "width"), BareZero: rapid.Bool().Draw(t, "bare"),
		}
		text, err := f.MarshalText()
		if valid := (layout.Layout{Format: f}).Validate() == nil; valid != (err == nil) {
			t.Fatalf("%+v: valid is %t, but got %v", f, valid, err)
		}
		if err != nil {
			if !errors.Is(err, layout.ErrInvalid) {
				t.Fatalf("%+v: got %v", f, err)
			}
			return
		}
		var back layout.Format
		if err := back.UnmarshalText(text); err != nil || back.WithDefaults() != f.WithDefaults() {
			t.Fatalf("%s: got %+v, %v, want %+v", text, back, err, f)
		}
	})
	kept := layout.DotFromOne()
	if err := kept.UnmarshalText([]byte("{shard}")); !errors.Is(err, layout.ErrInvalid) || kept != layout.DotFromOne() {
		t.Errorf("got %+v, %v, want the format as it was and an error", kept, err)
	}
}

func TestTemplate(t *testing.T) {
	for want, l := range map[string]layout.Layout{
		"{key}":                          {},
		"{key}#{bucket}":                 {Bucket: layout.Year},
		"{key}#SHARD_{shard}":            {Shards: 1},
		"{key}#{bucket:-}[.{shard1:03}]": {Shards: 4, Bucket: layout.Hour, Format: layout.Format{HourMark: "-", ShardPrefix: ".", First: 1, Width: 3, BareZero: true}},
	} {
		if got := l.Template(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// CutShard and CutBucket take apart what ShardKey makes, and what readers of the layout miss.
func TestCut(t *testing.T) {
	daily := layout.Layout{Shards: 4, Bucket: layout.Day}
	dots := layout.Layout{Shards: 4, Format: layout.DotFromOne()}
	for _, c := range []struct {
		layout             layout.Layout
		stored             string
		key, whole, number string // number is "" if there is no shard, key if there is no bucket
	}{
		{daily, "A#2024-12-02#SHARD_3", "A", "A#2024-12-02", "3"},
		{daily, "A#2024-12-02#SHARD_009", "A", "A#2024-12-02", "009"},
		{daily, "A#2024-13-02#SHARD_3", "", "A#2024-13-02", "3"},
		{daily, "A#2024-12-02T15#SHARD_3", "", "A#2024-12-02T15", "3"},
		{daily, "A#SHARD_", "", "", ""},
		{daily, "", "", "", ""},
		{dots, "A.4", "A", "A", "4"},
		{dots, "A.70000", "A", "A", "70000"},
		{dots, "A.000000004", "A", "A", "000000004"},
		{dots, "A.1733151600", "", "", ""},
		{dots, "A#SHARD_4", "", "", ""},
	} {
		whole, number, ok := c.layout.CutShard([]byte(c.stored))
		if string(whole) != c.whole || string(number) != c.number || ok != (c.number != "") {
			t.Errorf("%s, %q: got %q, %q, %t, want %q, %q", c.layout, c.stored, whole, number, ok, c.whole, c.number)
		}
		if !ok {
			continue
		}
		if key, ok := c.layout.CutBucket(whole); string(key) != c.key || ok != (c.key != "") {
			t.Errorf("%s, %q: got %q, %t, want %q", c.layout, whole, key, ok, c.key)
		}
	}
	stored := []byte("A#2024-12-02#SHARD_3")
	if n := testing.AllocsPerRun(100, func() {
		whole, _, _ := daily.CutShard(stored)
		daily.CutBucket(whole)
	}); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

package passage

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// wide is an arrangement in which single keys have more shards.
func wide(shards int, widths map[string]int) Arrangement {
	return Arrangement{Layout: layout.Layout{Shards: shards, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}, Widths: widths}
}

// begins is an arrangement in which keys with a prefix have more shards.
func begins(shards int, prefixes, widths map[string]int) Arrangement {
	a := wide(shards, widths)
	a.Prefixes = prefixes
	return a
}

func TestArrangementRefuses(t *testing.T) {
	many := map[string]int{}
	for i := range MaxWidths + 1 {
		many[fmt.Sprint("k", i)] = 2
	}
	for name, c := range map[string]struct {
		a    Arrangement
		says string
	}{
		"a layout that is wrong":     {calculated(layout.MaxShards + 1), "Layout.Shards"},
		"a bucket of a list":         {Arrangement{Layout: layout.Layout{Bucket: layout.Day}}, "a list with buckets by day"},
		"no bare key":                {Arrangement{Layout: calculated(4).Layout, Widths: map[string]int{"a": 2}}, "without BareZero"},
		"the ARN of a table":         {Arrangement{Layout: calculated(4).Layout, Table: "arn:aws:dynamodb:us-east-1:123456789012:table/users"}, "without an ARN"},
		"no name of a table":         {Arrangement{Layout: calculated(4).Layout, Table: "u"}, "the name of a table"},
		"no shard":                   {wide(0, map[string]int{"a": 0}), `key "a" has 0 shards`},
		"too many shards":            {wide(0, map[string]int{"a": layout.MaxShards + 1}), "65537 shards"},
		"a key that is a shard":      {wide(0, map[string]int{"a#SHARD_1": 2}), "ends like a shard"},
		"an empty key":               {wide(0, map[string]int{"": 2}), "empty"},
		"a key of control items":     {wide(0, map[string]int{"_hs#x": 2}), "heatsink's own"},
		"a key that is not UTF-8":    {wide(0, map[string]int{"\xff": 2}), "UTF-8"},
		"too many keys":              {wide(0, many), "101 keys"},
		"too many bytes":             {wide(0, map[string]int{strings.Repeat("x", MaxText): 2}), "bytes as text"},
		"no bare key for a prefix":   {Arrangement{Layout: calculated(4).Layout, Prefixes: map[string]int{"a": 2}}, "without BareZero"},
		"a prefix without shards":    {begins(0, map[string]int{"a": 0}, nil), `prefix "a" has 0 shards`},
		"a prefix of too many":       {begins(0, map[string]int{"a": layout.MaxShards + 1}, nil), "65537 shards"},
		"an empty prefix":            {begins(0, map[string]int{"": 2}, nil), "it means all keys"},
		"a prefix that is not UTF":   {begins(0, map[string]int{"a\xff": 2}, nil), "UTF-8"},
		"a prefix of control items":  {begins(0, map[string]int{"_hs#P#": 2}, nil), "heatsink's own"},
		"such a prefix of one shard": {begins(0, map[string]int{"_hs#P#": 1}, nil), "heatsink's own"},
		"a prefix beyond all keys":   {begins(0, map[string]int{strings.Repeat("x", 2049): 2}, nil), "2049 bytes"},
		"too many bytes of one":      {begins(0, map[string]int{strings.Repeat("x", MaxText): 2}, nil), "bytes as text"},
		"too many of both":           {begins(0, map[string]int{"x": 2}, first(many, MaxWidths)), "101 keys and prefixes"},
		"a key without a long name":  {wide(0, map[string]int{strings.Repeat("x", 2045): 10}), "partition key has at most"},
	} {
		if err := c.a.Validate(); !errors.Is(err, ErrArrangement) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}

// first returns some of the keys.
func first(widths map[string]int, n int) map[string]int {
	some := map[string]int{}
	for _, key := range slices.Sorted(maps.Keys(widths))[:n] {
		some[key] = widths[key]
	}
	return some
}

func TestArrangementTakes(t *testing.T) {
	for name, a := range map[string]Arrangement{
		"nothing sharded":           {},
		"random":                    {Layout: layout.Layout{Shards: 16}},
		"single keys":               wide(0, map[string]int{"a": 3, "b": layout.MaxShards}),
		"single keys, and the rest": wide(16, map[string]int{"a": 1, "b": 100}),
		"prefixes":                  begins(0, map[string]int{"POST#2026": 16, "POST#": 2}, nil),
		"a prefix like a shard":     begins(0, map[string]int{"a#SHARD_1": 2}, nil), // the key a#SHARD_1 is refused, and a#SHARD_1st is not
		"prefixes and keys":         begins(4, map[string]int{"POST#2026": 16}, map[string]int{"POST#2026": 1, "a": 2}),
	} {
		if err := a.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFor(t *testing.T) {
	for _, c := range []struct {
		a    Arrangement
		key  string
		want int
	}{
		{calculated(4), "a", 4},
		{Arrangement{}, "a", 0},
		{wide(0, map[string]int{"a": 3}), "a", 3},
		{wide(0, map[string]int{"a": 3}), "b", 1},
		{wide(16, map[string]int{"a": 3}), "b", 16},
		{begins(0, map[string]int{"P": 3}, nil), "P", 3}, // a key that is the prefix begins with it
		{begins(0, map[string]int{"P": 3}, nil), "POST", 3},
		{begins(0, map[string]int{"P": 3}, nil), "p", 1},
		{begins(0, map[string]int{"POST": 3}, nil), "POS", 1},
		{begins(7, map[string]int{"POST": 3}, nil), "x POST", 7},
		{begins(0, map[string]int{"P": 3, "POST": 5, "PO": 4}, nil), "POST#1", 5}, // the longest
		{begins(0, map[string]int{"P": 3, "POST": 5, "PO": 4}, nil), "POS", 4},
		{begins(0, map[string]int{"P": 3}, map[string]int{"POST": 9}), "POST", 9}, // the key itself counts most
		{begins(0, map[string]int{"P": 3}, map[string]int{"POST": 9}), "POST#1", 3},
	} {
		if got := c.a.For(c.key); got != c.a.Layout.WithShards(c.want) {
			t.Errorf("%v of %s: got %v, want %d shards", c.a, c.key, got, c.want)
		}
	}
}

func TestCheckKey(t *testing.T) {
	for _, c := range []struct {
		a   Arrangement
		key string
		ok  bool
	}{
		{calculated(4), "a", true},
		{calculated(4), "a#SHARD_99", false},
		{Arrangement{}, "a#SHARD_1", false}, // it would be a shard once the collection has moved
		{calculated(4), "_hs#C#orders", false},
		{calculated(4), "_hs", false}, // its shards would be control items
		{Arrangement{}, "_hs", false},
		{calculated(4), "_h", true},
		{calculated(4), "_hsx", true},
		{Arrangement{Layout: layout.Layout{Shards: 4, Format: layout.Format{ShardPrefix: "s#"}, Strategy: layout.Calculated}}, "_h", false},
		{Arrangement{Layout: layout.Layout{Shards: 4, Format: layout.Format{ShardPrefix: "s#"}, Strategy: layout.Calculated}}, "_g", true},
		{calculated(4), "", false},
		{calculated(4), strings.Repeat("k", 2048-len("#SHARD_3")), true},
		{calculated(4), strings.Repeat("k", 2048-len("#SHARD_3")+1), false},
		{calculated(11), strings.Repeat("k", 2048-len("#SHARD_3")), false},
		{Arrangement{}, strings.Repeat("k", 2048), true},
		{Arrangement{}, strings.Repeat("k", 2049), false},
		{wide(0, map[string]int{"a": 4}), strings.Repeat("k", 2048), true},
		{begins(0, map[string]int{"k": 4}, nil), strings.Repeat("k", 2048), false},
		{begins(0, map[string]int{"k": 4}, nil), strings.Repeat("l", 2048), true},
		{begins(0, map[string]int{"k#SHARD_1": 4}, nil), "k#SHARD_1", false},
		{begins(0, map[string]int{"k#SHARD_1": 4}, nil), "k#SHARD_1st", true},
	} {
		if err := c.a.Check(c.key); (err == nil) != c.ok || err != nil && !errors.Is(err, layout.ErrKey) {
			t.Errorf("%v: %.20q of %d bytes: got %v, want it taken: %v", c.a, c.key, len(c.key), err, c.ok)
		}
	}
}

// What has no effect on where items are does not make arrangements differ.
func TestSame(t *testing.T) {
	base := calculated(4)
	written := base
	written.Layout.Format = written.Layout.Format.WithDefaults()
	hourly := base
	hourly.Layout.Format.BucketPrefix, hourly.Layout.Format.HourMark = "/", "-"
	unix, daysUnix := base, timed(4, layout.Day)
	unix.Clock, daysUnix.Clock = place.UnixSeconds, place.UnixSeconds
	for name, c := range map[string]struct {
		a, b        Arrangement
		equal, same bool
	}{
		"itself":               {base, base, true, true},
		"defaults written out": {base, written, true, true},
		"marks of buckets":     {base, hourly, true, true},
		"the hash of a random layout": {
			Arrangement{Layout: layout.Layout{Shards: 4}}, Arrangement{Layout: layout.Layout{Shards: 4, Hash: layout.FNV}}, true, true,
		},
		"the hash of a calculated one": {base, Arrangement{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Hash: layout.FNV}}, false, false},
		"shards":                       {base, calculated(5), false, false},
		"the number of all keys":       {wide(4, nil), wide(4, map[string]int{"a": 4}), true, true},
		"one shard where there is no":  {wide(0, nil), wide(0, map[string]int{"a": 1}), true, true},
		"a single key":                 {wide(4, nil), wide(4, map[string]int{"a": 5}), false, true},
		"a prefix":                     {wide(4, nil), begins(4, map[string]int{"a": 5}, nil), false, true},
		"a key and a prefix":           {wide(4, map[string]int{"a": 5}), begins(4, map[string]int{"a": 5}, nil), false, true},
		"a prefix like the others":     {wide(4, nil), begins(4, map[string]int{"a": 4}, nil), true, true},
		"a prefix like a shorter one":  {begins(4, map[string]int{"a": 5}, nil), begins(4, map[string]int{"a": 5, "ab": 5, "abc": 5}, nil), true, true},
		"a prefix behind another one":  {begins(4, map[string]int{"a": 5}, nil), begins(4, map[string]int{"a": 5, "ab": 4, "abc": 5}, nil), false, true},
		"a key like its prefix":        {begins(4, map[string]int{"a": 5}, nil), begins(4, map[string]int{"a": 5}, map[string]int{"ab": 5}), true, true},
		"a key unlike its prefix":      {begins(4, map[string]int{"a": 5}, nil), begins(4, map[string]int{"a": 5}, map[string]int{"ab": 4}), false, true},
		"days and weeks":               {timed(4, layout.Day), timed(4, layout.Week), false, false},
		"days and weeks, not sharded":  {timed(0, layout.Day), timed(0, layout.Week), false, false},
		"days and none, not sharded":   {timed(0, layout.Day), calculated(0), false, false},
		"units without buckets":        {base, unix, true, true},
		"units of buckets":             {timed(4, layout.Day), daysUnix, false, true},
		"the format of bare keys":      {Arrangement{}, Arrangement{Layout: layout.Layout{Format: layout.PlainNumber()}}, false, true},
	} {
		if got := c.a.Equal(c.b); got != c.equal || c.b.Equal(c.a) != got {
			t.Errorf("%s: equal is %v, want %v", name, got, c.equal)
		}
		if got := c.a.SameLayout(c.b.Layout); got != c.same || c.b.SameLayout(c.a.Layout) != got {
			t.Errorf("%s: the same layout is %v, want %v", name, got, c.same)
		}
		if (c.a.text() == c.b.text()) != c.equal {
			t.Errorf("%s: stored as %s and %s", name, c.a.text(), c.b.text())
		}
	}
}

// drawArrangement draws one that is valid.
func drawArrangement(t *rapid.T) Arrangement {
	a := Arrangement{Layout: layout.Layout{
		Shards:   rapid.SampledFrom([]int{0, 1, 2, 16, layout.MaxShards}).Draw(t, "shards"),
		Strategy: layout.Calculated,
		Hash:     rapid.SampledFrom([]layout.Hash{layout.XXHash, layout.FNV, layout.Product}).Draw(t, "hash"),
		Format:   rapid.SampledFrom([]layout.Format{{}, {BareZero: true}, layout.PlainNumber(), {ShardPrefix: " \"s<>\u2028", First: 1, Width: 3, BareZero: true}}).Draw(t, "format"),
	}}
	if a.Layout.Format.BareZero {
		a.Widths = rapid.MapOfN(rapid.StringMatching(`[a-zé"\\<]{1,8}`), rapid.IntRange(1, 200), 0, 5).Draw(t, "widths")
		a.Prefixes = rapid.MapOfN(rapid.StringMatching(`[abé]{1,4}`), rapid.IntRange(1, 4), 0, 5).Draw(t, "prefixes")
	}
	return a
}

func TestArrangementIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawArrangement(t)
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		got, err := parseArrangement(a.text())
		if err != nil || !got.Equal(a) || got.text() != a.text() {
			t.Fatalf("%s: got %+v, %v, want %+v", a.text(), got, err, a)
		}
		for _, key := range []string{"a", "b", "other"} {
			if got.For(key).Template() != a.For(key).Template() && a.Layout.Shards > 0 {
				t.Fatalf("%s: key %s is under %v, want %v", a.text(), key, got.For(key), a.For(key))
			}
		}
	})
}

// A key has the number of shards that the rule says, however an arrangement is written, and after it was stored and read.
func TestPrefixesAgainstTheRule(t *testing.T) {
	byPrefix := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) map[string]int {
			return rapid.MapOfN(rapid.StringMatching(`[ab]{1,4}`), rapid.IntRange(1, 3), 0, 6).Draw(t, name)
		}
		a := begins(rapid.IntRange(0, 3).Draw(t, "shards"), draw("prefixes"), draw("widths"))
		read, err := parseArrangement(a.text())
		if err != nil {
			t.Fatal(err)
		}
		key := rapid.StringMatching(`[abc]{1,6}`).Draw(t, "key")
		want, is := max(a.Layout.Shards, 1), false
		for n := range len(key) { // from the shortest to the longest
			if shards, ok := a.Prefixes[key[:n+1]]; ok {
				want, is = shards, true
			}
		}
		if shards, ok := a.Widths[key]; ok {
			want, is = shards, false
		}
		if is {
			byPrefix++
		}
		for _, one := range []Arrangement{a, a.plain(), read} {
			if got := max(one.For(key).Shards, 1); got != want {
				t.Fatalf("%+v, written as %+v: key %q has %d shards, want %d", a, one, key, got, want)
			}
		}
	})
	if byPrefix == 0 {
		t.Error("no key had its number of shards by a prefix")
	}
}

// A version of heatsink without prefixes refuses an arrangement that has some: it would look for items in the wrong shards.
func TestOlderVersionsRefusePrefixes(t *testing.T) {
	var before struct { // the fields of that version
		Strategy, Hash, Format string
		Shards                 int
		Widths                 map[string]int
	}
	for text, refused := range map[string]bool{
		wide(4, map[string]int{"a": 5}).text():          false,
		begins(4, map[string]int{"a": 5}, nil).text():   true,
		begins(4, map[string]int{"abc": 4}, nil).text(): false, // it has no effect, so it is not stored
	} {
		reader := json.NewDecoder(strings.NewReader(text))
		reader.DisallowUnknownFields()
		if err := reader.Decode(&before); (err != nil) != refused {
			t.Errorf("%s: got %v, want it refused: %t", text, err, refused)
		}
	}
}

func TestParseArrangementRefuses(t *testing.T) {
	base := wide(4, map[string]int{"a": 5}).text()
	if _, err := parseArrangement(base); err != nil {
		t.Fatal(err)
	}
	replace := func(old, by string) string {
		if !strings.Contains(base, old) {
			t.Fatalf("%s has no %s", base, old)
		}
		return strings.Replace(base, old, by, 1)
	}
	for name, text := range map[string]string{
		"nothing":                  "",
		"null":                     "null",
		"two values":               base + base,
		"a space":                  base + " ",
		"an unknown field":         replace(`"shards":4`, `"shards":4,"bucket":"day"`),
		"a field twice":            replace(`"shards":4`, `"shards":9,"shards":4`),
		"another case":             replace(`"shards"`, `"Shards"`),
		"a missing field":          replace(`"shards":4,`, ""),
		"another order":            replace(`"strategy":"calculated","shards":4`, `"shards":4,"strategy":"calculated"`),
		"an unknown strategy":      replace("calculated", "magic"),
		"an unknown hash":          replace("xxhash", "sha3"),
		"another form of a number": replace(`"shards":4`, `"shards":4.0`),
		"a bucket in the format":   replace("{key}", "{key}#{bucket}"),
		"no format":                replace("{key}[#SHARD_{shard}]", "x"),
		"a key twice":              replace(`"a":5`, `"a":6,"a":5`),
		"a key with no effect":     replace(`"a":5`, `"a":4`),
		"widths that are empty":    replace(`{"a":5}`, "{}"),
		"a negative number":        replace(`"a":5`, `"a":-5`),
		"prefixes that are empty":  replace(`{"a":5}`, `{"a":5},"prefixes":{}`),
		"a prefix with no effect":  replace(`{"a":5}`, `{"a":5},"prefixes":{"b":4}`),
		"a prefix twice":           replace(`{"a":5}`, `{"a":5},"prefixes":{"b":5,"b":6}`),
		"prefixes before keys":     replace(`"widths"`, `"prefixes":{"b":5},"widths"`),
		"an empty prefix":          replace(`{"a":5}`, `{"a":5},"prefixes":{"":5}`),
	} {
		if a, err := parseArrangement(text); !errors.Is(err, ErrArrangement) {
			t.Errorf("%s: %s: got %+v, %v, want ErrArrangement", name, text, a, err)
		}
	}
}

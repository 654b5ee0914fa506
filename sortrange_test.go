package heatsink

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// spelt returns a condition with its values in place.
func spelt(condition string, values Item) string {
	for name, value := range values {
		var s string
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			s = v.Value
		case *types.AttributeValueMemberN:
			s = v.Value
		case *types.AttributeValueMemberB:
			s = fmt.Sprintf("%x", v.Value)
		}
		if len(s) > 20 {
			s = fmt.Sprintf("%s…%d", s[:2], len(s))
		}
		condition = strings.ReplaceAll(condition, name, s)
	}
	return strings.ReplaceAll(condition, "#hs_sk", "sk")
}

func TestCondition(t *testing.T) {
	type forms struct{ plain, resumed, passed, reverse, reversePassed string }
	long := strings.Repeat("m", maxSortKey)
	tests := []struct {
		name string
		Range
		at   any // where it is resumed
		want forms
	}{
		{"every text", Range{}, "m", forms{"", "sk >= m", "sk > m", "sk <= m", "sk < m"}},
		{"every number", Range{}, 5, forms{"", "sk >= 5", "sk > 5", "sk <= 5", "sk < 5"}},
		{"every binary", Range{}, []byte("m"), forms{"", "sk >= 6d", "sk > 6d", "sk <= 6d", "sk < 6d"}},
		{"equal text", Equal("m"), "m", forms{"sk = m", "sk = m", "nothing", "sk = m", "nothing"}},
		{"equal number", Equal(5), 5, forms{"sk = 5", "sk = 5", "nothing", "sk = 5", "nothing"}},
		{"equal binary", Equal([]byte("m")), []byte("m"), forms{"sk = 6d", "sk = 6d", "nothing", "sk = 6d", "nothing"}},
		{"less text", Less("z"), "m", forms{"sk < z", "sk BETWEEN m AND z", "sk BETWEEN m\x00 AND z", "sk <= m", "sk < m"}},
		{"less number", Less(9), 5, forms{"sk < 9", "sk BETWEEN 5 AND 9", "sk > 5", "sk <= 5", "sk < 5"}},
		{"less binary", Less([]byte("z")), []byte("m"), forms{"sk < 7a", "sk BETWEEN 6d AND 7a", "sk BETWEEN 6d00 AND 7a", "sk <= 6d", "sk < 6d"}},
		{"at most text", AtMost("z"), "m", forms{"sk <= z", "sk BETWEEN m AND z", "sk BETWEEN m\x00 AND z", "sk <= m", "sk < m"}},
		{"at most number", AtMost(9), 5, forms{"sk <= 9", "sk BETWEEN 5 AND 9", "sk > 5", "sk <= 5", "sk < 5"}},
		{"at most binary", AtMost([]byte("z")), []byte("m"), forms{"sk <= 7a", "sk BETWEEN 6d AND 7a", "sk BETWEEN 6d00 AND 7a", "sk <= 6d", "sk < 6d"}},
		{"greater text", Greater("a"), "m", forms{"sk > a", "sk >= m", "sk > m", "sk BETWEEN a\x00 AND m", "sk < m"}},
		{"greater number", Greater(1), 5, forms{"sk > 1", "sk >= 5", "sk > 5", "sk BETWEEN 1 AND 5", "sk < 5"}},
		{"greater binary", Greater([]byte("a")), []byte("m"), forms{"sk > 61", "sk >= 6d", "sk > 6d", "sk BETWEEN 6100 AND 6d", "sk < 6d"}},
		{"at least text", AtLeast("a"), "m", forms{"sk >= a", "sk >= m", "sk > m", "sk BETWEEN a AND m", "sk < m"}},
		{"at least number", AtLeast(1), 5, forms{"sk >= 1", "sk >= 5", "sk > 5", "sk BETWEEN 1 AND 5", "sk < 5"}},
		{"at least binary", AtLeast([]byte("a")), []byte("m"), forms{"sk >= 61", "sk >= 6d", "sk > 6d", "sk BETWEEN 61 AND 6d", "sk < 6d"}},
		{"between text", Between("a", "z"), "m", forms{"sk BETWEEN a AND z", "sk BETWEEN m AND z", "sk BETWEEN m\x00 AND z", "sk BETWEEN a AND m", "sk < m"}},
		{"between number", Between(1, 9), 5, forms{"sk BETWEEN 1 AND 9", "sk BETWEEN 5 AND 9", "sk > 5", "sk BETWEEN 1 AND 5", "sk < 5"}},
		{"between binary", Between([]byte("a"), []byte("z")), []byte("m"), forms{"sk BETWEEN 61 AND 7a", "sk BETWEEN 6d AND 7a", "sk BETWEEN 6d00 AND 7a", "sk BETWEEN 61 AND 6d", "sk < 6d"}},
		{"begins with text", BeginsWith("m"), "mm", forms{"begins_with(sk, m)", "sk BETWEEN mm AND n", "sk BETWEEN mm\x00 AND n", "sk BETWEEN m AND mm", "sk < mm"}},
		{"begins with binary", BeginsWith([]byte("m")), []byte("mm"), forms{"begins_with(sk, 6d)", "sk BETWEEN 6d6d AND 6e", "sk BETWEEN 6d6d00 AND 6e", "sk BETWEEN 6d AND 6d6d", "sk < 6d6d"}},
		{"begins with the last text", BeginsWith("\U0010FFFF"), "\U0010FFFFm", forms{"begins_with(sk, \U0010FFFF)", "sk >= \U0010FFFFm", "sk > \U0010FFFFm", "sk BETWEEN \U0010FFFF AND \U0010FFFFm", "sk < \U0010FFFFm"}},
		{"resumed at the longest key", AtMost("z"), long, forms{"sk <= z", "sk BETWEEN mm…1024 AND z", "sk > mm…1024", "sk <= mm…1024", "sk < mm…1024"}},
		{"greater than the longest key", Greater(long), "z", forms{"sk > mm…1024", "sk >= z", "sk > z", "sk BETWEEN mm…1024 AND z", "sk < z"}},
		// the first key behind the prefix would be too long: U+0080 has two bytes
		{"begins with the longest key", BeginsWith(long[:1023] + "\x7f"), long[:1023] + "\x7f", forms{
			"begins_with(sk, mm…1024)", "sk >= mm…1024", "sk > mm…1024", "sk = mm…1024", "nothing",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			iv, err := test.interval()
			if err != nil {
				t.Fatal(err)
			}
			at, err := sortValueOf(test.at)
			if err != nil {
				t.Fatal(err)
			}
			spell := func(iv interval, reverse bool) string {
				if iv.empty() {
					return "nothing"
				}
				values := Item{}
				return spelt(iv.condition(reverse, values), values)
			}
			got := forms{
				plain: spell(iv, false), resumed: spell(iv.from(at, false, false), false), passed: spell(iv.from(at, true, false), false),
				reverse: spell(iv.from(at, false, true), true), reversePassed: spell(iv.from(at, true, true), true),
			}
			if got != test.want {
				t.Errorf("\ngot  %+q\nwant %+q", got, test.want)
			}
			if backwards := spell(iv, true); backwards != got.plain {
				t.Errorf("in reverse: got %q, want %q", backwards, got.plain)
			}
		})
	}
}

func TestRangeRefuses(t *testing.T) {
	tests := []struct {
		Range
		want string
	}{
		{Equal(nil), "cannot be a sort key"},
		{Equal(true), "cannot be a sort key"},
		{Equal([]string{"a"}), "cannot be a sort key"},
		{Equal(number("one")), `number "one"`},
		{Equal(number("1E200")), `number "1E200"`},
		{Between("b", "a"), "the second is before the first"},
		{Between(10, 9), "the second is before the first"},
		{Between("a", 1), "not of one type"},
		{BeginsWith(1), "numbers do not begin with anything"},
		{AtMost(strings.Repeat("a", maxSortKey+1)), "1025 bytes"},
		{Between("a", strings.Repeat("b", maxSortKey+1)), "1025 bytes"},
		{BeginsWith(bytes.Repeat([]byte{0}, 2000)), "2000 bytes"},
		{BeginsWith(""), "empty"},
		{BeginsWith([]byte{}), "empty"},
		{Equal(""), "empty"},
		{Less(""), "empty"},
		{AtMost([]byte{}), "empty"},
		{Greater(""), "empty"},
		{AtLeast(""), "empty"},
		{Between("", "a"), "empty"},
	}
	for i, test := range tests {
		if _, err := test.interval(); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("case %d: got %v, want %q", i, err, test.want)
		}
	}
	for _, fine := range []Range{{}, Between("a", "a"), Between(9, 10), Between(-10, -9), Between(number("1.0"), number("1E0")), Equal([]byte{0}), Equal(1.5), Equal(0)} {
		if _, err := fine.interval(); err != nil {
			t.Errorf("%d of %v and %v: %v", fine.op, fine.lo, fine.hi, err)
		}
	}
}

// Numbers are what they are, however they are written.
func TestNumbersWrittenDifferently(t *testing.T) {
	first, err := sortValueOf(number("1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range []any{1, int8(1), uint64(1), 1.0, number("1.0"), number("1E0"), number("0.1e1"), number("+1"), number("0001"), number("1.000000")} {
		got, err := sortValueOf(written)
		if err != nil || got != first {
			t.Errorf("%v: got %q, %v, want %q", written, got.text, err, first.text)
		}
	}
}

func TestAfterPrefix(t *testing.T) {
	long := strings.Repeat("x", maxSortKey-1)
	tests := []struct {
		name         string
		prefix, want sortValue
		none         bool
	}{
		{name: "text", prefix: sortValue{attr.S, "ab"}, want: sortValue{attr.S, "ac"}},
		{name: "empty", prefix: sortValue{attr.S, ""}, none: true},
		{name: "zero byte", prefix: sortValue{attr.S, "a\x00"}, want: sortValue{attr.S, "a\x01"}},
		{name: "to two bytes", prefix: sortValue{attr.S, "a\x7f"}, want: sortValue{attr.S, "a\u0080"}},
		{name: "to three bytes", prefix: sortValue{attr.S, "a\u07ff"}, want: sortValue{attr.S, "a\u0800"}},
		{name: "over the surrogates", prefix: sortValue{attr.S, "a\ud7ff"}, want: sortValue{attr.S, "a\ue000"}},
		{name: "to four bytes", prefix: sortValue{attr.S, "a\uffff"}, want: sortValue{attr.S, "a\U00010000"}},
		{name: "last rune", prefix: sortValue{attr.S, "a\U0010ffff"}, want: sortValue{attr.S, "b"}},
		{name: "last runes", prefix: sortValue{attr.S, "a\U0010ffff\U0010ffff"}, want: sortValue{attr.S, "b"}},
		{name: "only last runes", prefix: sortValue{attr.S, "\U0010ffff\U0010ffff"}, none: true},
		{name: "of 1,024 bytes", prefix: sortValue{attr.S, long + "a"}, want: sortValue{attr.S, long + "b"}},
		{name: "grows beyond 1,024 bytes", prefix: sortValue{attr.S, long + "\x7f"}, want: sortValue{attr.S, long + "\u0080"}},
		{name: "binary", prefix: sortValue{attr.B, "a\x7f"}, want: sortValue{attr.B, "a\x80"}},
		{name: "binary FF", prefix: sortValue{attr.B, "a\xff\xff"}, want: sortValue{attr.B, "b"}},
		{name: "binary FE", prefix: sortValue{attr.B, "\xff\xfe"}, want: sortValue{attr.B, "\xff\xff"}},
		{name: "only FF", prefix: sortValue{attr.B, "\xff\xff"}, none: true},
		{name: "empty binary", prefix: sortValue{attr.B, ""}, none: true},
	}
	for _, test := range tests {
		got, ok := test.prefix.afterPrefix()
		if ok == test.none || got != test.want {
			t.Errorf("%s: got %q, %t, want %q, %t", test.name, got.text, ok, test.want.text, !test.none)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attr.Kind{attr.S, attr.B}).Draw(t, "kind")
		prefix, value := drawSort(t, kind, "prefix"), drawSort(t, kind, "value")
		if rapid.Bool().Draw(t, "inside") {
			value.text = prefix.text + value.text
		}
		next, ok := prefix.afterPrefix()
		begins := strings.HasPrefix(value.text, prefix.text)
		between := value.compare(prefix) >= 0 && (!ok || value.compare(next) < 0)
		if begins != between {
			t.Fatalf("%q begins with %q: %t; from there to %q: %t", value.text, prefix.text, begins, next.text, between)
		}
	})
}

// drawSort draws a sort key from few letters, so that they meet, with those at the borders of the alphabet.
func drawSort(t *rapid.T, kind attr.Kind, label string) sortValue {
	if kind == attr.N {
		return valueOf(t, number(rapid.SampledFrom([]string{
			"0", "1", "-1", "1.5", "10", "9", "1E-130", "-1E-130", "1E125", "-1E125", "0.1", "12345678901234567890123456789012345678",
		}).Draw(t, label)))
	}
	letters := []string{"\x00", "a", "b", "\x7f", "é", "\ud7ff", "\ue000", "\U0010ffff"}
	if kind == attr.B {
		letters = []string{"\x00", "\x01", "a", "\xfe", "\xff"}
	}
	s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 3).Draw(t, label), "")
	if rapid.IntRange(0, 19).Draw(t, "long") == 0 { // up to the longest key there is
		s = strings.Repeat("b", maxSortKey-len(s)) + s
	}
	return sortValue{kind, s}
}

func valueOf(t rapid.TB, v any) sortValue {
	value, err := sortValueOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestIntervalAgainstBruteForce draws a range, resumes it some number of times, and compares what interval and condition
// say of random keys with the range's definition. What condition says may have more, but only where reading stops.
func TestIntervalAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attr.Kind{attr.S, attr.N, attr.B}).Draw(t, "kind")
		lo, hi := drawSort(t, kind, "lo"), drawSort(t, kind, "hi")
		for _, v := range []*sortValue{&lo, &hi} {
			if v.text == "" {
				v.text = "a"
			}
		}
		if lo.compare(hi) > 0 {
			lo, hi = hi, lo
		}
		a, b := lo.attribute(), hi.attribute()
		ranges := []struct {
			Range
			has func(v sortValue) bool
		}{
			{Range{}, func(sortValue) bool { return true }},
			{Equal(a), func(v sortValue) bool { return v == lo }},
			{Less(a), func(v sortValue) bool { return v.compare(lo) < 0 }},
			{AtMost(a), func(v sortValue) bool { return v.compare(lo) <= 0 }},
			{Greater(a), func(v sortValue) bool { return v.compare(lo) > 0 }},
			{AtLeast(a), func(v sortValue) bool { return v.compare(lo) >= 0 }},
			{Between(a, b), func(v sortValue) bool { return v.compare(lo) >= 0 && v.compare(hi) <= 0 }},
			{BeginsWith(a), func(v sortValue) bool { return strings.HasPrefix(v.text, lo.text) }},
		}
		if kind == attr.N {
			ranges = ranges[:len(ranges)-1]
		}
		r := rapid.SampledFrom(ranges).Draw(t, "range")
		iv, err := r.interval()
		if err != nil {
			t.Fatal(err)
		}
		reverse := rapid.Bool().Draw(t, "reverse")
		has := r.has
		if rapid.Bool().Draw(t, "resumed") {
			at, open := drawSort(t, kind, "at"), rapid.Bool().Draw(t, "open")
			if iv.compare(at) != 0 {
				return // positions are those of items
			}
			iv = iv.from(at, open, reverse)
			has = func(v sortValue) bool {
				c := v.compare(at)
				if reverse {
					c = -c
				}
				return r.has(v) && (c > 0 || c == 0 && !open)
			}
		}
		values := Item{}
		condition := iv.condition(reverse, values)
		for range 20 {
			v := drawSort(t, kind, "key")
			if rapid.Bool().Draw(t, "near") {
				if near := rapid.SampledFrom([]sortValue{lo, hi, {kind, lo.text + "\x00"}, {kind, lo.text + "b"}}).Draw(t, "which"); kind != attr.N && len(near.text) <= maxSortKey {
					v = near
				}
			}
			where := iv.compare(v)
			if (where == 0) != has(v) {
				t.Fatalf("%q: compare says %d, the range %t", v.text, where, has(v))
			}
			if iv.empty() && where == 0 {
				t.Fatalf("%q is in an empty interval", v.text)
			}
			if iv.empty() {
				continue
			}
			read := satisfies(t, v, condition, values)
			if reverse {
				where = -where
			}
			switch {
			case where == 0 && !read:
				t.Fatalf("%q is in the interval, but not in %q", v.text, spelt(condition, values))
			case where < 0 && read:
				t.Fatalf("%q is before the interval, but in %q", v.text, spelt(condition, values))
			}
		}
		for _, v := range values {
			if len(valueOf(t, v).text) > maxSortKey {
				t.Fatalf("%d bytes in %q", len(valueOf(t, v).text), condition)
			}
		}
	})
}

// satisfies does what DynamoDB does with a condition.
func satisfies(t rapid.TB, v sortValue, condition string, values Item) bool {
	operand := func(name string) sortValue { return valueOf(t, values[name]) }
	words := strings.Fields(condition)
	switch {
	case condition == "":
		return true
	case condition == "begins_with(#hs_sk, :hs_lo)":
		return strings.HasPrefix(v.text, operand(":hs_lo").text)
	case len(words) == 5 && words[1] == "BETWEEN":
		lo, hi := operand(words[2]), operand(words[4])
		if lo.compare(hi) > 0 {
			t.Fatalf("BETWEEN %q AND %q", lo.text, hi.text)
		}
		return v.compare(lo) >= 0 && v.compare(hi) <= 0
	}
	c := v.compare(operand(words[2]))
	return slices.Contains(map[string][]int{"=": {0}, "<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {1, 0}}[words[1]], c)
}

package sortkey_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/internal/sortkey/sortkeytest"
)

func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// span is what NewInterval takes.
type span struct {
	op     sortkey.Op
	lo, hi any
}

func (s span) interval() (sortkey.Interval, error) { return sortkey.NewInterval(s.op, s.lo, s.hi) }

func equal(v any) span        { return span{op: sortkey.Equal, lo: v} }
func less(v any) span         { return span{op: sortkey.Less, hi: v} }
func atMost(v any) span       { return span{op: sortkey.AtMost, hi: v} }
func greater(v any) span      { return span{op: sortkey.Greater, lo: v} }
func atLeast(v any) span      { return span{op: sortkey.AtLeast, lo: v} }
func between(lo, hi any) span { return span{op: sortkey.Between, lo: lo, hi: hi} }
func beginsWith(v any) span   { return span{op: sortkey.BeginsWith, lo: v} }

// spelt returns a condition with its values in place.
func spelt(condition string, values map[string]types.AttributeValue) string {
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
	long := strings.Repeat("m", sortkey.MaxBytes)
	tests := []struct {
		name string
		span
		at   any // where it is resumed
		want forms
	}{
		{"every text", span{}, "m", forms{"", "sk >= m", "sk > m", "sk <= m", "sk < m"}},
		{"every number", span{}, 5, forms{"", "sk >= 5", "sk > 5", "sk <= 5", "sk < 5"}},
		{"every binary", span{}, []byte("m"), forms{"", "sk >= 6d", "sk > 6d", "sk <= 6d", "sk < 6d"}},
		{"equal text", equal("m"), "m", forms{"sk = m", "sk = m", "nothing", "sk = m", "nothing"}},
		{"equal number", equal(5), 5, forms{"sk = 5", "sk = 5", "nothing", "sk = 5", "nothing"}},
		{"equal binary", equal([]byte("m")), []byte("m"), forms{"sk = 6d", "sk = 6d", "nothing", "sk = 6d", "nothing"}},
		{"less text", less("z"), "m", forms{"sk < z", "sk BETWEEN m AND z", "sk BETWEEN m\x00 AND z", "sk <= m", "sk < m"}},
		{"less number", less(9), 5, forms{"sk < 9", "sk BETWEEN 5 AND 9", "sk > 5", "sk <= 5", "sk < 5"}},
		{"less binary", less([]byte("z")), []byte("m"), forms{"sk < 7a", "sk BETWEEN 6d AND 7a", "sk BETWEEN 6d00 AND 7a", "sk <= 6d", "sk < 6d"}},
		{"at most text", atMost("z"), "m", forms{"sk <= z", "sk BETWEEN m AND z", "sk BETWEEN m\x00 AND z", "sk <= m", "sk < m"}},
		{"at most number", atMost(9), 5, forms{"sk <= 9", "sk BETWEEN 5 AND 9", "sk > 5", "sk <= 5", "sk < 5"}},
		{"at most binary", atMost([]byte("z")), []byte("m"), forms{"sk <= 7a", "sk BETWEEN 6d AND 7a", "sk BETWEEN 6d00 AND 7a", "sk <= 6d", "sk < 6d"}},
		{"greater text", greater("a"), "m", forms{"sk > a", "sk >= m", "sk > m", "sk BETWEEN a\x00 AND m", "sk < m"}},
		{"greater number", greater(1), 5, forms{"sk > 1", "sk >= 5", "sk > 5", "sk BETWEEN 1 AND 5", "sk < 5"}},
		{"greater binary", greater([]byte("a")), []byte("m"), forms{"sk > 61", "sk >= 6d", "sk > 6d", "sk BETWEEN 6100 AND 6d", "sk < 6d"}},
		{"at least text", atLeast("a"), "m", forms{"sk >= a", "sk >= m", "sk > m", "sk BETWEEN a AND m", "sk < m"}},
		{"at least number", atLeast(1), 5, forms{"sk >= 1", "sk >= 5", "sk > 5", "sk BETWEEN 1 AND 5", "sk < 5"}},
		{"at least binary", atLeast([]byte("a")), []byte("m"), forms{"sk >= 61", "sk >= 6d", "sk > 6d", "sk BETWEEN 61 AND 6d", "sk < 6d"}},
		{"between text", between("a", "z"), "m", forms{"sk BETWEEN a AND z", "sk BETWEEN m AND z", "sk BETWEEN m\x00 AND z", "sk BETWEEN a AND m", "sk < m"}},
		{"between number", between(1, 9), 5, forms{"sk BETWEEN 1 AND 9", "sk BETWEEN 5 AND 9", "sk > 5", "sk BETWEEN 1 AND 5", "sk < 5"}},
		{"between binary", between([]byte("a"), []byte("z")), []byte("m"), forms{"sk BETWEEN 61 AND 7a", "sk BETWEEN 6d AND 7a", "sk BETWEEN 6d00 AND 7a", "sk BETWEEN 61 AND 6d", "sk < 6d"}},
		{"begins with text", beginsWith("m"), "mm", forms{"begins_with(sk, m)", "sk BETWEEN mm AND n", "sk BETWEEN mm\x00 AND n", "sk BETWEEN m AND mm", "sk < mm"}},
		{"begins with binary", beginsWith([]byte("m")), []byte("mm"), forms{"begins_with(sk, 6d)", "sk BETWEEN 6d6d AND 6e", "sk BETWEEN 6d6d00 AND 6e", "sk BETWEEN 6d AND 6d6d", "sk < 6d6d"}},
		{"begins with the last text", beginsWith("\U0010FFFF"), "\U0010FFFFm", forms{"begins_with(sk, \U0010FFFF)", "sk >= \U0010FFFFm", "sk > \U0010FFFFm", "sk BETWEEN \U0010FFFF AND \U0010FFFFm", "sk < \U0010FFFFm"}},
		{"resumed at the longest key", atMost("z"), long, forms{"sk <= z", "sk BETWEEN mm…1024 AND z", "sk > mm…1024", "sk <= mm…1024", "sk < mm…1024"}},
		{"greater than the longest key", greater(long), "z", forms{"sk > mm…1024", "sk >= z", "sk > z", "sk BETWEEN mm…1024 AND z", "sk < z"}},
		// the first key behind the prefix would be too long: U+0080 has two bytes
		{"begins with the longest key", beginsWith(long[:1023] + "\x7f"), long[:1023] + "\x7f", forms{
			"begins_with(sk, mm…1024)", "sk >= mm…1024", "sk > mm…1024", "sk = mm…1024", "nothing",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			iv, err := test.interval()
			if err != nil {
				t.Fatal(err)
			}
			at, err := sortkey.Of(test.at)
			if err != nil {
				t.Fatal(err)
			}
			spell := func(iv sortkey.Interval, reverse bool) string {
				if iv.Empty() {
					return "nothing"
				}
				values := map[string]types.AttributeValue{}
				return spelt(iv.Condition(reverse, values), values)
			}
			got := forms{
				plain: spell(iv, false), resumed: spell(iv.From(at, false, false), false), passed: spell(iv.From(at, true, false), false),
				reverse: spell(iv.From(at, false, true), true), reversePassed: spell(iv.From(at, true, true), true),
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

func TestNewIntervalRefuses(t *testing.T) {
	tests := []struct {
		span
		want string
	}{
		{equal(nil), "cannot be a sort key"},
		{equal(true), "cannot be a sort key"},
		{equal([]string{"a"}), "cannot be a sort key"},
		{equal(number("one")), `number "one"`},
		{equal(number("1E200")), `number "1E200"`},
		{between("b", "a"), "Between b and a: the second is before the first"},
		{between(10, 9), "the second is before the first"},
		{between("a", 1), "Between a and 1: the values have two types, want one"},
		{beginsWith(1), "BeginsWith 1: a number has no prefix, want a string or a binary"},
		{atMost(strings.Repeat("a", sortkey.MaxBytes+1)), "1025 bytes"},
		{between("a", strings.Repeat("b", sortkey.MaxBytes+1)), "1025 bytes"},
		{beginsWith(bytes.Repeat([]byte{0}, 2000)), "2000 bytes"},
		{beginsWith(""), "empty"},
		{beginsWith([]byte{}), "empty"},
		{equal(""), "empty"},
		{less(""), "empty"},
		{atMost([]byte{}), "empty"},
		{greater(""), "empty"},
		{atLeast(""), "empty"},
		{between("", "a"), "empty"},
	}
	for i, test := range tests {
		if _, err := test.interval(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("case %d: got %v, want %q", i, err, test.want)
		}
	}
	for _, fine := range []span{{}, between("a", "a"), between(9, 10), between(-10, -9), between(number("1.0"), number("1E0")), equal([]byte{0}), equal(1.5), equal(0)} {
		if _, err := fine.interval(); err != nil {
			t.Errorf("%d of %v and %v: %v", fine.op, fine.lo, fine.hi, err)
		}
	}
}

// TestIntervalAgainstBruteForce draws a range, resumes it some number of times, and compares what Compare and Condition
// say of random keys with the range's definition. What Condition says may have more, but only where reading stops.
func TestIntervalAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attr.Kind{attr.S, attr.N, attr.B}).Draw(t, "kind")
		lo, hi := sortkeytest.Draw(t, kind, "lo"), sortkeytest.Draw(t, kind, "hi")
		for _, v := range []*sortkey.Value{&lo, &hi} {
			if v.Text == "" {
				v.Text = "a"
			}
		}
		if lo.Compare(hi) > 0 {
			lo, hi = hi, lo
		}
		a, b := lo.Attribute(), hi.Attribute()
		ranges := []struct {
			span
			has func(v sortkey.Value) bool
		}{
			{span{}, func(sortkey.Value) bool { return true }},
			{equal(a), func(v sortkey.Value) bool { return v == lo }},
			{less(a), func(v sortkey.Value) bool { return v.Compare(lo) < 0 }},
			{atMost(a), func(v sortkey.Value) bool { return v.Compare(lo) <= 0 }},
			{greater(a), func(v sortkey.Value) bool { return v.Compare(lo) > 0 }},
			{atLeast(a), func(v sortkey.Value) bool { return v.Compare(lo) >= 0 }},
			{between(a, b), func(v sortkey.Value) bool { return v.Compare(lo) >= 0 && v.Compare(hi) <= 0 }},
			{beginsWith(a), func(v sortkey.Value) bool { return strings.HasPrefix(v.Text, lo.Text) }},
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
			at, open := sortkeytest.Draw(t, kind, "at"), rapid.Bool().Draw(t, "open")
			if iv.Compare(at) != 0 {
				return // positions are those of items
			}
			iv = iv.From(at, open, reverse)
			has = func(v sortkey.Value) bool {
				c := v.Compare(at)
				if reverse {
					c = -c
				}
				return r.has(v) && (c > 0 || c == 0 && !open)
			}
		}
		values := map[string]types.AttributeValue{}
		condition := iv.Condition(reverse, values)
		for range 20 {
			v := sortkeytest.Draw(t, kind, "key")
			if rapid.Bool().Draw(t, "near") {
				if near := rapid.SampledFrom([]sortkey.Value{lo, hi, {Kind: kind, Text: lo.Text + "\x00"}, {Kind: kind, Text: lo.Text + "b"}}).Draw(t, "which"); kind != attr.N && len(near.Text) <= sortkey.MaxBytes {
					v = near
				}
			}
			where := iv.Compare(v)
			if (where == 0) != has(v) {
				t.Fatalf("%q: compare says %d, the range %t", v.Text, where, has(v))
			}
			if iv.Empty() && where == 0 {
				t.Fatalf("%q is in an empty interval", v.Text)
			}
			if iv.Empty() {
				continue
			}
			read := sortkeytest.Satisfies(t, v, condition, values)
			if reverse {
				where = -where
			}
			switch {
			case where == 0 && !read:
				t.Fatalf("%q is in the interval, but not in %q", v.Text, spelt(condition, values))
			case where < 0 && read:
				t.Fatalf("%q is before the interval, but in %q", v.Text, spelt(condition, values))
			}
		}
		for _, v := range values {
			if len(sortkeytest.Of(t, v).Text) > sortkey.MaxBytes {
				t.Fatalf("%d bytes in %q", len(sortkeytest.Of(t, v).Text), condition)
			}
		}
	})
}

// An interval has values of its own kind only: a number's text is also some string's.
func TestHasAsksForTheKind(t *testing.T) {
	for name, s := range map[string]span{"one end": atLeast("a"), "the other": atMost("z"), "both": between("a", "z")} {
		iv, err := s.interval()
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range map[attr.Kind]bool{attr.S: true, attr.N: false, attr.B: false, attr.Invalid: false} {
			if got := iv.Has(sortkey.Value{Kind: kind, Text: "m"}); got != want {
				t.Errorf("%s: %v: got %t, want %t", name, kind, got, want)
			}
		}
	}
	outside, err := greater("a").interval()
	if err != nil {
		t.Fatal(err)
	}
	if outside.Has(sortkey.Value{Kind: attr.S, Text: "a"}) {
		t.Error("an open interval has its end")
	}
	if all := (sortkey.Interval{}); !all.Has(sortkey.Value{}) || !all.Has(sortkey.Value{Kind: attr.N, Text: "m"}) {
		t.Error("the interval of every key does not have one")
	}
}

package heatsink

import (
	"errors"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/sortkey"
)

// Each constructor gives its values to the operator that has its name.
func TestRangeIsAnInterval(t *testing.T) {
	end := func(text string, open bool) sortkey.Bound {
		value, err := sortkey.Of(text)
		if err != nil {
			t.Fatal(err)
		}
		return sortkey.Bound{Value: value, Set: true, Open: open}
	}
	for name, test := range map[string]struct {
		Range
		want sortkey.Interval
	}{
		"everything":  {Range{}, sortkey.Interval{}},
		"equal":       {Equal("m"), sortkey.Interval{Lo: end("m", false), Hi: end("m", false)}},
		"less":        {Less("m"), sortkey.Interval{Hi: end("m", true)}},
		"at most":     {AtMost("m"), sortkey.Interval{Hi: end("m", false)}},
		"greater":     {Greater("m"), sortkey.Interval{Lo: end("m", true)}},
		"at least":    {AtLeast("m"), sortkey.Interval{Lo: end("m", false)}},
		"between":     {Between("a", "m"), sortkey.Interval{Lo: end("a", false), Hi: end("m", false)}},
		"begins with": {BeginsWith("m"), sortkey.Interval{Lo: end("m", false), Hi: end("n", true), Prefix: true}},
	} {
		if got, err := test.interval(); err != nil || got != test.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, test.want)
		}
	}
}

// A Range that no sort key can be in is an ErrQuery, which says what is wrong with it.
func TestRangeRefuses(t *testing.T) {
	for _, test := range []struct {
		Range
		want string
	}{
		{Equal(true), "Sort: true (bool) cannot be a sort key, want a string, a number or a binary"},
		{Equal(""), "Sort: the value is empty, but a sort key is not: leave Sort out to select every key"},
		{AtMost(strings.Repeat("a", 1025)), "Sort: the value has 1025 bytes, but a sort key has at most 1024"},
		{Between("b", "a"), "Sort: Between b and a: the second is before the first, want them in order"},
		{BeginsWith(1), "Sort: BeginsWith 1: a number has no prefix, want a string or a binary"},
	} {
		if _, err := test.interval(); !errors.Is(err, ErrQuery) || err.Error() != ErrQuery.Error()+": "+test.want {
			t.Errorf("got %v, want %v: %s", err, ErrQuery, test.want)
		}
	}
}

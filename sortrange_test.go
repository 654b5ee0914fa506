package heatsink

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
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
		if got, err := test.interval(nil); err != nil || got != test.want {
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
		if _, err := test.interval(nil); !errors.Is(err, ErrQuery) || err.Error() != ErrQuery.Error()+": "+test.want {
			t.Errorf("got %v, want %v: %s", err, ErrQuery, test.want)
		}
	}
}

// Ranges are encoded as the items are: times in a format of the caller's own find the items that were written so.
func TestRangesAreEncodedAsItems(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	type event struct {
		Key string    `dynamodbav:"pk"`
		At  time.Time `dynamodbav:"sk"`
	}
	options := Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 4}}
	options.Encode = func(o *attributevalue.EncoderOptions) {
		o.EncodeTime = func(at time.Time) (types.AttributeValue, error) { return text(at.Format("20060102T150405")), nil }
	}
	options.Decode = func(o *attributevalue.DecoderOptions) {
		o.DecodeTime.S = func(s string) (time.Time, error) { return time.Parse("20060102T150405", s) }
	}
	events, err := Open[event](client, options)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	for i := range 10 {
		if _, err := events.Put(t.Context(), event{"k", start.Add(time.Duration(i) * time.Minute)}); err != nil {
			t.Fatal(err)
		}
	}
	for want, sort := range map[int]Range{1: Equal(start), 3: AtMost(start.Add(2 * time.Minute)), 4: Between(start, start.Add(3*time.Minute)), 9: Greater(start)} {
		if n, err := events.Count(t.Context(), Query{Key: "k", Sort: sort}); n != want || err != nil {
			t.Errorf("%v: got %d items, %v, want %d", sort, n, err, want)
		}
	}
}

// A pointer to no value is refused like any other value that cannot be a sort key.
func TestRangeOfNoValue(t *testing.T) {
	for _, v := range []any{nil, (*types.AttributeValueMemberS)(nil), (*types.AttributeValueMemberN)(nil), (*types.AttributeValueMemberB)(nil)} {
		if _, err := Equal(v).interval(nil); !errors.Is(err, ErrQuery) {
			t.Errorf("%T: got %v, want ErrQuery", v, err)
		}
	}
}

package place

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// EventTime names the attribute that holds an item's event time, and its format: see heatsink.EventTime.
type EventTime struct {
	Attribute string
	Unit      TimeUnit
}

// TimeUnit is the format of a time.
type TimeUnit uint8

// The formats, which are those of the library with the same names.
const (
	RFC3339 TimeUnit = iota
	UnixSeconds
	UnixMilliseconds
)

// Of returns an item's event time. Errors wrap ErrItem.
func (e EventTime) Of(item Item) (time.Time, error) {
	wrong := func(why string) (time.Time, error) {
		return time.Time{}, fmt.Errorf("%w: event time %q is %s: %s", ErrItem, e.Attribute, attribute.Describe(item[e.Attribute]), why)
	}
	var text string
	switch v := item[e.Attribute].(type) {
	case *types.AttributeValueMemberS:
		text, _, _ = strings.Cut(v.Value, "#")
	case *types.AttributeValueMemberN:
		if e.Unit == RFC3339 {
			return wrong("want a string such as 2026-06-22T01:00:00Z, or another EventTime.Unit")
		}
		text = v.Value
	default:
		return wrong("want a string or a number")
	}
	if e.Unit == RFC3339 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return wrong("want a string such as 2026-06-22T01:00:00Z, or another EventTime.Unit")
		}
		return at, nil
	}
	number, err := attr.ParseNumber(text)
	if err != nil {
		return wrong("want a number of seconds or milliseconds, or another EventTime.Unit")
	}
	if number == attr.Zero {
		return wrong("want a time, but 0 means that the field was not set")
	}
	at, ok := unixTime(number.String(), e.Unit)
	if !ok && e.Unit == UnixMilliseconds {
		return wrong("want milliseconds since 1970")
	}
	if !ok {
		return wrong("want seconds since 1970")
	}
	return at, nil
}

// Ordered returns the time that a sort key holds, by its text: a string, or the digits of a number. It takes only what is in the same order as
// a sort key and as a time, so that items in the order of their sort keys are in the order of their buckets: numbers, and
// strings that begin with a time in UTC. Errors wrap ErrItem.
func (u TimeUnit) Ordered(text string) (time.Time, error) {
	wrong := func(why string) (time.Time, error) {
		return time.Time{}, fmt.Errorf("%w: sort key %s has no time: %s", ErrItem, quote.Text(text), why)
	}
	if u == RFC3339 {
		begin, _, _ := strings.Cut(text, "#")
		at, err := time.Parse(time.RFC3339, begin)
		const seconds = "2006-01-02T15:04:05"
		if err != nil || begin[:len(seconds)] != at.UTC().Format(seconds) { // another zone has another order, and so has a digit less
			return wrong("want one that begins with a time in UTC, such as 2026-06-22T01:00:00Z")
		}
		return at.UTC(), nil
	}
	number, err := attr.ParseNumber(text)
	if err != nil || number == attr.Zero {
		return wrong("want a number other than 0, of seconds or milliseconds since 1970")
	}
	at, ok := unixTime(number.String(), u)
	if !ok {
		return wrong("it is beyond the year 9999: want seconds or milliseconds since 1970")
	}
	return at, nil
}

// unixTime converts a decimal number of seconds or milliseconds since 1970 to a time, rounded down to the nanosecond. It
// returns false for years far beyond 9999, which come from a wrong unit.
func unixTime(text string, unit TimeUnit) (time.Time, bool) {
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	if unit == UnixMilliseconds { // the point moves by three digits
		whole = "000" + whole
		whole, fraction = whole[:len(whole)-3], whole[len(whole)-3:]+fraction
	}
	const digits = len("999999999")
	fraction += "000000000"
	seconds, err := strconv.ParseInt(whole, 10, 64)
	nanoseconds, _ := strconv.ParseInt(fraction[:digits], 10, 64)
	const lastYear = 1 << 38 // far beyond 9999, and still far from wrapping around
	if err != nil || seconds > lastYear {
		return time.Time{}, false
	}
	if negative {
		seconds, nanoseconds = -seconds, -nanoseconds
		if strings.Trim(fraction[digits:], "0") != "" {
			nanoseconds--
		}
	}
	return time.Unix(seconds, nanoseconds).UTC(), true
}

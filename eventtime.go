package heatsink

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
)

// EventTime names the attribute that holds an item's time, and how it is written. A string may go on after the time, with a
// '#' and anything, as sort keys do. Sort keys are ordered as texts: times in them should be in UTC and have the same number
// of digits.
//
// A number may have a fraction or an exponent, and is read to the nanosecond, rounded down. The number 0 is refused: it is
// what a struct writes whose field was not set, and would put such items into a bucket of 1970.
//
// Query.From and Query.To are compared with this attribute, unless the whole bucket is asked for. An item that lacks it is
// in no range of time, as with a filter of DynamoDB's. In a bucket, where every item has a time, that is a *DecodeError; so
// is a time that cannot be read, wherever the item is. With an Index, an item without the attribute ends the read with
// ErrQuery: most likely the index does not project it.
type EventTime struct {
	Attribute string
	Unit      TimeUnit
}

// TimeUnit is how a time is written.
type TimeUnit uint8

// The units. The zero value is RFC3339.
const (
	RFC3339          TimeUnit = iota // a string such as 2026-06-22T01:00:00Z, with or without fractions
	UnixSeconds                      // a number, or a string of one, of seconds since 1970
	UnixMilliseconds                 // the same in milliseconds
)

// of returns an item's time. Its errors wrap ErrItem.
func (e EventTime) of(item Item) (time.Time, error) {
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
		return wrong("that is no time, but a field that was not set")
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

// unixTime returns the time of a decimal number of seconds or milliseconds since 1970, rounded down to the nanosecond. It
// is false for years far beyond 9999, which come from a wrong unit.
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

package heatsink

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// EventTime names the attribute that holds an item's time, and how it is written. A string may go on after the time, with a
// '#' and anything, as sort keys do. Sort keys are ordered as texts: times in them should be in UTC and have the same number
// of digits.
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
		return time.Time{}, fmt.Errorf("%w: event time %q is %s: %s", ErrItem, e.Attribute, describe(item[e.Attribute]), why)
	}
	var text string
	switch v := item[e.Attribute].(type) {
	case *types.AttributeValueMemberS:
		text, _, _ = strings.Cut(v.Value, "#")
	case *types.AttributeValueMemberN:
		if e.Unit == RFC3339 {
			return wrong("want a string such as 2026-06-22T01:00:00Z")
		}
		text = v.Value
	default:
		return wrong("want a string or a number")
	}
	if e.Unit == RFC3339 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return wrong("want a string such as 2026-06-22T01:00:00Z")
		}
		return at, nil
	}
	n, ok := wholeNumber(text)
	if !ok {
		return wrong("want a number")
	}
	if n == 0 {
		return wrong("that is no time, but a field that was not set")
	}
	if e.Unit == UnixMilliseconds {
		return time.UnixMilli(n).UTC(), nil
	}
	const lastYear = 1 << 38 // far beyond 9999, and still far from wrapping around
	if n < -lastYear || n > lastYear {
		return wrong("want seconds since 1970")
	}
	return time.Unix(n, 0).UTC(), nil
}

// wholeNumber returns a DynamoDB number rounded down, false if it is none or too large.
func wholeNumber(text string) (int64, bool) {
	n, err := attr.ParseNumber(text)
	if err != nil {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(n.String(), ".")
	i, err := strconv.ParseInt(whole, 10, 64)
	if fraction != "" && strings.HasPrefix(whole, "-") {
		i--
	}
	return i, err == nil
}

package heatsink

import "github.com/heatsink-go/heatsink/internal/place"

// EventTime names the attribute that holds an item's event time, and its format.
//
// A string may continue after the time with a '#' and any text, as sort keys often do. DynamoDB orders sort keys as text.
// Times in sort keys should therefore be in UTC and have the same number of digits.
//
// A number may have a fraction or an exponent. It is rounded down to the nanosecond. The number 0 is refused, because a
// struct whose field was not set writes 0, which would select a bucket of 1970.
//
// Query.From and Query.To are compared with this attribute, unless they include the whole bucket. An item without the
// attribute is in no time range, as with a DynamoDB filter. In a bucket every item must have a time, so a missing one is
// a *DecodeError. An invalid time is a *DecodeError anywhere. With an Index, an item without the attribute ends the read
// with ErrQuery, because the index probably does not project it.
type EventTime struct {
	Attribute string
	Unit      TimeUnit
}

// TimeUnit is the format of a time.
type TimeUnit uint8

// The formats of times. The zero value is RFC3339.
const (
	RFC3339          TimeUnit = iota // a string such as 2026-06-22T01:00:00Z, with or without fractions
	UnixSeconds                      // seconds since 1970, as a number or a string
	UnixMilliseconds                 // milliseconds since 1970, as a number or a string
)

// placed converts an event time to that of package place, which has the same units in the same order.
func (e EventTime) placed() place.EventTime {
	return place.EventTime{Attribute: e.Attribute, Unit: place.TimeUnit(e.Unit)}
}

package heatsink

import "github.com/heatsink-go/heatsink/internal/place"

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

// placed returns an event time as package place has it, whose units are the same in the same order.
func (e EventTime) placed() place.EventTime {
	return place.EventTime{Attribute: e.Attribute, Unit: place.TimeUnit(e.Unit)}
}

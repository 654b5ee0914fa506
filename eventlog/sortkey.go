package eventlog

import (
	"fmt"
	"strings"
	"time"
)

// maxSortKey is the most bytes that a sort key has in DynamoDB.
const maxSortKey = 1024

// stamps writes times into sort keys: a prefix, the time in UTC with a fixed number of digits, so that the order of the
// texts is that of the times, and after a '#' the id.
//
//	ALERT#2026-06-22T01:00:00.000Z#phishing
type stamps struct {
	prefix    string
	precision time.Duration
	layout    string
}

// precisions are the digits of a second that a log may keep.
var precisions = map[time.Duration]string{
	time.Second:      "2006-01-02T15:04:05Z",
	time.Millisecond: "2006-01-02T15:04:05.000Z",
	time.Microsecond: "2006-01-02T15:04:05.000000Z",
	time.Nanosecond:  "2006-01-02T15:04:05.000000000Z",
}

func newStamps(prefix string, precision time.Duration) stamps {
	return stamps{prefix, precision, precisions[precision]}
}

// text returns a time as it is written.
func (s stamps) text(at time.Time) string { return at.UTC().Format(s.layout) }

// floor returns the last time up to at that can be written.
func (s stamps) floor(at time.Time) time.Time { return at.UTC().Truncate(s.precision) }

// ceil returns the first time from at on that can be written.
func (s stamps) ceil(at time.Time) time.Time {
	floor := s.floor(at)
	if floor.Before(at) {
		return floor.Add(s.precision)
	}
	return floor
}

// key returns the sort key of an event.
func (s stamps) key(at time.Time, id string) string { return s.prefix + s.text(at) + "#" + id }

// bound returns the text that all sort keys from a time on begin with or come after.
func (s stamps) bound(at time.Time) string {
	if at.IsZero() {
		return s.prefix + "0" // before every year
	}
	return s.prefix + s.text(at)
}

// parse is the inverse of key. It also reads times with other digits than the log's own, and keys without an id, as an
// adopted log may have them.
func (s stamps) parse(key string) (at time.Time, id string, err error) {
	rest, ok := strings.CutPrefix(key, s.prefix)
	if !ok {
		return at, "", fmt.Errorf("sort key %q does not begin with %q", key, s.prefix)
	}
	text, id, _ := strings.Cut(rest, "#")
	if at, err = time.Parse(time.RFC3339, text); err != nil {
		return at, "", fmt.Errorf("sort key %q has no time such as %s after its prefix %q", key, s.layout, s.prefix)
	}
	return at.UTC(), id, nil
}

// notAfter returns a time that all events from a sort key on have, or a later one: the key's own or, of a key that is
// not one of an event, the start of its day.
func (s stamps) notAfter(key string) (time.Time, error) {
	at, _, err := s.parse(key)
	if err == nil {
		return at, nil
	}
	day := strings.TrimPrefix(key, s.prefix)
	if at, err := time.Parse(time.DateOnly, day[:min(len(day), len(time.DateOnly))]); err == nil {
		return at, nil
	}
	return at, err
}

// before returns the greatest text that comes before a bound and that a key could have: conditions on keys are of
// closed ranges. What is between the two begins with U+10FFFF in a place where keys have a digit or a '#'.
func before(bound string) string {
	last := len(bound) - 1
	return bound[:last] + string(bound[last]-1) + "\U0010FFFF"
}

// Times that can be logged: a time to live counts from 1970, and years have four digits, also a moment later.
var (
	firstTime = time.Unix(0, 0).UTC()
	lastTime  = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// checkTime refuses times that cannot be logged.
func checkTime(at time.Time) error {
	if at.Before(firstTime) || !at.Before(lastTime) {
		return fmt.Errorf("%v is not in the years 1970 to 9998", at)
	}
	return nil
}

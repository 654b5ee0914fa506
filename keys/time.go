package keys

import (
	"fmt"
	"time"
)

// Granularity is the unit of a time-series key.
type Granularity uint8

// The granularities. There is no default: the zero value is refused.
const (
	Hour  Granularity = iota + 1 // 2024-12-02-15
	Day                          // 2024-12-02
	Month                        // 2024-12
)

var granularities = [...]struct{ name, layout string }{
	Hour:  {"hour", "2006-01-02-15"},
	Day:   {"day", "2006-01-02"},
	Month: {"month", "2006-01"},
}

// String returns the granularity's name in lower case.
func (g Granularity) String() string {
	if g.valid() {
		return granularities[g].name
	}
	return fmt.Sprintf("Granularity(%d)", uint8(g))
}

func (g Granularity) valid() bool { return g > 0 && int(g) < len(granularities) }

// TimeSeries returns the hour, day or month of t in UTC. Later times have greater keys. For that, years have four
// digits: years other than 0001 to 9999, and the zero time, are refused.
func TimeSeries(t time.Time, g Granularity) (string, error) {
	if !g.valid() {
		return "", fmt.Errorf("%w: unknown granularity %s, want Hour, Day or Month", ErrPart, g)
	}
	if t.IsZero() {
		return "", fmt.Errorf("%w: the time is the zero time", ErrPart)
	}
	t = t.UTC()
	if year := t.Year(); year < 1 || year > 9999 {
		return "", fmt.Errorf("%w: the year of %s does not have four digits", ErrPart, t.Format(time.RFC3339))
	}
	return t.Format(granularities[g].layout), nil
}

// ParseTimeSeries returns the start of the hour, day or month of a time-series key, in UTC, and its granularity.
func ParseTimeSeries(key string) (time.Time, Granularity, error) {
	for g := Hour; g <= Month; g++ {
		layout := granularities[g].layout
		if len(key) != len(layout) {
			continue
		}
		if t, err := time.Parse(layout, key); err == nil && t.Year() >= 1 {
			return t, g, nil
		}
	}
	return time.Time{}, 0, fmt.Errorf("%w: %s is not an hour, a day or a month", ErrPart, excerpt(key))
}

// TTL returns the value of a time-to-live attribute for an item that expires at t: whole seconds since 1970, rounded
// down. DynamoDB deletes expired items within days, not at once, so readers still have to compare; and it never deletes
// items that expired more than five years ago, which a zero t would have.
func TTL(t time.Time) int64 { return t.Unix() }

package heatcloudwatch

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// series are the sums of a metric by the minute, which begins so many seconds after 1970. Minutes without are not in it.
// They may come in any order, and again.
type series map[int64]float64

func (s *series) set(at time.Time, sum float64) {
	if sum == 0 {
		return
	}
	if *s == nil {
		*s = make(series)
	}
	(*s)[at.Unix()] = sum
}

func (s series) total() float64 {
	total := 0.0
	for _, at := range s.minutes() { // in order, so that the same minutes make the same total
		total += s[at]
	}
	return total
}

// busiest returns the most of a minute.
func (s series) busiest() float64 {
	most := 0.0
	for _, sum := range s {
		most = max(most, sum)
	}
	return most
}

func (s series) minutes() []int64 { return slices.Sorted(maps.Keys(s)) }

// add returns the sums of both.
func (s series) add(other series) series {
	both := make(series, max(len(s), len(other)))
	maps.Copy(both, s)
	for at, sum := range other {
		both[at] += sum
	}
	return both
}

// mostCounted is more than any table serves in fifteen days, and can be counted in whole numbers.
const mostCounted = 1e15

// counted returns an error for a sum that cannot be of what was counted: it would spoil all that is worked out of it.
func counted(sum float64) error {
	if !(sum >= 0 && sum <= mostCounted) {
		return fmt.Errorf("%v is not a count", sum)
	}
	return nil
}

// trend returns the minutes of a flow, oldest first.
func trend(units, throttled series) []heat.Point {
	var points []heat.Point
	for _, at := range units.add(throttled).minutes() {
		points = append(points, heat.Point{
			From: time.Unix(at, 0).UTC(), For: time.Minute, Units: units[at], Throttled: int64(throttled[at]),
		})
	}
	return points
}

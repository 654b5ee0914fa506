package round

import (
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// A flow that paused for a second has the rate of the last ten, as its keys have.
func TestLately(t *testing.T) {
	now := time.Unix(1000, 0)
	trend := []heat.Point{
		{From: now.Add(-time.Minute), For: time.Second, Units: 900},
		{From: now.Add(-3 * time.Second), For: time.Second, Units: 100, Throttled: 20},
	}
	if units, throttled := Lately(trend, now); units != 10 || throttled != 2 {
		t.Errorf("got %v and %v", units, throttled)
	}
	trend = append(trend, heat.Point{From: now.Add(-time.Second), For: time.Second, Units: 70})
	if units, throttled := Lately(trend, now); units != 70 || throttled != 0 {
		t.Errorf("got %v and %v of the last second", units, throttled)
	}
}

// A partition shows its busiest second of the last ten.
func TestBusiest(t *testing.T) {
	now := time.Unix(1000, 0)
	seconds := []partitions.Second{
		{Start: now.Add(-time.Minute), WriteUnits: 900},
		{Start: now.Add(-5 * time.Second), WriteUnits: 100},
		{Start: now.Add(-4 * time.Second), WriteThrottled: 500},
		{Start: now.Add(-3 * time.Second), ReadUnits: 600},
	}
	if got := Busiest(seconds, now, 1000, 3000); got.WriteThrottled != 500 {
		t.Errorf("got %+v", got)
	}
	if got := Busiest(seconds[:1], now, 1000, 3000); got != (partitions.Second{}) {
		t.Errorf("got %+v", got)
	}
}

package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// reading is what has happened up to a moment.
type reading struct {
	at                         time.Time
	offered, accepted, refused float64 // write units
	throttles, retries         float64 // requests
}

// reading reads the figures of puts that go on.
func (w *writing) reading(at time.Time) reading {
	cost := w.meter.Cost()
	w.mu.Lock()
	defer w.mu.Unlock()
	return reading{
		at:        at,
		offered:   float64(w.offered * w.units),
		accepted:  cost.WriteUnits,
		refused:   float64(w.refused * w.units),
		throttles: float64(cost.Throttles),
		retries:   float64(cost.Retries),
	}
}

// rates are readings per second. Write units that were offered and neither accepted nor refused are under way.
type rates struct {
	Offered   float64 `json:"offered"`
	Accepted  float64 `json:"accepted"`
	Refused   float64 `json:"refused"`
	Throttles float64 `json:"throttles"`
	Retries   float64 `json:"retries"`
	Width     int     `json:"width,omitempty"` // shards at the end of the time, of a key that grows
}

func (r reading) since(earlier reading) rates {
	seconds := math.Max(r.at.Sub(earlier.at).Seconds(), 1e-3)
	per := func(now, before float64) float64 { return math.Round(10*(now-before)/seconds) / 10 }
	return rates{
		Offered:   per(r.offered, earlier.offered),
		Accepted:  per(r.accepted, earlier.accepted),
		Refused:   per(r.refused, earlier.refused),
		Throttles: per(r.throttles, earlier.throttles),
		Retries:   per(r.retries, earlier.retries),
	}
}

const rateLine = "  %6s %9s %9s %9s %12s  %s"

func showHeading(show *screen) {
	show.say(rateLine, "", "offered", "accepted", "refused", "throttled", "█ 1,000 WCU/s")
	show.say(rateLine, "", "WCU/s", "WCU/s", "WCU/s", "requests/s", "░ not accepted")
}

// line shows the rates of a second, with a bar of a cell for 1,000 write units.
func (r rates) line(show *screen, second int, note string) string {
	accepted := cells(r.Accepted)
	refused := max(cells(r.Offered)-accepted, 0)
	bar := show.green(strings.Repeat("█", accepted)) + show.red(strings.Repeat("░", refused))
	if note != "" {
		bar += " " + note
	}
	return fmt.Sprintf(rateLine, fmt.Sprintf("%d s", second),
		figure.Thousands(r.Offered), figure.Thousands(r.Accepted), figure.Thousands(r.Refused), figure.Thousands(r.Throttles), bar)
}

// cells keeps a bar within the width of a terminal: where the machine makes the load uneven, a second may have any rate.
func cells(units float64) int { return min(int(math.Round(units/1000)), 16) }

package simulate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// ErrTooLarge is wrapped when a scenario has more requests, or more quantities, than its mode simulates.
var ErrTooLarge = errors.New("too large")

// What mode requests simulates at most: in time, about ten minutes a run, and in memory.
const (
	maxRequests = 100_000_000
	maxWaiting  = 2_000_000
)

// maxFlows is how many quantities mode aggregate computes with.
const maxFlows = 1_000_000

// maxWork is how many quantities it computes in all ticks together: in time, minutes, and about an hour if all of them wait for
// other shards.
const maxWork = 1_000_000_000

// fits returns an error if a run would take too long or too much memory.
func fits(s *scenario.Scenario, l *scenario.Layout) error {
	if s.Mode == scenario.Aggregate {
		return fitsAggregate(s, l)
	}
	return fitsRequests(s, l)
}

func fitsRequests(s *scenario.Scenario, l *scenario.Layout) error {
	total, peak := 0.0, 0.0
	for i := range s.Load {
		total += s.Load[i].Draws(s.Total()) * l.LoadFactor
		peak += s.Load[i].Peak() * l.LoadFactor
	}
	p := policyOf(l.Retries)
	longest := time.Second
	for attempt := 1; attempt < p.attempts; attempt++ {
		longest += p.wait(attempt)
	}
	waiting := peak * min(longest, s.Total()).Seconds()
	switch {
	case total > maxRequests:
		return fmt.Errorf("%w: it has up to %s operations, and mode requests simulates %s at most: set mode: aggregate, or make it shorter",
			ErrTooLarge, figure.Thousands(total), figure.Thousands(maxRequests))
	case waiting > maxWaiting:
		return fmt.Errorf("%w: up to %s operations could wait at once, and mode requests has room for %s: set mode: aggregate",
			ErrTooLarge, figure.Thousands(waiting), figure.Thousands(maxWaiting))
	}
	return nil
}

func fitsAggregate(s *scenario.Scenario, l *scenario.Layout) error {
	advice := ""
	if fitsRequests(s, l) == nil {
		advice = "set mode: requests, or "
	}
	if n := flows(s, l); n > maxFlows {
		return fmt.Errorf("%w: it has %s combinations of index keys with shards of hot keys and partitions, and mode aggregate computes with %s at most: %smake it smaller",
			ErrTooLarge, figure.Thousands(n), figure.Thousands(maxFlows), advice)
	}
	ticks := math.Ceil(float64(s.Total()) / float64(s.Tick))
	if n := ticks * busyFlows(s, l); n > maxWork {
		return fmt.Errorf("%w: it has %s ticks with up to %s quantities each, and mode aggregate computes %s in all at most: %smake it shorter or smaller, or its tick longer",
			ErrTooLarge, figure.Thousands(ticks), figure.Thousands(n/ticks), figure.Thousands(maxWork), advice)
	}
	return nil
}

// busyFlows estimates how many quantities are computed in each tick: those of partitions that are not cool.
func busyFlows(s *scenario.Scenario, l *scenario.Layout) float64 {
	partitions := float64(usual.Partitions(tableConfig(s, l)))
	peak := 0.0
	for i := range s.Load {
		of := &s.Load[i]
		peak += of.Peak() * l.LoadFactor * (of.WriteUnits() + of.ReadUnits())
	}
	n := flows(s, l)
	if l.Kind == scenario.Adaptive { // keys grow to what their load needs
		narrow := *l
		narrow.Shards = 1
		n = min(n, flows(s, &narrow)+peak/leastRate)
	}
	busy := 1.0
	if len(s.Table.Indexes) == 0 {
		busy = min(peak/(coolLoad*partitionWrites)/partitions, 1)
	}
	return max(n*busy, 1)
}

// flows returns how many quantities a run in mode aggregate may have: for each load and each key of an index, the shards of all
// keys that are followed, and the partitions.
func flows(s *scenario.Scenario, l *scenario.Layout) float64 {
	places := entryCount(placesOf(&s.Table))
	partitions := float64(usual.Partitions(tableConfig(s, l)))
	sum := 0.0
	for i := range s.Load {
		of := &s.Load[i]
		keys := of.Keys.Distribution()
		peak := of.Peak() * l.LoadFactor * (of.WriteUnits() + of.ReadUnits())
		followed := float64(len(keys.Heads)) + min(peak/leastRate, float64(keys.Tail.Count), maxFollowed)
		classes := 1.0
		if of.Operation == scenario.Write {
			classes = float64(places)
		}
		sum += classes * (followed*float64(max(l.Shards, 1)) + partitions)
	}
	return sum
}

package main

import (
	"slices"
	"time"
)

// shapeResult is what the move of one shape came to.
type shapeResult struct {
	Items    int     `json:"items"`         // when the move began
	Moved    int64   `json:"moved"`         // by the mover
	Calls    int     `json:"calls"`         // of users
	Reads    int     `json:"reads"`         // of single items, each compared with the last acknowledged write
	Lists    int     `json:"lists"`         // reads of all items of a key
	Listed   int     `json:"listed"`        // items in them
	Faults   faults  `json:"faults"`        // of reads, of lists, and of the whole table at the end
	Damaged  int64   `json:"damaged"`       // what Verify finds in the end
	Left     int     `json:"left"`          // stored items with marks, or that nobody has written, in the end
	Reading  float64 `json:"reading"`       // read units of the mover
	Writing  float64 `json:"writing"`       // write units of the mover
	Forecast units   `json:"forecast"`      // what it had said before
	Virtual  float64 `json:"virtual"`       // seconds of the move, in virtual time
	CPU      float64 `json:"cpu,omitempty"` // seconds

	times                  // of users' calls
	Kinds map[string]times `json:"kinds"` // of calls of a kind
}

// The stages of a run.
const (
	before  = iota // there is no mover
	moving         // items move
	waiting        // the mover waits for an hour to go by
	after          // the move is over
	stages
)

// times says how long calls took, by stage.
type times struct {
	Before  waits `json:"before"`
	Moving  waits `json:"moving"`
	Waiting waits `json:"waiting"`
	After   waits `json:"after"`
}

func timesOf(all *[stages]spread) times {
	return times{all[before].waits(), all[moving].waits(), all[waiting].waits(), all[after].waits()}
}

// units are those of a forecast.
type units struct {
	Reading float64 `json:"reading"`
	Writing float64 `json:"writing"`
}

// waits says how long calls took.
type waits struct {
	Calls int     `json:"calls"`
	P50   float64 `json:"p50"` // milliseconds
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
}

// spread counts how long calls took. In virtual time there are few different values.
type spread map[time.Duration]int

// waits sums up.
func (s spread) waits() (w waits) {
	var all []time.Duration
	sum := 0.0
	for d, n := range s {
		all = append(all, d)
		w.Calls += n
		sum += milliseconds(d) * float64(n)
	}
	if w.Calls == 0 {
		return w
	}
	slices.Sort(all)
	at := func(share float64) float64 {
		seen := 0
		for _, d := range all {
			if seen += s[d]; float64(seen) >= share*float64(w.Calls) {
				return milliseconds(d)
			}
		}
		return milliseconds(all[len(all)-1])
	}
	w.P50, w.P99, w.Max, w.Mean = at(0.5), at(0.99), at(1), sum/float64(w.Calls)
	return w
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// off returns by which share a number differs from what was said of it.
func off(got, said float64) float64 {
	if said == 0 {
		if got == 0 {
			return 0
		}
		return 1
	}
	return got/said - 1
}

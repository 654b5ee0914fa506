package simulate

import (
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// Result is what became of a scenario: one run for each of its layouts.
type Result struct {
	Scenario scenario.Scenario `json:"scenario"`
	Runs     []Run             `json:"runs"`
}

// Run is what became of the load with one layout, in the counted time after the run-in. No operation is lost:
//
//	Carried + Offered = Accepted + Failed + Waiting
type Run struct {
	Layout string `json:"layout"`

	Carried  float64 `json:"carried"`  // operations under way when counting begins
	Offered  float64 `json:"offered"`  // that begin
	Accepted float64 `json:"accepted"` // that succeed
	Failed   float64 `json:"failed"`   // that are given up
	Waiting  float64 `json:"waiting"`  // under way at the end

	OfferedUnits float64 `json:"offeredUnits"` // per second
	ServedUnits  float64 `json:"servedUnits"`  // per second, of the table

	Requests  float64            `json:"requests"`          // attempts
	Throttled float64            `json:"throttled"`         // attempts that were
	Reasons   map[string]float64 `json:"reasons,omitempty"` // why

	// Latency of operations that ended in the counted time, failed ones included. Nil in mode aggregate.
	Latency *Percentiles `json:"latency,omitempty"`

	Partitions      int     `json:"partitions"`      // at the start
	PartitionsAtEnd int     `json:"partitionsAtEnd"` // at the end
	Busiest         float64 `json:"busiest"`         // write and read load of the busiest partition, 1 being its ceiling
	Width           int     `json:"width"`           // shards of the widest key at the end

	Series []Point `json:"series"`
}

// Percentiles are of a latency.
type Percentiles struct {
	P50  time.Duration `json:"p50"`
	P99  time.Duration `json:"p99"`
	P999 time.Duration `json:"p999"`
	Max  time.Duration `json:"max"`
}

// Point is a part of a run. Figures are per second.
type Point struct {
	At         scenario.Duration `json:"at"`      // since the start, the run-in included
	Offered    float64           `json:"offered"` // units
	Served     float64           `json:"served"`  // units
	Throttled  float64           `json:"throttled"`
	Failed     float64           `json:"failed"`
	Partitions int               `json:"partitions"`
	Width      int               `json:"width"`
}

// FailedShare returns the part of the operations that ended which failed.
func (r *Run) FailedShare() float64 { return share(r.Failed, r.Accepted+r.Failed) }

// ThrottledShare returns the part of the requests that was throttled.
func (r *Run) ThrottledShare() float64 { return share(r.Throttled, r.Requests) }

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

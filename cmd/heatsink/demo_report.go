package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// demoReport is what heatsink demo --json prints. Its names are documented in the command's help.
type demoReport struct {
	Quick    bool        `json:"quick"`
	Target   float64     `json:"targetPerSecond"`
	PutUnits int         `json:"putWriteUnits"`
	Measured float64     `json:"measuredSeconds"`
	Elapsed  float64     `json:"elapsedSeconds"`
	Acts     []actReport `json:"acts"`
}

type actReport struct {
	Name  string `json:"name"`
	short string

	Shards     int `json:"shards"`
	Partitions int `json:"partitions"`
	Occupied   int `json:"occupiedPartitions"`
	Sharing    int `json:"sharingShards"`

	rates
	P50 float64 `json:"putMillisP50"`
	P99 float64 `json:"putMillisP99"`

	Acknowledged   int     `json:"acknowledged"`
	Read           int     `json:"read"`
	Counted        int     `json:"counted"`
	CountRequests  int     `json:"countRequests"`
	CountReadUnits float64 `json:"countReadUnits"`
	PlanRequests   int     `json:"planRequests"`
	PageToken      int     `json:"pageTokenLength"`

	Seconds []rates `json:"seconds"`
}

func newActReport(s *stage, w written, b readBack) actReport {
	return actReport{
		Name: s.name, short: s.short,
		Shards: s.spread.shards(), Partitions: len(s.spread), Occupied: s.spread.occupied(), Sharing: s.spread.sharing(),
		rates: w.measured, P50: millis(w.p50), P99: millis(w.p99), Seconds: w.seconds,
		Acknowledged: len(w.acknowledged), Read: b.read, Counted: b.counted,
		CountRequests: b.counting.Requests, CountReadUnits: b.counting.ReadUnits,
		PlanRequests: b.plan.Shards, PageToken: len(b.token),
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// table writes the figures of all acts.
func (r *demoReport) table(to *screen) {
	const line = "%-10s %10s %8s %9s %8s %7s %13s %9s"
	to.say("%s", to.bold(fmt.Sprintf(line, "", "partitions", "offered", "accepted", "refused", "retries", "Put p50/p99", "read back")))
	to.say(line, "", "in use", "WCU/s", "WCU/s", "WCU/s", "per s", "ms", "items")
	for _, a := range r.Acts {
		to.say(line, a.short, fmt.Sprintf("%d of %d", a.Occupied, a.Partitions),
			figure.Thousands(a.Offered), figure.Thousands(a.Accepted), figure.Thousands(a.Refused), figure.Thousands(a.Retries),
			fmt.Sprintf("%.1f / %.1f", a.P50, a.P99), figure.Thousands(a.Read))
	}
}

// meaning says in words what the figures of the acts say.
func (r *demoReport) meaning() []string {
	one, many, four, grown := r.Acts[0], r.Acts[1], r.Acts[2], r.Acts[3]
	lines := []string{
		fmt.Sprintf("One key is one partition: it accepted %s WCU/s while the rest of the table was idle.", figure.Thousands(one.Accepted)),
		fmt.Sprintf("Ten shards accepted %.1f times as much. Refused: %s. Acknowledged writes lost: none.",
			many.Accepted/math.Max(one.Accepted, 1), share(many.Refused, many.Offered)),
	}
	if many.Sharing > 0 {
		lines = append(lines, fmt.Sprintf("(%d of the ten share a partition; puts avoid shards that throttle.)", many.Sharing))
	}
	lines = append(lines,
		fmt.Sprintf("Shards are not partitions: with %d partitions, ten shards accepted only %s WCU/s.", four.Partitions, figure.Thousands(four.Accepted)),
		"Warm a table (WarmThroughput) before the load comes.",
		"A read sends at least one request to every shard.",
		fmt.Sprintf("An adaptive key has one shard while it is cold. At %d it accepted %s WCU/s.",
			grown.Shards, figure.Thousands(grown.Accepted)))
	if r.unsteady() {
		lines = append(lines, fmt.Sprintf("This machine could not hold the rate of the load: it offered %s, %s, %s", figure.Thousands(one.Offered),
			figure.Thousands(many.Offered), figure.Thousands(four.Offered)),
			fmt.Sprintf("and %s WCU/s, where %s were wanted. The figures above are of that.", figure.Thousands(grown.Offered), figure.Thousands(r.Target)))
	}
	return lines
}

// unsteady reports whether an act was offered clearly less than it should. An act that catches up is offered a little more, which
// changes nothing that it says.
func (r *demoReport) unsteady() bool {
	return slices.ContainsFunc(r.Acts, func(a actReport) bool { return a.Offered < 0.95*r.Target })
}

// share writes part of whole as a percentage, and 0 as a word.
func share(part, whole float64) string {
	if part == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*part/math.Max(whole, 1))
}

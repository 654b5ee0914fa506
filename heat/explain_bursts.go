package heat

import (
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// bursts finds the key that most throttles by key range are of although its demand is far below what a partition serves: it
// comes in bursts, or others fill its partition. A plan leaves such a key alone, so that it is a warning at most.
func (e *explainer) bursts(r *ResourceReport, d Direction, said map[about]bool) {
	flow, n := r.Flow(d), int64(0)
	for _, t := range flow.Throttles {
		if keyRange(t.Reason) {
			n += t.Count
		}
	}
	k := mostRefused(flow, n)
	if n == 0 || k == nil || e.blamed(r, d) || e.fewThrottles(flow, n) || e.excluded(k.Key) || e.hasFinding(r, d, k.Key) {
		return
	}
	shape := shapeIn(r, k.Key)
	said[about{r.Resource, k.Key}], said[about{r.Resource, shape}] = true, true
	f := Finding{
		Kind: HotPartition, Severity: Warning, Direction: d, Key: k.Key, Pattern: shape,
		Message: fmt.Sprintf("Partition key '%s' is throttled by key range; it wants %s of the %s %s units/sec of a partition",
			k.Key, e.demandText(k), figure.Thousands(e.report.Limit(d)), d),
		Evidence: slices.Concat(e.evidence(k, d), capacityEvidence(e.report, r, d)),
		Cause:    "the key shares its partition with keys that this source does not show, or its bursts are shorter than the measurement",
		Remedy: "spread the bursts of that key over a few seconds (package ratelimit); raise the table's warm throughput, so that it gets a partition of its own; " +
			"find its neighbours with Contributor Insights",
	}
	if text, short := burstText(flow.Trend); short || k.Share >= 0.97 {
		f.Evidence = append(f.Evidence, text)
		f.Cause = e.inBursts(k, d)
		f.Remedy = "spread each burst over some seconds (package ratelimit), or let retries with backoff do that; " + atOnce(r, d, k.Key)
	}
	if r.Index != "" && d == Write {
		f.Kind = HotIndex
	}
	f.Cause += backPressure(r, d)
	e.add(r, f)
}

// atOnce is the remedy for bursts that cannot be spread over time.
func atOnce(r *ResourceReport, d Direction, key string) string {
	switch {
	case d == Read:
		return "if all must be read at once, cache the reads (package cache, or DAX)"
	case sharded(shapeIn(r, key)) || shardName(key) || spreadAlready(r, key):
		return "if all must be written at once, raise the number of shards"
	}
	return "if all must be written at once, " + shardKey(r)
}

// burstText says in how many seconds requests were throttled, and whether these are so few that requests come in bursts: at most
// three of five, as of a burst every other second. Seconds without traffic between bursts count, those of a long pause do not.
func burstText(trend []Point) (text string, short bool) {
	seconds, refused := 0, 0
	var worst, before Point
	for _, p := range trend {
		if p.For <= time.Second && p.Throttled > worst.Throttled {
			worst = p
		}
	}
	for _, p := range trend {
		if p.For > time.Second {
			continue
		}
		seconds++
		if idle := int(p.From.Sub(before.From)/time.Second) - 1; seconds > 1 && idle > 0 {
			seconds += min(idle, mostIdle)
		}
		before = p
		if p.Throttled > 0 && p.Throttled >= worst.Throttled/10 { // not the few of retries
			refused++
		}
	}
	text = fmt.Sprintf("throttled in %d of %d seconds; in the worst one, %s were throttled and %s units were served",
		refused, seconds, figure.Count(worst.Throttled, "request"), figure.Thousands(worst.Units))
	return text, refused > 0 && 5*refused <= 3*seconds
}

// mostIdle is how many seconds without traffic between two bursts count.
const mostIdle = 10

// hasFinding reports whether a key has a finding already.
func (e *explainer) hasFinding(r *ResourceReport, d Direction, key string) bool {
	return slices.ContainsFunc(e.findings, func(f Finding) bool {
		return f.Resource == r.Resource && f.Direction == d && (f.Key == key || slices.Contains(f.Others, key))
	})
}

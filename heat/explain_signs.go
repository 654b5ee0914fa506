package heat

import (
	"fmt"
	"slices"
	"time"
)

const (
	fiveMinutes = 5 * time.Minute
	slowCall    = 100 * time.Millisecond
)

// signs finds signs of a hot partition that name no key: slow calls at low traffic, some calls fast and some slow, and many
// retries.
func (e *explainer) signs(r *ResourceReport, d Direction) {
	f := r.Flow(d)
	if e.report.Source == CloudWatch && f.Errors > 0 {
		e.add(r, Finding{
			Kind: SystemErrors, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("%d %s requests failed inside DynamoDB", f.Errors, d),
			Evidence: []string{fmt.Sprintf("SystemErrors (HTTP 500): %d", f.Errors)},
			Cause:    "DynamoDB failed internally; no key is to blame", Remedy: "retry with backoff; if the errors continue, ask AWS",
		})
	}
	if f.Requests < e.rules.Sample {
		return
	}
	if f.Retries*5 >= f.Requests {
		e.add(r, Finding{
			Kind: RetryStorm, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("%.0f%% of the %s requests are retries", 100*float64(f.Retries)/float64(f.Requests), d),
			Evidence: []string{fmt.Sprintf("%d of %d requests are retries, %d were throttled", f.Retries, f.Requests, f.Throttled)},
			Cause:    "throttled requests are sent again, on top of new ones",
			Remedy:   "limit retries with a retry budget (heatsink Options.Retry), and fix the cause of the throttling",
		})
	}
	if f.Throttled == 0 || f.Latency.P99 == 0 {
		return
	}
	served, _ := served(e.report, f) // as the evidence has it
	most := capacityOf(r.Capacity, d)
	slow := f.Latency.P99 >= slowCall
	line := fmt.Sprintf("p50 %v, p99 %v, p99.9 %v", threeDigits(f.Latency.P50), threeDigits(f.Latency.P99), threeDigits(f.Latency.P999))
	switch {
	case slow && f.Latency.P50*20 <= f.Latency.P99:
		e.add(r, Finding{
			Kind: SplitLatency, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("Some %ss are fast and some slow: p50 %v, p99 %v", d, threeDigits(f.Latency.P50), threeDigits(f.Latency.P99)),
			Evidence: []string{line, fmt.Sprintf("%d of %d requests throttled", f.Throttled, f.Requests)},
			Cause:    "calls for hot keys wait for retries, and all others do not", Remedy: "fix the hot key; see the other findings",
		})
	case slow && most > 0 && served < 0.3*most:
		found := Finding{
			Kind: SlowAtLowTraffic, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("%ss are slow at %.0f%% of the capacity", capital(d.String()), 100*served/most),
			Evidence: append([]string{line}, capacityEvidence(e.report, r, d)...),
			Cause:    "retries of throttled calls take the time, not the traffic", Remedy: "fix the hot key; see the other findings",
		}
		if f.Latency.P50 >= slowCall && 2*f.Throttled < f.Requests {
			found.Evidence = append(found.Evidence, fmt.Sprintf("%d of %d requests throttled", f.Throttled, f.Requests))
			found.Cause = "most calls are slow, and most were not throttled: the caller or the network takes the time"
			found.Remedy = "look at the caller first: its processor, its connections (MaxConnsPerHost) and the network; sharding does not help"
		}
		e.add(r, found)
	}
}

// ExplainChange finds what only two reports of the same tables show: capacity was raised, and DynamoDB throttles as many
// requests as before, or more. It counts neither throttles by the provisioned capacity, the on-demand maximum or the account,
// nor a capacity as useless if more is consumed than the lower one serves.
func ExplainChange(before, after Report) []Finding {
	e := explainer{report: &after}
	for i := range after.Resources {
		r := &after.Resources[i]
		for j := range before.Resources {
			if before.Resources[j].Resource == r.Resource {
				for _, d := range [...]Direction{Write, Read} {
					e.noHelp(&before, &before.Resources[j], r, d)
				}
			}
		}
	}
	return e.findings
}

func (e *explainer) noHelp(beforeReport *Report, before, after *ResourceReport, d Direction) {
	was, is := capacityOf(before.Capacity, d), capacityOf(after.Capacity, d)
	first, second := paceOf(beforeReport, before.Flow(d)), paceOf(e.report, after.Flow(d))
	if beforeReport.From.Equal(e.report.From) && e.report.To.After(beforeReport.To) { // of one recorder: the second includes the first
		second = second.since(first)
	}
	refusedBefore, refusedAfter := first.refused(), second.refused()
	if was == 0 || is < 1.2*was || refusedBefore == 0 || refusedAfter < 0.8*refusedBefore {
		return
	}
	used := max(second.units/second.seconds, busiestMinute(later(after.Flow(d).Trend, e.report.To.Add(-second.time()))))
	if e.report.Source == CloudWatch {
		used = max(used, after.Flow(d).Peak)
	}
	if used > was {
		return // the lower capacity would not serve it
	}
	f := Finding{
		Kind: NoHelp, Severity: Critical, Direction: d,
		Message: fmt.Sprintf("More %s capacity did not help: with %.0f units a second instead of %.0f, as many requests are throttled", d, is, was),
		Evidence: []string{
			fmt.Sprintf("%.1f throttled requests a second before, %.1f after", refusedBefore, refusedAfter),
			fmt.Sprintf("at most %.0f %s units a second are consumed, which the lower capacity serves", used, d),
		},
		Cause: "one partition is the limit, not the table", Remedy: "lower the capacity again, and shard the hot key",
	}
	if second.keyRange <= 0 {
		f.Severity = Warning
		f.Cause = "one partition is probably the limit, but the report does not have the reason of the throttles"
		f.Remedy = "read the ThrottlingReasons of the exceptions, as a Recorder does, before you change the capacity or shard a key"
	}
	e.add(after, f)
}

// pace is what a flow has in a time: the units that were served, and the throttles that a table's capacity cannot explain.
type pace struct {
	seconds, units float64
	partition      int64 // throttles by key range, or for an unknown reason
	keyRange       int64 // of these, by key range
}

func paceOf(r *Report, f *Flow) pace {
	p := pace{seconds: max(1, r.Elapsed().Seconds()), units: f.Units, partition: f.Throttled}
	for _, t := range f.Throttles {
		switch reasonEnd(t.Reason) {
		case keyRangeReason:
			p.keyRange += t.Count
		case provisionedReason, accountReason, maximumReason:
			p.partition -= t.Count
		}
	}
	return p
}

// since returns what p has more than an earlier one of the same recorder.
func (p pace) since(earlier pace) pace {
	return pace{max(1, p.seconds-earlier.seconds), p.units - earlier.units, p.partition - earlier.partition, p.keyRange - earlier.keyRange}
}

// refused returns throttles a second.
func (p pace) refused() float64 { return float64(max(0, p.partition)) / p.seconds }

// time returns the seconds as a duration.
func (p pace) time() time.Duration { return time.Duration(p.seconds * float64(time.Second)) }

// later returns the points of a trend that begin at a time or after it.
func later(trend []Point, since time.Time) []Point {
	return slices.DeleteFunc(slices.Clone(trend), func(p Point) bool { return p.From.Before(since) })
}

// threeDigits rounds a time as people read it.
func threeDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/1000 >= unit {
		unit *= 10
	}
	return d.Round(unit)
}

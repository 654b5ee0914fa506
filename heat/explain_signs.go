package heat

import (
	"fmt"
	"time"
)

const fiveMinutes = 5 * time.Minute

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
	served, most := 0.0, capacityOf(r.Capacity, d)
	if s := e.report.Elapsed().Seconds(); s > 0 {
		served = f.Units / s
	}
	slow := f.Latency.P99 >= 100*time.Millisecond
	line := fmt.Sprintf("p50 %v, p99 %v, p99.9 %v", f.Latency.P50, f.Latency.P99, f.Latency.P999)
	switch {
	case slow && f.Latency.P50*20 <= f.Latency.P99:
		e.add(r, Finding{
			Kind: SplitLatency, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("Some %ss are fast and some slow: p50 %v, p99 %v", d, f.Latency.P50, f.Latency.P99),
			Evidence: []string{line, fmt.Sprintf("%d of %d requests throttled", f.Throttled, f.Requests)},
			Cause:    "calls for hot keys wait for retries, and all others do not", Remedy: "fix the hot key; see the other findings",
		})
	case slow && most > 0 && served < 0.3*most:
		e.add(r, Finding{
			Kind: SlowAtLowTraffic, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("%ss are slow at %.0f%% of the capacity", capital(d.String()), 100*served/most),
			Evidence: append([]string{line}, capacityEvidence(e.report, r, d)...),
			Cause:    "retries of throttled calls take the time, not the traffic", Remedy: "fix the hot key; see the other findings",
		})
	}
}

// ExplainChange finds what only two reports of the same tables show: capacity was raised, and DynamoDB throttles as many
// requests as before, or more.
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
	rate := func(r *Report, f *Flow) float64 { return float64(f.Throttled) / max(1, r.Elapsed().Seconds()) }
	refusedBefore, refusedAfter := rate(beforeReport, before.Flow(d)), rate(e.report, after.Flow(d))
	if beforeReport.From.Equal(e.report.From) && e.report.To.After(beforeReport.To) { // of one recorder: the second includes the first
		refusedAfter = float64(after.Flow(d).Throttled-before.Flow(d).Throttled) / max(1, e.report.To.Sub(beforeReport.To).Seconds())
	}
	if was == 0 || is < 1.2*was || refusedBefore == 0 || refusedAfter < 0.8*refusedBefore {
		return
	}
	e.add(after, Finding{
		Kind: NoHelp, Severity: Critical, Direction: d,
		Message:  fmt.Sprintf("More %s capacity did not help: with %.0f units a second instead of %.0f, as many requests are throttled", d, is, was),
		Evidence: []string{fmt.Sprintf("%.1f throttled requests a second before, %.1f after", refusedBefore, refusedAfter)},
		Cause:    "one partition is the limit, not the table", Remedy: "lower the capacity again, and shard the hot key",
	})
}

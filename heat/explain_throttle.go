package heat

import (
	"fmt"
	"strings"
	"time"
)

// The ends of DynamoDB's reasons for a throttle; TableRead, TableWrite, IndexRead or IndexWrite go before.
const (
	keyRangeReason    = "KeyRangeThroughputExceeded"
	provisionedReason = "ProvisionedThroughputExceeded"
	accountReason     = "AccountLimitExceeded"
	maximumReason     = "MaxOnDemandThroughputExceeded"
)

// keyRange reports whether a reason says that a range of keys was too busy: the only one that shards cure.
func keyRange(reason string) bool { return strings.HasSuffix(reason, keyRangeReason) }

// throttles explains refusals that are not a single key's: of the table, of the account, and of a partition whose key
// the source does not show.
func (e *explainer) throttles(r *ResourceReport, d Direction) {
	counts := make(map[string]int64)
	for _, t := range r.Flow(d).Throttles {
		counts[reasonEnd(t.Reason)] += t.Count
	}
	if n := counts[""]; n > 0 && !e.blamed(r, d) {
		e.add(r, Finding{
			Kind: Throttled, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("%ss are throttled, for a reason that %s does not tell", capital(d.String()), e.report.Source),
			Evidence: append([]string{fmt.Sprintf("%d requests refused", n)}, capacityEvidence(e.report, r, d)...),
			Cause:    "a key, the table, or the account", Remedy: "look at the ThrottlingReasons of the exceptions: a Recorder does",
		})
	}
	e.limit(r, d, counts[provisionedReason], TableThrottled, "the capacity that is provisioned for it",
		"raise it, turn on auto scaling or go on demand; do not shard: no key is to blame")
	e.limit(r, d, counts[accountReason], AccountThrottled, "the account's limit for tables",
		"ask for a higher quota; do not shard: no key is to blame")
	e.limit(r, d, counts[maximumReason], MaximumThrottled, "its on-demand maximum",
		"raise MaxRequestUnits, or leave it if it is there to bound the bill; do not shard: no key is to blame")
	if n := counts[keyRangeReason]; n > 0 && !e.blamed(r, d) {
		e.hotPartition(r, d, n)
	}
}

// reasonEnd returns which of the four kinds of reasons one is, "" if none of them.
func reasonEnd(reason string) string {
	for _, end := range []string{keyRangeReason, provisionedReason, accountReason, maximumReason} {
		if strings.HasSuffix(reason, end) {
			return end
		}
	}
	return ""
}

func (e *explainer) limit(r *ResourceReport, d Direction, n int64, kind Kind, what, remedy string) {
	if n == 0 {
		return
	}
	severity := Critical
	trend := r.Flow(d).Trend
	if e.report.Source.ongoing() && len(trend) > 0 && throttledIn(trend, e.report.To.Add(-fiveMinutes), e.report.To) == 0 {
		severity = Info // it was once
	}
	e.add(r, Finding{
		Kind: kind, Severity: severity, Direction: d,
		Message:  fmt.Sprintf("%s throttled by %s", capital(d.String())+"s", what),
		Evidence: append([]string{fmt.Sprintf("%d requests refused for that reason", n)}, capacityEvidence(e.report, r, d)...),
		Cause:    "more is wanted of the whole than it is set up for", Remedy: remedy,
	})
}

// blamed reports whether some key is known to be the one that is refused.
func (e *explainer) blamed(r *ResourceReport, d Direction) bool {
	for _, f := range e.findings {
		if f.Resource == r.Resource && f.Direction == d && f.Severity == Critical && f.Key != "" {
			return true
		}
	}
	return false
}

// hotPartition is the verdict that needs no key: refused by key range while the whole has room.
func (e *explainer) hotPartition(r *ResourceReport, d Direction, n int64) {
	f := Finding{
		Kind: HotPartition, Severity: Critical, Direction: d,
		Message:  fmt.Sprintf("A hot partition: %ss throttled by key range%s", d, e.room(r, d)),
		Evidence: append([]string{fmt.Sprintf("%d requests refused by key range", n)}, capacityEvidence(e.report, r, d)...),
		Cause:    "some key wants more than one partition serves; the table's capacity does not matter",
		Remedy:   "find the key: heatsink top, a Recorder in the writers, or Contributor Insights; then spread it",
	}
	if e.fewThrottles(r.Flow(d), n) {
		f.Severity = Info
		f.Remedy = "nothing yet: up to ten in five minutes are no trouble, retries take care of them"
	}
	if r.Index != "" && d == Write {
		f.Kind = HotIndex
		f.Message = fmt.Sprintf("Index %s is hot: writes of the table are throttled with it", r.Index)
		f.Cause = "a key of the index wants more than one partition serves, and DynamoDB refuses writes that the index cannot take"
		f.Remedy = "shard the index's key (heatsink Options.Index); more shards of the table would not help"
	}
	e.add(r, f)
}

// fewThrottles reports whether there are no more refusals than retries take care of: ten in five minutes. Of a source
// that goes on it is the last five minutes that count, of everything else the worst.
func (e *explainer) fewThrottles(f *Flow, all int64) bool {
	if all <= 10 || len(f.Trend) == 0 {
		return all <= 10
	}
	if e.report.Source.ongoing() {
		return throttledIn(f.Trend, e.report.To.Add(-fiveMinutes), e.report.To) <= 10
	}
	for _, p := range f.Trend {
		if throttledIn(f.Trend, p.From, p.From.Add(fiveMinutes)) > 10 {
			return false
		}
	}
	return true
}

// throttledIn sums the refusals of a stretch of time.
func throttledIn(trend []Point, from, to time.Time) int64 {
	n := int64(0)
	for _, p := range trend {
		if p.From.Add(p.For).After(from) && p.From.Before(to) {
			n += p.Throttled
		}
	}
	return n
}

// room says that the table has room, where it is known to.
func (e *explainer) room(r *ResourceReport, d Direction) string {
	rate, _ := served(e.report, r.Flow(d))
	if most := capacityOf(r.Capacity, d); rate > 0 && rate < 0.9*most {
		return " while the table has room"
	}
	return ""
}

func capacityEvidence(report *Report, r *ResourceReport, d Direction) []string {
	rate, when := served(report, r.Flow(d))
	most := capacityOf(r.Capacity, d)
	if most == 0 {
		return []string{fmt.Sprintf("%.0f %s units a second served in all%s", rate, d, when)}
	}
	return []string{fmt.Sprintf("%.0f of %.0f %s units a second served in all%s (%.0f%%)", rate, most, d, when, 100*rate/most)}
}

// served returns the units a second that were served and, unless it is all the time, when: of hours of metrics the mean
// says nothing about a rush.
func served(report *Report, f *Flow) (rate float64, when string) {
	if report.Source == CloudWatch && f.Peak > 0 {
		return f.Peak, ", in the busiest minute"
	}
	if s := report.Elapsed().Seconds(); s > 0 {
		return f.Units / s, ""
	}
	return 0, ""
}

// capacityOf returns what a table or index can serve a second: what is provisioned, or what is warm. 0 if not known.
func capacityOf(c *Capacity, d Direction) float64 {
	if c == nil {
		return 0
	}
	provisioned, warm := c.ReadUnits, c.WarmReads
	if d == Write {
		provisioned, warm = c.WriteUnits, c.WarmWrites
	}
	if !c.OnDemand && provisioned > 0 {
		return float64(provisioned)
	}
	return float64(warm)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

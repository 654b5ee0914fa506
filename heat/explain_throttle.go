package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/judge"
)

// The ends of DynamoDB's reasons for a throttle; TableRead, TableWrite, IndexRead or IndexWrite go before.
const (
	keyRangeReason    = "KeyRangeThroughputExceeded"
	provisionedReason = "ProvisionedThroughputExceeded"
	accountReason     = "AccountLimitExceeded"
	maximumReason     = "MaxOnDemandThroughputExceeded"
)

// keyRange reports whether a reason says that a key range was too busy: the only reason that sharding helps against.
func keyRange(reason string) bool { return strings.HasSuffix(reason, keyRangeReason) }

// throttles explains throttles that no single key explains: of the table, of the account, and of a partition whose key the
// source does not show.
func (e *explainer) throttles(r *ResourceReport, d Direction) {
	counts := make(map[string]int64)
	for _, t := range r.Flow(d).Throttles {
		counts[reasonEnd(t.Reason)] += t.Count
	}
	if n := counts[""]; n > 0 && !e.blamed(r, d) {
		e.add(r, Finding{
			Kind: Throttled, Severity: Warning, Direction: d,
			Message:  fmt.Sprintf("%s are throttled, and %s does not report the reason", e.whichRequests(d), e.report.Source),
			Evidence: append([]string{e.countedBy(d, fmt.Sprintf("%d requests throttled", n))}, capacityEvidence(e.report, r, d)...),
			Cause:    "the limit of a partition, the table or the account", Remedy: "read the ThrottlingReasons of the exceptions, as a Recorder does",
		})
	}
	e.limit(r, d, counts[provisionedReason], TableThrottled, "the provisioned capacity",
		"raise it, turn on auto scaling or switch to on-demand; do not shard: no key is to blame")
	e.limit(r, d, counts[accountReason], AccountThrottled, "the account's quota",
		"ask AWS for a higher quota; do not shard: no key is to blame")
	e.limit(r, d, counts[maximumReason], MaximumThrottled, "the on-demand maximum",
		"raise MaxRequestUnits, or keep it if it is meant to limit the bill; do not shard: no key is to blame")
	if n := counts[keyRangeReason]; n > 0 && !e.blamed(r, d) {
		if k := mostRefused(r.Flow(d), n); k != nil && e.hasFinding(r, d, k.Key) {
			return // a key has one finding
		}
		e.hotPartition(r, d, n)
	}
}

// whichRequests names the requests of a direction. Contributor Insights counts reads as writes.
func (e *explainer) whichRequests(d Direction) string {
	if e.report.Source == Insights && d == Write {
		return "Writes or reads"
	}
	return capital(d.String()) + "s"
}

// countedBy says of a count of Contributor Insights what it is of.
func (e *explainer) countedBy(d Direction, text string) string {
	if e.report.Source == Insights && d == Write {
		return text + ", reads and writes together"
	}
	return text
}

// reasonEnd returns which of the four kinds a reason is, "" if none.
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
		severity = Info // it is over
	} else if handled(r.Flow(d)) {
		severity = Warning
	}
	e.add(r, Finding{
		Kind: kind, Severity: severity, Direction: d,
		Message:  fmt.Sprintf("%s throttled by %s", capital(d.String())+"s", what),
		Evidence: append([]string{fmt.Sprintf("%d requests throttled for this reason", n)}, capacityEvidence(e.report, r, d)...),
		Cause:    "demand exceeds the table's configured capacity", Remedy: remedy,
	})
}

// blamed reports whether a finding already names the throttled key.
func (e *explainer) blamed(r *ResourceReport, d Direction) bool {
	for _, f := range e.findings {
		if f.Resource == r.Resource && f.Direction == d && f.Severity == Critical && f.Key != "" {
			return true
		}
	}
	return false
}

// hotPartition adds the finding that needs no key: throttled by key range.
func (e *explainer) hotPartition(r *ResourceReport, d Direction, n int64) {
	f := Finding{
		Kind: HotPartition, Severity: Critical, Direction: d,
		Message:  fmt.Sprintf("A hot partition: %ss throttled by key range%s", d, e.spare(r, d)),
		Evidence: append([]string{fmt.Sprintf("%d requests throttled by key range", n)}, capacityEvidence(e.report, r, d)...),
		Cause:    "the demand for one key exceeds what one partition serves; the table's capacity does not matter",
		Remedy:   "find the key with heatsink top, a Recorder in the writers, or Contributor Insights; then shard it",
	}
	if d == Read {
		f.Remedy = "find the key with heatsink top, a Recorder in the readers, or Contributor Insights; then cache its reads (package cache, or DAX), " +
			"or keep copies of items that many read (package replica); do not shard for reads: a read of a sharded key asks every shard"
	}
	keys := refusedKeys(r.Flow(d), n)
	for _, k := range keys[:min(len(keys), mostNeighbours)] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%d of these for key '%s', which wants %s %s units a second", k.Throttled, k.Key, e.demandText(k), d))
	}
	const bursts = "spread their bursts over a few seconds (package ratelimit); raise the table's warm throughput, so that they get partitions of their own; " +
		"find other keys on the partition with Contributor Insights"
	switch {
	case len(keys) == 1:
		f.Cause = fmt.Sprintf("key '%s' shares its partition with keys that this source does not show, or its bursts are shorter than the measurement", keys[0].Key)
		f.Remedy = "spread the bursts of that key over a few seconds (package ratelimit); raise the table's warm throughput, so that it gets a partition of its own; " +
			"find its neighbours with Contributor Insights"
	case len(keys) > 1: // none is hot: as for one such key, a plan leaves them alone
		f.Severity, f.Key, f.Pattern = Warning, keys[0].Key, shapeIn(r, keys[0].Key)
		for _, k := range keys[1:] {
			f.Others = append(f.Others, k.Key)
		}
		f.Message = fmt.Sprintf("A hot partition: %ss of %s throttled by key range%s", d, nameList(keys), e.spare(r, d))
		f.Cause = "none of these keys is hot by itself: " + e.whereRefused(r.Flow(d), keys)
		f.Remedy = bursts
	}
	if handled(r.Flow(d)) {
		f.Severity = Warning
	}
	if e.fewThrottles(r.Flow(d), n) {
		f.Severity = Info
		f.Remedy = "do nothing yet: up to ten throttles in five minutes are harmless, and retries handle them"
		if n > judge.FewThrottles {
			f.Evidence = append(f.Evidence, e.lateThrottles(r.Flow(d)))
		}
	}
	if r.Index != "" && d == Write {
		f.Kind = HotIndex
		f.Message = fmt.Sprintf("Index %s is hot: DynamoDB throttles the table's writes with it", r.Index)
		if len(keys) > 1 {
			f.Cause += backPressure(r, d)
		} else {
			f.Cause = "the demand for one key of the index exceeds what one partition serves, and DynamoDB then refuses the table's writes"
			f.Remedy = "shard the index's key (heatsink Options.Index); more shards of the table's key do not help"
		}
	}
	e.add(r, f)
}

// refusedKeys returns the keys that throttles by key range are of, those with the most first: one that most are of, or else several that
// most are of together. It returns nil if these are not known.
func refusedKeys(f *Flow, throttled int64) []*KeyHeat {
	if k := mostRefused(f, throttled); k != nil {
		return []*KeyHeat{k}
	}
	var keys []*KeyHeat
	sum := int64(0)
	for i := range f.Keys {
		if k := &f.Keys[i]; k.Throttled > 0 && keyRange(k.Reason) {
			keys = append(keys, k)
			sum += k.Throttled
		}
	}
	if 2*sum <= throttled {
		return nil
	}
	slices.SortStableFunc(keys, func(a, b *KeyHeat) int { return cmp.Compare(b.Throttled, a.Throttled) })
	return keys
}

// whereRefused says why keys are refused none of which is hot.
func (e *explainer) whereRefused(f *Flow, keys []*KeyHeat) string {
	if text, bursts := burstText(f.Trend); bursts {
		return "their requests come in short bursts, more at once than a partition serves; " + text
	}
	on := keys[0].Partition
	if on != "" && !slices.ContainsFunc(keys, func(k *KeyHeat) bool { return k.Partition != on }) {
		return "they share partition " + on + ", and their requests come at the same moments, or keys that are not listed fill it"
	}
	return "they share partitions, with each other or with keys that are not shown, or their bursts are shorter than the measurement"
}

// lateThrottles says how many throttles there were in five minutes, where those of a longer time are more than a few.
func (e *explainer) lateThrottles(f *Flow) string {
	if e.report.Source.ongoing() {
		return fmt.Sprintf("%d requests throttled in the last five minutes", throttledIn(f.Trend, e.report.To.Add(-fiveMinutes), e.report.To))
	}
	return "no more than ten of them within five minutes"
}

// handled reports whether retries have handled all throttles of a flow.
func handled(f *Flow) bool { return judge.Handled(f.Throttled, f.Retries, f.Requests) }

// mostRefused returns the key that most of the throttles by key range are of, nil if there is none.
func mostRefused(f *Flow, throttled int64) *KeyHeat {
	for i := range f.Keys {
		if k := &f.Keys[i]; keyRange(k.Reason) && 2*k.Throttled > throttled {
			return k
		}
	}
	return nil
}

// fewThrottles reports whether there are no more throttles than retries handle: ten in five minutes. The last five minutes
// count for a source that continues, the worst five minutes for any other.
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

// throttledIn sums the throttles of a time range.
func throttledIn(trend []Point, from, to time.Time) int64 {
	n := int64(0)
	for _, p := range trend {
		if p.From.Add(p.For).After(from) && p.From.Before(to) {
			n += p.Throttled
		}
	}
	return n
}

// spare says that the table has spare capacity, where that is known.
func (e *explainer) spare(r *ResourceReport, d Direction) string {
	rate, _ := served(e.report, r.Flow(d))
	if most := capacityOf(r.Capacity, d); rate > 0 && rate < 0.9*most {
		return " while the table has spare capacity"
	}
	return ""
}

func capacityEvidence(report *Report, r *ResourceReport, d Direction) []string {
	rate, when := served(report, r.Flow(d))
	most := capacityOf(r.Capacity, d)
	if most == 0 {
		return []string{fmt.Sprintf("%.0f %s units a second served in total%s", rate, d, when)}
	}
	part := fmt.Sprintf("%.0f%%", 100*rate/most)
	if part == "0%" && rate > 0 {
		part = "less than 1%"
	}
	return []string{fmt.Sprintf("%.0f of %.0f %s units a second served in total%s (%s)", rate, most, d, when, part)}
}

// served returns the served units a second, and when that was, unless it is the mean. The mean hides a peak, and is the
// smaller the longer nothing happens.
func served(report *Report, f *Flow) (rate float64, when string) {
	if report.Source == CloudWatch && f.Peak > 0 {
		return f.Peak, ", in the busiest minute"
	}
	mean := 0.0
	if s := report.Elapsed().Seconds(); s > 0 {
		mean = f.Units / s
	}
	if busy := busiestMinute(f.Trend); busy > 1.1*mean {
		return busy, ", in the busiest minute"
	}
	return mean, ""
}

// busiestMinute returns the units a second of the minute with the most units. Of traffic that was shorter than a minute,
// only that time counts, but at least ten seconds.
func busiestMinute(trend []Point) float64 {
	most := 0.0
	for i, first := range trend {
		units, end := 0.0, first.From
		for _, p := range trend[i:] {
			if p.From.Sub(first.From) >= time.Minute {
				break
			}
			units += p.Units
			end = p.From.Add(p.For)
		}
		most = max(most, units/max(end.Sub(first.From), 10*time.Second).Seconds())
	}
	return most
}

// capacityOf returns the units a second that a table or index can serve: provisioned or warm, 0 if unknown.
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

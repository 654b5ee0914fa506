package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/judge"
)

// hotKeys finds keys whose demand reaches what one partition serves, and their cause.
func (e *explainer) hotKeys(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	for i := range flow.Keys {
		k := &flow.Keys[i]
		severity, hot := e.heat(k, d)
		if !hot || e.verdict(k, d) == judge.Crowded || e.excluded(k.Key) || d == Write && said[about{r.Resource, k.Key}] || e.moved(flow, k, d) {
			continue
		}
		if grown := e.grownOf(r, d, k.Key); grown != nil && grown.settled().After(e.report.To) {
			continue // what is known of it is of before
		}
		if e.sibling(r, d, k, severity) {
			said[about{r.Resource, k.Key}] = true
			continue
		}
		whole := logicalIn(r, d, k.Key)
		if e.shardOfFinding(r, d, k, whole, severity) {
			said[about{r.Resource, k.Key}] = true
			continue
		}
		shape := shapeIn(r, k.Key)
		kind, cause, remedy := e.diagnose(r, d, k, shape, severity)
		if e.beyond(k, d) {
			cause += backPressure(r, d)
		}
		said[about{r.Resource, k.Key}], said[about{r.Resource, shape}] = true, true
		e.add(r, Finding{
			Kind: kind, Severity: severity, Direction: d, Key: k.Key, Pattern: shape,
			Message:  fmt.Sprintf("Partition key '%s' has %s%s (hot partition)", k.Key, e.rateText(flow, k), e.sizeText(flow, k, d)),
			Evidence: slices.Concat(e.evidence(k, d), setEvidence(r, d, k.Key), spreadEvidence(whole, d)), Cause: cause, Remedy: remedy,
		})
	}
}

// backPressure says what a throttled index does to its table, "" for a table.
func backPressure(r *ResourceReport, d Direction) string {
	if r.Index == "" || d == Read {
		return ""
	}
	return "; while DynamoDB throttles the index, it refuses the table's writes of these items as well"
}

// setEvidence lists the values of the set that a key belongs to.
func setEvidence(r *ResourceReport, d Direction, key string) []string {
	if set := setOf(r, key); set != nil {
		return []string{set.valuesText(r, d)}
	}
	return nil
}

// spreadEvidence says how the key is spread that a hot key is a shard of.
func spreadEvidence(whole *LogicalKey, d Direction) []string {
	if whole == nil {
		return nil
	}
	return []string{fmt.Sprintf("'%s' has %s of %s %s units", whole.Key, whole.Spread(), figure.Thousands(whole.Units), d)}
}

// heat judges a key by its certain demand, and by its throttles for its own key range.
func (e *explainer) heat(k *KeyHeat, d Direction) (Severity, bool) {
	switch v := e.verdict(k, d); {
	case v.Critical():
		return Critical, true
	case v == judge.Warming:
		return Warning, true
	}
	return Info, false
}

// verdict is the judgement that plan shares. Contributor Insights counts reads and writes together, which have a limit each:
// no key is critical by its figures alone.
func (e *explainer) verdict(k *KeyHeat, d Direction) judge.Verdict {
	l := judge.Load{Demand: e.report.Sustained(k), Second: k.Second, Limit: e.report.Limit(d), Refused: e.refused(k)}
	if e.report.Source == Insights {
		l.Second, l.Demand, l.Refused = max(l.Demand, l.Second), 0, false
	}
	return judge.Thresholds{Warm: e.rules.Warm, Hot: e.rules.Hot}.Judge(l)
}

// refused reports whether a key is throttled by key range, more often than now and then.
func (e *explainer) refused(k *KeyHeat) bool {
	few := k.Throttled > 0 && k.Throttled <= judge.FewThrottles
	return k.Refused >= 0.1 && !few && keyRange(k.Reason)
}

// beyond reports whether a key's demand exceeds what a partition serves, rather than comes near it.
func (e *explainer) beyond(k *KeyHeat, d Direction) bool {
	refused := e.refused(k) || e.report.Ended && k.Throttled > 0 && keyRange(k.Reason)
	return refused || e.wanted(k) >= e.report.Limit(d)
}

// wanted is the demand of a key in units a second, the one that a finding states everywhere.
func (e *explainer) wanted(k *KeyHeat) float64 { return max(e.report.Sustained(k), k.Second) }

// bound reports whether the demand of a key is only a lower bound: throttled callers want more than they send, and a sketch
// tells between which bounds a figure is.
func (e *explainer) bound(k *KeyHeat) bool {
	return k.Throttled > 0 || k.Refused > 0 || e.wanted(k) == k.RateLow && figure.Thousands(k.Rate) != figure.Thousands(k.RateLow)
}

// demandText is the demand of a key as text, in units a second.
func (e *explainer) demandText(k *KeyHeat) string {
	return e.boundText(k) + figure.Thousands(e.wanted(k))
}

// boundText says what the demand of a key is: "at least " of a lower bound, "about " of an estimate.
func (e *explainer) boundText(k *KeyHeat) string {
	switch {
	case !e.bound(k):
		return ""
	case k.Estimated:
		return "about "
	}
	return "at least "
}

// rateText is a key's rate as text. Contributor Insights counts units and no requests.
func (e *explainer) rateText(flow *Flow, k *KeyHeat) string {
	if e.report.Source == Insights {
		return e.demandText(k) + " units/sec"
	}
	return e.boundText(k) + figure.Thousands(e.requestRate(flow, k)) + " requests/sec"
}

// sizeText says how large the requests of a key are, where the number of requests alone does not show that it is hot.
func (e *explainer) sizeText(flow *Flow, k *KeyHeat, d Direction) string {
	units, requests := e.wanted(k), e.requestRate(flow, k)
	if e.report.Source == Insights || requests <= 0 || requests >= e.rules.Warm*e.report.Limit(d) || units < e.rules.Warm*e.report.Limit(d) {
		return ""
	}
	return fmt.Sprintf(" of %.1f %s units each", units/requests, d)
}

// requestRate returns the requests a second of a key. It divides the demand by the units of a served request: a throttled
// one would have cost as much. Without a served request the cost is unknown; the demand and the throttled attempts are
// then upper bounds.
func (e *explainer) requestRate(flow *Flow, k *KeyHeat) float64 {
	rate := e.wanted(k)
	if served := k.Requests - k.Throttled; served > 0 && k.Units > 0 {
		return rate * float64(served) / k.Units
	}
	if k.Units == 0 && k.Refused > 0 {
		// Attempts are refused, with retries: as many of them are requests as of the whole flow.
		first := float64(flow.Requests-flow.Retries) / float64(max(1, flow.Requests))
		return min(rate, k.Refused*first)
	}
	if served := flow.Requests - flow.Throttled; served > 0 && flow.Units > 0 {
		return rate * float64(served) / flow.Units
	}
	return rate
}

func (e *explainer) evidence(k *KeyHeat, d Direction) []string {
	var lines []string
	switch wanted := e.wanted(k); {
	case wanted < 0.5 && k.Busiest >= 0.5: // its traffic has ended
		lines = append(lines, fmt.Sprintf("no demand in the last minute; %s %s units a second were served at its busiest", figure.Thousands(k.Busiest), d))
	case wanted > 0:
		lines = append(lines, fmt.Sprintf("demand: %s %s units a second%s; one partition serves %s",
			e.demandText(k), d, e.when(k), figure.Thousands(e.report.Limit(d))))
	}
	lines = append(lines, fmt.Sprintf("at least %.1f%% of the %s traffic", 100*k.Share, d))
	if e.bound(k) && k.Consumed > 0 {
		lines = append(lines, fmt.Sprintf("%s %s units a second were served in the last seconds", figure.Thousands(k.Consumed), d))
	}
	if k.Throttled > 0 {
		reason := cmp.Or(k.Reason, "no reason given")
		if e.report.Source == Insights { // it counts units of what was served
			lines = append(lines, fmt.Sprintf("%s throttled: %s", figure.Count(k.Throttled, "request"), reason))
		} else {
			lines = append(lines, fmt.Sprintf("%d of %d requests throttled: %s", k.Throttled, k.Requests, reason))
		}
	}
	if k.Items > 0 {
		lines = append(lines, differentItems(k.Items))
	}
	return lines
}

// when says of what time the demand of a key is, "" for that of the last seconds.
func (e *explainer) when(k *KeyHeat) string {
	switch wanted := e.wanted(k); {
	case wanted <= k.RateLow:
		return ""
	case wanted == k.Second:
		return " in the last full second"
	case wanted == k.Busy:
		return " at its busiest of the last minute"
	}
	return " at its busiest"
}

// manyItems is the number of items from which on a recorder says only "many": its count ends a bit above.
const manyItems = 200

func differentItems(n int64) string {
	switch {
	case n == 1:
		return "one item"
	case n >= manyItems:
		return fmt.Sprintf("more than %d different items", manyItems)
	}
	return fmt.Sprintf("about %d different items", n)
}

// diagnose returns the cause of a hot key by its direction, its shape, the number of its items, and whether its demand
// exceeds what a partition serves. A key that only comes near that needs nothing yet, as a plan for it says too.
func (e *explainer) diagnose(r *ResourceReport, d Direction, k *KeyHeat, shape string, severity Severity) (kind Kind, cause, remedy string) {
	kind, cause, remedy = why(r, d, k, shape)
	if grown := e.grownOf(r, d, k.Key); grown != nil && k.Items != 1 {
		return grown.stillHot(e.beyond(k, d))
	}
	if !e.beyond(k, d) {
		if severity < Critical {
			remedy = e.notYet(d, remedy)
		}
		switch {
		case kind == PopularItem:
			cause = "one item uses most of a partition's capacity"
		case kind == ReadHot, kind == HotKey && !sharded(shape):
			cause = "one key uses most of a partition's capacity"
		}
		return kind, cause, remedy
	}
	exceeds := kind == PopularItem || kind == ReadHot || kind == HotKey && !sharded(shape) && !shardName(k.Key) && !spreadAlready(r, k.Key)
	if exceeds && e.wanted(k) < e.rules.Hot*e.report.Limit(d) { // it is refused all the same
		cause = e.mostOf(r.Flow(d), k, d)
	}
	if d == Write && k.Items != 1 && e.adaptive(r, k.Key) {
		remedy = growing
	}
	return kind, cause, remedy
}

// mostOf is the cause of throttles of a key that takes most of a partition, and not all of it.
func (e *explainer) mostOf(flow *Flow, k *KeyHeat, d Direction) string {
	var list []string
	known, rest := k.Partition != "", 0
	for i := range flow.Keys {
		other := &flow.Keys[i]
		if other == k || e.excluded(other.Key) || known && other.Partition != k.Partition || !known && !e.refused(other) || e.wanted(other) == 0 {
			continue
		}
		if len(list) == mostNeighbours {
			rest++
			continue
		}
		list = append(list, fmt.Sprintf("'%s' %s", other.Key, figure.Thousands(e.wanted(other))))
	}
	if rest > 0 {
		list = append(list, fmt.Sprintf("and %d more", rest))
	}
	full := fmt.Sprintf("its partition is full: of the %s %s units/sec the key wants %s", figure.Thousands(e.report.Limit(d)), d, e.demandText(k))
	switch {
	case len(list) > 0 && known:
		return full + ", and others on it want " + strings.Join(list, ", ")
	case len(list) > 0:
		return full + ", and others want the rest, likely those that are refused as well: " + strings.Join(list, ", ")
	case k.Share >= 0.97 || known && flow.Distinct.Keys <= int64(len(flow.Keys)):
		return full + ", in bursts that are more at once"
	}
	return full + ", and its bursts, or keys that are not shown, want the rest"
}

// notYet puts before a remedy what it is for.
func (e *explainer) notYet(d Direction, remedy string) string {
	return fmt.Sprintf("do nothing while it stays below %s units a second; above that: %s", figure.Thousands(e.report.Limit(d)), remedy)
}

// why returns the cause of a key whose demand exceeds what a partition serves.
func why(r *ResourceReport, d Direction, k *KeyHeat, shape string) (kind Kind, cause, remedy string) {
	fixed := !varies(shape)
	switch {
	case d == Read && k.Items == 1:
		return PopularItem, "reads of one item exceed what a partition serves",
			"cache it (package cache, or DAX), or keep copies of it (package replica); shards do not help a single item"
	case d == Read:
		return ReadHot, "reads of one key exceed what a partition serves",
			"cache the reads (package cache, or DAX), or keep copies of items that many read (package replica); do not shard for reads: a read of a sharded key asks every shard"
	case sharded(shape) || shardName(k.Key):
		return HotKey, "the key is sharded and still hot: it has too few shards, or several share a partition",
			"raise the number of shards, and pre-warm the table if it has fewer partitions than shards"
	case k.Items == 1 && fixed:
		return GlobalCounter, "all writers update one item",
			"shard the counter: package counter combines many increments into one write, and sums the shards when read"
	case k.Items == 1:
		return PopularItem, "writes to one item of many exceed what a partition serves",
			"if it is a counter, shard it (package counter); else combine its changes and write less often"
	case timeOnly(shape) && !spreadAlready(r, k.Key):
		return TimeKey, "all current writes go to the key of the current time: a bucket limits the size of a key, not its rate", shardTimes(k.Key)
	case spreadAlready(r, k.Key):
		return HotKey, "the key has shards, but its bare key is still hot: a writer does not use the layout, or the shards are too few",
			"give the layout to all writers; if they have it, raise the number of shards, and pre-warm the table if it has fewer partitions than shards"
	case fixed:
		return LowCardinality, "all these items share one partition key value",
			shardKey(r)
	case tenants(r, shape):
		return SkewedTenant, "one key of many takes far more than the others",
			"shard this key alone (heatsink.Options.Widths, with a layout.WidthTable of the few keys that need shards), or limit its rate (package ratelimit)"
	}
	return HotKey, "writes to one key exceed what a partition serves", shardKey(r)
}

// shardKey is the remedy for a key that is written too much.
func shardKey(r *ResourceReport) string {
	if r.Index != "" {
		return "shard the index's key (heatsink.Options.Index, with a calculated layout.Layout{Shards: …})"
	}
	return "shard the key: layout.Layout{Shards: …}"
}

// shardTimes is the remedy for a key that is a time: one with a name before the time is a key in a bucket, and any other is a
// key by itself.
func shardTimes(key string) string {
	if (&Layout{AnyBucket: true}).endsInBucket([]byte(key)) {
		return "add shards to every bucket: layout.Layout{Bucket: …, Shards: …}, with heatsink.Options.EventTime"
	}
	return "add shards to the key of every time: layout.Layout{Shards: …}"
}

// tenants reports whether a shape is that of many keys.
func tenants(r *ResourceReport, shape string) bool {
	for _, p := range r.Patterns {
		if p.Shape == shape {
			return p.Distinct.Keys >= 10
		}
	}
	return false
}

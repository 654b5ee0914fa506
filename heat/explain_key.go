package heat

import (
	"cmp"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// hotKeys finds keys whose demand reaches what one partition serves, and their cause.
func (e *explainer) hotKeys(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	for i := range flow.Keys {
		k := &flow.Keys[i]
		severity, hot := e.heat(k, d)
		if !hot || e.excluded(k.Key) || d == Write && said[about{r.Resource, k.Key}] {
			continue
		}
		if e.sibling(r, d, k, severity) {
			said[about{r.Resource, k.Key}] = true
			continue
		}
		shape := shapeIn(r, k.Key)
		kind, cause, remedy := diagnose(r, d, k, shape, e.beyond(k, d))
		said[about{r.Resource, k.Key}], said[about{r.Resource, shape}] = true, true
		e.add(r, Finding{
			Kind: kind, Severity: severity, Direction: d, Key: k.Key, Pattern: shape,
			Message:  fmt.Sprintf("Partition key '%s' has %s (hot partition)", k.Key, e.rateText(flow, k)),
			Evidence: append(e.evidence(k, d), setEvidence(r, d, k.Key)...), Cause: cause, Remedy: remedy,
		})
	}
}

// setEvidence lists the values of the set that a key belongs to.
func setEvidence(r *ResourceReport, d Direction, key string) []string {
	if set := setOf(r, key); set != nil {
		return []string{set.valuesText(r, d)}
	}
	return nil
}

// heat judges a key by its certain demand, and by its throttles for its own key range. One second alone is at most a
// warning: DynamoDB serves a burst from a partition's unused capacity.
func (e *explainer) heat(k *KeyHeat, d Direction) (Severity, bool) {
	sustained := e.report.Sustained(k)
	wanted := max(sustained, k.Second)
	switch {
	case e.report.Source == Insights: // reads and writes together, which have a limit each
		return Warning, wanted >= e.rules.Warm*d.Limit()
	case k.Refused >= 0.1 && keyRange(k.Reason) && wanted >= 0.2*d.Limit():
		return Critical, true
	case sustained >= e.rules.Hot*d.Limit():
		return Critical, true
	case wanted >= e.rules.Warm*d.Limit():
		return Warning, true
	}
	return Info, false
}

// beyond reports whether a key's demand exceeds what a partition serves, rather than comes near it.
func (e *explainer) beyond(k *KeyHeat, d Direction) bool {
	refused := k.Refused >= 0.1 || e.report.Ended && k.Throttled > 0
	return refused && keyRange(k.Reason) || max(e.report.Sustained(k), k.Second) >= d.Limit()
}

// rateText is a key's rate as text. Contributor Insights counts units and no requests.
func (e *explainer) rateText(flow *Flow, k *KeyHeat) string {
	if e.report.Source == Insights {
		return figure.Thousands(max(e.report.Sustained(k), k.Second)) + " units/sec"
	}
	return figure.Thousands(e.requestRate(flow, k)) + " requests/sec"
}

// requestRate returns the requests a second of a key. It divides the demand by the units of a served request: a throttled
// one would have cost as much. Without a served request the cost is unknown; the demand and the throttled attempts are
// then upper bounds.
func (e *explainer) requestRate(flow *Flow, k *KeyHeat) float64 {
	rate := max(e.report.Sustained(k), k.Second)
	if served := k.Requests - k.Throttled; served > 0 && k.Units > 0 {
		return rate * float64(served) / k.Units
	}
	if k.Units == 0 && k.Refused > 0 {
		return min(rate, k.Refused)
	}
	if served := flow.Requests - flow.Throttled; served > 0 && flow.Units > 0 {
		return rate * float64(served) / flow.Units
	}
	return rate
}

func (e *explainer) evidence(k *KeyHeat, d Direction) []string {
	wanted := fmt.Sprintf("%.0f", k.RateLow)
	if most := fmt.Sprintf("%.0f", k.Rate); most != wanted {
		wanted += " to " + most
	}
	lines := []string{
		fmt.Sprintf("demand: %s %s units a second; %.0f were served, and one partition serves %.0f", wanted, d, k.Consumed, d.Limit()),
		fmt.Sprintf("at least %.1f%% of the %s traffic", 100*k.Share, d),
	}
	if e.report.Ended && k.Busiest > 1.1*k.Rate {
		lines = append(lines, fmt.Sprintf("%.0f %s units a second at its busiest", k.Busiest, d))
	}
	if k.Second > k.Rate {
		lines = append(lines, fmt.Sprintf("%.0f %s units in the last full second", k.Second, d))
	}
	if k.Throttled > 0 {
		reason := cmp.Or(k.Reason, "no reason given")
		lines = append(lines, fmt.Sprintf("%d of %d requests throttled: %s", k.Throttled, k.Requests, reason))
	}
	if k.Items > 0 {
		lines = append(lines, differentItems(k.Items))
	}
	return lines
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

// why returns the cause of a key whose demand exceeds what a partition serves.
func why(r *ResourceReport, d Direction, k *KeyHeat, shape string) (kind Kind, cause, remedy string) {
	return diagnose(r, d, k, shape, true)
}

// diagnose returns the cause of a hot key by its direction, its shape, the number of its items, and whether its demand
// exceeds what a partition serves.
func diagnose(r *ResourceReport, d Direction, k *KeyHeat, shape string, beyond bool) (kind Kind, cause, remedy string) {
	kind, cause, remedy = causeOf(r, d, k, shape)
	if !beyond {
		switch {
		case kind == PopularItem:
			cause = "one item uses most of a partition's capacity"
		case kind == ReadHot, kind == HotKey && !sharded(shape):
			cause = "one key uses most of a partition's capacity"
		}
	}
	return kind, cause, remedy
}

func causeOf(r *ResourceReport, d Direction, k *KeyHeat, shape string) (kind Kind, cause, remedy string) {
	fixed := !varies(shape)
	switch {
	case d == Read && k.Items == 1:
		return PopularItem, "reads of one item exceed what a partition serves",
			"cache it (in the process, or in DAX); shards do not help a single item, but copies of it do"
	case d == Read:
		return ReadHot, "reads of one key exceed what a partition serves",
			"cache the reads (package cache, or DAX); do not shard for reads: a read of a sharded key asks every shard"
	case k.Items == 1 && fixed:
		return GlobalCounter, "all writers update one item",
			"shard the counter: package counter combines many increments into one write, and sums the shards when read"
	case k.Items == 1:
		return PopularItem, "writes to one item of many exceed what a partition serves",
			"if it is a counter, shard it (package counter); else combine its changes and write less often"
	case timeOnly(shape):
		return TimeKey, "all current writes go to the key of the current time: a bucket limits the size of a key, not its rate",
			"add shards to the bucket: layout.Layout{Bucket: …, Shards: …}"
	case sharded(shape):
		return HotKey, "the key is sharded and still hot: it has too few shards, or several share a partition",
			"raise the number of shards, and pre-warm the table if it has fewer partitions than shards"
	case spreadAlready(r, k.Key):
		return HotKey, "the key has shards, but its bare key is still hot: a writer does not use the layout, or the shards are too few",
			"give the layout to all writers; if they have it, raise the number of shards, and pre-warm the table if it has fewer partitions than shards"
	case fixed:
		return LowCardinality, "all these items share one partition key value",
			"shard the key: layout.Layout{Shards: …}"
	case tenants(r, shape):
		return SkewedTenant, "one key of many takes far more than the others",
			"shard this key (layout.Layout with Widths for the few keys that need it), or limit its rate (package ratelimit)"
	}
	return HotKey, "writes to one key exceed what a partition serves", "shard the key: layout.Layout{Shards: …}"
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

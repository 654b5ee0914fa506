package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// hotKeys finds keys that want what one partition serves, and says why they do.
func (e *explainer) hotKeys(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	for i := range flow.Keys {
		k := &flow.Keys[i]
		severity, hot := e.heat(k, d)
		if !hot || e.excluded(k.Key) || d == Write && said[about{r.Resource, k.Key}] {
			continue
		}
		shape := shapeIn(r, k.Key)
		kind, cause, remedy := diagnose(r, d, k, shape, e.beyond(k, d))
		said[about{r.Resource, k.Key}], said[about{r.Resource, shape}] = true, true
		e.add(r, Finding{
			Kind: kind, Severity: severity, Direction: d, Key: k.Key, Pattern: shape,
			Message:  fmt.Sprintf("Partition key '%s' has %s (hot partition)", k.Key, e.pace(flow, k)),
			Evidence: e.evidence(k, d), Cause: cause, Remedy: remedy,
		})
	}
}

// heat judges a key by what it surely wants, and by what it was refused because of its own range of keys. A second alone is
// a warning at most: DynamoDB serves a burst from what a partition did not use before.
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

// beyond reports whether a key wants more than a partition serves, rather than most of it.
func (e *explainer) beyond(k *KeyHeat, d Direction) bool {
	refused := k.Refused >= 0.1 || e.report.Ended && k.Throttled > 0
	return refused && keyRange(k.Reason) || max(e.report.Sustained(k), k.Second) >= d.Limit()
}

// pace says how much a key takes. Contributor Insights counts units and no requests.
func (e *explainer) pace(flow *Flow, k *KeyHeat) string {
	if e.report.Source == Insights {
		return figure.Thousands(max(e.report.Sustained(k), k.Second)) + " units/sec"
	}
	return figure.Thousands(e.requestRate(flow, k)) + " requests/sec"
}

// requestRate returns the requests a second of a key, from what those that were served took, if that is known: refused
// ones wanted as much. Where none was served it is not known what they took, only that there were no more of them than
// units wanted and than attempts refused.
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
		fmt.Sprintf("%s %s units a second wanted, %.0f served; one partition serves %.0f", wanted, d, k.Consumed, d.Limit()),
		fmt.Sprintf("%.1f%% of the %s traffic at least", 100*k.Share, d),
	}
	if e.report.Ended && k.Busiest > 1.1*k.Rate {
		lines = append(lines, fmt.Sprintf("%.0f %s units a second when it was busiest", k.Busiest, d))
	}
	if k.Second > k.Rate {
		lines = append(lines, fmt.Sprintf("%.0f %s units in the last whole second", k.Second, d))
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

// manyItems is from how many items on a recorder does not tell how many there are: its count ends a bit above.
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

// why tells the cause of a key that wants more than a partition serves.
func why(r *ResourceReport, d Direction, k *KeyHeat, shape string) (kind Kind, cause, remedy string) {
	return diagnose(r, d, k, shape, true)
}

// diagnose tells the cause of a hot key by its direction, its shape, how many items it is about, and whether it wants
// more than a partition serves.
func diagnose(r *ResourceReport, d Direction, k *KeyHeat, shape string, beyond bool) (kind Kind, cause, remedy string) {
	kind, cause, remedy = causeOf(r, d, k, shape)
	if !beyond {
		switch {
		case kind == PopularItem:
			cause = "one item takes most of what a partition serves"
		case kind == ReadHot, kind == HotKey && !sharded(shape):
			cause = "one key takes most of what a partition serves"
		}
	}
	return kind, cause, remedy
}

func causeOf(r *ResourceReport, d Direction, k *KeyHeat, shape string) (kind Kind, cause, remedy string) {
	fixed := !strings.Contains(shape, "{")
	switch {
	case d == Read && k.Items == 1:
		return PopularItem, "one item is read far more than a partition serves",
			"cache it (in the process, or DAX); shards would not help a single item, copies of it would"
	case d == Read:
		return ReadHot, "more is read of one key than a partition serves",
			"cache what is read (package cache, or DAX); do not shard for reads: a read of a sharded key asks every shard"
	case k.Items == 1 && fixed:
		return GlobalCounter, "all writers update one item",
			"count in shards: package counter adds many increments in one write, and sums when asked"
	case k.Items == 1:
		return PopularItem, "one item of many is written far more than a partition serves",
			"if it counts, count in shards (package counter); else gather its changes and write less often"
	case timeOnly(shape):
		return TimeKey, "everything of this moment is written under the key of this moment; a bucket bounds how much a key gathers, not how fast",
			"add shards to the bucket: layout.Layout{Bucket: …, Shards: …}"
	case sharded(shape):
		return HotKey, "a key that is sharded already is hot still: too few shards, or several of them on one partition",
			"raise the number of shards, and pre-warm the table if it has fewer partitions than that"
	case spreadAlready(r, k.Key):
		return HotKey, "the bare key of a key that has shards is hot still: somebody writes without the layout, or there are too few shards",
			"give the layout to all writers; if they have it, raise the number of shards, and pre-warm the table if it has fewer partitions than that"
	case fixed:
		return LowCardinality, "the partition key has one value for all of this",
			"spread the key: layout.Layout{Shards: …}"
	case tenants(r, shape):
		return SkewedTenant, "one of many takes far more than the others",
			"spread this one's key (layout.Layout with Widths for the few that need it), or limit it (package ratelimit)"
	}
	return HotKey, "more is written to one key than a partition serves", "spread the key: layout.Layout{Shards: …}"
}

// shapeIn returns the shape of a key as the patterns of a report have it: with its words replaced where they turned out to
// be names.
func shapeIn(r *ResourceReport, key string) string {
	shape := appendShape(nil, []byte(key))
	has := func(shape []byte) bool {
		return slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Shape == string(shape) })
	}
	if wider := family(shape); !has(shape) && has(wider) {
		return string(wider)
	}
	return string(shape)
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

// timeOnly reports whether nothing but the time varies in keys of a shape.
func timeOnly(shape string) bool {
	rest, times := shape, 0
	for _, name := range []string{"{time}", "{hour}", "{day}", "{week}", "{month}"} {
		times += strings.Count(rest, name)
		rest = strings.ReplaceAll(rest, name, "")
	}
	return times > 0 && !strings.Contains(rest, "{")
}

// sharded reports whether keys of a shape end in a shard.
func sharded(shape string) bool {
	return strings.HasSuffix(shape, "SHARD_{n}") || strings.HasSuffix(shape, "SHARD#{n}") ||
		timeOnly(strings.TrimSuffix(shape, "#{n}")) && strings.HasSuffix(shape, "#{n}") ||
		timeOnly(strings.TrimSuffix(shape, ".{n}")) && strings.HasSuffix(shape, ".{n}")
}

package heat

import (
	"fmt"
)

// dominance finds keys with far more than their fair share, which is 1/K of K keys: four keys of 25 % are even. Shares are
// of recent traffic, so there must be enough of it. A key with a finding does not get another.
func (e *explainer) dominance(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	for i := range flow.Keys {
		k := &flow.Keys[i]
		if !e.dominates(flow, k) || e.excluded(k.Key) || said[about{r.Resource, k.Key}] || e.adapts(r, d, k.Key) {
			continue // before its shape is looked for among all keys
		}
		shape := shapeIn(r, k.Key)
		if e.coolShard(flow, k, d, shape) || said[about{r.Resource, shape}] {
			continue
		}
		said[about{r.Resource, k.Key}] = true
		keys := distinctFolded(flow)
		f := Finding{
			Kind: DominantKey, Severity: Warning, Direction: d, Key: k.Key, Pattern: shape,
			Message:  fmt.Sprintf("Partition %s receiving %.0f%% of traffic", k.Key, 100*k.Share),
			Evidence: append(e.evidence(k, d), fmt.Sprintf("a fair share of %d keys is %.1f%%", keys, 100/float64(keys))),
		}
		f.Kind, f.Cause, f.Remedy = e.whyDominant(r, d, k, shape)
		e.add(r, f)
	}
}

// dominates reports whether a key has far more than its fair share of a flow that is large enough to tell. Shards are no keys of their
// own: with them the fair share would be too small.
func (e *explainer) dominates(flow *Flow, k *KeyHeat) bool {
	if flow.Requests < e.rules.Sample || flow.Distinct.Keys < 2 {
		return false
	}
	if excess(k.Share, flow.Distinct.Keys) < e.rules.Excess || 60*e.report.Sustained(k) < float64(e.rules.Sample) {
		return false // before the keys are folded
	}
	return excess(k.Share, distinctFolded(flow)) >= e.rules.Excess
}

// dominant reports whether dominance has a finding about a key.
func (e *explainer) dominant(r *ResourceReport, key string) bool {
	for _, d := range [...]Direction{Write, Read} {
		flow := r.Flow(d)
		for i := range flow.Keys {
			if k := &flow.Keys[i]; k.Key == key && e.dominates(flow, k) {
				return true
			}
		}
	}
	return false
}

// excess returns the part of the traffic beyond its fair share that a key has: 0 for a fair share, 1 for everything.
func excess(share float64, keys int64) float64 {
	fair := 1 / float64(max(keys, 1))
	if fair >= 1 {
		return 0
	}
	return (share - fair) / (1 - fair)
}

func (e *explainer) whyDominant(r *ResourceReport, d Direction, k *KeyHeat, shape string) (kind Kind, cause, remedy string) {
	kind, cause, remedy = why(r, d, k, shape)
	switch {
	case kind == ReadHot && !varies(shape):
		kind, cause = LowCardinality, "all these items share one partition key value"
	case kind == HotKey, kind == ReadHot:
		kind, cause = DominantKey, "one key takes most of the traffic"
	case kind == PopularItem:
		cause = "one item takes most of the traffic"
	}
	if e.adaptive(r, k.Key) {
		return kind, cause, growing
	}
	return kind, cause, e.notYet(d, remedy)
}

// designs finds patterns that are hot by design, whatever their traffic today: one key value for all items, or for all
// current ones. A single value with most of the traffic is left to dominance, which has figures.
func (e *explainer) designs(r *ResourceReport, said map[about]bool) {
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if said[about{r.Resource, p.Shape}] || e.excluded(p.Example) || !e.matters(r, p) {
			continue
		}
		switch {
		case p.Distinct.Keys == 1 && !varies(p.Shape):
			if e.dominant(r, p.Example) {
				continue
			}
			if spreadAlready(r, p.Example) || shardName(p.Example) {
				continue
			}
			set := foldedSet(r, p.Example)
			share, much := 0.0, false
			if set != nil {
				if share, much = e.shareIn(set, p.Example); !much {
					continue // an even value beside one that is spread
				}
			}
			said[about{r.Resource, p.Shape}] = true
			f := Finding{
				Kind: LowCardinality, Severity: Warning, Direction: Write, Key: p.Example, Pattern: p.Shape,
				Message:  fmt.Sprintf("Partition key %s has a single value: hot by design", p.Shape),
				Evidence: patternEvidence(p),
				Cause:    "all items of this kind share one partition key, and so " + "one partition's " + e.rates(),
				Remedy:   fmt.Sprintf("put an attribute that varies into the key, such as a customer, or a time bucket; above %s writes a second, add shards", e.writes()),
			}
			if set != nil {
				f.Message = fmt.Sprintf("Partition key '%s' has %.0f%% of what the values of %s have", p.Example, 100*share, set.attribute(r))
				f.Evidence = append(f.Evidence, set.valuesText(r, Write))
			}
			if singleItem(r, p.Example) {
				f.Cause = "all writers update one item, which has " + "one partition's " + e.rates()
				f.Remedy = fmt.Sprintf("do nothing below %s writes a second; above that, shard the counter (package counter), or combine changes and write less often", e.writes())
			}
			e.add(r, f)
		case timeOnly(p.Shape):
			if spreadShape(r, p) {
				continue
			}
			said[about{r.Resource, p.Shape}] = true
			e.add(r, Finding{
				Kind: TimeKey, Severity: e.timeSeverity(r, p), Direction: Write, Pattern: p.Shape, Key: p.Example,
				Message:  fmt.Sprintf("Partition keys %s are times: all current writes share one key", p.Shape),
				Evidence: patternEvidence(p),
				Cause:    "a time bucket limits the size of a key, not its rate: the partition's limit is per second",
				Remedy:   fmt.Sprintf("do nothing below %s writes a second; above that, %s", e.writes(), shardTimes(p.Example)),
			})
		}
	}
}

// singleItem reports whether all that was seen of a key is one item, which has no attribute that could vary.
func singleItem(r *ResourceReport, key string) bool {
	one := false
	for _, d := range [...]Direction{Write, Read} {
		for i := range r.Flow(d).Keys {
			if k := &r.Flow(d).Keys[i]; k.Key == key {
				if k.Items != 1 {
					return false
				}
				one = true
			}
		}
	}
	return one
}

// matters reports whether a pattern has enough items or traffic for a finding.
func (e *explainer) matters(r *ResourceReport, p *Pattern) bool {
	units := p.Reads + p.Writes
	total := r.Reads.Units + r.Writes.Units
	return p.Items >= e.rules.Items || units >= float64(e.rules.Sample) && units >= 0.1*total
}

// timeSeverity judges keys that are times by their write rate, where it is known.
func (e *explainer) timeSeverity(r *ResourceReport, p *Pattern) Severity {
	rate, _ := served(e.report, &r.Writes)
	if r.Writes.Units > 0 && rate*p.Writes/r.Writes.Units >= 0.1*e.report.Limit(Write) {
		return Warning
	}
	return Info
}

func patternEvidence(p *Pattern) []string {
	var lines []string
	if p.Items > 0 {
		lines = append(lines, fmt.Sprintf("%d items under %s", p.Items, partitionKeys(p.Distinct.Keys)))
	}
	if p.Reads+p.Writes > 0 {
		lines = append(lines, fmt.Sprintf("%.0f write and %.0f read units on %s", p.Writes, p.Reads, partitionKeys(p.Distinct.Keys)))
	}
	return lines
}

func partitionKeys(n int64) string {
	if n == 1 {
		return "1 partition key"
	}
	return fmt.Sprintf("%d partition keys", n)
}

package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/judge"
)

// crowded finds partitions that are full although no key on them is too hot by itself: DynamoDB refuses keys that are far
// below a partition's limit. A source that knows partitions names the neighbours. Elsewhere keys that are refused together
// are likely neighbours.
func (e *explainer) crowded(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	var groups []crowd
	for i := range flow.Keys {
		k := &flow.Keys[i]
		if e.verdict(k, d) != judge.Crowded || e.excluded(k.Key) || said[about{r.Resource, k.Key}] {
			continue
		}
		at := slices.IndexFunc(groups, func(c crowd) bool { return c.partition == k.Partition })
		if at < 0 {
			at = len(groups)
			groups = append(groups, crowd{partition: k.Partition})
		}
		groups[at].refused = append(groups[at].refused, k)
		said[about{r.Resource, k.Key}] = true
	}
	for i := range groups {
		groups[i].neighbours(e, flow, d)
		e.addCrowd(r, d, &groups[i])
	}
}

// crowd is the keys of a partition that is full.
type crowd struct {
	partition string     // "" if the source does not know it
	refused   []*KeyHeat // of these, those that take much of it
	keys      []*KeyHeat // all that are known, the hottest first
}

// neighbours fills in the keys of the partition: those that the source says are on it, or else those that are refused too.
func (c *crowd) neighbours(e *explainer, flow *Flow, d Direction) {
	for i := range flow.Keys {
		k := &flow.Keys[i]
		if slices.Contains(c.refused, k) || c.partition != "" && k.Partition == c.partition ||
			c.partition == "" && e.verdict(k, d) == judge.Bystander {
			c.keys = append(c.keys, k)
		}
	}
	slices.SortStableFunc(c.keys, func(a, b *KeyHeat) int { return cmp.Compare(e.wanted(b), e.wanted(a)) })
}

// mostNeighbours is how many keys of a full partition a finding names.
const mostNeighbours = 5

func (e *explainer) addCrowd(r *ResourceReport, d Direction, c *crowd) {
	first, sum := c.refused[0], 0.0
	var list []string
	for _, k := range c.keys {
		sum += e.wanted(k)
	}
	for _, k := range c.keys[:min(len(c.keys), mostNeighbours)] {
		list = append(list, fmt.Sprintf("'%s' %s", k.Key, figure.Thousands(e.wanted(k))))
	}
	if more := len(c.keys) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	limit := figure.Thousands(e.report.Limit(d))
	f := Finding{
		Kind: HotPartition, Severity: Critical, Direction: d, Key: first.Key, Pattern: shapeIn(r, first.Key),
		Evidence: e.evidence(first, d),
		Cause: fmt.Sprintf("several keys share a partition, which serves %s %s units/sec: none is too hot alone, and together they fill it",
			limit, d),
		Remedy: "raise the table's warm throughput, so that the keys get partitions of their own; DynamoDB also splits a partition that " +
			"stays full, within minutes; a few shards spread a key over several partitions",
	}
	for _, k := range c.refused[1:] {
		f.Others = append(f.Others, k.Key)
	}
	text, bursts := burstText(r.Flow(d).Trend)
	alone := len(c.keys) == 1 && c.alone(r.Flow(d))
	several := len(c.keys) > 1 && c.partition == "" && e.servedOf(c.keys) > 1.25*e.report.Limit(d) // their busy times may differ
	switch at := "is full"; {
	case c.partition != "":
		if bursts || alone {
			at = "is full at times"
		}
		f.Message = fmt.Sprintf("Partition %s %s (hot partition): of its %s %s units/sec, keys want at least %s",
			c.partition, at, limit, d, strings.Join(list, ", "))
		if len(c.keys) == 1 {
			f.Cause = "the key shares its partition with keys that are not listed, or its bursts are shorter than the measurement"
		}
	case len(c.keys) > 1 && bursts:
		f.Message = fmt.Sprintf("Partitions are full at times (hot partition), likely of bursts of these keys, by the %s units/sec that each wants at least: %s",
			d, strings.Join(list, ", "))
	case several:
		f.Message = fmt.Sprintf("Some partitions are full (hot partition), likely of these keys, by the %s units/sec that each wants at least: %s",
			d, strings.Join(list, ", "))
		f.Cause = fmt.Sprintf("several keys share partitions, each of which serves %s %s units/sec: none is too hot alone, and together they fill them", limit, d)
	case len(c.keys) > 1:
		f.Message = fmt.Sprintf("A partition is full (hot partition), likely of these keys, by the %s units/sec that each wants at least: %s", d, strings.Join(list, ", "))
	case bursts || alone:
		f.Message = fmt.Sprintf("The partition of key '%s' is full at times (hot partition): the key wants %s of its %s %s units/sec, in bursts",
			first.Key, e.demandText(first), limit, d)
	default:
		f.Message = fmt.Sprintf("The partition of key '%s' is full (hot partition): the key wants %s of its %s %s units/sec, likely others the rest",
			first.Key, e.demandText(first), limit, d)
		f.Cause = "the key shares its partition with keys that this source does not show, or its bursts are shorter than the measurement"
	}
	if bursts {
		f.Evidence = append(f.Evidence, text)
	}
	if bursts || alone {
		f.Cause = e.inBursts(first, d)
		f.Remedy = "spread each burst over some seconds (package ratelimit), or let retries with backoff do that; " + atOnce(r, d, first.Key)
	}
	if c.moving() {
		f.Cause += "; a write that moves an entry here is also refused if the partition that the entry leaves is full, which this source does not show"
	}
	f.Cause += backPressure(r, d)
	if len(c.keys) > 1 {
		together := fmt.Sprintf("%d keys want at least %s %s units a second together", len(c.keys), figure.Thousands(sum), d)
		if c.partition != "" && sum < e.report.Limit(d) && !bursts {
			together += ", on average over some seconds: single seconds were fuller, or keys that are not listed want the rest"
		}
		f.Evidence = append(f.Evidence, together)
	}
	if c.partition == "" && !alone {
		f.Evidence = append(f.Evidence, "the source does not show partitions: that these keys share one is inferred from their throttles")
	}
	e.add(r, f)
}

// alone reports whether the only key that is known of a partition has no others beside it: it has all of the traffic, or the
// source shows all keys with their partitions.
func (c *crowd) alone(f *Flow) bool {
	return c.keys[0].Share >= 0.97 || c.partition != "" && f.Distinct.Keys <= int64(len(f.Keys))
}

// moving reports whether one of the keys is refused by writes that move entries of an index.
func (c *crowd) moving() bool {
	return slices.ContainsFunc(c.refused, movesMost)
}

// servedOf returns how much of what keys want is served, in units a second: one partition serves no more than its limit.
func (e *explainer) servedOf(keys []*KeyHeat) float64 {
	sum := 0.0
	for _, k := range keys {
		part := 1.0
		if k.Requests > 0 {
			part = 1 - min(1, float64(k.Throttled)/float64(k.Requests))
		}
		sum += e.wanted(k) * part
	}
	return sum
}

// inBursts is the cause of throttles of a key that takes less than its partition serves, with nothing beside it.
func (e *explainer) inBursts(k *KeyHeat, d Direction) string {
	cause := "its requests come in short bursts, more at once than a partition serves; on average it is below the limit"
	if e.wanted(k) < judge.Beside*e.report.Limit(d) {
		cause = "its requests come in short bursts, more at once than a partition serves; on average it is far below the limit"
	}
	if served := k.Requests - k.Throttled; served > 0 && k.Units >= largeRequest*float64(served) {
		cause += fmt.Sprintf("; a few requests are a burst, as each takes %s %s units", figure.Thousands(k.Units/float64(served)), d)
	}
	return cause
}

// largeRequest is from how many units on a request is a part of a partition's second that counts.
const largeRequest = 50

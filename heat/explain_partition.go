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
	f := Finding{
		Kind: HotPartition, Severity: Critical, Direction: d, Key: first.Key, Pattern: shapeIn(r, first.Key),
		Evidence: e.evidence(first, d),
		Cause: fmt.Sprintf("several keys share a partition, which serves %s %s units/sec: none is too hot alone, and together they fill it",
			figure.Thousands(e.report.Limit(d)), d),
		Remedy: "raise the table's warm throughput, so that the keys get partitions of their own; DynamoDB also splits a partition that " +
			"stays full, within minutes; a few shards spread a key over several partitions",
	}
	for _, k := range c.refused[1:] {
		f.Others = append(f.Others, k.Key)
	}
	switch {
	case c.partition != "":
		f.Message = fmt.Sprintf("Partition %s is full (hot partition): of its %s %s units/sec, keys want at least %s",
			c.partition, figure.Thousands(e.report.Limit(d)), d, strings.Join(list, ", "))
	case len(c.keys) > 1:
		f.Message = fmt.Sprintf("A partition is full (hot partition), likely of these keys, by the %s units/sec that each wants at least: %s", d, strings.Join(list, ", "))
	default:
		f.Message = fmt.Sprintf("The partition of key '%s' is full (hot partition): the key wants %s of its %s %s units/sec, likely others the rest",
			first.Key, e.demandText(first), figure.Thousands(e.report.Limit(d)), d)
		f.Cause = "the key shares its partition with keys that this source does not show, or its bursts are shorter than the measurement"
	}
	f.Cause += backPressure(r, d)
	if len(c.keys) > 1 {
		together := fmt.Sprintf("%d keys want at least %s %s units a second together", len(c.keys), figure.Thousands(sum), d)
		if c.partition != "" && sum < e.report.Limit(d) {
			together += ", on average over some seconds: single seconds were fuller, or keys that are not listed want the rest"
		}
		f.Evidence = append(f.Evidence, together)
	}
	if c.partition == "" {
		f.Evidence = append(f.Evidence, "the source does not show partitions: that these keys share one is inferred from their throttles")
	}
	e.add(r, f)
}

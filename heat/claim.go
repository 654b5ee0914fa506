package heat

import (
	"cmp"
	"fmt"
	"slices"
)

// claim is a finding of a report, with figures of its key.
type claim struct {
	Finding
	by     int    // the number of the report, or several
	source Source // of the report, none if it is several
	folded bool

	rate    float64 // the key's certain demand, as a part of what one partition serves
	excess  float64 // its part of the traffic beyond a fair share
	refused float64 // its part of the throttles, unless they have another reason than a key range

	hot diagnosis // of the key once it is known to be throttled; empty if no source shows its traffic
}

// several stands for the number of more than one report.
const several = -1

// diagnosis is the cause in a finding.
type diagnosis struct {
	kind          Kind
	cause, remedy string
}

func newClaim(f Finding, by int, report *Report) claim {
	c := claim{Finding: f, by: by, source: report.Source}
	c.Evidence = make([]string, len(f.Evidence))
	for i, line := range f.Evidence {
		c.Evidence[i] = fmt.Sprintf("%s: %s", report.Source, line)
	}
	e := explainer{report: report}
	r := e.find(f.Resource)
	if r == nil {
		return c // a decision about a table without traffic
	}
	flow := r.Flow(f.Direction)
	i := slices.IndexFunc(flow.Keys, func(k KeyHeat) bool { return k.Key == f.Key })
	if f.Key == "" || i < 0 {
		return c
	}
	k := &flow.Keys[i]
	c.rate, c.excess = max(report.Sustained(k), k.Second)/report.Limit(f.Direction), k.Share
	if keys := flow.Distinct.Keys; keys > 1 {
		c.excess = excess(k.Share, keys)
	}
	if k.Reason == "" || keyRange(k.Reason) {
		c.refused = float64(k.Throttled) / float64(max(flow.Throttled, 1))
	}
	c.hot.kind, c.hot.cause, c.hot.remedy = why(r, f.Direction, k, f.Pattern)
	return c
}

// compareClaims orders claims, the worst first. Only those that say the same are equal, so what comes of them does not
// depend on the order of reports.
func compareClaims(a, b claim) int {
	return cmp.Or(
		cmp.Compare(b.Severity, a.Severity),
		cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index), cmp.Compare(b.Direction, a.Direction),
		cmp.Compare(b.rate, a.rate), cmp.Compare(b.excess, a.excess), cmp.Compare(b.refused, a.refused),
		cmp.Compare(depth(b.Kind, b.Pattern), depth(a.Kind, a.Pattern)), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Key, b.Key), cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Remedy, b.Remedy), slices.Compare(a.Evidence, b.Evidence),
		cmp.Compare(a.hot.kind, b.hot.kind), cmp.Compare(a.hot.remedy, b.hot.remedy),
	)
}

// depth ranks kinds of findings about a key by how much they explain; 0 for a finding about no key.
func depth(kind Kind, pattern string) int {
	switch kind {
	case UnevenShards:
		return 7
	case GlobalCounter, PopularItem:
		return 6
	case TimeKey:
		return 5
	case LowCardinality:
		return 4
	case SkewedTenant:
		return 3
	case HotKey, ReadHot:
		if sharded(pattern) {
			return 4 // that it is sharded already says more than that it is one of many
		}
		return 2
	case DominantKey:
		return 1
	}
	return 0
}

// ofKey reports whether a finding says that a key is hot, or will be.
func (c *claim) ofKey() bool {
	return depth(c.Kind, c.Pattern) > 0 || (c.Kind == HotPartition || c.Kind == HotIndex) && c.Key != ""
}

// ofShape reports whether a finding is about all keys of a shape, the one it names being an example: keys that are
// times, none of which is hot.
func (c *claim) ofShape(warm float64) bool {
	return c.Kind == TimeKey && c.Severity < Critical && c.rate < warm
}

// subject is what a claim is about.
type subject struct {
	Resource
	direction Direction
	kind      Kind   // none if it is about a key, whatever the kind
	text      string // the key, or the pattern
	remedy    string // of shards that readers miss: one that is spelt otherwise is not cured by more of them
}

func (c *claim) subject(warm float64) subject {
	s := subject{Resource: c.Resource, direction: c.Direction, kind: c.Kind, text: cmp.Or(c.Key, c.Pattern)}
	switch {
	case c.Kind == StrayShard:
		s.remedy = c.Remedy
	case c.ofShape(warm):
		s.text = c.Pattern
	case c.ofKey():
		s.kind = ""
	}
	return s
}

// joinSubjects makes one claim of all about the same. The worst gives its message.
func joinSubjects(claims []claim, warm float64) []claim {
	slices.SortFunc(claims, compareClaims)
	at := make(map[subject]int)
	var joined []claim
	for i := range claims {
		c := &claims[i]
		s := c.subject(warm)
		if to, known := at[s]; known {
			joined[to].absorb(c)
			continue
		}
		at[s] = len(joined)
		joined = append(joined, *c)
	}
	return joined
}

// absorb adds what another claim says.
func (c *claim) absorb(other *claim) {
	for _, line := range other.Evidence {
		if !slices.Contains(c.Evidence, line) {
			c.Evidence = append(c.Evidence, line)
		}
	}
	c.Severity = max(c.Severity, other.Severity)
	if depth(other.Kind, other.Pattern) > depth(c.Kind, c.Pattern) {
		d := diagnosis{other.Kind, other.Cause, other.Remedy}
		if c.Severity == Critical && other.hot.kind == d.kind {
			d = other.hot // "nothing, while it stays below" is not for a key that hurts
		}
		c.Kind, c.Cause, c.Remedy, c.Pattern = d.kind, d.cause, d.remedy, other.Pattern
	}
	if other.hot.kind != "" && (c.hot.kind == "" || other.rate > c.rate) {
		c.hot = other.hot
	}
	c.rate, c.excess, c.refused = max(c.rate, other.rate), max(c.excess, other.excess), max(c.refused, other.refused)
	if c.by != other.by {
		c.by = several
	}
	if c.source != other.source {
		c.source = ""
	}
}

// fold adds each claim to the one that into finds for it among all, the worst and hottest first, and drops it. A claim
// that others are added to is not itself added to another.
func fold(claims []claim, into func(c *claim, all []claim) *claim) []claim {
	slices.SortFunc(claims, compareClaims)
	for i := range claims {
		if to := into(&claims[i], claims); to != nil {
			to.blame(&claims[i])
			claims[i].folded = true
		}
	}
	return slices.DeleteFunc(claims, func(c claim) bool { return c.folded })
}

// blame adds a claim to that about its cause. A key that is throttled hurts now.
func (c *claim) blame(other *claim) {
	hurts := c.Key != "" && other.Key == "" && (other.Severity == Critical || other.Kind == Throttled)
	before := c.Severity
	c.absorb(other)
	if c.Key == "" && other.source == Insights {
		c.Severity = before // who tells the reason has counted the same refusals
	}
	if !hurts || before == Critical {
		return
	}
	c.Severity = Critical
	c.Message += fmt.Sprintf("; %ss are throttled", c.Direction)
	if other.Kind != Throttled {
		c.Message += " by key range"
	}
	if depth(c.hot.kind, c.Pattern) >= depth(c.Kind, c.Pattern) {
		c.Kind, c.Cause, c.Remedy = c.hot.kind, c.hot.cause, c.hot.remedy
	}
}

// beside reports whether two claims are about the same table or index and direction.
func (c *claim) beside(other *claim) bool {
	return c.Resource == other.Resource && c.Direction == other.Direction
}

// together reports whether it takes more than one report to make two claims.
func (c *claim) together(other *claim) bool { return c.by != other.by || c.by == several }

// ofCardinality reports whether a hot index is called so for its few keys, and not for throttles.
func (c *claim) ofCardinality() bool {
	return c.Kind == HotIndex && c.Severity == Warning && c.Key == ""
}

package heat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// sets finds attributes with few values of which one takes far more than the others. The values are one thing: they have
// one finding, with all of their shares. Shares are of all traffic that was counted, so that they stay when it has ended.
func (e *explainer) sets(r *ResourceReport, d Direction, said map[about]bool) {
	flow := r.Flow(d)
	for i := range r.Patterns {
		p := &r.Patterns[i]
		values, all := p.by(d)
		if len(values) < 2 || said[about{r.Resource, p.Shape}] || flow.Requests < e.rules.Sample || !e.matters(r, p) {
			continue
		}
		top := values[0]
		if all <= 0 || excess(top.units(d)/all, int64(len(values))) < e.rules.Excess || e.excluded(top.Key) {
			continue
		}
		k := &KeyHeat{Key: top.Key}
		if i := slices.IndexFunc(flow.Keys, func(k KeyHeat) bool { return k.Key == top.Key }); i >= 0 {
			k = &flow.Keys[i]
		}
		if 60*max(e.report.Sustained(k), k.Busiest) < float64(e.rules.Sample) {
			continue // a trickle
		}
		said[about{r.Resource, p.Shape}] = true
		for _, v := range values {
			said[about{r.Resource, v.Key}] = true
		}
		f := Finding{
			Severity: Warning, Direction: d, Key: top.Key, Pattern: p.Shape,
			Message:  fmt.Sprintf("Partition %s receiving %.0f%% of traffic", top.Key, 100*top.units(d)/max(all, flow.Units)),
			Evidence: append([]string{p.valuesText(r, d)}, e.evidence(k, d)...),
		}
		f.Kind, f.Cause, f.Remedy = e.whyDominant(r, d, k, p.Shape)
		e.add(r, f)
	}
}

// by returns the values of a set, those with the most units of a direction first, and the units of all.
func (p *Pattern) by(d Direction) (values []PatternValue, all float64) {
	values = slices.Clone(p.Values)
	slices.SortStableFunc(values, func(a, b PatternValue) int { return cmp.Compare(b.units(d), a.units(d)) })
	for i := range values {
		all += values[i].units(d)
	}
	return values, all
}

func (v *PatternValue) units(d Direction) float64 {
	if d == Read {
		return v.Reads
	}
	return v.Writes
}

// mostNamed is how many values of a set a finding names.
const mostNamed = 8

// valuesText lists the values of a set with their shares of its traffic: "STATUS has 3 values: ACTIVE 85%, …".
func (p *Pattern) valuesText(r *ResourceReport, d Direction) string {
	values, all := p.by(d)
	share := func(v *PatternValue) float64 { return v.units(d) / max(all, 1e-9) }
	if all == 0 { // stored items
		slices.SortStableFunc(values, func(a, b PatternValue) int { return cmp.Compare(b.Items, a.Items) })
		share = func(v *PatternValue) float64 { return float64(v.Items) / max(float64(p.Items), 1) }
	}
	var list []string
	for i := range values[:min(len(values), mostNamed)] {
		list = append(list, fmt.Sprintf("%s %.1f%%", values[i].Value, 100*share(&values[i])))
	}
	if len(values) > mostNamed {
		list = append(list, fmt.Sprintf("and %d more", len(values)-mostNamed))
	}
	return fmt.Sprintf("%s has %d values: %s", p.attribute(r), len(values), strings.Join(list, ", "))
}

// attribute names what a set is the values of: STATUS of STATUS#{value}, or else the attribute of the key.
func (p *Pattern) attribute(r *ResourceReport) string {
	before, _, _ := strings.Cut(p.Shape, valuePlace)
	if name := strings.TrimRight(before, "#|:/. =_-"); name != "" {
		return name
	}
	return cmp.Or(strings.Join(r.Key, ", "), "the partition key")
}

// setOf returns the pattern whose values a key is one of, nil if there is none.
func setOf(r *ResourceReport, key string) *Pattern {
	if i := slices.IndexFunc(r.Patterns, func(p Pattern) bool { return p.has(key) }); i >= 0 {
		return &r.Patterns[i]
	}
	return nil
}

// sibling adds what is known of a hot key to the finding of another value of the same set. It reports whether there is one.
func (e *explainer) sibling(r *ResourceReport, d Direction, k *KeyHeat, severity Severity) bool {
	set := setOf(r, k.Key)
	if set == nil {
		return false
	}
	for i := range e.findings {
		f := &e.findings[i]
		if f.Resource == r.Resource && f.Direction == d && f.Pattern == set.Shape && set.has(f.Key) {
			f.Severity, f.Others = max(f.Severity, severity), append(f.Others, k.Key)
			f.Evidence = append(f.Evidence, fmt.Sprintf("its sibling '%s' has %s", k.Key, e.rateText(r.Flow(d), k)))
			return true
		}
	}
	return false
}

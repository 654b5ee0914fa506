package heatpage

import (
	"fmt"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/observed"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/plan"
)

// planner makes plans for the keys of findings. A plan is arithmetic of some milliseconds, so it is kept for a while.
type planner map[string]planned

type planned struct {
	at            time.Time
	of            string // the kind and the severity of its finding
	text, snippet string
}

const (
	// planFor is how long a plan is shown before it is made anew.
	planFor = 15 * time.Second
	// mostPlans bounds how many keys have one.
	mostPlans = 20
)

// of returns the plan for the key of a finding, "" if there is none.
func (p planner) of(r *round.Round, findings []heat.Finding, f *heat.Finding) (text, snippet string) {
	if f.Key == "" || f.Kind == heat.KeyGrew {
		return "", ""
	}
	id, of := f.Resource.String()+"|"+f.Key, fmt.Sprint(f.Kind, f.Severity, r.Ledger(f.Resource, f.Key) != nil)
	known, there := p[id]
	if there && known.of == of && r.To.Sub(known.at) < planFor {
		return known.text, known.snippet
	}
	if !there && len(p) >= mostPlans {
		clear(p)
	}
	known = planned{at: r.To, of: of}
	seen := observed.Of([]heat.Report{r.Report})
	for i := range r.Ledgers[f.Resource.String()] {
		seen.Grow(f.Resource, r.Ledgers[f.Resource.String()][i].Key)
	}
	seen.Judge(findings)
	for _, k := range seen.Hottest(mostPlans) {
		if !k.Has(f.Key) || k.Resource() != f.Resource {
			continue
		}
		plans, err := seen.Plans(plan.Workload{}, []observed.HotKey{k}, nil)
		if err == nil {
			var b strings.Builder
			if err = plans[0].WriteBrief(&b); err == nil {
				known.snippet = plans[0].Snippet
				known.text = without(b.String(), known.snippet)
			}
		}
	}
	p[id] = known
	return known.text, known.snippet
}

// without returns a plan without its snippet, which the page shows by itself. Notes may follow it.
func without(text, snippet string) string {
	if snippet == "" {
		return strings.TrimSpace(text)
	}
	before, after, _ := strings.Cut(text, snippet)
	return strings.TrimSpace(strings.TrimSpace(before) + "\n" + strings.TrimSpace(after))
}

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/corpus"
	"github.com/heatsink-go/heatsink/internal/observed"
	"github.com/heatsink-go/heatsink/plan"
)

var resultFile = flag.String("result", "", "a file for what a test has shown, as JSON")

// agreement is what the comparison of heat and plan has shown.
type agreement struct {
	Reports, Critical, Keys int
	Contradictions          []string
}

// On every report of the corpus, plan does something about each key that a finding of any kind calls critical, leaves keys alone that
// have no finding, and never spreads a key further than its rate asks for.
func TestPlanAgreesOnTheCorpus(t *testing.T) {
	var a agreement
	for _, c := range append(corpus.Cases(), corpus.Examples()...) {
		bubble.Test(t, func(t *testing.T) {
			report, err := c.Report()
			if err != nil {
				t.Fatal(err)
			}
			a.compare(t, c.Name(), report)
		})
	}
	for _, text := range a.Contradictions {
		t.Error(text)
	}
	if a.Critical < 40 {
		t.Errorf("%d critical keys are too few to tell", a.Critical)
	}
	t.Logf("%d reports, %d keys, %d critical", a.Reports, a.Keys, a.Critical)
	writeResult(t, a)
}

// writeResult leaves what a test has shown for make proof-heat.
func writeResult(t *testing.T, result any) {
	t.Helper()
	if *resultFile == "" {
		return
	}
	out, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*resultFile, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *agreement) compare(t *testing.T, name string, report heat.Report) {
	t.Helper()
	a.Reports++
	findings := heat.Explain(report, heat.Rules{})
	seen := observed.Of([]heat.Report{report})
	seen.Judge(findings)
	keys := seen.Hottest(50)
	plans, err := seen.Plans(plan.Workload{}, keys, (&planFlags{}).plannable)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range plans {
		a.Keys++
		a.judge(name, &plans[i], keys[i], findings)
	}
	for _, f := range findings {
		planned := slices.ContainsFunc(keys, func(k observed.HotKey) bool { return k.Has(f.Key) && k.Resource() == f.Resource })
		if f.Severity == heat.Critical && f.Key != "" && !planned {
			a.Contradictions = append(a.Contradictions, fmt.Sprintf("%s: no plan for %v", name, f))
		}
	}
}

func (a *agreement) judge(name string, p *plan.Plan, k observed.HotKey, findings []heat.Finding) {
	of := slices.DeleteFunc(slices.Clone(findings), func(f heat.Finding) bool {
		return f.Key == "" || !k.Has(f.Key) && !slices.ContainsFunc(f.Others, k.Has) || f.Resource != k.Resource()
	})
	worst, found := heat.Worst(of)
	critical := found && worst == heat.Critical
	wrong := func(format string, args ...any) {
		a.Contradictions = append(a.Contradictions, fmt.Sprintf("%s: key %s: %s, %v; findings %v", name, k.Key, fmt.Sprintf(format, args...), p.Verdict, of))
	}
	if critical {
		a.Critical++
	}
	switch {
	case critical && p.Strategy == plan.Leave:
		wrong("critical, but the plan leaves it alone")
	case !found && p.Strategy != plan.Leave:
		wrong("no finding, but the plan is %s", p.Strategy)
	case found && !critical && p.Shard:
		wrong("no critical finding, but the plan spreads it")
	case p.Shard && k.WriteUnits < 700 && p.Shards > 4:
		wrong("%d shards for %.0f write units a second", p.Shards, k.WriteUnits)
	}
}

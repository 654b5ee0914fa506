package plan

import (
	"strings"
	"testing"
)

// Package counter combines what a process adds, so a plan for a counter is for its processes, not for what they add.
func TestCountersAreForProcesses(t *testing.T) {
	for _, test := range []struct {
		writes    float64
		processes int
		shards    int
		peak      float64
		warm      bool
	}{
		{3000, 1, 4, 50, false},
		{1_000_000, 1, 4, 50, false},
		{3000, 0, 4, 500, false}, // ten
		{1_000_000, 10, 4, 500, false},
		{3000, 100, 22, 3000, true}, // so many that hardly any increments come together
		{1_000_000, 200, 0, 10_000, true},
	} {
		p := mustPlan(t, Workload{Key: "LIKES", Writes: test.writes, Processes: test.processes, Read: Reading{Pattern: Counters}})
		if p.Strategy != Counter || p.Peak != test.peak || (p.Warm != nil) != test.warm || test.shards > 0 && p.Shards != test.shards {
			t.Errorf("%v writes of %d processes: %s of %v units a second, warm %+v", test.writes, test.processes, p.Verdict, p.Peak, p.Warm)
		}
		if warms := strings.Contains(p.Verdict, "first warm"); warms != test.warm {
			t.Errorf("got %s", p.Verdict)
		}
		if test.warm && p.Recommended != nil && p.Warm.Partitions <= p.Partitions {
			t.Errorf("warmed to %d partitions of %d", p.Warm.Partitions, p.Partitions)
		}
	}
}

// Fewer writes cost less, and need less of the table.
func TestCountersCostWhatTheyWrite(t *testing.T) {
	w := Workload{Key: "LIKES", Writes: 3000, Read: Reading{Pattern: Counters}, Table: Table{WriteUnits: 1000, ReadUnits: 1000}}
	if p := mustPlan(t, w); hasNote(&p, "table-capacity") {
		t.Errorf("500 write units a second exceed the 1,000 provisioned: %+v", p.Notes)
	}
	w.Processes = 100
	if p := mustPlan(t, w); !hasNote(&p, "table-capacity") {
		t.Errorf("3,000 write units a second do not exceed the 1,000 provisioned: %+v", p.Notes)
	}
	w.Table = Table{}
	few, many := mustPlan(t, Workload{Writes: 3000, Read: w.Read}), mustPlan(t, w)
	if 6*few.Recommended.Dollars > 1.01*many.Recommended.Dollars || !strings.Contains(strings.Join(few.Costs, "\n"), "at most 500 write units a second instead of 3,000") {
		t.Errorf("$%.2f and $%.2f a month; %q", few.Recommended.Dollars, many.Recommended.Dollars, few.Costs)
	}
}

func hasNote(p *Plan, code string) bool {
	for _, n := range p.Notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

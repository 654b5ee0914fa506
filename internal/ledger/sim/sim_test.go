package sim

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

var (
	seeds = flag.Int("seeds", 1000, "how many seeds TestNothingIsMissed runs")
	first = flag.Uint64("seed", 1, "the first of them")
)

// report says how a plan fails, and what it takes.
func report(p Plan, b Breaks) string {
	small, fault := Shrink(p, b)
	return fmt.Sprintf("%s\nreplay: go test ./internal/ledger/sim -run TestNothingIsMissed -seed %d -seeds 1\nshrunk from %d to %d actions: %v\n%s",
		fault, p.Seed, len(p.Actions), len(small.Actions), small, Trace(small, b))
}

// Whatever happens to requests and processes, nothing is missed and nothing is there twice.
func TestNothingIsMissed(t *testing.T) {
	t.Parallel()
	var sum Stats
	for n := range *seeds {
		p := NewPlan(*first + uint64(n))
		fault, s := Run(p, Breaks{})
		if fault != "" {
			t.Fatal(report(p, Breaks{}))
		}
		add(&sum, s)
	}
	t.Logf("%d seeds: %+v", *seeds, sum)
	if *seeds < 100 {
		return
	}
	// A simulation in which nothing succeeds shows nothing.
	sums := reflect.ValueOf(sum)
	for i := range sums.NumField() {
		if got, want := sums.Field(i).Int(), int64(*seeds/4); got < want {
			t.Errorf("%s is %d in %d seeds, want %d at least", sums.Type().Field(i).Name, got, *seeds, want)
		}
	}
}

func add(sum *Stats, s Stats) {
	to, from := reflect.ValueOf(sum).Elem(), reflect.ValueOf(s)
	for i := range from.NumField() {
		to.Field(i).SetInt(to.Field(i).Int() + from.Field(i).Int())
	}
}

// budget is how many seeds a broken rule may survive.
const budget = 2000

// aboutLoss are the rules that matter only if the ledger was lost. The others must be needed without that.
var aboutLoss = []string{"AcceptLoss", "IgnoreStamps", "AnyReadWidth", "RepairOverStamps", "RepairUnseen"}

// lossless returns the plan without what happens to the ledger.
func lossless(p Plan) Plan {
	p.Actions = slices.DeleteFunc(p.Actions, func(a Action) bool { return a.Kind == Delete || a.Kind == Restore })
	return p
}

// Each rule is needed: without it, the simulation finds something missed or doubled.
func TestEachRuleIsNeeded(t *testing.T) {
	for name, b := range breaks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range uint64(budget) {
				p := NewPlan(n + 1)
				if !slices.Contains(aboutLoss, name) {
					p = lossless(p)
				}
				if fault, _ := Run(p, b); fault != "" {
					if other, _ := Run(p, Breaks{}); other != "" {
						t.Fatalf("seed %d fails with all rules: %s", n+1, other)
					}
					t.Logf("%s: caught after %d seeds: %s", name, n+1, fault)
					return
				}
			}
			t.Errorf("not caught in %d seeds", budget)
		})
	}
}

// breaks has each rule left out, by the name of its switch.
func breaks() map[string]Breaks {
	all := map[string]Breaks{}
	var visit func(path []int, in reflect.Type)
	visit = func(path []int, in reflect.Type) {
		for i := range in.NumField() {
			at := append(append([]int(nil), path...), i)
			if f := in.Field(i); f.Type.Kind() == reflect.Struct {
				visit(at, f.Type)
			} else {
				var b Breaks
				reflect.ValueOf(&b).Elem().FieldByIndex(at).SetBool(true)
				all[f.Name] = b
			}
		}
	}
	visit(nil, reflect.TypeFor[Breaks]())
	return all
}

// A plan always runs the same way, or no seed could be replayed.
func TestRunsAreTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		p, again := NewPlan(seed), NewPlan(seed)
		if p.String() != again.String() {
			t.Fatalf("seed %d has two plans:\n%s\n%s", seed, p, again)
		}
		if one, two := Trace(p, Breaks{}), Trace(again, Breaks{}); one != two || one == "" {
			t.Fatalf("seed %d runs in two ways:\n%s\n%s", seed, one, two)
		}
	}
}

// A shrunk plan still fails, and needs all that is left of it.
func TestShrink(t *testing.T) {
	t.Parallel()
	for name, b := range breaks() {
		if name != "TrustCache" && name != "Repick" && name != "AnyGeneration" {
			continue
		}
		p := failing(t, b)
		small, fault := Shrink(p, b)
		if got, _ := Run(small, b); fault == "" || got != fault {
			t.Errorf("%s: got %q, then %q", name, fault, got)
		}
		if len(small.Actions) > 8 {
			t.Errorf("%s: %d actions are left:\n%s", name, len(small.Actions), small)
		}
		for i := range small.Actions {
			less := small
			less.Actions = append(append([]Action(nil), small.Actions[:i]...), small.Actions[i+1:]...)
			if got, _ := Run(less, b); got != "" {
				t.Errorf("%s: fails without action %d: %s\n%s", name, i, got, small)
			}
		}
	}
	if p, fault := Shrink(NewPlan(1), Breaks{}); fault != "" || len(p.Actions) != len(NewPlan(1).Actions) {
		t.Errorf("a plan that does not fail: got %q", fault)
	}
}

// failing returns the first plan that fails.
func failing(t *testing.T, b Breaks) Plan {
	t.Helper()
	for seed := range uint64(budget) {
		p := NewPlan(seed + 1)
		if fault, _ := Run(p, b); fault != "" {
			return p
		}
	}
	t.Fatalf("%+v is not caught", b)
	return Plan{}
}

func BenchmarkSeed(b *testing.B) {
	for n := uint64(0); b.Loop(); n++ {
		if fault, _ := Run(NewPlan(n), Breaks{}); fault != "" {
			b.Fatal(fault)
		}
	}
}

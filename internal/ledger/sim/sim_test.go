package sim

import (
	"flag"
	"fmt"
	"reflect"
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

// Each rule is needed: without it, the simulation finds something missed or doubled.
func TestEachRuleIsNeeded(t *testing.T) {
	for name, b := range breaks() {
		t.Run(name, func(t *testing.T) {
			for n := range uint64(budget) {
				p := NewPlan(n + 1)
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

package observed_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/observed"
	"github.com/heatsink-go/heatsink/plan"
)

// crowd is a report of a key with 5,000 write units a second and of many others, the first of which are listed.
func crowd(listed int) heat.Report {
	const own, each, others = 5000, 40, 150
	flow := heat.Flow{Keys: []heat.KeyHeat{{Key: "hot", RateLow: own, Share: own / float64(own+each*others)}}}
	for i := range listed - 1 {
		flow.Keys = append(flow.Keys, heat.KeyHeat{Key: fmt.Sprint("key-", i), RateLow: each, Share: each / float64(own+each*others)})
	}
	return heat.Report{
		Source: heat.Live, From: time.Unix(0, 0), To: time.Unix(60, 0),
		Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "views"}, Key: []string{"pk"}, Writes: flow}},
	}
}

func hottest(t *testing.T, report heat.Report, most int) plan.Plan {
	t.Helper()
	seen := observed.Of([]heat.Report{report})
	plans, err := seen.Plans(plan.Workload{}, seen.Hottest(most), nil)
	if err != nil {
		t.Fatal(err)
	}
	return plans[0]
}

// A plan for a key counts the load of all others, whichever of them are listed or planned for as well.
func TestPlansCountAllOtherLoad(t *testing.T) {
	want := hottest(t, crowd(100), 1)
	if math.Abs(want.Load.OtherWriteUnits-6000) > 1 {
		t.Errorf("other keys write %v units a second, want 6,000", want.Load.OtherWriteUnits)
	}
	for _, most := range []int{2, 3, 10, 100} {
		if got := hottest(t, crowd(100), most); !reflect.DeepEqual(got, want) {
			t.Errorf("with %d keys: %s\nwith one: %s", most, got.Verdict, want.Verdict)
		}
	}
	if got := hottest(t, crowd(1), 1); !reflect.DeepEqual(got, want) {
		t.Errorf("of a report with one key: %s\nwith 100: %s", got.Verdict, want.Verdict)
	}
}

// A key that fills a partition wants more than was seen, and others want what they want.
func TestPlansOfAFullPartition(t *testing.T) {
	report := heat.Report{Source: heat.Live, Resources: []heat.ResourceReport{{Writes: heat.Flow{Keys: []heat.KeyHeat{
		{Key: "hot", RateLow: 1000, Share: 0.25}, {Key: "mild", RateLow: 500, Share: 0.125},
	}}}}}
	if p := hottest(t, report, 1); p.Load.WriteUnits != 1100 || math.Abs(p.Load.OtherWriteUnits-3000) > 1 {
		t.Errorf("planned for %d units and %v of others, want 1,100 and 3,000", p.Load.WriteUnits, p.Load.OtherWriteUnits)
	}
}

func TestPlansRefuseAShare(t *testing.T) {
	seen := observed.Of([]heat.Report{crowd(1)})
	for _, w := range []plan.Workload{{Share: 0.5}, {Zipf: 1}} {
		if _, err := seen.Plans(w, seen.Hottest(1), nil); !errors.Is(err, plan.ErrWorkload) {
			t.Errorf("%+v: got %v", w, err)
		}
	}
}

// The number of keys is about the table, not about the key that a plan is for.
func TestPlansOfAKeyThatIsNotTheHottest(t *testing.T) {
	seen := observed.Of([]heat.Report{crowd(3)})
	if _, err := seen.Plans(plan.Workload{Keys: 3}, seen.Hottest(3), nil); err != nil {
		t.Error(err)
	}
}

// A report that was saved after the load has ended is judged and planned by its busiest time. One whose load goes on is not.
func TestPlansOfAReportThatWasSavedLater(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder, err := heat.NewRecorder(heat.Options{NoDescribe: true})
		if err != nil {
			t.Fatal(err)
		}
		observe := func(key string, n int) {
			for i := range n {
				recorder.Observe(heat.Observation{
					Resource: heat.Resource{Table: "app"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{key}, Sort: []string{fmt.Sprint(i % 300)}, Units: 1,
				})
			}
		}
		for range 200 {
			observe("AUDIT", 115)
			observe("USER#1", 10)
			time.Sleep(100 * time.Millisecond)
		}
		during := recorder.Report()
		time.Sleep(2 * time.Minute)
		observe("USER#1", 1)
		later := recorder.Report()
		for _, report := range observed.Settled([]heat.Report{during, later}) {
			findings := heat.Explain(report, heat.Rules{})
			p := hottest(t, report, 2)
			if worst, _ := heat.Worst(findings); worst != heat.Critical || !p.Shard || p.Key != "AUDIT" || p.Load.WriteUnits < 1100 {
				t.Errorf("ended %v: got %v, %s", report.Ended, findings, p.Verdict)
			}
			for _, n := range p.Notes {
				if n.Code == "quota" {
					t.Error(n.Text)
				}
			}
		}
		if got := observed.Settled([]heat.Report{during}); got[0].Ended {
			t.Error("a load that goes on has ended")
		}
		if later.Ended {
			t.Error("the caller's report was changed")
		}
		for _, f := range heat.Explain(later, heat.Rules{}) { // the recorder itself goes on
			if f.Severity == heat.Critical || strings.Contains(strings.Join(f.Evidence, "\n"), "demand: 0 ") {
				t.Errorf("got %v, %q", f, f.Evidence)
			}
		}
		for _, p := range allPlans(t, later) { // nor do plans of it divide by next to nothing
			if p.Load.OtherWriteUnits > 1000 {
				t.Errorf("%s: others want %v", p.Key, p.Load.OtherWriteUnits)
			}
		}
	})
}

func allPlans(t *testing.T, report heat.Report) []plan.Plan {
	t.Helper()
	seen := observed.Of([]heat.Report{report})
	plans, err := seen.Plans(plan.Workload{}, seen.Hottest(9), nil)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

package observed_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
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

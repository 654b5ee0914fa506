package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// What was observed of keys becomes a plan for each, with the others as what they are to it.
func TestForKeys(t *testing.T) {
	base := Workload{ItemBytes: 2000, Table: Table{Partitions: 50}}
	plans, err := ForKeys(base, []KeyRate{{"A", 3000, 50, 20}, {"B", 600, 0, 0}, {"C", 0, 9000, 0}, {"idle", 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if plans[3].Strategy != Leave {
		t.Errorf("a key without any load: got %s", plans[3].Strategy)
	}
	if _, err := ForKeys(base, []KeyRate{{"A", -1, 0, 0}, {"B", 0, math.NaN(), 0}}); !errors.Is(err, ErrWorkload) || !strings.Contains(err.Error(), `key "B"`) {
		t.Errorf("rates that are none: got %v", err)
	}
	a, b, c := plans[0], plans[1], plans[2]
	if a.Key != "A" || a.Strategy != Random || a.Load.WriteUnits != 3000 || math.Abs(a.Load.OtherWriteUnits-600) > 1e-6 {
		t.Errorf("A: got %s, %+v", a.Strategy, a.Load)
	}
	near(t, "A's read units", a.Load.ReadUnits, 50)
	wantNote(t, a, "throttled", Warning)
	if b.Strategy != Leave || b.Load.WriteUnits != 600 {
		t.Errorf("B: got %s, %+v", b.Strategy, b.Load)
	}
	if c.Strategy != Cached || c.Load.HottestShare < 0.99 {
		t.Errorf("C: got %s, %+v", c.Strategy, c.Load)
	}
	if _, err := ForKeys(Workload{Zipf: 1}, nil); err == nil {
		t.Error("rates and a skew")
	}
	if plans, err := ForKeys(base, nil); err != nil || len(plans) != 0 {
		t.Errorf("no keys: got %v, %v", plans, err)
	}
}

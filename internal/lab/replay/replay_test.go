package replay

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

var from = time.Date(2026, 11, 18, 10, 0, 0, 0, time.UTC)

// recorded is a minute in which one key was asked for 1,800 units a second and got 1,000, and 600 went to others.
func recorded() *heat.Report {
	writes := heat.Flow{
		Units: 60 * 1600, Requests: 60 * 1200, Throttled: 60 * 400, Retries: 60 * 0,
		Keys:     []heat.KeyHeat{{Key: "STATUS#ACTIVE", Units: 60 * 1000, Requests: 60 * 900, Throttled: 60 * 400}},
		Distinct: heat.Distinct{Keys: 501},
	}
	return &heat.Report{
		Source: heat.Live, From: from, To: from.Add(time.Minute),
		Resources: []heat.ResourceReport{
			{Resource: heat.Resource{Table: "orders"}, Writes: writes, Capacity: &heat.Capacity{OnDemand: true, WarmWrites: 8000}},
			{Resource: heat.Resource{Table: "orders", Index: "byStatus"}, Writes: heat.Flow{Units: 1e9, Requests: 1e9}},
			{Resource: heat.Resource{Table: "small"}, Reads: heat.Flow{Units: 30, Requests: 60}},
		},
	}
}

func TestScenarioHasTheTraffic(t *testing.T) {
	s, err := Scenario(recorded(), Options{Shards: []int{4, 16}, Adaptive: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Load) != 1 || len(s.Layouts) != 4 || s.Mode != scenario.Requests || s.Table.WarmWriteUnits != 8000 || s.Total() != time.Minute {
		t.Fatalf("got %+v", s)
	}
	l := s.Load[0]
	if l.PerSecond != 1200 || l.WriteUnits() != 2 || l.Operation != scenario.Write {
		t.Errorf("got %+v, want 1,200 writes of 2 units", l)
	}
	if k := l.Keys.Listed; len(k.Shares) != 1 || k.Shares[0] != (scenario.Share{Key: "STATUS#ACTIVE", Share: 0.75}) || k.Count != 500 {
		t.Errorf("got %+v", k)
	}
	result, err := simulate.Scenario(t.Context(), s, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alone, wide := result.Runs[0], result.Runs[2]
	if math.Abs(alone.OfferedUnits-2400) > 50 || alone.FailedShare() < 0.2 || wide.FailedShare() > 0.001 {
		t.Errorf("without shards %.0f units offered and %.3f failed, with 16 %.3f", alone.OfferedUnits, alone.FailedShare(), wide.FailedShare())
	}
}

// Items of keys differ in size. A key's part is that of its units, with what was throttled of them: they fill its partition.
func TestPartsAreOfUnits(t *testing.T) {
	r := recorded()
	r.Resources[0].Writes = heat.Flow{
		Units: 60 * 1200, Requests: 60 * 600, Throttled: 60 * 50,
		Keys: []heat.KeyHeat{
			{Key: "large", Units: 60 * 1000, Requests: 60 * 300, Throttled: 60 * 50}, // 4 units each
			{Key: "small", Units: 60 * 200, Requests: 60 * 200},
		},
		Distinct: heat.Distinct{Keys: 2},
	}
	s, err := Scenario(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := s.Load[0]
	if got := l.Keys.Listed.Shares[0].Share; math.Abs(got-1200.0/1400) > 0.001 {
		t.Errorf("the large key has %.3f of the load, want 1,200 of 1,400 units", got)
	}
	if got := l.PerSecond * l.WriteUnits(); math.Abs(got-1400) > 1 {
		t.Errorf("%.0f units a second, want 1,400", got)
	}
}

// A load that changes is replayed as it changed.
func TestScenarioFollowsTheTrend(t *testing.T) {
	r := recorded()
	w := &r.Resources[0].Writes
	w.Throttled, w.Requests, w.Units = 0, 60*1000, 60*1000
	w.Keys = []heat.KeyHeat{{Key: "a", Units: 600, Requests: 600}}
	w.Trend = []heat.Point{{From: from, For: 30 * time.Second, Units: 10_000}, {From: from.Add(30 * time.Second), For: 30 * time.Second, Units: 50_000}}
	s, err := Scenario(r, Options{Table: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	l := &s.Load[0]
	if early, late := l.Rate(10*time.Second), l.Rate(40*time.Second); math.Abs(late/early-5) > 1e-9 || math.Abs(l.Operations(time.Minute)-60_000) > 1 {
		t.Errorf("got %v, then %v a second, %v in all", early, late, l.Operations(time.Minute))
	}
}

// A trend leaves out stretches without traffic: they are idle when they are replayed. Where minutes end and seconds begin, a
// part of a minute is not told, and is as the minute before.
func TestScenarioIsIdleWhereTheTrendIs(t *testing.T) {
	at := func(seconds float64) time.Time { return from.Add(time.Duration(seconds * 1e9)) }
	for name, c := range map[string]struct {
		trend []heat.Point
		rates map[time.Duration]float64 // 60,000 writes in a minute
	}{
		"one busy second in ten": {
			[]heat.Point{{From: at(0), For: time.Second, Units: 20}, {From: at(10), For: time.Second, Units: 20}, {From: at(20), For: time.Second, Units: 20}},
			map[time.Duration]float64{0: 20_000, time.Second: 0, 9 * time.Second: 0, 10 * time.Second: 20_000, 20*time.Second + 1: 20_000, 21 * time.Second: 0, 59 * time.Second: 0},
		},
		"idle at first": {
			[]heat.Point{{From: at(40), For: 10 * time.Second, Units: 10}, {From: at(50), For: 10 * time.Second, Units: 30}},
			map[time.Duration]float64{0: 0, 39 * time.Second: 0, 40 * time.Second: 1500, 50 * time.Second: 4500},
		},
		"a part of the last second": {
			[]heat.Point{{From: at(-0.5), For: time.Second, Units: 10}, {From: at(59.5), For: time.Second, Units: 10}},
			map[time.Duration]float64{0: 60_000, time.Second: 0, 59*time.Second + 6e8: 60_000},
		},
		"before the report": {
			[]heat.Point{{From: at(-5), For: time.Second, Units: 10}, {From: at(-4), For: 4 * time.Second, Units: 10}},
			map[time.Duration]float64{0: 1000, 59 * time.Second: 1000},
		},
		"in its last moment": {
			[]heat.Point{{From: at(-5), For: time.Second, Units: 10}, {From: at(60).Add(-1), For: time.Second, Units: 10}},
			map[time.Duration]float64{0: 1000, 59 * time.Second: 1000},
		},
		"minutes, then seconds": {
			[]heat.Point{{From: at(-50), For: time.Minute, Units: 60}, {From: at(30), For: time.Second, Units: 1}, {From: at(40), For: time.Second, Units: 1}},
			map[time.Duration]float64{0: 1875, 29 * time.Second: 1875, 30 * time.Second: 1875, 31 * time.Second: 0, 40 * time.Second: 1875, 41 * time.Second: 0},
		},
	} {
		r := recorded()
		w := &r.Resources[0].Writes
		w.Throttled, w.Requests, w.Units, w.Trend = 0, 60_000, 60_000, c.trend
		w.Keys = []heat.KeyHeat{{Key: "a", Units: 600, Requests: 600}}
		s, err := Scenario(r, Options{Table: "orders"})
		if err != nil {
			t.Fatal(err)
		}
		l := &s.Load[0]
		if got := l.Operations(time.Minute); math.Abs(got-60_000) > 0.01 {
			t.Errorf("%s: %v writes, want 60,000", name, got)
		}
		for at, want := range c.rates {
			if got := l.Rate(at); math.Abs(got-want) > 0.01 {
				t.Errorf("%s: %v a second at %v, want %v", name, got, at, want)
			}
		}
	}
}

// Sizes are rounded to whole units. The units of a second are those of the report all the same.
func TestScenarioHasTheUnits(t *testing.T) {
	for _, each := range []float64{0.5, 1, 1.4, 1.5, 2.6, 1000} {
		for _, d := range []heat.Direction{heat.Write, heat.Read} {
			r := recorded()
			r.Resources = r.Resources[:1]
			x := &r.Resources[0]
			x.Writes = heat.Flow{}
			*x.Flow(d) = heat.Flow{Units: 6000 * each, Requests: 6000, Distinct: heat.Distinct{Keys: 10}, Keys: []heat.KeyHeat{{Key: "a", Units: 600 * each, Requests: 600}}}
			s, err := Scenario(r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			l := &s.Load[0]
			if got, want := l.Rate(0)*(l.WriteUnits()+l.ReadUnits()), 100*each; math.Abs(got-want) > 1e-6*want {
				t.Errorf("%v of %v units: got %v units a second, want %v", d, each, got, want)
			}
		}
	}
}

// A long report is replayed at its average rate, and a large one in mode aggregate.
func TestLongAndLarge(t *testing.T) {
	r := recorded()
	r.To = from.Add(48 * time.Hour)
	r.Resources[0].Writes.Requests *= 100_000
	r.Resources[0].Writes.Units *= 100_000
	s, err := Scenario(r, Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if s.Mode != scenario.Aggregate || time.Duration(s.Duration) != average || s.Seed != 7 {
		t.Errorf("got mode %s, %v", s.Mode, s.Duration)
	}
}

// A short report has a time that people can read.
func TestTimeIsRounded(t *testing.T) {
	for elapsed, want := range map[time.Duration]string{
		16256866548 * time.Nanosecond: "15.3s", 59962 * time.Millisecond: "59s", 2345 * time.Millisecond: "1.3s", 600 * time.Millisecond: "1s",
	} {
		r := recorded()
		r.To = from.Add(elapsed)
		s, err := Scenario(r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Duration.String(); got != want {
			t.Errorf("%v: got %s, want %s", elapsed, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	stored := recorded()
	stored.Source, stored.To = heat.Scan, stored.From
	idle := recorded()
	idle.Resources[0].Writes = heat.Flow{}
	for name, c := range map[string]struct {
		report *heat.Report
		table  string
		want   string
	}{
		"stored items":  {stored, "", "shows stored items, not operations over time"},
		"another table": {recorded(), "nothing", `no table "nothing"; it has ["orders" "small"]`},
		"no traffic":    {idle, "orders", "neither reads nor writes"},
		"no keys":       {recorded(), "small", "names no keys for the reads of table \"small\""},
		"no tables":     {&heat.Report{}, "", "has no table"},
	} {
		if _, err := Scenario(c.report, Options{Table: c.table}); !errors.Is(err, ErrNoTraffic) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := Scenario(recorded(), Options{Shards: []int{100_000}}); err == nil || !strings.Contains(err.Error(), "want 1 to 1024") {
		t.Errorf("got %v", err)
	}
}

// What is wrong with the figures of a report is said of the report: there is no file of a scenario yet.
func TestWrongFigures(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *heat.Report)
		want   string
	}{
		"units":          {func(r *heat.Report) { r.Resources[0].Writes.Units = 1e300 }, `the writes of table "orders" units: 1e+300, want 0 to 1e+18`},
		"negative":       {func(r *heat.Report) { r.Resources[0].Writes.Throttled = math.MinInt64 }, "throttled: -9.22"},
		"units of a key": {func(r *heat.Report) { r.Resources[0].Writes.Keys[0].Units = -1 }, `key "STATUS#ACTIVE" with -1 units`},
		"rate":           {func(r *heat.Report) { r.Resources[0].Writes.Units, r.Resources[0].Writes.Requests = 1e17, 1e17 }, "operations a second: the lab replays up to 100000000"},
		"capacity":       {func(r *heat.Report) { r.Resources[0].Capacity.WarmWrites = -5 }, `makes no scenario for table "orders": table.warm-write-units: is -5, want 0 to`},
		"time":           {func(r *heat.Report) { r.From, r.To = r.From.AddDate(7500, 0, 0), r.To.AddDate(7500, 0, 0) }, "start: is in the year 9526"},
	} {
		r := recorded()
		c.change(r)
		if _, err := Scenario(r, Options{Table: "orders"}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "yaml") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// A load that is averaged over an hour loses its peak. That is said instead of a result that looks good.
func TestDoubt(t *testing.T) {
	r := recorded()
	r.To = from.Add(40 * time.Minute)
	s, err := Scenario(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := simulate.Scenario(t.Context(), s, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := Doubt(r, Options{}, result.Runs[0].Throttled); !strings.Contains(got, "24000 requests of the report were throttled, and 0 of its replay") {
		t.Errorf("got %q", got)
	}
	for name, got := range map[string]string{
		"throttled again": Doubt(r, Options{}, 20_000),
		"another table":   Doubt(r, Options{Table: "small"}, 0),
	} {
		if got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

package heatpage

import (
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// reportOf is a report of one table whose keys have written so much since the beginning.
func reportOf(at time.Time, total float64, keys ...heat.KeyHeat) Round {
	f := heat.Flow{Units: total, Requests: 1, Keys: keys, Distinct: heat.Distinct{Keys: 1000}}
	return Round{Report: heat.Report{Source: heat.Live, From: noon, To: at, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Writes: f}}}}
}

// sums returns what each line took in all columns.
func sums(h *history) map[string]cell {
	all := make(map[string]cell)
	for _, r := range h.rows {
		name := r.Kind + " " + r.Key
		if r.Kind == partitionRow {
			name = fmt.Sprint(r.Kind, " ", r.Number)
		}
		for _, c := range h.columns {
			if d, there := c.cells[r.ID]; there {
				all[name] = all[name].plus(d)
			}
		}
	}
	return all
}

func TestHistoryTakesWhatWasAdded(t *testing.T) {
	h := newHistory(10, nil)
	at := noon.Add(100 * time.Millisecond)
	take := func(after time.Duration, total float64, keys ...heat.KeyHeat) {
		at = at.Add(after)
		r := reportOf(at, total, keys...)
		h.take(&r)
	}
	// Nobody knows when the first totals grew, so the last second counts.
	take(0, 1000, heat.KeyHeat{Key: "a", Low: 900, Second: 7})
	take(time.Second, 1060, heat.KeyHeat{Key: "a", Low: 950, Throttled: 3})
	take(3*time.Second, 1090, heat.KeyHeat{Key: "a", Low: 980, Throttled: 3}) // a late round: 10 for each second
	take(0, 1091, heat.KeyHeat{Key: "a", Low: 981, Throttled: 3})             // a second one within a second
	take(time.Second, 1099, heat.KeyHeat{Key: "a", Low: 4, Second: 4, Throttled: 0}, heat.KeyHeat{Key: "b", Low: 500, Second: 2})
	got := sums(h)
	if want := (cell{7 + 50 + 30 + 1 + 4, 3}); got["key a"] != want {
		t.Errorf("a took %v, want %v", got["key a"], want)
	}
	if want := (cell{units: 2}); got["key b"] != want {
		t.Errorf("b took %v, want %v", got["key b"], want)
	}
	if want := (cell{units: 10 + 2}); got["others "] != want { // 60 - 50, and 8 - 4 - 2
		t.Errorf("others took %v, want %v", got["others "], want)
	}
	if c := h.columns[len(h.columns)-3]; c.cells[h.rows[rowName{flow: "t writes", kind: keyRow, key: "a"}].ID].units != 10 {
		t.Errorf("a late round is not spread: %v", h.columns)
	}
	// Where all keys are listed, one that comes is new.
	r := reportOf(at.Add(time.Second), 1107, heat.KeyHeat{Key: "a", Low: 4}, heat.KeyHeat{Key: "b", Low: 500}, heat.KeyHeat{Key: "c", Low: 8, Second: 1})
	r.Resources[0].Writes.Distinct.Keys = 3
	h.take(&r)
	if want := (cell{units: 8}); sums(h)["key c"] != want {
		t.Errorf("c took %v, want %v", sums(h)["key c"], want)
	}
	// After a long gap nobody knows either.
	take(time.Hour, 90_000, heat.KeyHeat{Key: "a", Low: 80_000, Second: 5})
	if got := sums(h)["key a"]; got.units != 92+5 {
		t.Errorf("after an hour a took %v", got)
	}
}

func TestHistoryGivesUpTheColdest(t *testing.T) {
	h := newHistory(10, nil)
	all := 0.0
	for second := range 30 {
		var keys []heat.KeyHeat
		for k := range 40 {
			units := float64((second + 1) * (k + 1))
			keys = append(keys, heat.KeyHeat{Key: fmt.Sprint("k", k), Low: units, Second: float64(k + 1)})
		}
		r := reportOf(noon.Add(time.Duration(second)*time.Second), float64((second+1)*820), keys...)
		if second > 0 {
			all += 820
		}
		h.take(&r)
	}
	kept := 0
	for name := range h.rows {
		if name.kind == keyRow {
			kept++
		}
	}
	if kept > 11 || h.rows[rowName{flow: "t writes", kind: keyRow, key: "k39"}] == nil {
		t.Errorf("%d keys have rows, and the hottest has %v", kept, h.rows[rowName{flow: "t writes", kind: keyRow, key: "k39"}])
	}
	total := 0.0
	for _, d := range sums(h) {
		total += d.units
	}
	if first := 820.0; total < all || total > all+first {
		t.Errorf("all rows took %v, want %v", total, all)
	}
}

func TestHistoryTakesPartitionsOnce(t *testing.T) {
	h := newHistory(10, nil)
	for second := range 5 {
		r := Round{Report: heat.Report{To: noon.Add(time.Duration(second) * time.Second)}}
		p := partitions.Partition{ID: 7}
		for s := range second + 1 { // all of before again, and one that is not over
			p.Seconds = append(p.Seconds, partitions.Second{Start: noon.Add(time.Duration(s) * time.Second), WriteUnits: 100, WriteThrottled: 5, ReadUnits: 1})
		}
		r.Partitions = []partitions.Heat{{Table: "t", Partitions: []partitions.Partition{p}}}
		h.take(&r)
	}
	rows := 0
	for name, r := range h.rows {
		rows++
		got := cell{}
		for _, c := range h.columns {
			got = got.plus(c.cells[r.ID])
		}
		want := cell{400, 20}
		if name.flow == "t reads" {
			want = cell{4, 0}
		}
		if name.number != 7 || got != want {
			t.Errorf("%v took %v, want %v", name, got, want)
		}
	}
	if rows != 2 {
		t.Errorf("got %d rows", rows)
	}
}

// A clock that goes back makes what came after that time void, for keys and for partitions.
func TestHistoryWhoseClockGoesBack(t *testing.T) {
	h := newHistory(10, nil)
	take := func(at time.Time, total float64) change {
		r := reportOf(at, total, heat.KeyHeat{Key: "a", Low: total, Second: 10})
		r.Partitions = []partitions.Heat{{Table: "t", Partitions: []partitions.Partition{{ID: 1, Seconds: []partitions.Second{{Start: at.Truncate(time.Second).Add(-time.Second), WriteUnits: 10}}}}}}
		return h.take(&r)
	}
	take(noon, 10)
	take(noon.Add(time.Second), 20)
	if c := take(noon.Add(-time.Hour), 30); !c.anew {
		t.Error("browsers are not told")
	}
	take(noon.Add(-time.Hour+time.Second), 40)
	want := cell{units: 20} // the last second of before, and the one after
	if got := sums(h); got["key a"] != want || got["partition 1"] != want || len(h.columns) != 2 {
		t.Errorf("got %v in %d columns", got, len(h.columns))
	}
}

// A table that was deleted and made again counts from the beginning.
func TestHistoryOfATableMadeAgain(t *testing.T) {
	h := newHistory(10, nil)
	for i, total := range []float64{30, 30, 25, 26} {
		r := reportOf(noon.Add(time.Duration(i)*time.Second), total, heat.KeyHeat{Key: "a", Low: total, Second: []float64{0, 0, 25, 1}[i]})
		h.take(&r)
	}
	if got := sums(h)["key a"]; got.units != 26 {
		t.Errorf("a took %v, want 26 units", got)
	}
}

func TestEvents(t *testing.T) {
	h := newHistory(10, nil)
	round := func(second, shards int) {
		var keys []heat.KeyHeat
		for s := range shards {
			keys = append(keys, heat.KeyHeat{Key: fmt.Sprintf("VIEWS#SHARD_%d", s), Low: float64(10 * second), Second: 10})
		}
		r := reportOf(noon.Add(time.Duration(second)*time.Second), float64(10*second*shards), keys...)
		r.Partitions = []partitions.Heat{{Table: "t", Splits: []partitions.Split{
			{At: noon, Cause: "heat", Parent: 1, Children: [2]uint64{2, 3}},
			{At: noon, Cause: "heat", Parent: 4, Children: [2]uint64{5, 6}},
		}}}
		h.take(&r)
	}
	round(1, 2)
	round(2, 8) // the others of the same change
	round(3, 8)
	round(100, 12)
	var texts []string
	for _, e := range h.events.all {
		texts = append(texts, e.Key+" "+e.Text)
	}
	want := []string{" partition #1 was split into #2 and #3, by heat", " partition #4 was split into #5 and #6, by heat", "VIEWS is seen in 8 shards", "VIEWS is seen in 12 shards"}
	if fmt.Sprint(texts) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	for name, r := range h.rows {
		if name.kind == keyRow && r.Logical != "VIEWS" {
			t.Errorf("%s is a shard of %q", name.key, r.Logical)
		}
	}
}

// A growth that is told is one change, however late its shards are seen.
func TestGrowthIsToldOnce(t *testing.T) {
	of := heat.Resource{Table: "t"}
	grow := heat.Decision{Resource: of, Key: "OPEN", Reason: heat.DecidedGrow, From: 1, To: 8, At: noon.Add(time.Millisecond)}
	stored := Ledger{Key: "OPEN", Width: layout.Width{Write: 8, Read: 8}, Generation: 1, At: noon, History: []layout.Width{{Write: 1, Read: 1}}}
	for _, test := range []struct {
		name      string
		decisions []heat.Decision
		ledgers   []Ledger
		want      string
	}{
		{"by a decision", []heat.Decision{grow}, nil, "[grows from 1 to 8 shards]"},
		{"by a ledger", nil, []Ledger{stored}, "[grew from 1 to 8 shards]"},
		{"by a ledger that was written just before", []heat.Decision{grow}, []Ledger{stored}, "[grew from 1 to 8 shards]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEvents()
			for _, seen := range []struct {
				after  time.Duration
				shards int
			}{{time.Second, 5}, {2 * time.Second, 8}, {29 * time.Second, 9}, {31 * time.Second, 8}, {45 * time.Second, 9}} {
				e.store(of.String(), test.ledgers)
				e.decide(test.decisions)
				e.widen(noon.Add(seen.after), of.String(), map[string]int{"OPEN": seen.shards})
			}
			var texts []string
			for _, v := range e.all {
				texts = append(texts, v.Text)
			}
			if got := fmt.Sprint(texts); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			e.widen(noon.Add(time.Minute), of.String(), map[string]int{"OPEN": 16})
			if last := e.all[len(e.all)-1]; len(e.all) != 2 || last.Text != "is seen in 16 shards" {
				t.Errorf("got %+v, want another change", e.all)
			}
		})
	}
}

// The list of keys says that a key is throttled as long as it is, and not as long as something is left of rates that decay.
func TestKeysAreThrottledWhileTheyAre(t *testing.T) {
	second := func(n int, throttled int64) heat.Point {
		return heat.Point{From: noon.Add(time.Duration(n) * time.Second), For: time.Second, Units: 1000, Throttled: throttled}
	}
	now := noon.Add(10*time.Second + time.Second/10)
	for _, test := range []struct {
		name    string
		trend   []heat.Point
		lately  float64
		grown   bool
		refused float64
	}{
		{"throttled now", []heat.Point{second(8, 0), second(9, 200)}, 150, false, 150},
		{"a second ago", []heat.Point{second(8, 200), second(9, 0)}, 90, false, 90},
		{"a second ago, and then it grew", []heat.Point{second(8, 200), second(9, 0)}, 90, true, 0},
		{"some seconds ago", []heat.Point{second(5, 200), second(9, 0)}, 25, false, 0},
		{"now and then", []heat.Point{second(8, 2), second(9, 1)}, 25, false, 2},
		{"another key is throttled", []heat.Point{second(9, 200)}, 0.05, false, 0},
		{"a source that tells no seconds", nil, 0, false, 77},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := reportOf(now, 1000, heat.KeyHeat{Key: "a", RateLow: 500, Refused: 77, Lately: test.lately, Throttled: 500, Reason: "TableWriteKeyRangeThroughputExceeded"})
			r.Resources[0].Writes.Trend = test.trend
			if test.grown {
				r.Decisions = []heat.Decision{{Resource: r.Resources[0].Resource, Key: "a", Reason: heat.DecidedGrow, To: 8, At: now.Add(-2 * time.Second)}}
			}
			got := newPanels(&r, &Options{}, make(planner)).Keys[0]
			if got.Refused != test.refused || (got.Words != "") != (test.refused > 0) {
				t.Errorf("got %+v, want %v", got, test.refused)
			}
		})
	}
}

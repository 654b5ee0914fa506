package partition

import (
	"math"
	"testing"
	"time"
)

// pourFor offers waves of so many units a second, tick by tick, and returns the units a second that pass after a run-in.
func pourFor(t *testing.T, charges []Charge, perSecond []float64, tick time.Duration) (passed []float64, reasons map[Reason]float64) {
	t.Helper()
	const runIn, seconds = 2, 10
	passed, reasons = make([]float64, len(charges)), map[Reason]float64{}
	ticks := int(time.Second / tick)
	for n := range (runIn + seconds) * ticks {
		waves := make([]Wave, len(charges))
		for i, c := range charges {
			c.Write = perSecond[i] * tick.Seconds()
			waves[i].Charges = []Charge{c}
		}
		Pour(epoch.Add(time.Duration(n+1)*tick), tick, waves)
		if n < runIn*ticks {
			continue
		}
		for i, w := range waves {
			if w.Passed < 0 || w.Passed > 1 {
				t.Fatalf("%v of a wave passed", w.Passed)
			}
			sum := w.Passed
			for _, c := range w.Causes {
				sum += c.Part
				reasons[c.Reason] += c.Part * w.Charges[0].Write
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Fatalf("%v passed, %v: that is not all", w.Passed, w.Causes)
			}
			passed[i] += w.Passed * w.Charges[0].Write / seconds
		}
	}
	return passed, reasons
}

// placeAt returns a place at a part of all hashes.
func placeAt(part float64) []byte { return bound{hash: uint64(part * math.Pow(2, 63) * 2)}.place() }

// A partition serves what it is offered below its ceiling, and exactly the ceiling above it, whatever the tick.
func TestPourIsHeldToTheCeiling(t *testing.T) {
	for _, tick := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		for _, offered := range []float64{10, 990, 1_500, 5_000, 100_000} {
			s := newTestSet(t, newTestAccount(t, Options{}), Config{Partitions: 4})
			got, reasons := pourFor(t, []Charge{{Set: s, Place: placeAt(0.1)}}, []float64{offered}, tick)
			if want := min(offered, 1_000); math.Abs(got[0]-want) > 0.002*want {
				t.Errorf("ticks of %v, %v offered: got %.1f, want %.1f", tick, offered, got[0], want)
			}
			if offered < 1_000 && len(reasons) > 0 || offered > 1_000 && (len(reasons) != 1 || reasons[TableWriteKeyRangeThroughputExceeded] == 0) {
				t.Errorf("%v offered: got %v", offered, reasons)
			}
		}
	}
}

// The table's limit takes the same part of all waves that a partition has not held back already.
func TestPourSharesTheTable(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{Burst: time.Second}), Config{
		Partitions: 4, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{Read: 10, Write: 1_500}},
	})
	got, _ := pourFor(t, []Charge{{Set: s, Place: placeAt(0.1)}, {Set: s, Place: placeAt(0.4)}, {Set: s, Place: placeAt(0.7)}}, []float64{20_000, 800, 400}, 20*time.Millisecond)
	if sum := got[0] + got[1] + got[2]; math.Abs(sum-1_500) > 15 {
		t.Errorf("got %v, %.0f together, want 1,500", got, sum)
	}
	if got[0] > 1_001 || math.Abs(got[1]-2*got[2]) > 1 {
		t.Errorf("got %v, want at most 1,000, and equal parts of 800 and 400", got)
	}
}

// A write passes if the table and the index let it.
func TestPourNeedsTheIndexToo(t *testing.T) {
	account := newTestAccount(t, Options{})
	table, index := newTestSet(t, account, Config{Partitions: 4}), newTestSet(t, account, Config{Partitions: 4, Index: true})
	const tick = 20 * time.Millisecond
	total := 0.0
	for n := range 600 {
		waves := []Wave{
			{Charges: []Charge{{Set: table, Place: placeAt(0.1), Write: 20}, {Set: index, Place: placeAt(0.5), Write: 20}}},
			{Charges: []Charge{{Set: table, Place: placeAt(0.6), Write: 40}, {Set: index, Place: placeAt(0.5), Write: 40}}},
		}
		Pour(epoch.Add(time.Duration(n+1)*tick), tick, waves)
		if n >= 100 {
			total += 20*waves[0].Passed + 40*waves[1].Passed
		}
		if n == 599 && (len(waves[0].Causes) != 1 || waves[0].Causes[0].Reason != IndexWriteKeyRangeThroughputExceeded) {
			t.Errorf("got %v", waves[0].Causes)
		}
	}
	if got := total / 10; math.Abs(got-1_000) > 2 {
		t.Errorf("got %.1f units a second, want the index's 1,000", got)
	}
	for _, s := range []*Set{table, index} {
		units := 0.0
		for _, p := range s.Snapshot(epoch.Add(12*time.Second), 5*time.Second).Partitions {
			for _, second := range p.Seconds[:max(len(p.Seconds)-1, 0)] {
				units += second.WriteUnits
			}
		}
		if math.Abs(units/4-1_000) > 25 {
			t.Errorf("the meters say %.0f a second, want 1,000", units/4)
		}
	}
}

// A partition that stays hot is split by what was poured into it.
func TestPourSplits(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{SplitHold: 20 * time.Second, SplitDuration: time.Second}), Config{Partitions: 1})
	for n := range 60 * 50 {
		place := placeAt(float64(n%97) / 100)
		Pour(epoch.Add(time.Duration(n+1)*20*time.Millisecond), 20*time.Millisecond, []Wave{{Charges: []Charge{{Set: s, Place: place, Write: 40}}}})
	}
	if got := s.Partitions(epoch.Add(time.Minute)); got < 2 {
		t.Errorf("got %d partitions, want a split", got)
	}
}

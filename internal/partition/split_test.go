package partition

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// quick are options under which a partition of 10 writes and 30 reads per second
// splits within seconds.
var quick = Options{Partition: Rate{Read: 30, Write: 10}, SplitHold: 20 * time.Second, SplitDuration: 10 * time.Second}

// drive offers requests at a steady rate for a while, from a time, and returns
// what share of them passed.
func drive(s *Set, from time.Time, d time.Duration, perSecond float64, request func(n int) Charge) float64 {
	passed, all := 0, int(d.Seconds()*perSecond)
	for n := range all {
		c := request(n)
		c.Set = s
		if Admit(from.Add(time.Duration(float64(n)/perSecond*1e9)), c) == nil {
			passed++
		}
	}
	return float64(passed) / float64(all)
}

func TestSplitForHeat(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	spread := func(int) Charge { return Charge{Place: hashed(random.Uint64(), "k"), Write: 1} }
	s := newTestSet(t, newTestAccount(t, quick), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{300, 100}}})
	drive(s, epoch, 31*time.Second, 30, spread)
	view := s.Snapshot(at(31*time.Second), time.Minute)
	if len(view.Partitions) != 1 || view.Partitions[0].SplitAt.IsZero() {
		t.Fatalf("after 31 s: got %+v, want a split under way", view.Partitions)
	}
	due := view.Partitions[0].SplitAt
	if hot := view.Partitions[0].HotSince; due.Sub(hot) < 30*time.Second || due.Sub(hot) > 32*time.Second || hot.Sub(epoch) > 5*time.Second {
		t.Errorf("hot since %v, split at %v, want 20 s of hold and 10 s of splitting", hot.Sub(epoch), due.Sub(epoch))
	}
	if got := len(s.Snapshot(due.Add(-1), 0).Partitions); got != 1 {
		t.Errorf("before it is due: got %d partitions, want 1", got)
	}
	view = s.Snapshot(due, 0)
	if len(view.Partitions) != 2 || len(view.Splits) != 1 {
		t.Fatalf("got %+v", view)
	}
	split := view.Splits[0]
	if !split.At.Equal(due) || split.Cause != CauseHeat || split.Parent != 1 || split.Children != [2]uint64{view.Partitions[0].ID, view.Partitions[1].ID} {
		t.Errorf("got %+v", split)
	}
	if !bytes.Equal(split.Point, view.Partitions[1].Lower) || len(split.Point) != hashLength {
		t.Errorf("split at %x, want the second partition's lower %x, a hash", split.Point, view.Partitions[1].Lower)
	}
	if hash := float64(boundOf(split.Point).hash) / math.Pow(2, 64); hash < 0.3 || hash > 0.7 {
		t.Errorf("split at %.2f of the hashes, want about a half", hash)
	}
	if served := drive(s, due, time.Minute, 14, spread); served < 0.97 {
		t.Errorf("after the split %.2f of 14 per second are served, want all", served)
	}
}

// A split happens when it is due, though nobody looks for days.
func TestSplitAfterALongPause(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, quick), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{300, 100}}})
	drive(s, epoch, 31*time.Second, 30, func(n int) Charge { return Charge{Place: hashed(spread64(uint64(n)), ""), Read: 1} })
	due := s.Snapshot(at(31*time.Second), 0).Partitions[0].SplitAt
	view := s.Snapshot(at(100*24*time.Hour), time.Hour)
	if len(view.Partitions) != 2 || !view.Splits[0].At.Equal(due) {
		t.Errorf("got %d partitions, split at %v, want 2, split at %v", len(view.Partitions), view.Splits[0].At, due)
	}
	for _, p := range view.Partitions {
		if p.Tokens != (Tokens{6, 2}) || len(p.Seconds) != 0 || p.Heat != 0 {
			t.Errorf("got %+v, want it idle", p)
		}
	}
}

func TestNoSplitBelowTheThreshold(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, quick), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{300, 100}}})
	served := drive(s, epoch, 10*time.Minute, 7.5, func(n int) Charge { return Charge{Place: hashed(spread64(uint64(n)), ""), Write: 1} })
	view := s.Snapshot(at(10*time.Minute), 0)
	if served != 1 || view.AllSplits != 0 || !near(view.Partitions[0].Heat, 0.75, 0.15) {
		t.Errorf("served %v, %d splits, heat %v, want all, none, 0.75", served, view.AllSplits, view.Partitions[0].Heat)
	}
}

// Two collections with rising sort keys are parted, and then no further.
func TestRisingCollectionsArePartedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	s := newTestSet(t, newTestAccount(t, quick), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{300, 100}}})
	drive(s, epoch, 10*time.Minute, 40, func(n int) Charge {
		return Charge{Place: hashed(random.Uint64N(2)*1000+5, fmt.Sprintf("%09d", n)), Write: 1}
	})
	view := s.Snapshot(at(10*time.Minute), 0)
	if len(view.Partitions) != 2 {
		t.Fatalf("got %d partitions, want 2", len(view.Partitions))
	}
	for _, p := range view.Partitions {
		if p.Obstacle != MovingLoad {
			t.Errorf("partition %d: got obstacle %v, want %v", p.ID, p.Obstacle, MovingLoad)
		}
	}
}

// A hot item ends up apart from most others, so that they are served.
func TestHotItemIsIsolated(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	s := newTestSet(t, newTestAccount(t, quick), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{300, 100}}})
	served := func(from time.Time, d time.Duration) float64 {
		passed, others := 0, 0
		drive(s, from, d, 40, func(n int) Charge {
			if random.Float64() < 0.8 {
				return Charge{Place: hashed(1<<63, "hot"), Write: 1}
			}
			others++
			if Admit(from.Add(time.Duration(n)*25*time.Millisecond), Charge{Set: s, Place: hashed(random.Uint64(), "other"), Write: 1}) == nil {
				passed++
			}
			return Charge{}
		})
		return float64(passed) / float64(others)
	}
	before := served(epoch, 30*time.Second)
	served(at(30*time.Second), 10*time.Minute)
	if after := served(at(11*time.Minute), 5*time.Minute); before > 0.8 || after < 0.97 {
		t.Errorf("%.2f, then %.2f of the neighbours' requests are served, want most only later", before, after)
	}
	hot := s.Locate(at(16*time.Minute), hashed(1<<63, "hot"))
	for _, p := range s.Snapshot(at(16*time.Minute), 0).Partitions {
		if p.ID == hot && p.Obstacle != SingleItem {
			t.Errorf("the hot item's partition has obstacle %v, want %v", p.Obstacle, SingleItem)
		}
	}
}

func TestNoSplitsOption(t *testing.T) {
	o := quick
	o.NoSplits = true
	o.GrowthPeriod = time.Second
	s := newTestSet(t, newTestAccount(t, o), Config{})
	drive(s, epoch, 5*time.Minute, 80, func(n int) Charge { return Charge{Place: hashed(spread64(uint64(n)), ""), Write: 1, Bytes: 1 << 40} })
	if got := s.Snapshot(at(5*time.Minute), 0); len(got.Partitions) != 4 || got.AllSplits != 0 {
		t.Errorf("got %d partitions after %d splits, want 4 and none", len(got.Partitions), got.AllSplits)
	}
}

func TestSplitForSize(t *testing.T) {
	for _, c := range []struct {
		name  string
		local bool
		place func(n int) []byte
		want  int // partitions of at most 10 GB
		cut   int // length of the split point; 0: any
	}{
		{"spread keys", false, func(n int) []byte { return hashed(spread64(uint64(n)), "") }, 4, hashLength},
		{"one collection", false, func(n int) []byte { return hashed(5, fmt.Sprintf("%09d", n*7919%100_000)) }, 4, 0},
		{"spread keys with a local index", true, func(n int) []byte { return hashed(spread64(uint64(n)), "") }, 4, hashLength},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSet(t, newTestAccount(t, Options{}), Config{Partitions: 1, LocalIndexes: c.local})
			// 24 GB over four hours, at a load that is far from hot.
			drive(s, epoch, 4*time.Hour, 1, func(n int) Charge {
				return Charge{Place: c.place(n), Write: 300, Bytes: 24 << 30 / (4 * 3600)}
			})
			view := s.Snapshot(at(4*time.Hour), 0)
			if len(view.Partitions) != c.want {
				t.Errorf("got %d partitions, want %d", len(view.Partitions), c.want)
			}
			total := int64(0)
			for _, p := range view.Partitions {
				total += p.Bytes
				if p.Bytes > 10<<30 {
					t.Errorf("partition %d has %d bytes", p.ID, p.Bytes)
				}
			}
			if !near(float64(total), 24<<30, 0.001) {
				t.Errorf("got %d bytes in all, want 24 GB", total)
			}
			for _, split := range view.Splits {
				if split.Cause != CauseSize || c.cut > 0 && len(split.Point) != c.cut {
					t.Errorf("got %v at %x, want one for size", split.Cause, split.Point)
				}
			}
		})
	}
	s := newTestSet(t, newTestAccount(t, Options{SplitDuration: -1}), Config{Bytes: 36 << 30})
	Settle(epoch, Charge{Set: s, Place: hashed(1, ""), Bytes: 2 << 30}) // the first of four partitions has 11 GB
	view := s.Snapshot(epoch, 0)
	if len(view.Partitions) != 5 || boundOf(view.Splits[0].Point).hash != 1<<61 {
		t.Errorf("got %d partitions, %+v, want the first split in the middle", len(view.Partitions), view.Splits)
	}
}

// A collection that has a partition to itself stays in one piece under a local
// index, whatever its size.
func TestNoSplitForSizeUnderALocalIndex(t *testing.T) {
	for _, local := range []bool{true, false} {
		s := newTestSet(t, newTestAccount(t, Options{}), Config{LocalIndexes: local, Boundaries: [][]byte{hashed(5, ""), hashed(6, ""), hashed(7, "")}})
		drive(s, epoch, time.Hour, 1, func(n int) Charge {
			return Charge{Place: hashed(5, fmt.Sprintf("%09d", n)), Write: 100, Bytes: 12 << 30 / 3600}
		})
		if got := s.Snapshot(at(time.Hour), 0).AllSplits; got > 0 == local {
			t.Errorf("local index %v: got %d splits", local, got)
		}
	}
}

// An on-demand table follows a load that doubles every half hour, and needs half
// an hour for more.
func TestOnDemandGrowth(t *testing.T) {
	spread := func(n int) Charge { return Charge{Place: hashed(spread64(uint64(n)), ""), Write: 100} }
	s := newTestSet(t, newTestAccount(t, Options{SplitThreshold: 1}), Config{})
	now := epoch
	for _, rate := range []float64{2_000, 4_000, 8_000, 16_000} {
		if served := drive(s, now, 31*time.Minute, rate/100, spread); served < 0.99 {
			t.Errorf("%v per second: %.3f served, want all", rate, served)
		}
		now = now.Add(31 * time.Minute)
	}
	view := s.Snapshot(now, 0)
	if len(view.Partitions) != 32 || view.Splits[0].Cause != CauseGrowth {
		t.Errorf("got %d partitions, the first split for %v, want 32, for growth", len(view.Partitions), view.Splits[0].Cause)
	}
	if got := s.Warm(now); got != (Rate{96_000, 32_000}) {
		t.Errorf("got warm throughput %v, want 96,000 and 32,000", got)
	}

	s = newTestSet(t, newTestAccount(t, Options{SplitThreshold: 1}), Config{})
	if served := drive(s, epoch, 29*time.Minute, 80, spread); !near(served, 0.5, 0.02) {
		t.Errorf("8,000 at once: %.3f served, want half", served)
	}
	if served := drive(s, at(31*time.Minute), 10*time.Minute, 80, spread); served < 0.999 {
		t.Errorf("8,000 half an hour later: %.3f served, want all", served)
	}
}

func TestGrowthEndsAtTheQuota(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{GrowthPeriod: time.Minute, TableQuota: Rate{40_000, 10_000}}), Config{})
	drive(s, epoch, 20*time.Minute, 200, func(n int) Charge { return Charge{Place: hashed(spread64(uint64(n)), ""), Write: 100} })
	if got := len(s.Snapshot(at(20*time.Minute), 0).Partitions); got != 16 {
		t.Errorf("got %d partitions, want the first number that serves 10,000, 16", got)
	}
}

func TestRaisedCapacity(t *testing.T) {
	provisioned := func(write int64) Capacity {
		return Capacity{Mode: Provisioned, Provisioned: Rate{100, write}}
	}
	for _, c := range []struct {
		name   string
		config Config
		to     []Capacity
		want   []int
	}{
		{"the paper's example", Config{Capacity: provisioned(3_200), Partitions: 4}, []Capacity{provisioned(3_600), provisioned(6_000), provisioned(5_000)}, []int{4, 8, 8}},
		{"warm", Config{}, []Capacity{{Warm: Rate{12_000, 20_000}}, {}}, []int{32, 32}},
		{"to on-demand, small", Config{Capacity: provisioned(100)}, []Capacity{{}, provisioned(50)}, []int{4, 4}},
		{"to on-demand, large", Config{Capacity: provisioned(10_000)}, []Capacity{provisioned(10), {}}, []int{10, 10}},
		{"to on-demand, was large", Config{Capacity: provisioned(10)}, []Capacity{provisioned(10_000), provisioned(10), {}}, []int{16, 16, 16}},
		{"maximum", Config{}, []Capacity{{Maximum: Rate{10, 10}}}, []int{4}},
	} {
		for _, after := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprintf("%s after %v", c.name, after), func(t *testing.T) {
				s := newTestSet(t, newTestAccount(t, Options{ResizeDuration: after}), c.config)
				now := epoch
				for i, to := range c.to {
					before := len(s.Snapshot(now, 0).Partitions)
					if err := s.Update(now, to); err != nil {
						t.Fatal(err)
					}
					if got := len(s.Snapshot(now.Add(after-1), 0).Partitions); after > 0 && got != before {
						t.Errorf("%+v: got %d partitions before it is due, want %d", to, got, before)
					}
					now = now.Add(after)
					if got := len(s.Snapshot(now, 0).Partitions); got != c.want[i] {
						t.Errorf("%+v: got %d partitions, want %d", to, got, c.want[i])
					}
				}
			})
		}
	}
}

func TestChangedCapacityLimits(t *testing.T) {
	provisioned := func(write int64) Capacity {
		return Capacity{Mode: Provisioned, Provisioned: Rate{100, write}}
	}
	s := newTestSet(t, newTestAccount(t, Options{}), Config{Capacity: provisioned(100)})
	one := func(int) Charge { return Charge{Place: hashed(1, ""), Write: 1} }
	now := epoch
	for _, c := range []struct {
		to   Capacity
		want float64 // of 500 per second
	}{
		{provisioned(100), 100},
		{provisioned(200), 200},
		{provisioned(50), 50},
		{Capacity{}, 500},
		{Capacity{Maximum: Rate{Write: 300}}, 300},
		{Capacity{Maximum: Rate{Write: 150}}, 150},
		{Capacity{}, 500},
		{provisioned(400), 400},
	} {
		if err := s.Update(now, c.to); err != nil {
			t.Fatal(err)
		}
		if got := s.Capacity(); got != c.to {
			t.Errorf("got %+v, want %+v", got, c.to)
		}
		if got := 500 * drive(s, now, time.Minute, 500, one); !near(got, c.want, 0.02) {
			t.Errorf("%+v: got %.1f per second, want %v", c.to, got, c.want)
		}
		now = now.Add(time.Minute)
	}
}

func TestSplitHistoryIsBounded(t *testing.T) {
	s := newTestSet(t, newTestAccount(t, Options{HistorySplits: 10, TableQuota: Rate{-1, -1}}), Config{})
	if err := s.Update(epoch, Capacity{Warm: Rate{1, math.MaxInt64}}); err != nil {
		t.Fatal(err)
	}
	view := s.Snapshot(epoch, 0)
	if len(view.Splits) != 10 || view.AllSplits != maxPartitions-4 || len(view.Partitions) != maxPartitions {
		t.Errorf("got %d of %d splits, %d partitions, want 10 of %d, %d", len(view.Splits), view.AllSplits, len(view.Partitions),
			maxPartitions-4, maxPartitions)
	}
}

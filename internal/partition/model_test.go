package partition

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tank is a token bucket as simple as can be: it is filled millisecond by
// millisecond. It counts in thousandths of a unit.
type tank struct{ rate, limit, level int }

func (b *tank) pass(ms int) {
	for range ms {
		b.level = min(b.level+b.rate, b.limit)
	}
}

// modelSet is a set as simple as can be: partitions are equal ranges, and nothing
// splits.
type modelSet struct {
	kind   string
	whole  [directions]map[string]*tank // by the limit's name
	ranges [directions][]*tank
}

func newModelSet(kind string, partitions int, o Options, c Capacity) *modelSet {
	m := &modelSet{kind: kind}
	for d := range directions {
		m.whole[d] = map[string]*tank{}
		if c.Mode == Provisioned {
			rate := int(c.Provisioned.of(d))
			m.whole[d]["ProvisionedThroughput"] = &tank{rate, rate * int(o.Burst.Milliseconds()), rate * 1000}
		} else {
			rate := int(o.TableQuota.of(d))
			m.whole[d]["AccountLimit"] = &tank{rate, rate * 1000, rate * 1000}
			if rate := int(c.Maximum.of(d)); rate > 0 {
				m.whole[d]["MaxOnDemandThroughput"] = &tank{rate, rate * int(o.Burst.Milliseconds()), rate * 1000}
			}
		}
		for range partitions {
			rate, limit := int(o.Partition.of(d)), int(o.Partition.of(d))*int(o.Window.Milliseconds())
			m.ranges[d] = append(m.ranges[d], &tank{rate, limit, limit})
		}
	}
	return m
}

func (m *modelSet) tanks(d direction, hash uint64) map[string]*tank {
	n := len(m.ranges[d])
	i := int(float64(hash>>11) / (1 << 53) * float64(n)) // the test's hashes are not near borders
	all := map[string]*tank{"KeyRangeThroughput": m.ranges[d][i]}
	maps.Copy(all, m.whole[d])
	return all
}

// modelCharge is a charge on one direction of a set.
type modelCharge struct {
	set       *modelSet
	direction direction
	hash      uint64
	cost      int // thousandths
}

// modelAdmit returns the reasons against the charges, or takes what they cost.
func modelAdmit(charges []modelCharge) map[string]bool {
	reasons := map[string]bool{}
	for _, c := range charges {
		for limit, b := range c.set.tanks(c.direction, c.hash) {
			if b.level <= 0 {
				reasons[c.set.kind+[]string{"Read", "Write"}[c.direction]+limit+"Exceeded"] = true
			}
		}
	}
	if len(reasons) > 0 {
		return reasons
	}
	for _, c := range charges {
		for _, b := range c.set.tanks(c.direction, c.hash) {
			b.level -= c.cost
		}
	}
	return reasons
}

// Random traffic on a table and an index is admitted and refused, for the same
// reasons, as by the model.
func TestAdmitAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := func(label string, most int64) Rate {
			return Rate{rapid.Int64Range(1, most).Draw(rt, label+" reads"), rapid.Int64Range(1, most).Draw(rt, label+" writes")}
		}
		o := Options{
			Partition:  rate("partition", 50),
			Window:     time.Duration(rapid.IntRange(1, 2000).Draw(rt, "window")) * time.Millisecond,
			Burst:      time.Duration(rapid.IntRange(1, 5).Draw(rt, "burst")) * time.Second,
			TableQuota: rate("quota", 100),
			NoSplits:   true,
		}
		account := newTestAccount(t, o)
		capacity := func(label string) Capacity {
			if rapid.Bool().Draw(rt, label+" provisioned") {
				return Capacity{Mode: Provisioned, Provisioned: Rate{min(40, o.TableQuota.Read), min(60, o.TableQuota.Write)}}
			}
			return Capacity{Maximum: Rate{rapid.Int64Range(0, 60).Draw(rt, label+" maximum"), 0}}
		}
		var sets []*Set
		var models []*modelSet
		for i, kind := range []string{"Table", "Index"} {
			c, n := capacity(kind), rapid.IntRange(1, 4).Draw(rt, kind+" partitions")
			sets = append(sets, newTestSet(t, account, Config{Index: i == 1, Partitions: n, Capacity: c}))
			models = append(models, newModelSet(kind, n, o, c))
		}

		ms := 0
		rt.Repeat(map[string]func(*rapid.T){
			"wait": func(rt *rapid.T) {
				wait := rapid.IntRange(0, 2500).Draw(rt, "ms")
				ms += wait
				for _, m := range models {
					for d := range directions {
						for _, b := range m.whole[d] {
							b.pass(wait)
						}
						for _, b := range m.ranges[d] {
							b.pass(wait)
						}
					}
				}
			},
			"request": func(rt *rapid.T) {
				var charges []Charge
				var modelled []modelCharge
				for range rapid.IntRange(1, 4).Draw(rt, "charges") {
					set := rapid.IntRange(0, 1).Draw(rt, "set")
					hash := rapid.Uint64Range(0, 99).Draw(rt, "place")*(math.MaxUint64/100) + 1<<32
					halves := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 400)).Draw(rt, "half units")
					c := Charge{Set: sets[set], Place: hashed(hash, "k")}
					d := direction(rapid.IntRange(0, 1).Draw(rt, "direction"))
					if d == read {
						c.Read = float64(halves) / 2
					} else {
						c.Write = float64(halves) / 2
					}
					charges = append(charges, c)
					modelled = append(modelled, modelCharge{models[set], d, hash, halves * 500})
				}
				want := modelAdmit(modelled)
				throttle := Admit(at(time.Duration(ms)*time.Millisecond), charges...)
				if (throttle == nil) != (len(want) == 0) {
					rt.Fatalf("at %d ms: got %v, want %v", ms, throttle, want)
				}
				if throttle == nil {
					return
				}
				if got := throttle.Reasons(); len(got) != len(want) {
					rt.Fatalf("at %d ms: got %v, want %v", ms, throttle, want)
				}
				for _, r := range throttle.Reasons() {
					if !want[string(r.Reason)] {
						rt.Fatalf("at %d ms: got %s, want %v", ms, r.Reason, want)
					}
				}
			},
		})
	})
}

// Whatever happens, no partition and no table lets more pass than its rate for
// the time, what it had saved, and one request. A load that never asks for more
// than rate and savings allow is never refused.
func TestLimitsHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// Partitions that split within seconds, a provisioned table.
		o := Options{Partition: Rate{30, 20}, SplitHold: 2 * time.Second, SplitDuration: 500 * time.Millisecond, Burst: 3 * time.Second}
		provisioned := Rate{100, rapid.Int64Range(5, 100).Draw(rt, "provisioned")}
		s := newTestSet(t, newTestAccount(t, o), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: provisioned}})
		keys := rapid.IntRange(1, 50).Draw(rt, "keys")

		passed, largest, total := map[uint64]float64{}, 0.0, 0.0
		now := epoch
		for range rapid.IntRange(1, 1500).Draw(rt, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "ms")) * time.Millisecond)
			units := float64(rapid.IntRange(1, 8).Draw(rt, "half units")) / 2
			place := hashed(spread64(uint64(rapid.IntRange(0, keys-1).Draw(rt, "key"))), "")
			id := s.Locate(now, place)
			if Admit(now, Charge{Set: s, Place: place, Write: units}) == nil {
				passed[id] += units
				total += units
				largest = max(largest, units)
			}
		}
		const slack = 1e-6
		if most := float64(provisioned.Write)*(now.Sub(epoch).Seconds()+1) + largest; total > most+slack {
			rt.Errorf("the table let %v pass, at most %v are allowed", total, most)
		}
		view := s.Snapshot(now, 0)
		ends := map[uint64]time.Time{}
		begins := map[uint64]time.Time{1: epoch}
		for _, split := range view.Splits {
			ends[split.Parent] = split.At
			begins[split.Children[0]], begins[split.Children[1]] = split.At, split.At
		}
		for id, units := range passed {
			end, split := ends[id]
			if !split {
				end = now
			}
			if most := 20*(end.Sub(begins[id]).Seconds()+0.2) + largest; units > most+slack {
				rt.Errorf("partition %d let %v pass, at most %v are allowed", id, units, most)
			}
		}
	})
}

func TestLoadWithinLimitsIsNeverRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := Options{Partition: Rate{30, 20}, Window: time.Second, SplitHold: 2 * time.Second, SplitDuration: 500 * time.Millisecond}
		s := newTestSet(t, newTestAccount(t, o), Config{Partitions: 1, Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{100, 15}}})
		// One bucket of the sender's own, no larger than any limit.
		own := newBucket(15, time.Second, time.Second, 0)
		now := instant(0)
		for range rapid.IntRange(1, 800).Draw(rt, "requests") {
			now += instant(rapid.IntRange(0, 200).Draw(rt, "ms")) * instant(time.Millisecond)
			units := float64(rapid.IntRange(1, 30).Draw(rt, "half units")) / 2
			if own.refill(now); own.level < amountOf(units) {
				continue
			}
			own.charge(amountOf(units), now)
			place := hashed(spread64(uint64(rapid.IntRange(0, 5).Draw(rt, "key"))), "")
			if throttle := Admit(at(time.Duration(now)), Charge{Set: s, Place: place, Write: units}); throttle != nil {
				rt.Fatalf("at %v: %v", time.Duration(now), throttle)
			}
		}
	})
}

// FuzzAdmit does anything at any time. Nothing may panic, partitions must stay in
// order, and what was admitted must be counted.
func FuzzAdmit(f *testing.F) {
	f.Add([]byte("put get page update \x00\xff\x80 put put put"))
	f.Add([]byte{0, 255, 255, 255, 1, 0, 0, 0, 2, 128, 7, 9, 3, 1, 1, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		o := Options{Partition: Rate{30, 10}, SplitHold: time.Second, SplitDuration: -1, SplitBytes: 1000, GrowthPeriod: time.Second, HistorySplits: 4, HistorySeconds: 5, HistoryMinutes: 2}
		account := newTestAccount(t, o)
		table, index := newTestSet(t, account, Config{}), newTestSet(t, account, Config{Index: true, LocalIndexes: true})
		now := epoch
		for len(script) >= 4 {
			op, a, b, c := script[0], script[1], script[2], script[3]
			script = script[4:]
			now = now.Add(time.Duration(int8(b)) * time.Duration(math.Pow(10, float64(a%17)))) // up to years, also back
			units := math.Pow(2, float64(int8(c)))
			place := hashed(uint64(a)<<56|uint64(b), string(rune(c)))
			charge := Charge{Set: table, Place: place, Write: units, Bytes: int64(int8(c)) * 10}
			switch op % 6 {
			case 0:
				_ = Admit(now, charge)
			case 1:
				_ = Admit(now, Charge{Set: index, Place: place, Read: units, Eventual: true}, charge, charge)
			case 2:
				charge.To = hashed(uint64(c)<<56, "")
				Settle(now, charge)
			case 3:
				_ = Check(now, charge)
			case 4:
				_ = table.Update(now, Capacity{Mode: Mode(a % 2), Provisioned: Rate{int64(b), int64(c)}, Maximum: Rate{int64(c), 0}, Warm: Rate{0, int64(a)}})
			case 5:
				table.Snapshot(now, time.Hour)
			}
		}
		for _, s := range []*Set{table, index} {
			view := s.Snapshot(now, time.Hour)
			for i, p := range view.Partitions {
				if i > 0 && boundOf(view.Partitions[i-1].Lower).compare(boundOf(p.Lower)) >= 0 {
					t.Fatalf("partition %d begins at %x, the one before at %x", i, p.Lower, view.Partitions[i-1].Lower)
				}
				if math.IsNaN(p.Heat) || p.Bytes < 0 {
					t.Fatalf("got %+v", p)
				}
			}
			for _, m := range s.Minutes(now, epoch) {
				for name, value := range m.Metrics() {
					if math.IsNaN(value) || value < 0 {
						t.Fatalf("%s is %v", name, value)
					}
				}
			}
		}
	})
}

// Many goroutines on sets that they name in different orders: nothing is lost,
// nothing stands still.
func TestConcurrentUse(t *testing.T) {
	o := quick
	o.SplitHold, o.SplitDuration = time.Second, -1
	account := newTestAccount(t, o)
	var sets [3]*Set
	for i := range sets {
		sets[i] = newTestSet(t, account, Config{Resource: fmt.Sprint(i), Capacity: Capacity{Mode: Provisioned, Provisioned: Rate{1000, 1000}}})
	}
	const goroutines, requests = 8, 2000
	var admitted [goroutines]float64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for n := range requests {
				now := at(time.Duration(n) * 5 * time.Millisecond)
				place := hashed(spread64(uint64(n*g)), "")
				a, b := sets[n%3], sets[(n+g)%3]
				if Admit(now, Charge{Set: a, Place: place, Write: 0.5}, Charge{Set: b, Place: place, Write: 0.5}) == nil {
					admitted[g]++
				}
				if n%100 == 0 {
					a.Snapshot(now, time.Second)
					_ = b.Update(now, Capacity{Mode: Provisioned, Provisioned: Rate{1000, 1000 + int64(n)}})
					b.Minutes(now, epoch)
				}
			}
		})
	}
	wg.Wait()
	want, got := 0.0, 0.0
	for _, n := range admitted {
		want += n
	}
	var resources []string
	for _, s := range sets {
		resources = append(resources, s.Resource())
		for _, m := range s.Minutes(epoch, epoch) {
			got += m.ConsumedWriteCapacityUnits
		}
	}
	if got != want || want == 0 {
		t.Errorf("%s counted %v units, want %v", strings.Join(resources, ", "), got, want)
	}
}

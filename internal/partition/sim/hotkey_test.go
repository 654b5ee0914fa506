package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// One user's 10,000 writes per second make one partition hot while all others are
// idle.
func TestOneKeyHeatsOnePartition(t *testing.T) {
	s := newTestSet(t, partition.Options{}, partition.Config{Capacity: partition.Capacity{Warm: partition.Rate{Read: 12_000, Write: 20_000}}})
	hot := s.Locate(epoch, Place("user-12345", ""))
	for n := range 100_000 {
		place := Place("user-12345", fmt.Sprint(n))
		if got := s.Locate(epoch, place); got != hot {
			t.Fatalf("item %d is in partition %d, want that of its key, %d", n, got, hot)
		}
		_ = partition.Admit(epoch.Add(time.Duration(n)*100*time.Microsecond), partition.Charge{Set: s, Place: place, Write: 1})
	}
	for _, p := range s.Snapshot(epoch.Add(10*time.Second), 9*time.Second).Partitions {
		if p.ID != hot {
			if len(p.Seconds) > 0 || p.Heat > 0 {
				t.Errorf("partition %d is not idle: %+v", p.ID, p)
			}
			continue
		}
		for _, second := range p.Seconds[:8] {
			if !near(second.WriteUnits, 1_000, 0.02) || !near(second.WriteThrottled, 9_000, 0.02) {
				t.Errorf("got %+v, want 1,000 written and 9,000 throttled", second)
			}
		}
	}
}

// With a partition for each, N shards serve N times what one key does.
func TestThroughputByShards(t *testing.T) {
	for _, shards := range []int{1, 10, 100} {
		s := newTestSet(t, partition.Options{TableQuota: partition.Rate{Read: -1, Write: -1}}, partition.Config{Partitions: 128})
		keys := make([][]byte, shards)
		for i := range keys {
			keys[i] = Place(keyIn(s, i), "")
		}
		const size = 10
		charge := make([]partition.Charge, 1)
		load := &Stream{PerSecond: float64(shards) * 1_500 / size, Request: func(n int) []partition.Charge {
			charge[0] = partition.Charge{Set: s, Place: keys[n%shards], Write: size}
			return charge
		}}
		sim := New(epoch)
		sim.Add(0, load)
		sim.Run(10 * time.Second)
		if got, want := load.Tally.AcceptedUnits/10, 1_000*float64(shards); !near(got, want, 0.03) {
			t.Errorf("%d shards: got %.0f write units per second, want %.0f", shards, got, want)
		}
	}
}

// Without, they serve what the fullest partition allows: random shard keys on few
// partitions are far from N times.
func TestShardsAreNotPartitions(t *testing.T) {
	for _, c := range []struct {
		partitions int
		want       float64 // mean of 1,000 × 10/M over random layouts
	}{{4, 2_480}, {10, 3_860}, {100, 8_110}} {
		s := newTestSet(t, partition.Options{}, partition.Config{Partitions: c.partitions})
		const layouts = 2_000
		sum := 0.0
		for layout := range layouts {
			on, most := map[uint64]int{}, 0
			for shard := range 10 {
				p := s.Locate(epoch, Place(fmt.Sprintf("key-%d#SHARD_%d", layout, shard), ""))
				on[p]++
				most = max(most, on[p])
			}
			sum += 10_000 / float64(most)
		}
		if got := sum / layouts; !near(got, c.want, 0.03) {
			t.Errorf("10 shards on %d partitions: got %.0f, want %.0f", c.partitions, got, c.want)
		}
	}
}

// caller is a request that is repeated as the SDK does: three attempts, waiting
// up to 2 s, then up to 4 s.
type caller struct {
	begun   time.Time
	charge  partition.Charge
	attempt int
	random  *rand.Rand
	report  func(latency time.Duration, failed bool)
}

func (c *caller) Step(now time.Time) time.Duration {
	const service = 5 * time.Millisecond
	c.attempt++
	throttled := partition.Admit(now, c.charge) != nil
	if throttled && c.attempt < 3 {
		return service + time.Duration(c.random.Float64()*float64(time.Second<<c.attempt))
	}
	c.report(now.Add(service).Sub(c.begun), throttled)
	return -1
}

// arrivals starts a caller for each request.
type arrivals struct {
	sim       *Sim
	perSecond float64
	random    *rand.Rand
	next      func() *caller
}

func (a *arrivals) Step(now time.Time) time.Duration {
	c := a.next()
	c.begun = now
	a.sim.Add(0, c)
	return time.Duration(a.random.ExpFloat64() / a.perSecond * 1e9)
}

// A hot key is slow for half of its callers and fails for many; the same load on
// ten shards is fast and fails for none.
func TestLatencyOfHotAndSpreadKeys(t *testing.T) {
	measure := func(shards int) (p50, p99, p999 time.Duration, errors float64) {
		s := newTestSet(t, partition.Options{}, partition.Config{Partitions: 16})
		sim, random := New(epoch), rand.New(rand.NewPCG(3, 3))
		places := make([][]byte, shards)
		for i := range places {
			places[i] = Place(keyIn(s, i), "")
		}
		var latencies []time.Duration
		failed := 0
		sim.Add(0, &arrivals{sim, 1_180, random, func() *caller {
			charge := partition.Charge{Set: s, Place: places[random.IntN(shards)], Write: 1}
			return &caller{charge: charge, random: random, report: func(d time.Duration, bad bool) {
				latencies = append(latencies, d)
				if bad {
					failed++
				}
			}}
		}})
		sim.Run(2 * time.Minute)
		slices.Sort(latencies)
		n := len(latencies)
		return latencies[n/2], latencies[n*99/100], latencies[n*999/1000], float64(failed) / float64(n)
	}
	p50, p99, p999, errors := measure(1)
	t.Logf("one key:  p50 %v, p99 %v, p99.9 %v, %.1f %% errors", p50, p99, p999, 100*errors)
	if p50 < 50*time.Millisecond || p99 < 2*time.Second || p999 < max(p99, 4*time.Second) || errors < 0.1 {
		t.Error("a hot key is not slow, or does not fail")
	}
	p50, p99, p999, errors = measure(10)
	t.Logf("10 shards: p50 %v, p99 %v, p99.9 %v, %.1f %% errors", p50, p99, p999, 100*errors)
	if p50 > 10*time.Millisecond || p99 > 25*time.Millisecond || p999 > 50*time.Millisecond || errors > 0.001 {
		t.Error("a spread key is slow, or fails")
	}
}

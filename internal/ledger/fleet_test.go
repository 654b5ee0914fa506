package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// fleet is many processes that write to one key, each with a law of its own, on partitions of 1,000 units per second.
type fleet struct {
	rand       *rand.Rand
	partitions int
	placed     []int // the partition of each shard
	record     Record
	totals     Totals
	members    []member
	last       Decision // that was neither Calm nor NoRate
	grows      []grew
}

type grew struct {
	at time.Duration
	to int
}

// member is one of the processes.
type member struct {
	law       *Law
	record    Record
	refreshed time.Duration
	penalty   []float64 // of each shard, for having throttled
}

const fleetStep = 200 * time.Millisecond

func newFleet(t *testing.T, seed uint64, processes, partitions int) *fleet {
	t.Helper()
	f := &fleet{rand: rand.New(rand.NewPCG(seed, 7)), partitions: partitions, record: Record{Read: 1, Write: 1, State: Active}}
	for range processes {
		phase := time.Duration(1 + f.rand.Int64N(int64(5*time.Second)))
		law, err := NewLaw(LawOptions{Phase: phase})
		if err != nil {
			t.Fatal(err)
		}
		f.members = append(f.members, member{law: law, record: f.record, refreshed: -time.Hour})
	}
	return f
}

// step offers a rate for a moment, and returns the share that was throttled.
func (f *fleet) step(at time.Duration, rate float64) float64 {
	for len(f.placed) < f.record.Read {
		f.placed = append(f.placed, f.rand.IntN(f.partitions))
	}
	each := rate * fleetStep.Seconds() / float64(len(f.members))
	load := make([]float64, f.partitions)
	sent := make([][]float64, len(f.members))
	for i := range f.members {
		sent[i] = f.members[i].spread(each)
		for shard, units := range sent[i] {
			load[f.placed[shard]] += units
		}
	}
	capacity := 1000 * fleetStep.Seconds()
	var throttled float64
	for i := range f.members {
		m := &f.members[i]
		var s Sample
		for shard, units := range sent[i] {
			refused := units * (1 - min(1, capacity/max(capacity, load[f.placed[shard]])))
			s.Taken += units - refused
			s.Throttled[KeyRange] += refused
			m.penalty[shard] *= 0.93
			if refused > 0.01*units {
				m.penalty[shard] += 0.6
			}
		}
		throttled += s.Throttled[KeyRange]
		f.turn(m, s, at)
	}
	return throttled / (rate * fleetStep.Seconds())
}

// spread shares units among the shards, fewer to those that have throttled.
func (m *member) spread(units float64) []float64 {
	for len(m.penalty) < m.record.Write {
		m.penalty = append(m.penalty, 0)
	}
	shares, sum := make([]float64, m.record.Write), 0.0
	for i := range shares {
		shares[i] = 1 / (1 + m.penalty[i])
		sum += shares[i]
	}
	for i := range shares {
		shares[i] *= units / sum
	}
	return shares
}

// turn lets a member report, decide, grow and refresh.
func (f *fleet) turn(m *member, s Sample, at time.Duration) {
	now := time.Unix(0, 0).Add(at)
	m.law.Observe("k", s, now)
	if delta, due := m.law.Due("k", now); due {
		f.totals.Offered += delta.Offered
		f.totals.KeyRange += delta.KeyRange
		d := m.law.Decide("k", f.totals, m.record, now)
		if d.Reason == Grows && m.record.Generation == f.record.Generation {
			f.record = f.record.next(max(d.To, f.record.Read), d.To)
			f.grows = append(f.grows, grew{at, d.To})
		}
		if d.Reason == Grows {
			m.record = f.record // its condition failed, or it has grown the key
		}
		if d.Reason != Calm && d.Reason != NoRate {
			f.last = d
		}
	}
	if s.Throttled[KeyRange] > 0 && at-m.refreshed >= refreshEvery {
		m.record, m.refreshed = f.record, at
	}
}

// A load that comes all at once is spread within seconds, whatever the phases of the processes and places of the shards.
func TestFleetGrowsAtOnce(t *testing.T) {
	const start = 30 * time.Second
	missed := 0
	for seed := range uint64(20) {
		f := newFleet(t, seed, 50, 100)
		var at10 int
		var after20, after60, n20, n60 float64
		for at := time.Duration(0); at < start+90*time.Second; at += fleetStep {
			rate := 100.0
			if at >= start {
				rate = 20_000
			}
			throttled := f.step(at, rate)
			if at < start && f.record.Generation > 0 {
				t.Fatalf("seed %d: grown at 100 units per second", seed)
			}
			if at <= start+10*time.Second {
				at10 = f.record.Write
			}
			if at > start+20*time.Second {
				after20, n20 = after20+throttled, n20+1
			}
			if at > start+time.Minute {
				after60, n60 = after60+throttled, n60+1
			}
		}
		t.Logf("seed %d: %v, throttled %.3f %% after 20 s, %.3f %% after 60 s", seed, f.grows, 100*after20/n20, 100*after60/n60)
		if at10 < 64 || after20/n20 >= 0.01 || after60/n60 >= 0.001 {
			missed++
		}
	}
	if missed > 1 {
		t.Errorf("%d of 20 seeds have fewer than 64 shards after 10 s, or 1 %% throttled after 20 s, or 0.1 %% after 60 s", missed)
	}
}

// A table with too few partitions stays throttled. The law stops, and says why.
func TestFleetStopsWhenGrowthDoesNotHelp(t *testing.T) {
	for seed := range uint64(3) {
		f := newFleet(t, seed, 50, 4)
		for at := time.Duration(0); at < 2*time.Minute; at += fleetStep {
			f.step(at, 20_000)
		}
		if f.record.Write != 128 || f.last.Reason != Futility {
			t.Errorf("seed %d: got %d shards and %q, want 128 and %q (%v)", seed, f.record.Write, f.last.Reason, Futility, f.grows)
		}
		if want := "raise its warm throughput"; seed == 0 && !contains(f.last.Text, want) {
			t.Errorf("got %q, want it to say %q", f.last.Text, want)
		}
	}
}

// Reports cost a write unit each, so that a key that stays throttled must not be reported every second for ever.
func TestFleetReportsAreFew(t *testing.T) {
	law, err := NewLaw(LawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reports := 0
	var s Sample
	s.Throttled[KeyRange], s.Taken = 20, 80
	for at := time.Duration(0); at < 10*time.Minute; at += fleetStep {
		now := time.Unix(0, 0).Add(at)
		law.Observe("k", s, now)
		if _, due := law.Due("k", now); due {
			reports++
			law.Decide("k", Totals{}, Record{Read: 1, Write: 1}, now)
		}
	}
	if want := 600/5 + 5; reports > want {
		t.Errorf("got %d reports in 10 minutes, want %d at most", reports, want)
	}
}

func (g grew) String() string { return fmt.Sprintf("%d at %v", g.to, g.at) }

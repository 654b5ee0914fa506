package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

var epoch = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newTestSet returns a set that starts at epoch, in an account of its own.
func newTestSet(t testing.TB, o partition.Options, c partition.Config) *partition.Set {
	t.Helper()
	account, err := partition.NewAccount(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := account.NewSet(epoch, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stepper records when it acts.
type stepper struct {
	name  string
	waits []time.Duration
	log   *[]string
}

func (s *stepper) Step(now time.Time) time.Duration {
	*s.log = append(*s.log, s.name+now.Format("05.000"))
	if len(s.waits) == 0 {
		return -1
	}
	wait := s.waits[0]
	s.waits = s.waits[1:]
	return wait
}

func TestSimRunsStepsInOrder(t *testing.T) {
	var log []string
	sim := New(epoch)
	sim.Add(2*time.Millisecond, &stepper{"b", []time.Duration{time.Millisecond, 0}, &log})
	sim.Add(time.Millisecond, &stepper{"a", []time.Duration{2 * time.Millisecond, 5 * time.Millisecond}, &log})
	sim.Add(time.Second, &stepper{"c", nil, &log})
	sim.Run(8 * time.Millisecond)
	if got, want := strings.Join(log, " "), "a00.001 b00.002 a00.003 b00.003 b00.003"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := sim.Now(), epoch.Add(8*time.Millisecond); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	sim.Run(time.Second)
	if got := log[len(log)-1]; len(log) != 7 || got != "c01.000" {
		t.Errorf("got %d steps, the last %s, want 7, the last c01.000", len(log), got)
	}
}

// parent adds a client whenever it acts.
type parent struct {
	sim   *Sim
	times []time.Time
}

func (p *parent) Step(now time.Time) time.Duration {
	p.times = append(p.times, now)
	p.sim.Add(time.Hour, &stepper{})
	return time.Millisecond
}

// A client that adds others acts as often as it says, however often the queue grows.
func TestStepsMayAddClients(t *testing.T) {
	sim := New(epoch)
	p := &parent{sim: sim}
	sim.Add(0, p)
	sim.Run(time.Second)
	if len(p.times) != 1000 {
		t.Fatalf("acted %d times in 1,000 ms, want once in each", len(p.times))
	}
	for i, at := range p.times {
		if want := epoch.Add(time.Duration(i) * time.Millisecond); !at.Equal(want) {
			t.Fatalf("step %d was at %v, want %v", i, at, want)
		}
	}
}

func TestStreamKeepsItsRate(t *testing.T) {
	for _, c := range []struct {
		name   string
		random *rand.Rand
		within int64
	}{
		{"even", nil, 1},
		{"random", rand.New(rand.NewPCG(1, 2)), 400}, // about four standard deviations of a Poisson of 10,000
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestSet(t, partition.Options{}, partition.Config{})
			charge := []partition.Charge{{Set: s, Place: Place("a", ""), Read: 1}}
			stream := &Stream{PerSecond: 333, Random: c.random, Request: func(int) []partition.Charge { return charge }}
			sim := New(epoch)
			sim.Add(0, stream)
			sim.Run(30 * time.Second)
			if off := stream.Tally.Requests - 9_990; off < -c.within || off > c.within {
				t.Errorf("got %d requests in 30 s, want 9,990", stream.Tally.Requests)
			}
		})
	}
}

func TestLoaderWritesEveryRow(t *testing.T) {
	s := newTestSet(t, partition.Options{}, partition.Config{})
	written := map[int]int{}
	charge := make([]partition.Charge, 1)
	l := &Loader{
		Rows: 5_000, Batch: 25, Latency: time.Millisecond, Backoff: 10 * time.Millisecond, MaxBackoff: time.Second,
		Request: func(row int) []partition.Charge {
			written[row]++
			charge[0] = partition.Charge{Set: s, Place: Place("hot", ""), Write: 1}
			return charge
		},
	}
	sim := New(epoch)
	for _, w := range l.Workers(16) {
		sim.Add(0, w)
	}
	sim.RunUntil(time.Minute, l.Finished)
	if !l.Finished() || l.Tally.AcceptedUnits != 5_000 {
		t.Fatalf("finished %v with %v units, want 5,000", l.Finished(), l.Tally.AcceptedUnits)
	}
	for row := range 5_000 {
		if written[row] == 0 {
			t.Errorf("row %d was never sent", row)
		}
	}
	// 200 at once, then 1,000 per second; the last ones back off for a second.
	if took := l.Done.Sub(epoch); took < 4800*time.Millisecond || took > 8*time.Second {
		t.Errorf("took %v, want between 4.8 s and 8 s", took)
	}
}

// BenchmarkTenMinutes is the physics of ten minutes at 20,000 requests per second.
func BenchmarkTenMinutes(b *testing.B) {
	const perSecond, d = 20_000, 10 * time.Minute
	for b.Loop() {
		s := newTestSet(b, partition.Options{}, partition.Config{Capacity: partition.Capacity{Warm: partition.Rate{Read: 40_000, Write: 40_000}}})
		places := make([][]byte, 10_000)
		for i := range places {
			places[i] = append(binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15), "user"...)
		}
		random := rand.New(rand.NewPCG(1, 1))
		charge := make([]partition.Charge, 1)
		stream := &Stream{PerSecond: perSecond, Random: random, Request: func(int) []partition.Charge {
			charge[0] = partition.Charge{Set: s, Place: places[random.IntN(len(places))], Write: 1}
			return charge
		}}
		sim := New(epoch)
		sim.Add(0, stream)
		sim.Run(d)
		b.ReportMetric(float64(stream.Tally.Throttled)/float64(stream.Tally.Requests), "throttled/request")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/perSecond/d.Seconds(), "ns/request")
	b.ReportMetric(d.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "virtual-s/s")
}

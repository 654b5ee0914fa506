package counter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// bounds are what a counter may be: an Add that may be counted makes them differ.
type bounds struct{ lo, hi int64 }

func (b *bounds) add(delta int64, uncertain bool) {
	if delta > 0 || !uncertain {
		b.hi += delta
	}
	if delta < 0 || !uncertain {
		b.lo += delta
	}
}

// countersModel is some processes with some counters, through clients whose requests go wrong.
type countersModel struct {
	client    *faulty.Client
	processes []*Counter
	counters  map[string]*bounds
	run       int
}

// TestCountersUnderFaults lets processes add, read, reset, fold, sleep and die at random, while requests are throttled,
// lost and answered too late, and compares every total with what the answers allow.
func TestCountersUnderFaults(t *testing.T) {
	t.Parallel()
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		run := 0
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) { // in a bubble there is no T.Deadline, for which rapid would ask
			run++
			m := &countersModel{client: faulty.On(rt, client.Direct, nil), counters: map[string]*bounds{}, run: run}
			m.draw(rt)
			defer m.end()
			for range 3 {
				m.start(rt)
			}
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				m.step(rt)
			}
			for key := range m.counters {
				m.check(rt, key)
			}
		})
	})
}

func (m *countersModel) step(rt *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(rt, "step") {
	case 0:
		time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, 3 * time.Second, 15 * time.Second}).Draw(rt, "for"))
	case 1:
		m.die(rt)
	case 2:
		m.fold(rt)
	case 3:
		m.reset(rt)
	case 4:
		_, key, _ := m.one(rt)
		m.check(rt, key)
	default:
		m.add(rt)
	}
}

// draw decides how much goes wrong.
func (m *countersModel) draw(rt *rapid.T) {
	percent := rapid.SampledFrom([]int{0, 10, 40}).Draw(rt, "percent of faults")
	luck := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(rt, "seed"))) // requests are sent in goroutines, where rapid cannot draw
	m.client.Decide(faulty.Random(luck, percent,
		faulty.Throttled, faulty.LostRequest, faulty.LostAnswer, faulty.Unanswered, faulty.UnansweredDone, faulty.Late))
	m.client.Delay(faulty.UpTo(luck, 5*time.Second).Of(faulty.Late))
}

// start starts a process. It is in a hurry, as rapid allows 24 hours to everything, virtual ones included.
func (m *countersModel) start(rt *rapid.T) {
	c, err := newCounter(m.client, Options{
		Table: "counters", Shards: rapid.IntRange(1, 3).Draw(rt, "shards"),
		MaxCounters: rapid.IntRange(1, 3).Draw(rt, "counters"),
		Idle:        2 * time.Second, Dead: 3 * time.Second, Retention: 10 * time.Second, FoldEvery: 5 * time.Second,
		Retry: heatsink.Retry{Attempts: rapid.IntRange(1, 3).Draw(rt, "attempts"), Burst: 1000},
	}.withDefaults())
	if err != nil {
		rt.Fatal(err)
	}
	m.processes = append(m.processes, c)
}

func (m *countersModel) end() {
	for _, c := range m.processes {
		crash(c)
	}
}

func (m *countersModel) one(rt *rapid.T) (*Counter, string, *bounds) {
	key := fmt.Sprintf("counter-%d-%d", m.run, rapid.IntRange(0, 3).Draw(rt, "key"))
	if m.counters[key] == nil {
		m.counters[key] = &bounds{}
	}
	return rapid.SampledFrom(m.processes).Draw(rt, "process"), key, m.counters[key]
}

func (m *countersModel) add(rt *rapid.T) {
	c, key, b := m.one(rt)
	delta := rapid.SampledFrom([]int64{1, 1, 1, 5, -3}).Draw(rt, "delta")
	within := rapid.SampledFrom([]time.Duration{100 * time.Millisecond, time.Minute}).Draw(rt, "within")
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	switch err := c.Add(ctx, key, delta); {
	case err == nil:
		b.add(delta, false)
	case errors.Is(err, ErrUncertain):
		b.add(delta, true)
	}
}

func (m *countersModel) die(rt *rapid.T) {
	i := rapid.IntRange(0, len(m.processes)-1).Draw(rt, "process")
	c := m.processes[i]
	m.processes = append(m.processes[:i:i], m.processes[i+1:]...)
	if rapid.Bool().Draw(rt, "killed") {
		crash(c)
	} else {
		_ = c.Close(context.Background())
	}
	m.start(rt)
}

func (m *countersModel) fold(rt *rapid.T) {
	c, key, _ := m.one(rt)
	_, _ = c.Fold(context.Background(), key)
}

func (m *countersModel) reset(rt *rapid.T) {
	c, key, b := m.one(rt)
	n, err := c.Reset(context.Background(), key)
	switch {
	case err == nil && (n < b.lo || n > b.hi):
		rt.Fatalf("reset %s: got %d, want %d to %d", key, n, b.lo, b.hi)
	case err == nil:
		b.lo, b.hi = b.lo-n, b.hi-n
	case errors.As(err, new(*heatsink.UnknownOutcomeError)):
		delete(m.counters, key) // anything is possible
		m.run += 1_000_000
	}
}

func (m *countersModel) check(rt *rapid.T, key string) {
	b, c := m.counters[key], m.processes[0]
	if n, err := c.Total(context.Background(), key); err == nil && (n < b.lo || n > b.hi) {
		rt.Fatalf("%s: got %d, want %d to %d", key, n, b.lo, b.hi)
	}
	if r, err := c.Read(context.Background(), key); err == nil && (r.Hi < b.lo || r.Lo > b.hi || !r.Exact) {
		rt.Fatalf("%s: got %+v, want %d to %d", key, r, b.lo, b.hi)
	}
}

package simulate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// aggregate is a run in which what a partition is offered in a tick is one quantity. Arrivals are drawn from Poisson
// distributions, so that they vary as single requests do. What is throttled waits in rings, by attempt, and is spread over
// the time of its backoff.
//
// Partitions that are far from their ceiling, with nothing waiting, are looked at once in coolEvery: nothing can happen to
// them. That is nearly all of ten thousand.
type aggregate struct {
	*world
	random  *rand.Rand
	length  time.Duration // of a tick
	tick    int64         // the present one, which ends at tick × length
	elapsed time.Duration
	classes []class
	plan    plan
	budget  budget
	delay   int // ticks that a request takes
	known   int // partitions that the plan knows of
	bucket  time.Time
	weights []float64 // of calculated shards
	waves   []partition.Wave
	flows   []flow
	edges   []int64                  // ticks to come at which a load changes
	busy    []int                    // partitions that are looked at in each tick
	all     bool                     // every partition is looked at in each tick
	samples map[string]ledger.Sample // of keys that may grow, since the last report
}

// coolEvery is how often cool partitions are looked at, and everything else that is slow.
const coolEvery = time.Second

// coolLoad is the part of a ceiling below which a partition is cool.
const coolLoad = 0.6

func newAggregate(w *world) *aggregate {
	a := &aggregate{
		world: w, random: rand.New(rand.NewPCG(w.scenario.Seed, 3)), length: time.Duration(w.scenario.Tick),
		budget: w.policy.budget.times(float64(w.scenario.Client.Processes)), samples: map[string]ledger.Sample{},
	}
	a.delay = max(int((newLogNormal(w.scenario.Client.Latency).mean()+a.length/2)/a.length), 1)
	a.classify()
	a.setEdges()
	a.bucket = w.period(w.start)
	a.follow(w.start)
	return a
}

// classify divides loads by the places in indexes that their writes go to.
func (a *aggregate) classify() {
	all := []entry{{part: 1}}
	if len(a.indexes) > 0 {
		all = entries(placesOf(&a.scenario.Table), rand.New(rand.NewPCG(a.scenario.Seed, 4)))
	}
	for i := range a.loads {
		list := all
		if a.loads[i].writes == 0 {
			list = []entry{{part: 1}}
		}
		for n, e := range list {
			a.classes = append(a.classes, class{load: &a.loads[i], total: a.scenario.Total(), number: len(a.classes), entry: n, places: e.places, part: e.part})
		}
	}
}

// setEdges finds the ticks that a load changes in, and those behind them: partitions are looked at between them. Counting
// begins at one of them.
func (a *aggregate) setEdges() {
	times := []time.Duration{time.Duration(a.scenario.RunIn)}
	for i := range a.loads {
		times = append(times, a.loads[i].Edges()...)
	}
	for _, at := range times {
		if at < a.scenario.Total() {
			a.edges = append(a.edges, int64(at/a.length), int64((at+a.length-1)/a.length))
		}
	}
	slices.Sort(a.edges)
	a.edges = slices.Compact(a.edges)
}

// edge reports whether the present tick is an edge, and moves on to the next one.
func (a *aggregate) edge() bool {
	found := false
	for len(a.edges) > 0 && a.edges[0] <= a.tick {
		found, a.edges = true, a.edges[1:]
	}
	return found
}

// period returns something that changes whenever keys with a time in them do.
func (w *world) period(now time.Time) time.Time {
	latest := w.layout.Bucket.Start(now)
	for i := range w.loads {
		for _, h := range w.loads[i].keys.Heads {
			if at := h.Dated.Start(now); at.After(latest) {
				latest = at
			}
		}
	}
	return latest
}

// waiting returns how many operations wait for another attempt.
func (a *aggregate) waiting() float64 {
	sum := 0.0
	for _, s := range a.plan.sources {
		for _, t := range s.targets {
			for _, r := range t.waiting {
				if r != nil {
					sum += r.sum
				}
			}
		}
	}
	return sum
}

// advance lets time pass, tick by tick. The last tick of a run may be longer than what is left of it.
func (a *aggregate) advance(d time.Duration) {
	a.elapsed += d
	end := int64(a.elapsed / a.length)
	if a.elapsed >= a.scenario.Total() {
		end = int64((a.elapsed + a.length - 1) / a.length)
	}
	slow, report := a.slow(), max(int64(reportEvery/a.length), 1)
	for a.tick < end && !a.ended() {
		if a.fleet != nil && a.tick%report == 0 {
			a.report()
		}
		if edge := a.edge(); edge || a.tick%slow == 0 || a.known == 0 {
			a.look()
		}
		a.tick++
		a.step(a.tick%slow == 0)
	}
	a.flush() // a point has what came in its time
}

// slow returns how many ticks pass between two looks at cool partitions.
func (a *aggregate) slow() int64 { return int64(coolEvery / a.length) }

func (a *aggregate) now() time.Time { return a.start.Add(time.Duration(a.tick) * a.length) }

// flush offers what has come to all partitions up to now.
func (a *aggregate) flush() { a.late(time.Duration(max(a.tick-1, 0))*a.length, true) }

// look does what is slow: growth, splits, new periods, and which partitions are busy. Rates and shares of keys are the same until
// the next look, or a ramp, or those of a single tick.
func (a *aggregate) look() {
	now := a.now()
	a.flush()
	if p := a.period(now); !p.Equal(a.bucket) {
		a.bucket = p
		a.renew(now)
	}
	if n := a.table.Partitions(now); n != a.known {
		a.known = n
		a.assign(now)
	}
	for i := range a.plan.parts {
		clear(a.plan.parts[i].shares)
	}
	until := a.tick - a.tick%a.slow() + a.slow()
	if len(a.edges) > 0 {
		until = min(until, a.edges[0])
	}
	from, to := time.Duration(a.tick)*a.length, time.Duration(until)*a.length
	for i := range a.classes {
		a.classes[i].look(from, to)
	}
	for _, s := range a.plan.sources {
		s.setShare(from, to)
		for _, t := range s.targets {
			a.plan.parts[t.partition].shares[s.class.number] += s.share * t.chance
		}
	}
	a.all = len(a.indexes) > 0 || a.limited()
	a.busy = a.busy[:0]
	for i := range a.plan.parts {
		p := &a.plan.parts[i]
		if p.busy = a.all || p.crowded(a.classes) || p.waits(); p.busy {
			a.busy = append(a.busy, i)
		}
	}
}

// limited reports whether the load is near a limit of the whole table.
func (a *aggregate) limited() bool {
	reads, writes := 0.0, 0.0
	for i := range a.classes {
		c := &a.classes[i]
		reads += c.highest * c.part * c.reads
		writes += c.highest * c.part * c.writes
	}
	t := &a.scenario.Table
	mostReads, mostWrites := float64(t.ReadUnits), float64(t.WriteUnits)
	if t.Capacity == scenario.OnDemand {
		if t.NoQuota {
			return false
		}
		mostReads, mostWrites = float64(rules.TableQuota.Read), float64(rules.TableQuota.Write)
	}
	return reads > coolLoad*mostReads || writes > coolLoad*mostWrites
}

// report tells the law of each process its part of what has become of keys, and lets keys grow.
func (a *aggregate) report() {
	now := a.now()
	for _, key := range slices.Sorted(maps.Keys(a.samples)) {
		s := a.samples[key]
		n := float64(len(a.fleet.laws))
		s.Taken /= n
		for i := range s.Throttled {
			s.Throttled[i] /= n
		}
		for process := range a.fleet.laws {
			a.fleet.observe(process, key, s, now)
		}
	}
	clear(a.samples)
	a.fleet.report(now)
	a.grow(now)
}

// grow gives keys their shards if the law has made them wider. What has come up to now goes to the shards of before.
func (a *aggregate) grow(now time.Time) {
	for _, s := range a.plan.sources {
		if s.key == "" || a.fleet.width(s.key) <= s.width {
			continue
		}
		if a.known > 0 {
			a.flush()
			a.known = 0
		}
		s.collapse()
		a.setShards(s, now)
	}
}

// renew makes new sources for a new period, in the order of those before. The few operations that wait go to the new keys.
func (a *aggregate) renew(now time.Time) {
	old := a.plan.sources
	a.follow(now)
	for i, s := range old {
		if s.key == "" {
			a.plan.sources[i].targets = s.targets // a tail is divided anew, and adopts what waits
			continue
		}
		for _, t := range s.targets { // the new key may have fewer shards: its first one always exists
			a.plan.sources[i].targets[0].adopt(t)
		}
	}
	a.known = 0
}

// often is after how many sources or partitions of a tick a run looks whether it was ended. A tick can take a second.
const often = 256

// step is one tick. slow says that cool partitions are looked at as well.
func (a *aggregate) step(slow bool) {
	a.waves, a.flows = a.waves[:0], a.flows[:0]
	at := time.Duration(a.tick-1) * a.length
	for n, s := range a.plan.sources {
		if n%often == 0 && a.ended() {
			return
		}
		if s.heated {
			a.cool(s)
		}
	}
	for n, i := range a.busy {
		if n%often == 0 && a.ended() {
			return
		}
		if p := &a.plan.parts[i]; p.seen == a.tick-1 {
			a.offer(i, p)
		}
	}
	a.pour(a.length, at)
	a.late(at, slow)
}

// late offers what has come to partitions that were not looked at for longer than a tick: those that are busy now, or all.
func (a *aggregate) late(at time.Duration, all bool) {
	a.waves, a.flows = a.waves[:0], a.flows[:0]
	longest := a.length
	add := func(i int) {
		if p := &a.plan.parts[i]; p.seen < a.tick {
			longest = max(longest, time.Duration(a.tick-p.seen)*a.length)
			a.offer(i, p)
		}
	}
	if all {
		for i := range a.plan.parts {
			add(i)
		}
	} else {
		for _, i := range a.busy {
			add(i)
		}
	}
	a.pour(longest, at)
}

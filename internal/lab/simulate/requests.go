package simulate

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/partition/sim"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// requests is a run in which each request is simulated by itself.
type requests struct {
	*world
	sim       *sim.Sim
	processes []process
	free      []*operation // those that have ended, to be used again
	service   logNormal
	steps     int
	stopped   bool // the run was ended from outside: nobody acts any more
}

// process is a program with its retry budget and what it knows of throttled shards.
type process struct {
	number  int
	budget  budget
	chooser *place.Chooser
}

func newRequests(w *world) *requests {
	r := &requests{world: w, sim: sim.New(w.start), service: newLogNormal(w.scenario.Client.Latency)}
	for i := range w.scenario.Client.Processes {
		source := rand.NewPCG(w.scenario.Seed, uint64(100+i))
		r.processes = append(r.processes, process{i, w.policy.budget, place.NewSimulatedChooser(source, r.since)})
	}
	for i := range w.loads {
		a := &arrivals{run: r, load: &w.loads[i], random: rand.New(rand.NewPCG(w.scenario.Seed, uint64(10+i)))}
		if wait := a.gap(0); wait >= 0 {
			r.sim.Add(wait, a)
		}
	}
	if w.fleet != nil {
		r.sim.Add(reportEvery, reporter{r})
	}
	return r
}

func (r *requests) since() time.Duration { return r.sim.Now().Sub(r.start) }

// advance lets time pass.
func (r *requests) advance(d time.Duration) { r.sim.Run(d) }

// waiting returns how many operations wait for another attempt.
func (r *requests) waiting() float64 {
	n := 0.0
	for c := range r.sim.Clients() {
		if _, ok := c.(*operation); ok {
			n++
		}
	}
	return n
}

// stop looks now and then whether the run was ended. The queue is empty soon after that, as nobody acts again.
func (r *requests) stop() bool {
	const steps = 4096
	if r.steps++; r.steps%steps == 0 && !r.stopped {
		r.stopped = r.ended()
	}
	return r.stopped
}

// reporter lets a fleet report.
type reporter struct{ run *requests }

func (r reporter) Step(now time.Time) time.Duration {
	if r.run.stopped {
		return -1
	}
	r.run.fleet.report(now)
	return reportEvery
}

// arrivals begins the operations of a load: a Poisson process of the highest rate of a piece, of which as many are left out as
// the present rate is lower.
type arrivals struct {
	run    *requests
	load   *load
	peak   float64 // of the piece in which the next operation is drawn
	random *rand.Rand
	n      int
}

// gap draws the time until the next operation. Behind the end of a piece it is drawn anew, as the process has no memory.
func (a *arrivals) gap(at time.Duration) time.Duration {
	for from := at; ; {
		peak, end := a.load.Piece(from)
		a.peak = peak * a.load.factor
		if a.peak > 0 {
			if gap := a.random.ExpFloat64() / a.peak * 1e9; gap < float64(end-from) {
				return from - at + time.Duration(gap)
			}
		}
		if end > a.run.scenario.Total() {
			return -1
		}
		from = end
	}
}

func (a *arrivals) Step(now time.Time) time.Duration {
	if a.run.stop() {
		return -1
	}
	at := now.Sub(a.run.start)
	if rate := a.load.rate(at); rate >= a.peak || a.random.Float64()*a.peak < rate {
		a.run.begin(a, at, now)
	}
	return a.gap(at)
}

// begin starts an operation: its first attempt is made at once.
func (r *requests) begin(a *arrivals, at time.Duration, now time.Time) {
	var o *operation
	if last := len(r.free) - 1; last >= 0 {
		o, r.free = r.free[last], r.free[:last]
	} else {
		o = &operation{run: r}
	}
	*o = operation{run: r, load: a.load, random: a.random, begun: at, place: o.place[:0], item: o.item[:0], tried: o.tried[:0], entries: o.entries[:0]}
	o.process = &r.processes[a.random.IntN(len(r.processes))]
	head, rank := a.load.keys.Draw(a.random, at)
	if head >= 0 {
		o.key.Text = a.load.keys.Heads[head].Key(now)
	} else {
		o.key.Text = a.load.keys.Tail.Name(rank)
	}
	o.key.Bucket = r.layout.Bucket.Start(now)
	o.when = now
	o.id = a.n
	a.n++
	o.setItem()
	r.tally.offer(at, 1, a.load.units())
	o.process.budget.add(o.process.budget.first)
	if wait := o.Step(now); wait >= 0 {
		r.sim.Add(wait, o)
	}
}

// operation is one operation, whatever its number of attempts.
type operation struct {
	run      *requests
	load     *load
	random   *rand.Rand
	process  *process
	begun    time.Duration
	when     time.Time
	id       int
	key      place.Key
	item     []byte // the sort key
	shard    int
	tried    []int
	place    []byte
	entries  []int // of indexes
	attempts int
	reason   ledger.Throttle // of the first throttle
	limited  bool
}

// setItem sets the sort key and the entries of indexes.
func (o *operation) setItem() {
	switch o.load.Items {
	case scenario.Rising:
		o.item = o.when.AppendFormat(o.item, "2006-01-02T15:04:05.000000000Z")
		o.item = strconv.AppendInt(append(o.item, '#'), int64(o.id), 10)
	case scenario.Random:
		o.item = strconv.AppendUint(o.item, o.random.Uint64(), 16)
	}
	if o.load.writes > 0 {
		for i := range o.run.indexes {
			o.entries = append(o.entries, o.random.IntN(len(o.run.indexes[i].places)))
		}
	}
}

// Step makes an attempt.
func (o *operation) Step(now time.Time) time.Duration {
	r := o.run
	if r.stop() {
		return -1
	}
	at := now.Sub(r.start)
	o.aim()
	var room [4]partition.Charge
	charges := append(room[:0], partition.Charge{Set: r.table, Place: o.place, Read: o.load.reads, Write: o.load.writes, Eventual: !o.load.Consistent})
	for i, entry := range o.entries {
		charges = append(charges, partition.Charge{Set: r.indexes[i].set, Place: r.indexes[i].places[entry], Write: o.load.writes})
	}
	throttle := partition.Admit(now, charges...)
	took := r.service.draw(o.random)
	o.attempts++
	if throttle == nil {
		r.tally.attempt(at, 1, 1, o.load.units())
		if o.attempts == 1 {
			o.process.budget.add(o.process.budget.success)
		} else {
			o.process.budget.add(o.process.budget.refund)
		}
		return o.end(at, took, false)
	}
	r.tally.attempt(at, 1, 0, o.load.units())
	for _, c := range throttle.Reasons() {
		r.tally.reason(at, c.Reason, 1)
	}
	o.refused(throttle)
	if o.attempts >= r.policy.attempts || !o.process.budget.retry() {
		return o.end(at, took, true)
	}
	return took + time.Duration(o.random.Float64()*float64(r.policy.wait(o.attempts)))
}

// refused remembers a throttle.
func (o *operation) refused(t *partition.Throttle) {
	reason := throttleOf(t)
	if !o.limited {
		o.limited, o.reason = true, reason
	}
	if reason == ledger.KeyRange && o.run.avoids() {
		o.process.chooser.Throttled(&o.key, o.shard)
		o.tried = append(o.tried, o.shard)
	}
}

// end counts the operation, which ends after the time that its last request takes.
func (o *operation) end(at, took time.Duration, failed bool) time.Duration {
	r := o.run
	if failed {
		r.tally.end(at, 0, 1)
	} else {
		r.tally.end(at, 1, 0)
	}
	r.tally.took(at, at-o.begun+took)
	if r.fleet != nil && o.load.writes > 0 {
		s := ledger.Sample{Taken: o.load.writes}
		if o.limited {
			s = ledger.Sample{}
			s.Throttled[o.reason] = o.load.writes
		}
		r.fleet.observe(o.process.number, o.key.Text, s, r.start.Add(at))
	}
	r.free = append(r.free, o)
	return -1
}

// aim chooses the shard of the next attempt. Without heatsink, a retry goes where the first attempt went.
func (o *operation) aim() {
	r := o.run
	if o.attempts > 0 && !(r.avoids() && o.limited && o.reason == ledger.KeyRange) {
		return
	}
	l := r.layout
	if r.fleet != nil {
		l.Shards = r.fleet.width(o.key.Text)
	}
	switch {
	case l.Shards == 0:
		o.shard = 0
	case l.Strategy == layout.Calculated:
		o.shard = l.Shard(sampleID(o.id))
	case r.avoids():
		o.shard = o.process.chooser.Choose(&o.key, l.Shards, o.tried)
	default:
		o.shard = l.Draw(o.random)
	}
	o.place = r.spell(o.place[:0], &l, o.key.Text, o.when, o.shard, o.item)
}

// spell appends the place of an item. A key that the layout refuses, because it looks like a shard key, is stored with its
// shard behind it all the same: the lab's question is where it lies.
func (w *world) spell(dst []byte, l *layout.Layout, key string, at time.Time, shard int, item []byte) []byte {
	stored, err := l.ShardKey(key, at, shard)
	if err != nil {
		stored = key + l.Suffix(shard)
	}
	return append(sim.AppendPlace(dst, stored, ""), item...)
}

// avoids reports whether writers draw shards with heatsink's chooser, and retry on others.
func (w *world) avoids() bool {
	switch w.run.Kind {
	case scenario.Fixed, scenario.Adaptive, scenario.BucketAnd:
		return true
	}
	return false
}

// logNormal draws latencies.
type logNormal struct{ mu, sigma float64 }

// normal99 is the 99th percentile of the standard normal distribution.
const normal99 = 2.3263478740408408

func newLogNormal(l scenario.Latency) logNormal {
	return logNormal{math.Log(float64(l.P50)), math.Log(float64(l.P99)/float64(l.P50)) / normal99}
}

func (l logNormal) draw(r *rand.Rand) time.Duration {
	if l.sigma == 0 {
		return time.Duration(math.Exp(l.mu))
	}
	return time.Duration(math.Exp(l.mu + l.sigma*r.NormFloat64()))
}

// mean returns the average latency.
func (l logNormal) mean() time.Duration { return time.Duration(math.Exp(l.mu + l.sigma*l.sigma/2)) }

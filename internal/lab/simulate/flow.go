package simulate

import (
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// flow is what is offered to a partition by one load in a tick.
type flow struct {
	part  int
	class *class
	first float64     // new operations
	again [][]float64 // by target and attempt: repeated ones; nil: none
	each  []float64   // of first, by target; nil: as their chances
	total float64
}

// offer draws what is sent to a partition since it was looked at last.
func (a *aggregate) offer(i int, p *part) {
	since := p.seen
	p.seen = a.tick
	a.accrue(p)
	for n := range a.classes {
		f := flow{part: i, class: &a.classes[n]}
		if p.busy {
			a.drawEach(&f, p, since)
		} else {
			f.first = poisson(a.random, p.owed[n])
		}
		p.owed[n] = 0
		f.total = f.first + a.due(&f, p)
		if f.total > 0 {
			a.addWave(&f, p)
		}
	}
}

// drawEach draws new operations by target, as busy partitions need it: their shards are avoided or grow by what becomes of
// them.
func (a *aggregate) drawEach(f *flow, p *part, since int64) {
	n := f.class.between(since, a.tick, a.length)
	list := p.targets[f.class.number]
	f.each = make([]float64, len(list))
	for i, t := range list {
		if t.chance > 0 {
			f.each[i] = poisson(a.random, n*t.source.share*t.chance)
			f.first += f.each[i]
		}
	}
}

// due takes the repeated operations that are due.
func (a *aggregate) due(f *flow, p *part) float64 {
	sum := 0.0
	list := p.targets[f.class.number]
	for i, t := range list {
		for attempt, r := range t.waiting {
			if r == nil || r.sum <= 0 {
				if r != nil {
					r.next = a.tick + 1
				}
				continue
			}
			if f.again == nil {
				f.again = make([][]float64, len(list))
			}
			if f.again[i] == nil {
				f.again[i] = make([]float64, len(t.waiting))
			}
			n := r.take(a.tick)
			f.again[i][attempt] = n
			sum += n
		}
	}
	return sum
}

// addWave adds what is offered as a wave.
func (a *aggregate) addWave(f *flow, p *part) {
	c := f.class
	w := partition.Wave{Charges: []partition.Charge{{
		Set: a.table, Place: a.placeIn(f, p), Read: c.reads * f.total, Write: c.writes * f.total, Eventual: !c.Consistent,
	}}}
	if c.writes > 0 {
		for i, x := range a.indexes {
			w.Charges = append(w.Charges, partition.Charge{Set: x.set, Place: x.places[c.places[i]], Write: c.writes * f.total})
		}
	}
	a.waves = append(a.waves, w)
	a.flows = append(a.flows, *f)
}

// placeIn returns a place of what is offered, for the partition's sample: that of a target, drawn by its part.
func (a *aggregate) placeIn(f *flow, p *part) []byte {
	x := a.random.Float64() * f.total
	list := p.targets[f.class.number]
	for i, t := range list {
		if x -= f.firstOf(i, p); x < 0 {
			return a.itemOf(t)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return a.itemOf(list[0])
}

// firstOf returns the new operations of one target.
func (f *flow) firstOf(i int, p *part) float64 {
	if f.each != nil {
		return f.each[i]
	}
	if all := p.shares[f.class.number]; f.first > 0 && all > 0 {
		t := p.targets[f.class.number][i]
		return f.first * t.source.share * t.chance / all
	}
	return 0
}

// pour lets the partitions take what they can of what was offered, and sees to the rest.
func (a *aggregate) pour(tick, at time.Duration) {
	if len(a.waves) == 0 {
		return
	}
	partition.Pour(a.now(), tick, a.waves)
	for i := range a.flows {
		if i%often == 0 && a.ended() {
			return
		}
		a.settle(&a.flows[i], &a.waves[i], at)
	}
}

// settle counts what became of a flow.
func (a *aggregate) settle(f *flow, w *partition.Wave, at time.Duration) {
	p := &a.plan.parts[f.part]
	first, total := f.first, f.total
	a.tally.offer(at, first, f.class.units())
	a.tally.attempt(at, total, total*w.Passed, f.class.units())
	a.tally.end(at, total*w.Passed, 0)
	a.budget.add(first * a.budget.first)
	a.budget.add(first * w.Passed * a.budget.success)
	a.budget.add((total - first) * w.Passed * a.budget.refund)
	keyRange := 0.0
	for _, c := range w.Causes {
		a.tally.reason(at, c.Reason, total*c.Part)
		if c.Reason == partition.TableWriteKeyRangeThroughputExceeded || c.Reason == partition.TableReadKeyRangeThroughputExceeded {
			keyRange += c.Part
		}
	}
	if w.Passed == 1 && a.fleet == nil {
		return
	}
	for i := range p.targets[f.class.number] {
		a.settleTarget(f, p, i, w.Passed, keyRange, at)
	}
}

// settleTarget sees to what was refused of one target, and tells the law of its key.
func (a *aggregate) settleTarget(f *flow, p *part, i int, passed, keyRange float64, at time.Duration) {
	t := p.targets[f.class.number][i]
	first := f.firstOf(i, p)
	if a.fleet != nil && t.source.key != "" && f.class.writes > 0 && first > 0 {
		s := a.samples[t.source.key]
		s.Taken += first * passed * f.class.writes
		s.Throttled[ledger.KeyRange] += first * keyRange * f.class.writes
		s.Throttled[ledger.Table] += max(first*(1-passed-keyRange)*f.class.writes, 0)
		a.samples[t.source.key] = s
	}
	if passed == 1 {
		return
	}
	a.refuse(t, 1, first*(1-passed), keyRange, at)
	if f.again == nil || f.again[i] == nil {
		return
	}
	for attempt, n := range f.again[i] {
		a.refuse(t, attempt, n*(1-passed), keyRange, at)
	}
}

// refuse lets operations wait whose attempt of this number was refused, or counts them as failed.
func (a *aggregate) refuse(t *target, attempt int, n, keyRange float64, at time.Duration) {
	if n <= 0 {
		return
	}
	again := 0.0
	if attempt < a.policy.attempts {
		again = a.budget.take(n)
	}
	a.tally.end(at, 0, n-again)
	if t.source.avoids && keyRange > 0 {
		a.heat(t, n)
		a.elsewhere(t, attempt+1, again)
		return
	}
	a.wait(t, attempt+1, again)
}

// elsewhere lets operations wait for other shards of their key.
func (a *aggregate) elsewhere(t *target, attempt int, n float64) {
	list := t.source.targets
	const few = 8
	if t.source.key == "" || len(list) > 4*few { // some stand for all
		for range few {
			a.wait(list[a.random.IntN(len(list))], attempt, n/few)
		}
		return
	}
	others := 0.0
	for _, o := range list {
		if o.shard != t.shard {
			others += o.chance
		}
	}
	if others == 0 {
		a.wait(t, attempt, n)
		return
	}
	for _, o := range list {
		if o.shard != t.shard && o.chance > 0 {
			a.wait(o, attempt, n*o.chance/others)
		}
	}
}

// wait lets operations wait until their next attempt is due.
func (a *aggregate) wait(t *target, attempt int, n float64) {
	if n <= 0 {
		return
	}
	ticks := int(a.policy.wait(attempt-1) / a.length)
	if t.waiting == nil {
		t.waiting = make([]*ring, a.policy.attempts+1)
	}
	if t.waiting[attempt] == nil {
		t.waiting[attempt] = newRing(ticks+a.delay+2*int(coolEvery/a.length), a.plan.parts[t.partition].seen+1)
	}
	t.waiting[attempt].add(n, a.tick+int64(a.delay), ticks)
}

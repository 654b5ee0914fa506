package partition

import (
	"math"
	"slices"
	"time"
)

// Wave is many requests that arrive evenly within a tick: a quantity instead of single requests. Its charges are what all of
// them cost together, on a table and the indexes that change with it.
type Wave struct {
	Charges []Charge

	// Passed is the part that was let pass, 0 to 1, and Causes what held back the rest. Pour sets both.
	Passed float64
	Causes []WaveCause
}

// WaveCause is a limit with the part of a wave that it refused.
type WaveCause struct {
	Reason Reason
	Part   float64
}

// Pour is Admit for waves that have arrived in the tick that ends now. A bucket lets through what it held before and what
// has flowed in during the tick; if more than that is offered, all waves through it lose the same part. A wave passes
// several buckets, and is charged for what all of them let through.
//
// So a load below a limit passes, and a load above it is served at exactly that limit, as single requests are. In between,
// a tick smooths what it is longer than: it should be a small part of Options.Window.
//
// Pour counts no throttle events in Minutes. Options.TableRefill is taken as zero.
func Pour(now time.Time, tick time.Duration, waves []Wave) {
	var room [setsInPlace]*Set
	sets := room[:0]
	for i := range waves {
		for j := range waves[i].Charges { // mostly those of the wave before
			if s := waves[i].Charges[j].Set; !slices.Contains(sets, s) {
				sets = append(sets, s)
			}
		}
	}
	slices.SortFunc(sets, func(a, b *Set) int { return int(a.id) - int(b.id) })
	lock(sets)
	defer unlock(sets)
	enter(sets, now)
	p := pouring{tick: tick, sets: sets}
	p.open(waves)
	p.solve()
	for i := range waves {
		p.settle(&waves[i], i)
	}
}

// pouring is what Pour computes with: gates, and the way of each wave through some of them.
type pouring struct {
	tick  time.Duration
	sets  []*Set
	gates []gate
	steps []step // of all waves, one wave after another
	ends  []int  // of each wave's steps
}

// gate is a bucket during a tick.
type gate struct {
	bucket *bucket
	reason Reason
	layer  int     // gates of one layer have no wave in common
	room   float64 // units that it can let through
	open   float64 // part of the tick in which it lets anything through
	offer  float64 // units that come to it
	part   float64 // that passes
}

// step is a wave's passing of a gate.
type step struct {
	gate  int
	units float64
}

// open finds the gates of all waves, and how much they have room for.
func (p *pouring) open(waves []Wave) {
	p.steps = make([]step, 0, 2*len(waves))
	p.ends = make([]int, len(waves))
	for i := range waves {
		for j := range waves[i].Charges {
			c := &waves[i].Charges[j]
			s := c.Set
			at := s.partitions[s.find(boundOf(c.Place))]
			if c.Write > 0 {
				p.step(s, &s.flows[write].table, write, s.flows[write].limit, c.Write)
				p.step(s, &s.flows[write].quota, write, accountLimit, c.Write)
				p.step(s, &at.write, write, keyRangeThroughput, c.Write)
			}
			if c.Read > 0 {
				p.step(s, &s.flows[read].table, read, s.flows[read].limit, c.Read)
				p.step(s, &s.flows[read].quota, read, accountLimit, c.Read)
				p.step(s, &at.read, read, keyRangeThroughput, c.Read)
				if !c.Eventual {
					p.step(s, &at.strong, read, strongReads, c.Read)
				}
			}
		}
		p.ends[i] = len(p.steps)
	}
}

// strongReads is a limit beside those that have names: what keyRangeThroughput is to strongly consistent reads.
const strongReads = limits

// layer numbers the limits of all sets. A wave passes one gate of each at most.
func (p *pouring) layer(s *Set, d direction, l limit) int {
	return (slices.Index(p.sets, s)*int(directions)+int(d))*int(limits+1) + int(l)
}

// step adds a gate to the way of the wave that is being opened.
func (p *pouring) step(s *Set, b *bucket, d direction, l limit, units float64) {
	if b.rate == 0 {
		return
	}
	if b.gate >= len(p.gates) || p.gates[b.gate].bucket != b {
		kind := 0
		if s.index {
			kind = 1
		}
		b.gate = len(p.gates)
		g := gate{bucket: b, reason: reasons[kind][d][min(l, keyRangeThroughput)], layer: p.layer(s, d, l), part: 1, open: 1}
		b.refill(s.now - instant(p.tick))
		g.room = (b.level + times(b.rate, time.Duration(s.now-b.at))).units()
		if b.level < 0 { // closed until the debt is paid
			g.open = max(0, g.room/(g.room-b.level.units()))
		}
		g.room = max(g.room, 0)
		p.gates = append(p.gates, g)
	}
	p.gates[b.gate].offer += units
	p.steps = append(p.steps, step{b.gate, units})
}

// solve finds the part that each gate lets through. What one of them refuses does not come to the others, so that each
// depends on the rest: layers are computed in turn until nothing changes.
func (p *pouring) solve() {
	free := func(g gate) bool { return g.open == 1 && g.offer <= g.room }
	if !slices.ContainsFunc(p.gates, func(g gate) bool { return !free(g) }) {
		return
	}
	layers := p.layers()
	const rounds, precise = 50, 1e-4
	for range rounds {
		change := 0.0
		for _, layer := range layers {
			p.offer(layer)
			for i := range p.gates {
				if g := &p.gates[i]; g.layer == layer {
					change = max(change, g.solve())
				}
			}
		}
		if change < precise {
			return
		}
	}
}

// layers returns those of all gates.
func (p *pouring) layers() []int {
	var list []int
	for i := range p.gates {
		if !slices.Contains(list, p.gates[i].layer) {
			list = append(list, p.gates[i].layer)
		}
	}
	return list
}

// solve computes the part that passes of what is offered. It returns by how much the part changes.
func (g *gate) solve() float64 {
	part := g.open
	if g.offer > 0 {
		part = min(part, g.room/g.offer)
	}
	change := math.Abs(part - g.part)
	g.part = part
	return change
}

// offer computes what comes to the gates of a layer: what the others let through.
func (p *pouring) offer(layer int) {
	for i := range p.gates {
		if p.gates[i].layer == layer {
			p.gates[i].offer = 0
		}
	}
	start := 0
	for _, end := range p.ends {
		way := p.steps[start:end]
		others := 1.0
		for _, s := range way {
			if g := &p.gates[s.gate]; g.layer != layer {
				others *= g.part
			}
		}
		for _, s := range way {
			if g := &p.gates[s.gate]; g.layer == layer {
				g.offer += s.units * others
			}
		}
		start = end
	}
}

// settle charges a wave for the part that all its gates let through.
func (p *pouring) settle(w *Wave, n int) {
	start := 0
	if n > 0 {
		start = p.ends[n-1]
	}
	way := p.steps[start:p.ends[n]]
	w.Passed, w.Causes = 1, w.Causes[:0]
	resistance := 0.0
	for _, s := range way {
		part := p.gates[s.gate].part
		w.Passed *= part
		resistance -= math.Log(max(part, 1e-9))
	}
	if resistance > 0 {
		for _, s := range way {
			if g := &p.gates[s.gate]; g.part < 1 {
				w.Causes = append(w.Causes, WaveCause{g.reason, (1 - w.Passed) * -math.Log(max(g.part, 1e-9)) / resistance})
			}
		}
	}
	for _, s := range way {
		p.gates[s.gate].pass(s.units * w.Passed)
	}
	for i := range w.Charges {
		w.Charges[i].Set.pour(&w.Charges[i], w.Passed)
	}
}

// pass charges the bucket.
func (g *gate) pass(units float64) { g.bucket.level = max(g.bucket.level-amountOf(units), -maxAmount) }

// pour counts the part of a charge that passed, and that which did not.
func (s *Set) pour(c *Charge, passed float64) {
	p := s.partitions[s.find(boundOf(c.Place))]
	reads, writes := amountOf(c.Read*passed), amountOf(c.Write*passed)
	if reads > 0 {
		s.consume(read, reads.units())
	}
	if writes > 0 {
		s.consume(write, writes.units())
	}
	p.remember(s, c.Place, reads, writes)
	if passed < 1 {
		now := s.turn(p)
		now.throttled[read] += float32(c.Read * (1 - passed))
		now.throttled[write] += float32(c.Write * (1 - passed))
	}
	if c.Bytes != 0 {
		s.grow(p, int64(float64(c.Bytes)*passed))
	}
}

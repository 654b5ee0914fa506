package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// attempts is how often a process sends a request that had no answer or was throttled.
const attempts = 5

// machine is any of the ledger's.
type machine interface {
	Next() []ledger.Effect
	Handle(ledger.Event)
	Over() bool
}

// operation is a machine at work, with the shell that carries out its effects.
type operation struct {
	name        string
	process     *process
	incarnation int // of the process that began it
	machine     machine
	rand        *rand.Rand
	calm        bool
	id          int // of a write
	sent        int // attempts of a write
	got         []int
	ended       bool
	end         func(*operation)
}

func newOperation(p *process, r *rand.Rand, calm bool) *operation {
	return &operation{process: p, incarnation: p.incarnation, rand: r, calm: calm}
}

// String names the operation in a trace.
func (o *operation) String() string { return fmt.Sprintf("process %d: %s", o.process.number, o.name) }

// act does what a plan says.
func (w *world) act(a Action) {
	p := w.processes[a.Process]
	o := newOperation(p, rand.New(rand.NewPCG(a.Seed, 1)), a.Calm)
	switch a.Kind {
	case Pause:
		p.asleep = max(p.asleep, w.now+a.For)
		w.say("process %d sleeps %v", p.number, a.For)
		return
	case Crash:
		w.start(p)
		w.say("process %d crashes", p.number)
		return
	case Outage:
		w.outage = max(w.outage, w.now+a.For)
		return
	case Delete:
		w.lose(-1)
		return
	case Restore:
		w.lose(max(0, w.now-a.For))
		return
	case Repair:
		w.repair()
		return
	}
	w.in(o, 0, func() {
		switch a.Kind {
		case Write:
			w.beginWrite(o)
		case Read:
			w.beginRead(o, a.Mode)
		case Refresh:
			w.refresh(o)
		case Freeze:
			g := ledger.Growth{To: 1, Freeze: ledger.Freeze}
			if o.rand.IntN(2) == 0 {
				g.Freeze = ledger.Thaw
			}
			w.beginGrow(o, g)
		default:
			w.beginGrow(o, ledger.Growth{To: a.To, Once: o.rand.IntN(2) == 0})
		}
	})
}

// begin puts a machine to work. end is called when it is over.
func (w *world) begin(o *operation, m machine, end func(*operation)) {
	o.machine, o.end = m, end
	w.running = append(w.running, o)
	w.step(o)
}

// step carries out what a machine wants, until it is over.
func (w *world) step(o *operation) {
	if o.ended {
		return
	}
	for _, e := range o.machine.Next() {
		switch e := e.(type) {
		case ledger.ReadLedger:
			w.readLedger(o, e)
		case ledger.WriteLedger:
			w.writeLedger(o, e)
		case ledger.ReadShards:
			for n := e.From; n < e.To; n++ {
				w.readShard(o, n, e.Strong, attempts)
			}
		case ledger.SendItem:
			w.sendItem(o, e)
		}
	}
	if o.machine.Over() {
		o.ended = true
		o.end(o)
	}
}

func (w *world) handle(o *operation, e ledger.Event) {
	o.machine.Handle(e)
	w.step(o)
}

// readLedger carries out a ReadLedger. Strong ones are shared by the operations of a process.
func (w *world) readLedger(o *operation, e ledger.ReadLedger) {
	answered := func(a answer) {
		got := ledger.LedgerRead{Asked: e, Err: a.err()}
		if w.breaks.StampAnswers {
			got.Asked.Sent = w.clock()
		}
		if a.outcome == ledger.Done {
			r := a.value.(ledger.LedgerRead)
			got.Record, got.Err = r.Record, r.Err
			o.process.known = max(o.process.known, r.Record.Generation)
		}
		w.handle(o, got)
	}
	if !e.Strong {
		w.fetch(o, false, attempts, answered)
		return
	}
	p := o.process
	flight, start := p.share.Join()
	p.waiting[flight] = append(p.waiting[flight], answered)
	if start {
		w.fly(o, flight)
	}
}

// fly sends a shared read of the ledger.
func (w *world) fly(o *operation, flight int64) {
	p := o.process
	w.fetch(o, true, attempts, func(a answer) {
		next, start := p.share.Landed()
		sharers := p.waiting[flight]
		delete(p.waiting, flight)
		if start {
			w.fly(o, next)
		}
		for _, answered := range sharers {
			answered(a)
		}
	})
}

// fetch reads the ledger, several times if it has to.
func (w *world) fetch(o *operation, strong bool, left int, answered func(answer)) {
	what, lag := "strong read of the ledger", time.Duration(0)
	if !strong {
		what, lag = "eventual read of the ledger", draw(o.rand, MaxLag)
	}
	w.request(o, theLedger, what, func() any {
		r, err := w.stored(w.now - lag)
		return ledger.LedgerRead{Record: r, Err: err}
	}, func(a answer) {
		if a.outcome != ledger.Done && left > 1 {
			w.fetch(o, strong, left-1, answered)
			return
		}
		answered(a)
	})
}

func (w *world) writeLedger(o *operation, e ledger.WriteLedger) {
	w.request(o, theLedger, fmt.Sprintf("ledger %d/%d if generation %d", e.Record.Write, e.Record.Read, e.If), func() any { return w.store(e) }, func(a answer) {
		got := ledger.LedgerWritten{Outcome: a.outcome, Err: a.err()}
		if a.outcome == ledger.Done {
			got = a.value.(ledger.LedgerWritten)
			known := got.Record.Generation
			if got.Outcome == ledger.Done {
				known = e.Record.Generation
				w.stats.Grown++
			}
			o.process.known = max(o.process.known, known)
		}
		w.handle(o, got)
	})
}

func (w *world) readShard(o *operation, shard int, strong bool, left int) {
	type page struct {
		ids   []int
		stamp int64
	}
	lag := time.Duration(0)
	if !strong {
		lag = draw(o.rand, MaxLag)
	}
	w.request(o, aShard, fmt.Sprintf("shard %d", shard), func() any {
		ids, stamp := w.list(shard, w.now-lag)
		return page{ids, stamp}
	}, func(a answer) {
		switch got, ok := a.value.(page); {
		case ok:
			o.got = append(o.got, got.ids...)
			w.handle(o, ledger.ShardRead{Shard: shard, Stamp: got.stamp})
		case left > 1:
			w.readShard(o, shard, strong, left-1)
		default:
			w.handle(o, ledger.ShardRead{Shard: shard, Err: a.err()})
		}
	})
}

func (w *world) sendItem(o *operation, e ledger.SendItem) {
	o.sent++
	w.writes[o.id].shard = e.Shard
	w.request(o, aShard, fmt.Sprintf("write %d to shard %d", o.id, e.Shard), func() any {
		w.put(o.id, e)
		return nil
	}, func(a answer) {
		if a.keyRange {
			w.refresh(newOperation(o.process, o.rand, o.calm))
		}
		o.machine.Handle(ledger.ItemSent{Outcome: a.outcome, Err: a.err()})
		if !o.machine.Over() && o.sent == attempts {
			o.ended = true // given up
			return
		}
		w.in(o, draw(o.rand, 100*time.Millisecond), func() { w.step(o) })
	})
}

// refresh reads the ledger for a writer.
func (w *world) refresh(o *operation) {
	v := o.process.view
	ask, ok := v.Refresh(w.clock())
	if !ok {
		return
	}
	o.name = "refresh"
	m := &refreshing{view: v, due: []ledger.Effect{ask}}
	w.begin(o, m, func(o *operation) { w.checkErr(o, m.err) })
}

// refreshing is the machine of a refresh.
type refreshing struct {
	view *ledger.View
	due  []ledger.Effect
	over bool
	err  error
}

// Next returns the read of the ledger, once.
func (m *refreshing) Next() []ledger.Effect {
	due := m.due
	m.due = nil
	return due
}

// Handle takes its answer.
func (m *refreshing) Handle(e ledger.Event) {
	m.over = true
	if got := e.(ledger.LedgerRead); got.Err == nil {
		m.err = m.view.Learn(got.Asked, got.Record)
	}
}

// Over reports whether it was answered.
func (m *refreshing) Over() bool { return m.over }

func (w *world) beginWrite(o *operation) {
	o.id = len(w.writes)
	o.name = fmt.Sprintf("write %d", o.id)
	g := &write{}
	w.writes = append(w.writes, g)
	m := ledger.NewWrite(o.process.view, ledger.Writing{Choose: o.rand.IntN})
	w.begin(o, m, func(o *operation) {
		result, err := m.Result()
		if w.checkErr(o, err); err != nil {
			return
		}
		w.stats.Acked++
		w.say("%v is acknowledged, shard %d, generation %d", o, result.Shard, result.Generation)
		g.acked, g.at, g.generation, g.shard = true, w.now, result.Generation, result.Shard
		w.checkShards()
	})
}

func (w *world) beginGrow(o *operation, g ledger.Growth) {
	g.Now, g.Why, g.By = w.clock(), "test", fmt.Sprintf("process %d", o.process.number)
	g.At = g.Now.UnixMilli()
	o.name = fmt.Sprintf("grow to %d", g.To)
	m := ledger.NewGrow(o.process.view, g)
	w.begin(o, m, func(o *operation) {
		r, grown, err := m.Result()
		if w.checkErr(o, err); err == nil && !g.Once && r.Write < g.To {
			w.wrong("%v ended without an error at width %d", o, r.Write)
		}
		w.say("%v is over: %v, %d/%d, generation %d, %v", o, grown, r.Write, r.Read, r.Generation, err)
	})
}

func (w *world) beginRead(o *operation, mode ledger.Mode) {
	o.name = [...]string{"strong read", "causal read", "eventual read"}[mode]
	g := ledger.Reading{Mode: mode, Now: w.clock()}
	c := check{mode: mode, start: w.now, losses: w.losses, lost: w.lost, known: o.process.known, stored: w.current().Generation}
	for id, write := range w.writes {
		switch {
		case !write.acked:
		case mode == ledger.Eventual && write.at >= w.now-ledger.DefaultKeep-MaxLag:
		case mode == ledger.Causal && o.rand.IntN(3) == 0: // the caller has not heard of this one
		default:
			c.must = append(c.must, id)
			g.AtLeast = max(g.AtLeast, write.generation)
		}
	}
	m := ledger.NewRead(o.process.view, g)
	w.say("%v begins, at least generation %d", o, g.AtLeast)
	w.begin(o, m, func(o *operation) {
		result, err := m.Result()
		w.say("%v is over: %d shards, generation %d, items %v, %v", o, result.Shards, result.Generation, o.got, err)
		if w.checkErr(o, err); err == nil {
			w.checkRead(o, c, result)
		}
	})
}

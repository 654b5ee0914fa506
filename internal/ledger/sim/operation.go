package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	name    string
	process *process
	machine machine
	rand    *rand.Rand
	calm    bool
	id      int // of a write
	sent    int // attempts of a write
	got     []int
	ended   bool
	end     func(*operation)
}

// String names the operation in a trace.
func (o *operation) String() string { return fmt.Sprintf("process %d: %s", o.process.number, o.name) }

// act does what a plan says.
func (w *world) act(a Action) {
	p := w.processes[a.Process]
	o := &operation{process: p, rand: rand.New(rand.NewPCG(a.Seed, 1)), calm: a.Calm}
	switch a.Kind {
	case Pause:
		p.asleep = max(p.asleep, w.now+a.For)
		w.say("process %d sleeps %v", p.number, a.For)
		return
	case Crash:
		w.start(p)
		w.say("process %d crashes", p.number)
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
	w.request(o, what, func() any {
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
	w.request(o, fmt.Sprintf("ledger %d/%d if generation %d", e.Record.Write, e.Record.Read, e.If), func() any { return w.store(e) }, func(a answer) {
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
	w.request(o, fmt.Sprintf("shard %d", shard), func() any {
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
	w.request(o, fmt.Sprintf("write %d to shard %d", o.id, e.Shard), func() any {
		w.put(o.id, e)
		return nil
	}, func(a answer) {
		if a.keyRange {
			w.refresh(&operation{process: o.process, rand: o.rand, calm: o.calm})
		}
		o.machine.Handle(ledger.ItemSent{Outcome: a.outcome, Err: a.err()})
		if o.machine.Over() || o.sent < attempts {
			w.in(o, draw(o.rand, 100*time.Millisecond), func() { w.step(o) })
		}
	})
}

// refresh reads the ledger for a writer.
func (w *world) refresh(o *operation) {
	v := o.process.view
	ask, ok := v.Refresh(w.clock())
	if !ok {
		return
	}
	o.name, o.machine, o.end = "refresh", &refreshing{view: v, due: []ledger.Effect{ask}}, func(o *operation) {
		w.checkErr(o, o.machine.(*refreshing).err)
	}
	w.step(o)
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
	o.machine = m
	o.end = func(o *operation) {
		result, err := m.Result()
		if w.checkErr(o, err); err != nil {
			return
		}
		w.stats.Acked++
		w.say("%v is acknowledged, shard %d, generation %d", o, result.Shard, result.Generation)
		g.acked, g.at, g.generation, g.shard = true, w.now, result.Generation, result.Shard
		w.checkShards()
	}
	w.step(o)
}

func (w *world) beginGrow(o *operation, g ledger.Growth) {
	g.Now, g.Why, g.By = w.clock(), "test", fmt.Sprintf("process %d", o.process.number)
	g.At = g.Now.UnixMilli()
	o.name = fmt.Sprintf("grow to %d", g.To)
	m := ledger.NewGrow(o.process.view, g)
	o.machine = m
	o.end = func(o *operation) {
		r, grown, err := m.Result()
		if w.checkErr(o, err); err == nil && !g.Once && r.Write < g.To {
			w.wrong("%v ended without an error at width %d", o, r.Write)
		}
		w.say("%v is over: %v, %d/%d, generation %d, %v", o, grown, r.Write, r.Read, r.Generation, err)
	}
	w.step(o)
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
	o.machine = m
	w.say("%v begins, at least generation %d", o, g.AtLeast)
	o.end = func(o *operation) {
		result, err := m.Result()
		w.say("%v is over: %d shards, generation %d, items %v, %v", o, result.Shards, result.Generation, o.got, err)
		if w.checkErr(o, err); err == nil {
			w.checkRead(o, c, result)
		}
	}
	w.step(o)
}

// checkErr sees whether an error tells the truth.
func (w *world) checkErr(o *operation, err error) {
	switch {
	case err == nil:
		return
	case errors.Is(err, ledger.ErrLost):
		w.stats.Lost++
		if w.losses == 0 {
			w.wrong("%v: the ledger was never lost: %v", o, err)
		}
	}
	w.stats.Failed++
}

// check is what the observer knows when a read begins.
type check struct {
	mode   ledger.Mode
	start  time.Duration
	must   []int // writes that the read has to return
	losses int
	lost   bool
	known  int64 // the largest generation that the process was told
	stored int64 // the generation of the ledger
}

// checkRead holds a read to its promise.
func (w *world) checkRead(o *operation, c check, result ledger.ReadResult) {
	*[...]*int{&w.stats.Strong, &w.stats.Causal, &w.stats.Eventual}[c.mode]++
	if result.Shards > 1 {
		w.stats.Wide++
	}
	slices.Sort(o.got)
	for i := 1; i < len(o.got); i++ {
		if o.got[i] == o.got[i-1] {
			w.wrong("%v has returned write %d twice", o, o.got[i])
		}
	}
	if w.excused(o, c, result) {
		return
	}
	for _, id := range c.must {
		if _, there := slices.BinarySearch(o.got, id); !there {
			w.wrong("%v, begun at %v, has missed write %d, acknowledged in shard %d at %v", o, c.start, id, w.writes[id].shard, w.writes[id].at)
			return
		}
	}
}

// excused reports whether a read may miss items: it says so itself, or the ledger was lost and nobody told the process.
// What the process could have known is never excused.
func (w *world) excused(o *operation, c check, result ledger.ReadResult) bool {
	untouched := c.losses == w.losses && c.lost == w.lost
	if c.mode == ledger.Strong && c.lost && untouched {
		now := w.current().Generation
		if now < c.known {
			w.wrong("%v has not noticed that the ledger went back to generation %d, from %d", o, now, c.known)
		}
		for _, id := range o.got {
			if stamp := w.shards[w.writes[id].shard][id].stamp; stamp > now {
				w.wrong("%v has not noticed that write %d has stamp %d, and the ledger generation %d", o, id, stamp, now)
			}
		}
	}
	switch c.mode {
	case ledger.Strong:
		return c.lost || !untouched
	case ledger.Causal: // the process may know a generation of the same number from after the loss
		return w.losses > 0
	}
	return result.Stale || c.lost || !untouched || w.losses > 0 && c.start < w.repaired+ledger.DefaultKeep+MaxLag
}

package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
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
	bucket      *bucket
	machine     machine
	rand        *rand.Rand
	calm        bool
	id          int  // of a write, or what a Get looks for
	sent        int  // attempts of a write
	creates     bool // it is a hint
	probe       *probe
	after       position // of a page: where it begins
	pageSize    int      // of a shard
	got         []position
	stored      int // where its last request to store a ledger is in the history, counted from 1
	ended       bool
	end         func(*operation)
}

func newOperation(p *process, r *rand.Rand, calm bool) *operation {
	return &operation{process: p, incarnation: p.incarnation, rand: r, calm: calm}
}

// another returns an operation of the same process on the same bucket.
func (o *operation) another() *operation {
	n := newOperation(o.process, o.rand, o.calm)
	n.bucket = o.bucket
	return n
}

// String names the operation in a trace.
func (o *operation) String() string { return fmt.Sprintf("process %d: %s", o.process.number, o.name) }

// memory is what the process knows of the bucket.
func (o *operation) memory() *memory { return o.process.memories[o.bucket.number] }

// act does what a plan says.
func (w *world) act(a Action) {
	p, b := w.processes[a.Process], w.buckets[a.Bucket]
	switch a.Kind {
	case Pause:
		w.say("process %d sleeps %v", p.number, a.For)
		w.sleep(p, a.For)
		return
	case Jump:
		w.say("process %d sets its clock by %v", p.number, a.For)
		w.jump(p, a.For)
		return
	case Crash:
		w.start(p)
		w.say("process %d crashes", p.number)
		return
	case Outage:
		w.outage = max(w.outage, w.now+a.For)
		return
	case Delete:
		w.lose(b, -1)
		return
	case Restore:
		w.lose(b, max(0, w.now-a.For))
		return
	}
	o := newOperation(p, rand.New(rand.NewPCG(a.Seed, 1)), a.Calm)
	o.bucket = b
	w.in(o, 0, func() {
		switch a.Kind {
		case Write:
			w.beginWrite(o)
		case Read:
			w.beginScan(o, a)
		case Get:
			w.beginGet(o, a.Mode)
		case Refresh:
			w.refresh(o)
		case Repair:
			w.beginRepair(o)
		case Freeze:
			g := ledger.Growth{To: 1, Freeze: ledger.Freeze}
			if o.rand.IntN(2) == 0 {
				g.Freeze = ledger.Thaw
			}
			w.beginGrow(o, g, func() {})
		default:
			w.beginGrow(o, ledger.Growth{To: a.To, Once: o.rand.IntN(2) == 0}, func() {})
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
				w.readShard(o, n, o.after, e.Strong, attempts)
			}
		case ledger.GetItem:
			w.getItem(o, e, attempts)
		case ledger.ProbeShards:
			w.probeShards(o, e)
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
	m, entry := o.memory(), 0
	answered := func(a answer) {
		got := ledger.LedgerRead{Asked: e, Err: a.err()}
		if w.breaks.StampAnswers {
			got.Asked.Sent = w.clock(o.process)
		}
		if a.outcome == ledger.Done {
			r := a.value.(ledger.LedgerRead)
			got.Record, got.Err = r.Record, r.Err
			m.known = max(m.known, r.Record.Generation)
			m.newer = errors.Is(r.Err, ledger.ErrNewer)
			if e.Strong && r.Err == nil {
				w.returned(entry, ledger.Done, r.Record)
			}
		}
		w.handle(o, got)
	}
	if !e.Strong {
		w.fetch(o, false, attempts, answered)
		return
	}
	entry = w.called(Request{Bucket: o.bucket.number, Process: o.process.number})
	flight, start := m.share.Join()
	m.waiting[flight] = append(m.waiting[flight], answered)
	if start {
		w.fly(o, m, flight)
	}
}

// fly sends a shared read of the ledger.
func (w *world) fly(o *operation, m *memory, flight int64) {
	w.fetch(o, true, attempts, func(a answer) {
		next, start := m.share.Landed()
		sharers := m.waiting[flight]
		delete(m.waiting, flight)
		if start {
			w.fly(o, m, next)
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
	b := o.bucket
	w.request(o, theLedger, what, func() any {
		r, err := w.version(b, w.now-lag).parse(o.process)
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
	m := o.memory()
	entry := w.called(Request{Bucket: o.bucket.number, Process: o.process.number, Write: true, If: e.If, Most: e.Most, Proposed: e.Record})
	o.stored = entry
	w.request(o, theLedger, fmt.Sprintf("ledger %d/%d if generation %d", e.Record.Write, e.Record.Read, e.If), func() any {
		return w.store(o, e)
	}, func(a answer) {
		got := ledger.LedgerWritten{Outcome: a.outcome, Err: a.err()}
		if a.outcome == ledger.Done {
			got = a.value.(ledger.LedgerWritten)
			known := got.Record.Generation
			if got.Outcome == ledger.Done {
				known = e.Record.Generation
			}
			m.known = max(m.known, known)
			m.newer = errors.Is(got.Unparsed, ledger.ErrNewer)
		}
		if got.Unparsed == nil {
			w.returned(entry, got.Outcome, got.Record)
		}
		w.handle(o, got)
	})
}

// readShard reads a shard from a position on, page by page.
func (w *world) readShard(o *operation, shard int, after position, strong bool, left int) {
	type page struct {
		items []position
		stamp int64
		more  bool
	}
	lag := time.Duration(0)
	if !strong {
		lag = draw(o.rand, MaxLag)
	}
	b := o.bucket
	w.request(o, aShard, fmt.Sprintf("shard %d", shard), func() any {
		items, stamps := w.list(b, shard, after, w.now-lag)
		got := page{items: items}
		if len(items) > o.pageSize {
			got.items, stamps, got.more = items[:o.pageSize], stamps[:o.pageSize], true
		}
		for _, stamp := range stamps {
			got.stamp = max(got.stamp, stamp)
		}
		return got
	}, func(a answer) {
		if o.ended {
			return
		}
		switch got, ok := a.value.(page); {
		case ok:
			o.got = append(o.got, got.items...)
			w.handle(o, ledger.ShardRead{Shard: shard, Stamp: got.stamp, More: got.more})
			if got.more && !o.ended {
				w.readShard(o, shard, got.items[len(got.items)-1], strong, attempts)
			}
		case left > 1:
			w.readShard(o, shard, after, strong, left-1)
		default:
			w.handle(o, ledger.ShardRead{Shard: shard, Err: a.err()})
		}
	})
}

// getItem looks for an item in one shard.
func (w *world) getItem(o *operation, e ledger.GetItem, left int) {
	type found struct {
		item  item
		there bool
	}
	lag := time.Duration(0)
	if !e.Strong {
		lag = draw(o.rand, MaxLag)
	}
	b := o.bucket
	w.request(o, aShard, fmt.Sprintf("item %d in shard %d", o.id, e.Shard), func() any {
		i, there := b.get(e.Shard, o.id, w.now-lag)
		return found{i, there}
	}, func(a answer) {
		switch got, ok := a.value.(found); {
		case ok:
			w.handle(o, ledger.ItemRead{Shard: e.Shard, Found: got.there, Stamp: got.item.stamp})
		case left > 1:
			w.getItem(o, e, left-1)
		default:
			w.handle(o, ledger.ItemRead{Shard: e.Shard, Err: a.err()})
		}
	})
}

// probeShards looks at the last item of each shard.
func (w *world) probeShards(o *operation, e ledger.ProbeShards) {
	type last struct {
		there bool
		stamp int64
	}
	b := o.bucket
	o.probe = &probe{}
	for id, g := range w.writes {
		if g.bucket == b && g.acked {
			o.probe.must = append(o.probe.must, id)
		}
	}
	probed, waiting := ledger.ShardsProbed{Largest: -1}, e.To
	var look func(shard, left int)
	look = func(shard, left int) {
		w.request(o, aShard, fmt.Sprintf("probe of shard %d", shard), func() any {
			items, stamps := w.list(b, shard, position{}, w.now)
			if len(items) == 0 {
				return last{}
			}
			return last{true, stamps[len(stamps)-1]}
		}, func(a answer) {
			got, ok := a.value.(last)
			switch {
			case ok && got.there:
				probed.Largest, probed.Stamp = max(probed.Largest, shard), max(probed.Stamp, got.stamp)
			case !ok && left > 1:
				look(shard, left-1)
				return
			case !ok:
				probed.Err = a.err()
			}
			if waiting--; waiting == 0 {
				o.probe.stamp = probed.Stamp
				w.handle(o, probed)
			}
		})
	}
	for shard := range e.To {
		look(shard, attempts)
	}
}

func (w *world) sendItem(o *operation, e ledger.SendItem) {
	o.sent++
	w.writes[o.id].shard = e.Shard
	w.request(o, aShard, fmt.Sprintf("write %d to shard %d", o.id, e.Shard), func() any {
		w.put(o.id, e)
		return nil
	}, func(a answer) {
		if a.outcome == ledger.Throttled && a.reason == ledger.KeyRange {
			w.refresh(o.another())
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
	v := o.memory().view
	ask, ok := v.Refresh(w.clock(o.process))
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
	got := e.(ledger.LedgerRead)
	if got.Err != nil {
		m.view.NotLearned(got.Asked, got.Err)
		return
	}
	m.err = m.view.Learn(got.Asked, got.Record)
}

// Over reports whether it was answered.
func (m *refreshing) Over() bool { return m.over }

// beginWrite writes an item. Its time is a little before or after now, and says which bucket it belongs to.
func (w *world) beginWrite(o *operation) {
	event := w.now + draw(o.rand, 7*time.Second) - 5*time.Second
	o.bucket = w.buckets[bucketAt(event, len(w.buckets))]
	o.id = len(w.writes)
	o.name = fmt.Sprintf("write %d", o.id)
	g := &write{bucket: o.bucket, sort: 1 + o.rand.IntN(12)}
	w.writes = append(w.writes, g)
	send := func() { w.sendWrite(o, g) }
	hint, ok := w.hint(o, event)
	switch {
	case !ok:
		send()
	case o.rand.IntN(2) == 0:
		w.beginHint(o, hint, send)
	default:
		w.beginHint(o, hint, func() {})
		send()
	}
}

func (w *world) sendWrite(o *operation, g *write) {
	choose := o.rand.IntN
	if w.plan.Strategy == layout.Calculated {
		choose = home(o.id)
	}
	before := w.look(o)
	m := ledger.NewWrite(o.memory().view, ledger.Writing{Choose: choose})
	w.begin(o, m, func(o *operation) {
		result, err := m.Result()
		if errors.Is(err, ledger.ErrNewer) {
			w.refresh(o.another())
		}
		if w.checkErr(o, err); err != nil {
			return
		}
		w.stats.Acked++
		w.say("%v is acknowledged, shard %d, generation %d", o, result.Shard, result.Generation)
		g.acked, g.at, g.generation, g.shard = true, w.now, result.Generation, result.Shard
		w.checkNewer(o, before, false)
		w.checkShards(o.bucket)
	})
}

// home returns the homes of an item.
func home(id int) func(width int) int {
	return func(width int) int { return layout.XXHash.Shard(strconv.Itoa(id), width) }
}

// hint asks the process which ledger to create before it writes an item. The rate of the fleet is drawn.
func (w *world) hint(o *operation, event time.Duration) (ledger.Hint, bool) {
	if len(w.buckets) == 1 {
		return ledger.Hint{}, false
	}
	s := span(o.bucket.number)
	r, _ := o.memory().view.Record()
	hint, ok := o.process.hints.Writes(s, span(0).Start.Add(event), r.Write)
	o.process.hints.Rate(s.Start, float64(o.rand.IntN(5000)))
	return hint, ok && hint.Bucket.Before(span(len(w.buckets)).Start)
}

// beginHint creates the ledger of a bucket. then is called when that is over.
func (w *world) beginHint(o *operation, hint ledger.Hint, then func()) {
	h := o.another()
	h.bucket = w.buckets[int(hint.Bucket.Sub(span(0).Start)/bucketLong)]
	h.creates = true
	w.beginGrow(h, ledger.Growth{To: hint.To, Create: true}, then)
}

func (w *world) beginGrow(o *operation, g ledger.Growth, then func()) {
	g.Now, g.Why, g.By = w.clock(o.process), "test", fmt.Sprintf("process %d, event %d", o.process.number, w.stats.Events)
	g.At = w.wall(o.process).UnixMilli()
	o.name = fmt.Sprintf("grow bucket %d to %d", o.bucket.number, g.To)
	if g.Create {
		o.name = fmt.Sprintf("create bucket %d with %d", o.bucket.number, g.To)
	}
	m := ledger.NewGrow(o.memory().view, g)
	w.begin(o, m, func(o *operation) {
		r, grown, err := m.Result()
		if w.checkErr(o, err); err == nil && !g.Once && !g.Create && r.Write < g.To {
			w.wrong("%v ended without an error at width %d", o, r.Write)
		}
		w.say("%v is over: %v, %d/%d, generation %d, %v", o, grown, r.Write, r.Read, r.Generation, err)
		switch {
		case err != nil || !grown:
		case g.Create:
			w.stats.Hinted++
		default:
			w.stats.Grown++
		}
		if grown {
			w.claimed(o.stored)
		}
		then()
	})
}

// repairTo is how many shards a repair probes. No key has more.
const repairTo = 16

func (w *world) beginRepair(o *operation) {
	o.name = fmt.Sprintf("repair bucket %d", o.bucket.number)
	m := ledger.NewRepair(o.memory().view, ledger.Repairing{
		To: repairTo, Now: w.clock(o.process), Why: "test", By: fmt.Sprintf("process %d, event %d", o.process.number, w.stats.Events), At: w.wall(o.process).UnixMilli(),
	})
	w.begin(o, m, func(o *operation) {
		r, repaired, err := m.Result()
		w.checkErr(o, err)
		w.say("%v is over: %v, %d/%d, generation %d, %v", o, repaired, r.Write, r.Read, r.Generation, err)
		if repaired {
			w.claimed(o.stored)
		}
	})
}

// beginGet looks for the item of any write.
func (w *world) beginGet(o *operation, mode ledger.Mode) {
	if len(w.writes) == 0 || w.plan.Strategy != layout.Calculated {
		return
	}
	o.id = o.rand.IntN(len(w.writes))
	g := w.writes[o.id]
	o.bucket = g.bucket
	o.name = fmt.Sprintf("%s get of write %d", modeNames[mode], o.id)
	c := check{bucket: o.bucket, mode: mode, start: w.now, losses: o.bucket.losses, lost: o.bucket.lost}
	owed := w.owed(g, mode)
	before := w.look(o)
	m := ledger.NewGet(o.memory().view, ledger.Finding{Home: home(o.id), Mode: mode, AtLeast: g.generation, Now: w.clock(o.process)})
	w.begin(o, m, func(o *operation) {
		result, err := m.Result()
		w.say("%v is over: %+v, %v", o, result, err)
		if w.checkErr(o, err); err != nil {
			return
		}
		w.checkNewer(o, before, mode == ledger.Strong && !result.Found)
		if result.Found {
			w.stats.Got++
			return
		}
		w.stats.Absent++
		if c.stale = result.Stale; owed && !w.excused(&c) {
			w.wrong("%v, begun at %v, has missed it, acknowledged in shard %d at %v", o, c.start, g.shard, g.at)
		}
	})
}

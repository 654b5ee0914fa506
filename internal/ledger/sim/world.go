package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// MaxLag is how old the state is that a read with eventual consistency sees, at most.
const MaxLag = 2 * time.Second

// maxEvents is how many events a run may have. Most have about a thousand.
const maxEvents = 100_000

// Breaks are the rules that a run leaves out.
type Breaks struct {
	ledger.Breaks

	// StampAnswers is a mistake of the shell: the age of a cached width counts from the answer instead of the request.
	StampAnswers bool

	// ResumeBySort is a mistake of the shell: a page goes on behind the sort key of the last item, so that other items with
	// the same sort key are passed over.
	ResumeBySort bool
}

// Stats counts what a run has done, to show that it was worth something.
type Stats struct {
	Events                                int
	Acked, Strong, Causal, Eventual, Wide int // operations that succeeded; Wide are reads of several shards
	Got, Absent                           int // Gets that found their item, and those that did not
	Paged, Resumed, Several               int // reads in several pages, pages of another process, reads of several buckets
	Grown, Hinted, Repaired               int // records that were stored by a growth, a hint and a repair
	Failed, Lost, Newer                   int // operations that failed; those that found the ledger lost, or of a newer version
}

// Run runs a plan. The fault is the first broken promise, "" if there is none.
func Run(p Plan, b Breaks) (fault string, s Stats) {
	w := newWorld(p, b)
	w.run()
	return w.fault, w.stats
}

// Trace runs a plan and returns what happened, a line for each event.
func Trace(p Plan, b Breaks) string {
	w := newWorld(p, b)
	w.trace = &strings.Builder{}
	w.run()
	return w.trace.String()
}

// world is the state of a run: the table, the processes, and what an omniscient observer knows.
type world struct {
	plan   Plan
	breaks Breaks
	now    time.Duration
	queue  queue
	serial int
	stats  Stats
	fault  string
	trace  *strings.Builder

	buckets   []*bucket
	processes []*process
	writes    []*write
	running   []*operation
	outage    time.Duration // until then all ledgers are throttled

	blind   bool // broken promises do not end the run
	history []Request
	moments int64 // calls and returns of the history so far
}

// write is what the observer knows of a write.
type write struct {
	bucket     *bucket
	shard      int
	sort       int // its item's sort key; several may have the same
	acked      bool
	at         time.Duration // when it was
	generation int64         // that the writer was told
}

func newWorld(p Plan, b Breaks) *world {
	w := &world{plan: p, breaks: b}
	for n := range p.Buckets {
		w.buckets = append(w.buckets, &bucket{number: n, widest: 1})
	}
	for n := range p.Processes {
		w.processes = append(w.processes, newProcess(n, p))
		w.start(w.processes[n])
	}
	for _, a := range p.Actions {
		w.at(a.At, func() { w.act(a) })
	}
	return w
}

// absent is the record of a key without a ledger.
func (w *world) absent() ledger.Record { return ledger.Absent(w.plan.Strategy, layout.XXHash) }

func (w *world) run() {
	for w.fault == "" && w.queue.Len() > 0 {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		w.stats.Events++
		e.do()
		if w.stats.Events == maxEvents {
			w.blind = false
			w.wrong("%d events, and no end", maxEvents)
		}
	}
	for _, o := range w.running {
		if !o.ended && o.incarnation == o.process.incarnation {
			w.wrong("%v has never ended", o)
		}
	}
}

func (w *world) say(format string, args ...any) {
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%12v  %s\n", w.now.Round(time.Microsecond), fmt.Sprintf(format, args...))
	}
}

// wrong ends the run.
func (w *world) wrong(format string, args ...any) {
	if w.fault == "" && !w.blind {
		w.fault = fmt.Sprintf(format, args...)
		w.say("WRONG: %s", w.fault)
	}
}

// at makes something happen at a time.
func (w *world) at(t time.Duration, do func()) {
	w.serial++
	heap.Push(&w.queue, event{t, w.serial, do})
}

// in makes something happen in a process after a while: later if it sleeps then, and never if it has crashed. Whatever
// waits for a process to wake up happens in any order.
func (w *world) in(o *operation, after time.Duration, do func()) {
	p := o.process
	var try func()
	try = func() {
		switch {
		case p.incarnation != o.incarnation:
		case p.asleep > w.now:
			w.at(p.asleep+draw(o.rand, 100*time.Millisecond), try)
		default:
			do()
		}
	}
	w.at(w.now+after, try)
}

// draw returns a time below most.
func draw(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

// event is something that happens; queue is what will, in order.
type event struct {
	at     time.Duration
	serial int
	do     func()
}

type queue []event

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].serial < q[j].serial
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is container/heap's.
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }

// Pop is container/heap's.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
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
}

// Stats counts what a run has done, to show that it was worth something.
type Stats struct {
	Events                                int
	Acked, Strong, Causal, Eventual, Wide int // operations that succeeded; Wide are reads of several shards
	Grown, Failed, Lost                   int // growths, operations that failed, and those that found the ledger lost
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

	versions  []version // of the ledger's item, the oldest first
	shards    []map[int]item
	processes []*process
	writes    []*write
	running   []*operation

	outage   time.Duration // until then the ledger is throttled
	widest   int           // the largest read width that was ever stored
	newest   int64         // the largest generation that was ever stored
	lost     bool          // the ledger is not what it was
	losses   int           // how often it was lost
	repaired time.Duration // when it last was what it had to be again
}

// version is what the ledger's item was from a time on, as its readers parse it.
type version struct {
	at     time.Duration
	record ledger.Record
	err    error
}

// item is a stored item. Its id is that of its write.
type item struct {
	at    time.Duration
	stamp int64
}

// write is what the observer knows of a write.
type write struct {
	shard      int
	acked      bool
	at         time.Duration // when it was
	generation int64         // that the writer was told
}

// process is one that uses the machines.
type process struct {
	number      int
	incarnation int
	asleep      time.Duration // until then
	view        *ledger.View
	share       ledger.Share
	waiting     map[int64][]func(answer) // who shares a read of the ledger
	known       int64                    // the largest generation that it was told
}

func newWorld(p Plan, b Breaks) *world {
	w := &world{plan: p, breaks: b, widest: 1}
	for n := range p.Processes {
		w.processes = append(w.processes, &process{number: n})
		w.start(w.processes[n])
	}
	for _, a := range p.Actions {
		w.at(a.At, func() { w.act(a) })
	}
	return w
}

// start gives a process an empty memory.
func (w *world) start(p *process) {
	p.incarnation++
	p.view = ledger.NewView(ledger.ViewOptions{Key: "k", Breaks: w.breaks.Breaks})
	p.share = ledger.Share{Breaks: w.breaks.Breaks}
	p.waiting = map[int64][]func(answer){}
	p.known = 0
}

func (w *world) run() {
	for w.fault == "" && w.queue.Len() > 0 {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		w.stats.Events++
		e.do()
		if w.stats.Events == maxEvents {
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
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
		w.say("WRONG: %s", w.fault)
	}
}

// clock is the time as the machines are told it.
func (w *world) clock() time.Time { return time.Unix(1_000_000_000, 0).Add(w.now) }

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

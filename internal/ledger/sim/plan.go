package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// Kind is what an action does.
type Kind uint8

// The kinds of actions. Those up to Repair are operations of a process, the next three happen to a process, the rest to the
// ledger.
const (
	Write Kind = iota
	Read
	Get // of a plan with calculated shards
	Grow
	Refresh // a writer reads the ledger, as after a throttle
	Freeze  // somebody sets Frozen, or takes it back
	Repair  // somebody writes the ledger anew
	Pause
	Crash
	Jump    // somebody sets the wall clock
	Outage  // every request to a ledger is throttled for a while
	Delete  // somebody deletes the ledger's item
	Restore // somebody restores the ledger of an earlier time
)

var kindNames = [...]string{"write", "read", "get", "grow", "refresh", "freeze", "repair", "pause", "crash", "jump", "outage", "delete ledger", "restore ledger"}

// Action is something that happens at a time.
type Action struct {
	At      time.Duration
	Kind    Kind
	Process int
	Bucket  int           // that it is about; a Write and a Get choose their own
	Mode    ledger.Mode   // of a Read or a Get
	Limit   int           // of a Read: items in a page, 0 if any number
	More    int           // of a Read: how many buckets follow on the first
	To      int           // of a Grow
	For     time.Duration // of a Pause, a Jump or an Outage; of a Restore, how long ago
	Seed    uint64        // of its delays and faults
	Calm    bool          // none of its requests meets a fault
}

// String describes the action in a line.
func (a Action) String() string {
	s := fmt.Sprintf("%12v  %s", a.At, kindNames[a.Kind])
	switch a.Kind {
	case Read:
		s += fmt.Sprintf(" %s, bucket %d and %d more, limit %d", modeNames[a.Mode], a.Bucket, a.More, a.Limit)
	case Get:
		s += " " + modeNames[a.Mode]
	case Grow:
		s += fmt.Sprintf(" bucket %d to %d", a.Bucket, a.To)
	case Refresh, Freeze, Repair, Delete:
		s += fmt.Sprintf(" of bucket %d", a.Bucket)
	case Restore:
		s += fmt.Sprintf(" of bucket %d, as it was %v ago", a.Bucket, a.For)
	case Pause, Jump, Outage:
		s += fmt.Sprintf(" %v", a.For)
	}
	if a.Kind <= Jump {
		s += fmt.Sprintf(", process %d", a.Process)
	}
	if a.Calm {
		s += ", no faults"
	}
	return s
}

// Faults are how likely each fault of a request is, in a thousand.
type Faults struct {
	Throttled int // refused for its key range
	Refused   int // throttled for another reason
	Dropped   int // never applied, never answered
	Silent    int // applied, never answered
	Late      int // never answered, and applied up to 15 minutes later
	Twice     int // applied and answered, and applied again up to 15 minutes later
	Slow      int // takes up to two seconds on its way
}

// Plan is what happens in a run.
type Plan struct {
	Seed      uint64
	Processes int
	Old       int   // so many of them do not understand the ledgers that the others write
	Rates     []int // of the processes' clocks, in thousandths of the real one
	Suspends  bool  // the monotonic clock of a process that sleeps stands still
	Buckets   int   // 1: the key has no time buckets
	Strategy  layout.Strategy
	Faults    Faults
	Actions   []Action
}

// String prints the plan.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d processes, %d of them old, rates %v, suspended %v, %d buckets, %s shards, faults in a thousand: %+v\n",
		p.Seed, p.Processes, p.Old, p.Rates, p.Suspends, p.Buckets, p.Strategy, p.Faults)
	for _, a := range p.Actions {
		fmt.Fprintln(&b, a)
	}
	return b.String()
}

// NewPlan draws a plan. Which faults there are, and how many, differs from seed to seed.
func NewPlan(seed uint64) Plan {
	r := rand.New(rand.NewPCG(seed, 0x6c6564676572))
	some := func(most int) int {
		if r.IntN(2) == 0 {
			return 0
		}
		return r.IntN(most)
	}
	p := Plan{
		Seed:      seed,
		Processes: 2 + r.IntN(3),
		Buckets:   1,
		Suspends:  r.IntN(2) == 0,
		Faults:    Faults{some(200), some(60), some(100), some(150), some(150), some(150), some(300)},
	}
	if r.IntN(3) == 0 {
		p.Buckets = 2 + r.IntN(3)
	}
	if r.IntN(5) == 0 {
		p.Old = 1 + r.IntN(p.Processes-1)
	}
	if r.IntN(3) == 0 || p.Old > 0 && r.IntN(2) == 0 { // the rule that a hit does not end all is about both
		p.Strategy = layout.Calculated
	}
	for range p.Processes {
		p.Rates = append(p.Rates, 950+r.IntN(101))
	}
	d := drawing{
		Rand:    r,
		plan:    &p,
		mishaps: r.IntN(4), // pauses and crashes are rare, common or absent
		losses:  r.IntN(5) == 0,
		growths: 1 + r.IntN(8),
	}
	var at time.Duration
	for range 30 + r.IntN(50) {
		switch r.IntN(20) {
		case 0:
			at += draw(r, 40*time.Second)
		case 1, 2, 3:
			at += draw(r, 4*time.Second)
		default:
			at += draw(r, 40*time.Millisecond)
		}
		d.add(at, d.action())
		if d.mishaps > 0 && r.IntN(15) == 0 {
			d.nap(at, 2<<r.IntN(3))
		}
		if d.losses && r.IntN(20) == 0 {
			d.ruin(at)
		}
	}
	if r.IntN(2) == 0 {
		d.nap(at+time.Minute, 16) // nothing else teaches the sleeper the ledger, and no key is as wide before
	}
	slices.SortStableFunc(p.Actions, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
	return p
}

// drawing draws the actions of a plan.
type drawing struct {
	*rand.Rand
	plan    *Plan
	mishaps int
	losses  bool
	growths int
}

// add adds an action to the plan, for the bucket of its time or the one before.
func (d *drawing) add(at time.Duration, a Action) {
	a.At, a.Seed = at, d.Uint64()
	a.Bucket = bucketAt(at, d.plan.Buckets)
	if a.Bucket > 0 && d.IntN(3) == 0 {
		a.Bucket--
	}
	if a.Kind == Read && d.plan.Buckets > 1 && d.IntN(2) == 0 {
		a.Bucket, a.More = d.IntN(a.Bucket+1), d.IntN(d.plan.Buckets)
	}
	d.plan.Actions = append(d.plan.Actions, a)
}

func (d *drawing) mode() ledger.Mode { return ledger.Mode(d.IntN(3)) }

// read draws a read, in one page or several.
func (d *drawing) read(mode ledger.Mode) Action {
	a := Action{Kind: Read, Mode: mode, Process: d.IntN(d.plan.Processes)}
	if d.plan.Strategy == layout.Calculated && d.IntN(2) == 0 {
		a.Kind = Get
	} else if d.IntN(4) == 0 {
		a.Limit = 2 + d.IntN(10)
	}
	return a
}

// action draws an action.
func (d *drawing) action() Action {
	a := Action{Kind: Write, Process: d.IntN(d.plan.Processes)}
	switch n := d.IntN(100); {
	case n < 38:
	case n < 70:
		return d.read(d.mode())
	case n < 72+2*d.growths:
		a.Kind, a.To = Grow, 1<<d.IntN(4)
	case n < 90:
		a.Kind = Refresh
	case n < 90+2*d.mishaps:
		a.Kind, a.For = Pause, pause(d.Rand)
		switch d.IntN(6) {
		case 0, 1:
			a.Kind = Crash
		case 2:
			a.Kind, a.For = Jump, draw(d.Rand, 2*time.Hour)-time.Hour
		}
	case n < 97:
	case d.losses:
		a.Kind = [...]Kind{Delete, Restore, Repair, Repair}[d.IntN(4)]
		a.For = draw(d.Rand, time.Minute)
	case n == 97:
		a.Kind = [...]Kind{Freeze, Freeze, Repair}[d.IntN(3)]
	case n == 98:
		a.Kind, a.For = Outage, draw(d.Rand, 20*time.Second)
	default:
		return d.read(ledger.Eventual)
	}
	return a
}

// nap draws a process that falls asleep while it reads, and wakes up after others have grown the key and written to it.
// Left to chance, that is too rare to show what an answer from before the sleep does to the reads after it.
func (d *drawing) nap(at time.Duration, to int) {
	sleeper := d.IntN(d.plan.Processes)
	other := (sleeper + 1 + d.IntN(d.plan.Processes-1)) % d.plan.Processes
	long := draw(d.Rand, time.Second)
	if d.IntN(2) == 0 {
		long = 33*time.Second + draw(d.Rand, time.Minute)
	}
	add := func(after time.Duration, a Action) { d.add(at+after, a) }
	read := func(after time.Duration, mode ledger.Mode) {
		a := d.read(mode)
		a.Process = sleeper
		add(after, a)
	}
	read(0, ledger.Strong)
	add(2*time.Millisecond+draw(d.Rand, 16*time.Millisecond), Action{Kind: Pause, For: long, Process: sleeper})
	add(20*time.Millisecond, Action{Kind: Grow, To: to, Process: other})
	for range 4 {
		add(60*time.Millisecond+draw(d.Rand, 200*time.Millisecond), Action{Kind: Write, Process: other})
	}
	if d.IntN(2) == 0 { // the wall clock of the sleeper is set back by as much as it has slept
		add(long+draw(d.Rand, 100*time.Millisecond), Action{Kind: Jump, For: -long, Process: sleeper})
	}
	switch d.IntN(4) {
	case 0: // a strong read would wait for the one that is in flight, and these do not
		add(long+draw(d.Rand, 50*time.Millisecond), Action{Kind: Read, Mode: ledger.Eventual, Process: sleeper})
	case 1:
		add(long+draw(d.Rand, 50*time.Millisecond), Action{Kind: Grow, To: to, Process: sleeper})
	case 2:
		for range 4 {
			read(long+draw(d.Rand, 100*time.Millisecond), d.mode())
		}
	}
	for range 2 {
		add(long+draw(d.Rand, 5*time.Second), Action{Kind: Read, Mode: ledger.Eventual, Process: sleeper})
	}
}

// ruin draws a ledger that is lost after it has grown, and grows again in the hands of a process that knows nothing of it.
// Left to chance, a request from before the loss would hardly ever meet such a ledger, nor would a repair.
func (d *drawing) ruin(at time.Duration) {
	one, other := d.IntN(d.plan.Processes), d.IntN(d.plan.Processes)
	moment := func() time.Duration { return draw(d.Rand, 300*time.Millisecond) }
	first, second, again := 2<<d.IntN(3), 0, 2<<d.IntN(3)
	if d.IntN(2) == 0 { // the second growth of both has the same generation, and that of the first is narrower
		d.add(at, Action{Kind: Delete})
		d.add(at, Action{Kind: Crash, Process: one})
		first, second, again = 2, 4, 8
	}
	d.add(at, Action{Kind: Grow, To: first, Process: one, Calm: second > 0})
	if second > 0 {
		d.add(at+100*time.Millisecond, Action{Kind: Grow, To: second, Process: one})
	}
	for range 4 {
		d.add(at+moment(), Action{Kind: Write, Process: one})
	}
	at += 200*time.Millisecond + moment()
	d.add(at, Action{Kind: Delete})
	d.add(at, Action{Kind: Crash, Process: other})
	d.add(at+moment(), Action{Kind: Grow, To: again, Process: other, Calm: second > 0})
	d.add(at+moment(), Action{Kind: Write, Process: other})
	at += draw(d.Rand, 5*time.Second)
	if d.IntN(2) == 0 {
		d.add(at, Action{Kind: Crash, Process: one})
	}
	d.add(at+moment(), Action{Kind: Repair, Process: other})
	d.add(at+moment(), Action{Kind: Read, Process: one})
	d.add(at+draw(d.Rand, 5*time.Second), Action{Kind: Read, Process: other})
}

// pause draws how long a process sleeps: an instant, or an hour.
func pause(r *rand.Rand) time.Duration {
	switch r.IntN(4) {
	case 0:
		return time.Duration(r.Int64N(int64(100 * time.Millisecond)))
	case 1:
		return time.Duration(r.Int64N(int64(10 * time.Second)))
	case 2:
		return time.Duration(r.Int64N(int64(2 * time.Minute)))
	}
	return time.Duration(r.Int64N(int64(time.Hour)))
}

package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// Kind is what an action does.
type Kind uint8

// The kinds of actions. The first five are operations of a process, the next two happen to a process, the rest to the ledger.
const (
	Write Kind = iota
	Read
	Grow
	Refresh // a writer reads the ledger, as after a throttle
	Freeze  // somebody sets Frozen, or takes it back
	Pause
	Crash
	Outage  // every request to the ledger is throttled for a while
	Delete  // somebody deletes the ledger's item
	Restore // somebody restores the ledger of an earlier time
	Repair  // somebody writes a ledger that covers all shards that were ever used
)

var kindNames = [...]string{"write", "read", "grow", "refresh", "freeze", "pause", "crash", "outage", "delete ledger", "restore ledger", "repair ledger"}

// Action is something that happens at a time.
type Action struct {
	At      time.Duration
	Kind    Kind
	Process int
	Mode    ledger.Mode   // of a Read
	To      int           // of a Grow
	For     time.Duration // of a Pause; of a Restore, how long ago
	Seed    uint64        // of its delays and faults
	Calm    bool          // none of its requests meets a fault
}

// String describes the action in a line.
func (a Action) String() string {
	s := fmt.Sprintf("%12v  %s", a.At, kindNames[a.Kind])
	switch a.Kind {
	case Read:
		s += " " + [...]string{"strong", "causal", "eventual"}[a.Mode]
	case Grow:
		s += fmt.Sprintf(" to %d", a.To)
	case Pause, Restore, Outage:
		s += fmt.Sprintf(" %v", a.For)
	}
	if a.Kind <= Crash {
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
	Faults    Faults
	Actions   []Action
}

// String prints the plan.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d processes, faults in a thousand: %+v\n", p.Seed, p.Processes, p.Faults)
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
		Faults:    Faults{some(200), some(60), some(100), some(150), some(150), some(150), some(300)},
	}
	mishaps := r.IntN(4) // pauses and crashes are rare, common or absent
	losses := r.IntN(5) == 0
	growths := 1 + r.IntN(8)
	var at time.Duration
	for range 30 + r.IntN(50) {
		switch r.IntN(20) {
		case 0:
			at += time.Duration(r.Int64N(int64(40 * time.Second)))
		case 1, 2, 3:
			at += time.Duration(r.Int64N(int64(4 * time.Second)))
		default:
			at += time.Duration(r.Int64N(int64(40 * time.Millisecond)))
		}
		a := Action{At: at, Process: r.IntN(p.Processes), Seed: r.Uint64()}
		switch n := r.IntN(100); {
		case n < 38:
			a.Kind = Write
		case n < 70:
			a.Kind, a.Mode = Read, ledger.Mode(r.IntN(3))
		case n < 72+2*growths:
			a.Kind, a.To = Grow, 1<<r.IntN(4)
		case n < 90:
			a.Kind = Refresh
		case n < 90+2*mishaps:
			a.Kind, a.For = Pause, pause(r)
			if r.IntN(3) == 0 {
				a.Kind = Crash
			}
		case n < 97:
			a.Kind = Write
		case losses:
			a.Kind = [...]Kind{Delete, Restore, Repair}[r.IntN(3)]
			a.For = time.Duration(r.Int64N(int64(time.Minute)))
		case n == 97:
			a.Kind = Freeze
		case n == 98:
			a.Kind, a.For = Outage, draw(r, 20*time.Second)
		default:
			a.Kind, a.Mode = Read, ledger.Eventual
		}
		p.Actions = append(p.Actions, a)
		if mishaps > 0 && r.IntN(20) == 0 {
			p.Actions = append(p.Actions, nap(r, at, p.Processes)...)
		}
	}
	slices.SortStableFunc(p.Actions, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
	return p
}

// nap draws a process that falls asleep while it reads, and wakes up after others have grown the key and written to it.
// Left to chance, that is too rare to show what an answer from before the sleep does to the reads after it.
func nap(r *rand.Rand, at time.Duration, processes int) (actions []Action) {
	sleeper := r.IntN(processes)
	other := (sleeper + 1 + r.IntN(processes-1)) % processes
	long := draw(r, time.Second)
	if r.IntN(2) == 0 {
		long = 33*time.Second + draw(r, time.Minute)
	}
	add := func(after time.Duration, a Action) {
		a.At, a.Seed = at+after, r.Uint64()
		actions = append(actions, a)
	}
	mode := func() ledger.Mode { return ledger.Mode(r.IntN(3)) }
	add(0, Action{Kind: Read, Mode: mode(), Process: sleeper})
	add(draw(r, 20*time.Millisecond), Action{Kind: Pause, For: long, Process: sleeper})
	add(20*time.Millisecond, Action{Kind: Grow, To: 2 << r.IntN(3), Process: other})
	for range 4 {
		add(60*time.Millisecond+draw(r, 200*time.Millisecond), Action{Kind: Write, Process: other})
	}
	for range 4 {
		add(long+draw(r, 100*time.Millisecond), Action{Kind: Read, Mode: mode(), Process: sleeper})
	}
	add(long+draw(r, 5*time.Second), Action{Kind: Read, Mode: ledger.Eventual, Process: sleeper})
	return actions
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

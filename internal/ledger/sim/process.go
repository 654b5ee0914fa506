package sim

import (
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// process is one that uses the machines.
type process struct {
	number      int
	incarnation int
	version     int           // of the ledgers that it understands
	asleep      time.Duration // until then

	memories []*memory // of each bucket
	hints    *ledger.Hints

	clock  ledger.Clock
	rate   time.Duration // of its clocks, in thousandths of the real one
	mono   time.Duration // what its monotonic clock said at the time counted
	until  time.Duration // the real time up to which mono counts; later than now if the clock is suspended
	offset time.Duration // of its wall clock
}

// memory is what a process knows of a bucket.
type memory struct {
	view    *ledger.View
	share   ledger.Share
	waiting map[int64][]func(answer) // who shares a read of the ledger
	known   int64                    // the largest generation that it was told
	newer   bool                     // it was told last that the ledger is of a newer version
}

func newProcess(n int, p Plan) *process {
	made := &process{number: n, version: 1, rate: 1000}
	if n < len(p.Rates) {
		made.rate = time.Duration(p.Rates[n])
	}
	if p.Old > 0 && n < p.Processes-p.Old {
		made.version = 2
	}
	return made
}

// start gives a process an empty memory.
func (w *world) start(p *process) {
	p.incarnation++
	p.memories = nil
	for range w.buckets {
		p.memories = append(p.memories, &memory{
			view:    ledger.NewView(ledger.ViewOptions{Key: "k", Strategy: w.plan.Strategy, Hash: layout.XXHash, Breaks: w.breaks.Breaks}),
			share:   ledger.Share{Breaks: w.breaks.Breaks},
			waiting: map[int64][]func(answer){},
		})
	}
	law, err := ledger.NewLaw(ledger.LawOptions{MaxWidth: 8})
	if err != nil {
		w.wrong("%v", err)
		return
	}
	p.hints = ledger.NewHints(law)
	p.clock = ledger.Clock{Breaks: w.breaks.Breaks}
}

// sleep stops a process for a while, and perhaps its monotonic clock.
func (w *world) sleep(p *process, long time.Duration) {
	w.clock(p)
	p.asleep = max(p.asleep, w.now+long)
	if w.plan.Suspends {
		p.until = max(p.until, p.asleep)
	}
}

// jump sets the wall clock of a process. A clock that is set while the process is suspended cannot be noticed, and is left
// out. The process looks at its clocks often, so before and after.
func (w *world) jump(p *process, by time.Duration) {
	if p.asleep > w.now {
		return
	}
	w.clock(p)
	p.offset += by
	w.clock(p)
}

// wall is what the wall clock of a process shows.
func (w *world) wall(p *process) time.Time {
	return time.Unix(1_000_000_000, 0).Add(w.now*p.rate/1000 + p.offset)
}

// clock is the time as the machines of a process are told it.
func (w *world) clock(p *process) time.Time {
	if w.now > p.until {
		p.mono += (w.now - p.until) * p.rate / 1000
		p.until = w.now
	}
	return p.clock.Now(p.mono, w.wall(p))
}

package sim

import (
	"errors"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// timeout is how long a process waits for an answer.
const timeout = time.Second

// signed is how long after it was sent a request may be applied.
const signed = 15 * time.Minute

var (
	errThrottled = errors.New("throttled")
	errTimeout   = errors.New("timeout")
)

// answer is what a process is told about a request.
type answer struct {
	outcome ledger.Outcome
	reason  ledger.Throttle // why it was throttled
	value   any             // what apply returned, if the outcome is Done
}

func (a answer) err() error {
	switch a.outcome {
	case ledger.Done:
		return nil
	case ledger.Throttled:
		return errThrottled
	}
	return errTimeout
}

// fault is what happens to a request.
type fault uint8

const (
	noFault fault = iota
	throttled
	refused
	dropped
	silent
	late
	twice
)

// target is which item a request is for.
type target uint8

const (
	aShard target = iota
	theLedger
)

// request sends a request. apply is what it does to the table; answer is called once, in the process.
func (w *world) request(o *operation, to target, what string, apply func() any, answered func(answer)) {
	w.in(o, draw(o.rand, 3*time.Millisecond), func() { w.send(o, to, what, apply, answered) })
}

func (w *world) send(o *operation, to target, what string, apply func() any, answered func(answer)) {
	fault, there, back := w.draw(o)
	if to == theLedger && w.now < w.outage {
		fault = refused
	}
	var told bool
	tell := func(after time.Duration, a func() answer) {
		w.in(o, after, func() {
			if !told {
				told = true
				answered(a())
			}
		})
	}
	is := func(a answer) func() answer { return func() answer { return a } }
	again := there + draw(o.rand, signed)
	if o.rand.IntN(2) == 0 {
		again = there + draw(o.rand, 5*time.Second)
	}
	w.say("%v sends: %s%s", o, what, [...]string{"", ", throttled", ", throttled for another reason", ", dropped", ", unanswered", ", late", ", twice"}[fault])
	switch fault {
	case throttled, refused:
		reason := ledger.KeyRange
		if fault == refused {
			reason = [...]ledger.Throttle{ledger.IndexKey, ledger.Table, ledger.Account, ledger.Other}[o.rand.IntN(4)]
		}
		tell(there+back, is(answer{outcome: ledger.Throttled, reason: reason}))
	case dropped:
		tell(timeout, is(answer{}))
	case silent:
		w.at(w.now+there, func() { apply() })
		tell(timeout, is(answer{}))
	case late:
		w.at(w.now+again, func() { apply() })
		tell(timeout, is(answer{}))
	default:
		var value any
		w.at(w.now+there, func() {
			value = apply()
			tell(back, is(answer{outcome: ledger.Done, value: value}))
		})
		tell(timeout, is(answer{}))
		if fault == twice {
			w.at(w.now+again, func() { apply() })
		}
	}
}

// draw returns what happens to a request, and how long it is on its way there and back.
func (w *world) draw(o *operation) (f fault, there, back time.Duration) {
	there, back = draw(o.rand, 10*time.Millisecond), draw(o.rand, 10*time.Millisecond)
	if o.calm {
		return noFault, there, back
	}
	c := w.plan.Faults
	if o.rand.IntN(1000) < c.Slow {
		if o.rand.IntN(2) == 0 {
			there += draw(o.rand, 2*timeout)
		} else {
			back += draw(o.rand, 2*timeout)
		}
	}
	n := o.rand.IntN(1000)
	for i, share := range [...]int{c.Throttled, c.Refused, c.Dropped, c.Silent, c.Late, c.Twice} {
		if n < share {
			return fault(i + 1), there, back
		}
		n -= share
	}
	return noFault, there, back
}

package counter

import (
	"container/list"
	"context"
	"errors"
	"iter"
	"slices"
	"time"
)

// errGone is why an Add is lost for good.
var errGone = errors.New("the process was suspended for longer than Options.Retention, and its slot was removed")

// entry is a counter that this process adds to. Counter.mu guards it; its flusher alone sends requests for it.
type entry struct {
	key     string
	owner   owner
	queue   []*batch // not sent, the oldest first; the last one takes Adds
	flights []flight // sent, by seq
	pace    pace
	flusher bool          // there is one: a goroutine that sends what is in the queue
	hurry   chan struct{} // has something in it if the flusher must not wait
	trouble error         // of the last request, nil if it had an answer

	used   time.Time     // when the last Add came
	fold   time.Time     // when to look after the counter
	recent *list.Element // in Counter.recent
}

// flight is the batches that a flush has added to the slot. Its total is not known to be stored.
type flight struct {
	seq     int64
	amount  amount
	batches []*batch
}

// add puts an Add into the last batch, if that takes more, or a new one with this number, and returns that.
func (e *entry) add(ctx context.Context, number int64, added amount, needed level) *batch {
	var b *batch
	if n := len(e.queue); n > 0 && e.queue[n-1].number == number && !e.queue[n-1].ended {
		b = e.queue[n-1]
	} else {
		b = newBatch(ctx, number)
		e.queue = append(e.queue, b)
	}
	b.amount, _ = b.amount.plus(added) // it fits, or the slot would not
	b.level = max(b.level, needed)
	return b
}

// queued adds up the queue.
func (e *entry) queued() (total amount, needed level) {
	for _, b := range e.queue {
		total, _ = total.plus(b.amount)
		needed = max(needed, b.level)
	}
	return total, needed
}

// fits reports whether the slot can take another amount, should all be stored that is on its way to it.
func (e *entry) fits(added amount) bool {
	total := e.owner.latest()
	for _, f := range e.flights {
		if f.seq > e.owner.lastDoubt() { // else it is in there already
			total, _ = total.plus(f.amount)
		}
	}
	queued, _ := e.queued()
	total, _ = total.plus(queued)
	_, fits := total.plus(added)
	return fits
}

// wanted reports whether there is anything to send: what somebody relies on, and what nobody does any more but is in
// the queue.
func (e *entry) wanted() bool {
	e.queue = slices.DeleteFunc(e.queue, func(b *batch) bool { return b.amount.adds == 0 }) // all taken back
	return len(e.queue) > 0 || e.reliedOn()
}

// reliedOn reports whether anybody relies on what is to be sent.
func (e *entry) reliedOn() bool {
	for b := range e.pending() {
		if b.wanted() {
			return true
		}
	}
	return false
}

// rush keeps the flusher from waiting once.
func (e *entry) rush() {
	select {
	case e.hurry <- struct{}{}:
	default: // it knows
	}
}

// launch puts the queue on its way.
func (e *entry) launch() request {
	f := flight{batches: e.queue}
	f.amount, _ = e.queued()
	for _, b := range e.queue {
		b.sent = true
	}
	e.queue = nil
	var r request
	e.owner, r = e.owner.launch(f.amount)
	f.seq = r.seq
	e.flights = append(e.flights, f)
	return r
}

// land deals with the flights that something is known about. It returns how many Adds are lost that were acknowledged
// in advance.
func (e *entry) land(l landing) (lost int64) {
	var up []flight
	var again []*batch
	for _, f := range e.flights {
		switch {
		case slices.Contains(l.again, f.seq):
			for _, b := range f.batches {
				b.sent = false
			}
			again = append(again, f.batches...)
		case f.seq <= l.counted:
			for _, b := range f.batches {
				b.end(nil, false)
			}
		case slices.Contains(l.lost, f.seq):
			for _, b := range f.batches {
				lost += b.async.adds
				b.end(errGone, true)
			}
		default:
			up = append(up, f)
		}
	}
	e.flights = up
	e.queue = append(again, e.queue...)
	return lost
}

// reject gives up on what callers wait for. What nobody waits for stays.
func (e *entry) reject(cause error) {
	for i, f := range e.flights {
		e.flights[i].batches = endWaiting(f.batches, cause, true)
	}
	e.queue = endWaiting(e.queue, cause, false)
}

func endWaiting(batches []*batch, cause error, uncertain bool) (rest []*batch) {
	for _, b := range batches {
		if left := b.endWaiting(cause, uncertain); left != nil {
			rest = append(rest, left)
		}
	}
	return rest
}

// abandon gives up on everything, and returns how many Adds are lost that were acknowledged in advance.
func (e *entry) abandon(cause error) (lost int64) {
	lost = e.async()
	for _, f := range e.flights {
		endWaiting(f.batches, cause, true)
	}
	endWaiting(e.queue, cause, false)
	e.flights, e.queue = nil, nil
	return lost
}

// async returns how many Adds were acknowledged in advance and are not known to be stored.
func (e *entry) async() (adds int64) {
	for b := range e.pending() {
		adds += b.async.adds
	}
	return adds
}

// context returns that of one of the Adds that are sent next.
func (e *entry) context() context.Context {
	if len(e.queue) > 0 {
		return e.queue[0].ctx
	}
	for b := range e.pending() {
		return b.ctx
	}
	return context.Background()
}

// pending yields the batches that are not known to be stored.
func (e *entry) pending() iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		for _, f := range e.flights {
			for _, b := range f.batches {
				if !yield(b) {
					return
				}
			}
		}
		for _, b := range e.queue {
			if !yield(b) {
				return
			}
		}
	}
}

package counter

import "context"

// batch is Adds that are stored together. Counter.mu guards it until done is closed.
type batch struct {
	number  int64           // how many Flushes came before: the next one waits for those up to its own
	ctx     context.Context // of the first Add, for what it carries: meters, traces
	amount  amount
	level   level
	waiting int    // Adds whose callers wait
	async   amount // the part of the amount that was acknowledged in advance
	sent    bool   // it is on its way, or may be stored: nothing can be taken back

	ended     bool // done is closed: nobody may join any more
	done      chan struct{}
	err       error
	uncertain bool // with err: it may be counted
}

func newBatch(ctx context.Context, number int64) *batch {
	return &batch{ctx: ctx, number: number, done: make(chan struct{})}
}

// wanted reports whether anybody relies on the batch being stored.
func (b *batch) wanted() bool { return b.waiting > 0 || b.async.adds > 0 }

// end tells everybody who waits. What comes later is of no interest to anybody.
func (b *batch) end(err error, uncertain bool) {
	if b.ended {
		return
	}
	b.err, b.uncertain, b.ended = err, uncertain, true
	close(b.done)
}

// endWaiting tells everybody who waits, and returns a batch of what nobody waits for, nil if there is nothing of the
// kind.
func (b *batch) endWaiting(err error, uncertain bool) *batch {
	b.end(err, uncertain)
	if b.async.adds == 0 {
		return nil
	}
	rest := newBatch(b.ctx, b.number)
	rest.amount, rest.async, rest.level, rest.sent = b.async, b.async, b.level, b.sent
	return rest
}

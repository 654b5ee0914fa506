package gather

import (
	"context"
	"sync"
	"time"
)

// request is how much a fetch asks for, and the memory that is reserved for it.
type request struct {
	entries int
	reservation
}

// result is what a request brought.
type result[V any] struct {
	cursor *cursor[V]
	round  int
	asked  request
	took   time.Duration
	page   Page[V]
	err    error
}

// requests are the fetches under way. Each runs in a goroutine of its own and comes back through results.
type requests[V any] struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	results chan result[V]
	history *History

	memory   memory
	sent     int
	left     int // how many more may be sent, -1 for any number
	underWay int // cursors that have a request under way
}

// allow reports whether so many more requests may be sent.
func (r *requests[V]) allow(n int) bool { return r.left < 0 || n <= r.left }

// send sends a cursor's request.
func (r *requests[V]) send(cu *cursor[V], asked request) {
	cu.fetching, cu.since, cu.asked = true, time.Now(), asked
	r.underWay++
	r.launch(cu)
}

// sendAgain sends a cursor's request a second time, if there is memory for it.
func (r *requests[V]) sendAgain(cu *cursor[V]) {
	if r.left != 0 && r.memory.fits(cu.asked.reservation, LeastPages) {
		r.launch(cu)
	}
}

func (r *requests[V]) launch(cu *cursor[V]) {
	shard, round, asked := cu.shard, cu.round, cu.asked // as they are now
	r.memory.reserve(asked.reservation)
	cu.flights++
	r.sent++
	if r.left > 0 {
		r.left--
	}
	r.running.Go(func() {
		began := time.Now()
		page, err := shard.Fetch(r.ctx, asked.entries)
		r.history.sizes.saw(page.Weight) // at once: the next request may be asked for before this answer is taken in
		answer := result[V]{cursor: cu, round: round, asked: asked, took: time.Since(began), page: page, err: err}
		select {
		case r.results <- answer:
		case <-r.ctx.Done():
		}
	})
}

// over ends a cursor's request with its answer. It reports false if another answer has come before, or may still come.
func (r *requests[V]) over(answer result[V]) bool {
	cu := answer.cursor
	r.memory.release(answer.asked.reservation)
	if answer.round != cu.round {
		return false // the other of two was faster
	}
	if cu.flights--; answer.err != nil && cu.flights > 0 {
		return false // the other may still do
	}
	cu.round++
	r.underWay--
	cu.fetching, cu.hedged, cu.flights = false, false, 0
	r.history.latencies.saw(answer.took)
	return true
}

// stop cancels all requests and waits for them.
func (r *requests[V]) stop() {
	r.cancel()
	r.running.Wait()
}

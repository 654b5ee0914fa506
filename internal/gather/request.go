package gather

import (
	"context"
	"sync"
	"time"
)

// request is the number of entries that a fetch asks for, and the memory reserved for it.
type request struct {
	entries int
	reservation
}

// result is the response to a request, or the answer of Stages.More.
type result[V any] struct {
	added *addition[V] // nil for a response

	cursor *cursor[V]
	round  int
	asked  request
	took   time.Duration
	page   Page[V]
	err    error
}

// requests are the fetches and the calls of Stages.More in flight. Each runs in its own goroutine and sends its result
// to results.
type requests[V any] struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	results chan result[V]
	history *History

	memory   memory
	sent     int
	left     int // how many more may be sent; -1 means no limit
	underWay int // the number of cursors with a request in flight
}

// allow reports whether n more requests may be sent.
func (r *requests[V]) allow(n int) bool { return r.left < 0 || n <= r.left }

// send sends a cursor's request.
func (r *requests[V]) send(cu *cursor[V], asked request) {
	cu.fetching, cu.since, cu.asked = true, time.Now(), asked
	r.underWay++
	r.launch(cu)
}

// sendAgain sends a cursor's request a second time if there is memory for it.
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
		r.history.sizes.saw(page.Weight) // now, because the next request may be sized before this response is taken in
		answer := result[V]{cursor: cu, round: round, asked: asked, took: time.Since(began), page: page, err: err}
		select {
		case r.results <- answer:
		case <-r.ctx.Done():
		}
	})
}

// over ends a request with its response. It reports false if the response is not used, because the other of two hedged
// requests answered first or may still succeed.
func (r *requests[V]) over(answer result[V]) bool {
	cu := answer.cursor
	r.memory.release(answer.asked.reservation)
	if answer.round != cu.round {
		return false // the other of two requests was faster
	}
	if cu.flights--; answer.err != nil && cu.flights > 0 {
		return false // the other request may still succeed
	}
	cu.round++
	r.underWay--
	cu.fetching, cu.hedged, cu.flights = false, false, 0
	r.history.latencies.saw(answer.took)
	return true
}

// stop cancels everything in flight and waits for it.
func (r *requests[V]) stop() {
	r.cancel()
	r.running.Wait()
}

package dispatch

import (
	"context"
	"sync"
)

// Limiter bounds the number of requests in flight, and adapts the bound. The bound grows by one after as many successes
// as it allows requests, and is halved when a request is throttled.
type Limiter struct {
	mu      sync.Mutex
	limit   float64
	most    float64
	busy    int
	waiting []chan struct{} // closed to let their owners pass, first come first served
	epoch   int             // how often the limit was halved
}

// FirstConcurrency is the initial bound of a Limiter, which is enough for a hundred shards.
const FirstConcurrency = 128

const leastConcurrency = 4

// NewLimiter returns a limiter that never allows more than most requests in flight.
func NewLimiter(most int) *Limiter {
	return &Limiter{limit: float64(min(most, FirstConcurrency)), most: float64(most)}
}

// Limit returns the current bound.
func (l *Limiter) Limit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(int(l.limit), 1)
}

// pass is the right to send a request.
type pass struct{ epoch int }

// acquire waits for a pass, which must be released.
func (l *Limiter) acquire(ctx context.Context) (pass, error) {
	l.mu.Lock()
	if len(l.waiting) == 0 && l.canPass() {
		l.busy++
		p := pass{l.epoch}
		l.mu.Unlock()
		return p, nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()

	select {
	case <-turn:
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, w := range l.waiting {
			if w == turn {
				l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				return pass{}, ctx.Err()
			}
		}
		l.busy-- // its turn came at the same moment: hand it on
		l.admit()
		return pass{}, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return pass{l.epoch}, nil
}

// release returns a pass and reports whether its request was throttled.
func (l *Limiter) release(p pass, throttled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	switch {
	case !throttled:
		l.limit = min(l.limit+1/l.limit, l.most)
	case p.epoch == l.epoch: // requests sent before the limit was halved say nothing about it
		l.limit = min(max(l.limit/2, leastConcurrency), l.most)
		l.epoch++
	}
	l.admit()
}

func (l *Limiter) canPass() bool { return l.busy < max(int(l.limit), 1) }

func (l *Limiter) admit() {
	for len(l.waiting) > 0 && l.canPass() {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.busy++
	}
}

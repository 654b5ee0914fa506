package dispatch

import (
	"context"
	"sync"
)

// Limiter bounds how many requests are under way, and finds the bound by trying: it grows by one for as many successes as
// it allows requests, and is halved when one is throttled.
type Limiter struct {
	mu      sync.Mutex
	limit   float64
	most    float64
	busy    int
	waiting []chan struct{} // each is closed to let its owner pass, first come first served
	epoch   int             // counts the times the limit was halved
}

// FirstConcurrency is how many requests a Limiter lets pass at once to begin with: enough for a hundred shards.
const FirstConcurrency = 128

const leastConcurrency = 4

// NewLimiter returns a limiter that never lets more than most requests pass at once.
func NewLimiter(most int) *Limiter {
	return &Limiter{limit: float64(min(most, FirstConcurrency)), most: float64(most)}
}

// Limit returns how many requests may pass at once right now.
func (l *Limiter) Limit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(int(l.limit), 1)
}

// pass is the right to send a request.
type pass struct{ epoch int }

// acquire waits for a pass. Every pass is to be released.
func (l *Limiter) acquire(ctx context.Context) (pass, error) {
	l.mu.Lock()
	if len(l.waiting) == 0 && l.hasRoom() {
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

// release gives the pass back and says how its request went.
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

func (l *Limiter) hasRoom() bool { return l.busy < max(int(l.limit), 1) }

func (l *Limiter) admit() {
	for len(l.waiting) > 0 && l.hasRoom() {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.busy++
	}
}

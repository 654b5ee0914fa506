package engine

import (
	"context"
	"fmt"
	"sync/atomic"
)

// tableLock is held by any number of requests for reading, or by one change of
// the table for writing. It is a sync.RWMutex whose waits end with a context:
// a change waits for the requests under way, and may itself take as long as
// indexing a table. A change that waits comes before requests that come later.
//
// Only one change at a time may lock it or wait for it: changes hold Engine.admin.
type tableLock struct {
	// state is the number of requests that hold the lock or are trying to, less
	// changing while a change holds it or waits for it.
	state atomic.Int64
	turn  atomic.Pointer[changeTurn] // the change's; nil: there is none
}

const changing = 1 << 32

type changeTurn struct {
	alone chan struct{} // has room for one: a request was the last to go
	over  chan struct{} // closed when the change is over
}

// rlock takes the lock for a request.
func (l *tableLock) rlock(ctx context.Context) error {
	for l.state.Add(1) <= 0 {
		turn := l.turn.Load()
		l.runlock()
		if turn == nil {
			continue // the change ended since
		}
		select {
		case <-turn.over:
		case <-ctx.Done():
			return fmt.Errorf("wait for a change of the table: %w", ctx.Err())
		}
	}
	return nil
}

// runlock gives it back.
func (l *tableLock) runlock() {
	if l.state.Add(-1) != -changing {
		return
	}
	if turn := l.turn.Load(); turn != nil { // perhaps of a later change, which will look for itself
		select {
		case turn.alone <- struct{}{}:
		default: // it has been told
		}
	}
}

// lock takes the lock for a change.
func (l *tableLock) lock(ctx context.Context) error {
	turn := &changeTurn{make(chan struct{}, 1), make(chan struct{})}
	l.turn.Store(turn)
	l.state.Add(-changing)
	for l.state.Load() != -changing {
		select {
		case <-turn.alone:
		case <-ctx.Done():
			l.unlock()
			return fmt.Errorf("wait for requests on the table: %w", ctx.Err())
		}
	}
	return nil
}

// unlock ends a change.
func (l *tableLock) unlock() {
	turn := l.turn.Load()
	l.state.Add(changing)
	l.turn.Store(nil)
	close(turn.over)
}

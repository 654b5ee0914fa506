package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// sweeper does in the background what only time brings about: it deletes expired
// items, replaces old shards and trims streams. Its goroutine is there only
// while some table has a TTL or some stream exists.
type sweeper struct {
	mu      sync.Mutex
	running bool
	closed  bool
	again   bool          // something came up since the last look
	kick    chan struct{} // ends a pause
	stop    chan struct{} // closed by close
	done    sync.WaitGroup
}

// wake makes the sweeper look now, and starts it if need be.
func (w *sweeper) wake(e *Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.again = true
	if w.running {
		select {
		case w.kick <- struct{}{}:
		default: // it has been kicked and did not look yet
		}
		return
	}
	w.running = true
	w.kick, w.stop = make(chan struct{}, 1), make(chan struct{})
	w.done.Go(func() { w.run(e) })
}

// close stops the sweeper and waits for it.
func (w *sweeper) close() {
	w.mu.Lock()
	if w.running && !w.closed {
		close(w.stop)
	}
	w.closed = true
	w.mu.Unlock()
	w.done.Wait()
}

func (w *sweeper) run(e *Engine) {
	for {
		w.mu.Lock()
		w.again = false
		w.mu.Unlock()
		next := e.sweep(time.Now(), w.stop)
		if next.IsZero() && w.rest() {
			return
		}
		if next.IsZero() {
			continue
		}
		pause := time.NewTimer(time.Until(next))
		select {
		case <-pause.C:
		case <-w.kick:
		case <-w.stop:
		}
		pause.Stop()
		select {
		case <-w.stop:
			return
		default:
		}
	}
}

// rest ends the sweeper if there is nothing left to do.
func (w *sweeper) rest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.again && !w.closed {
		return false
	}
	w.running = false
	return true
}

// sweep does what is due and returns when to look again, the zero time if there
// is nothing to look after.
func (e *Engine) sweep(now time.Time, stop <-chan struct{}) (next time.Time) {
	look := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	e.mu.RLock()
	tables := make([]*table, 0, len(e.tables))
	for _, t := range e.tables {
		tables = append(tables, t)
	}
	streams := make([]*stream, 0, len(e.streams))
	for _, s := range e.streams {
		streams = append(streams, s)
	}
	e.mu.RUnlock()
	for _, t := range tables {
		on, err := e.sweepTable(t, now, stop)
		if err != nil {
			e.complain("delete expired items", err, "table", t.name)
		}
		if on {
			look(now.Add(e.options.TTLInterval))
		}
	}
	for _, s := range streams {
		at, err := e.sweepStream(s, now)
		if err != nil {
			e.complain("maintain stream", err, "stream", s.meta.Load().ARN)
			at = now.Add(time.Minute)
		}
		if !at.IsZero() {
			look(at)
		}
	}
	return next
}

// complain reports trouble in the background. That the disk takes no writes is for
// the store to tell, once.
func (e *Engine) complain(what string, err error, args ...any) {
	if e.options.Logger != nil && !errors.Is(err, store.ErrNoWrites) {
		e.options.Logger.Error(what, append(args, "error", err)...)
	}
}

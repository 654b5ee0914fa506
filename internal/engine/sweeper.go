package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// sweeper does in the background what only time brings about: it deletes expired
// items, replaces old shards, trims streams and history, and removes backups whose
// time is over. It sleeps until the first of these is due. Its goroutine is there
// only while there is something that will be.
type sweeper struct {
	mu      sync.Mutex
	running bool
	closed  bool
	again   bool               // look at once
	kick    chan struct{}      // ends a sleep
	cancel  context.CancelFunc // ends the goroutine
	done    sync.WaitGroup

	// due is when the first item expires, in Unix seconds, as far as the sweeper
	// knows; noExpiry if none does. Who stores an item looks here whether it is
	// an earlier one. It changes under mu.
	due atomic.Int64
}

// noExpiry is the expiry of an item that never expires.
const noExpiry = math.MaxInt64

// maxSleep is how long the sweeper sleeps at most while some item will expire:
// its timers stand still in a suspended computer and do not follow a clock that
// is set, so that items may expire this much later than they should. Each look
// costs microseconds, so that a virtual year of looks costs less than a second.
const maxSleep = 30 * time.Minute

// sweepRetry is when the sweeper looks again after an error.
const sweepRetry = time.Minute

// wake makes the sweeper look now, and starts it if need be.
func (w *sweeper) wake(e *Engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again = true
	w.start(e)
}

// expect lets the sweeper know of an item that was stored and expires at a Unix
// second. It costs a comparison unless that comes before all others.
func (w *sweeper) expect(e *Engine, due int64) {
	if due >= w.due.Load() || due < tooOld(time.Now()) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if due < w.due.Load() {
		w.due.Store(due)
		w.start(e)
	}
}

// start makes the sweeper take note of what changed. The caller holds mu.
func (w *sweeper) start(e *Engine) {
	if w.closed {
		return
	}
	if w.running {
		select {
		case w.kick <- struct{}{}:
		default: // it has been kicked and did not look yet
		}
		return
	}
	w.running = true
	w.kick = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.done.Go(func() { w.run(ctx, e) })
}

// close stops the sweeper and waits for it.
func (w *sweeper) close() {
	w.mu.Lock()
	if w.running {
		w.cancel()
	}
	w.closed = true
	w.mu.Unlock()
	w.done.Wait()
}

func (w *sweeper) run(ctx context.Context, e *Engine) {
	last, streams := time.Now(), time.Time{}
	for w.sleep(ctx, e.options.TTLInterval, last, streams) {
		now := time.Now()
		// A look that is due for streams or history leaves expired items until their own.
		expire := w.forget() || now.Sub(last) >= e.options.TTLInterval
		if expire {
			last = now
		}
		var due int64
		due, streams = e.sweep(ctx, now, expire)
		w.learn(due)
	}
}

// forget comes before a look: items that are stored from now on may be missed by
// it, and are to be told. It returns whether the sweeper was woken.
func (w *sweeper) forget() (woken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken, w.again = w.again, false
	w.due.Store(noExpiry)
	return woken
}

// learn takes what a look found.
func (w *sweeper) learn(due int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due.Store(min(w.due.Load(), due))
}

// sleep returns true when it is time to look again, and false when the sweeper is
// to end: it is closed, or there is nothing to wait for.
func (w *sweeper) sleep(ctx context.Context, interval time.Duration, last, streams time.Time) bool {
	for ctx.Err() == nil {
		now := time.Now()
		next, ok := w.next(now, interval, last, streams)
		if !ok {
			return false
		}
		if !next.After(now) {
			return true
		}
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-timer.C:
			return true
		case <-w.kick:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return false
}

// next returns when to look again. If there is nothing to look after, it ends the
// sweeper.
func (w *sweeper) next(now time.Time, interval time.Duration, last, streams time.Time) (next time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.due.Load()
	switch {
	case w.again:
		return now, true
	case due == noExpiry && streams.IsZero():
		w.running = false
		w.cancel()
		return next, false
	case due == noExpiry:
		return streams, true
	}
	next = expiryLook(due, now, interval, last)
	if !streams.IsZero() {
		next = earlier(next, streams)
	}
	return next, true
}

// expiryLook returns when to look for an item that expires at a Unix second: the
// first time after that, and after now, of those that are a multiple of the
// interval after the last look. So looks are as far apart as the interval, and an
// item that is stored too late stays for a moment, as if there were a look at
// every interval.
func expiryLook(due int64, now time.Time, interval time.Duration, last time.Time) time.Time {
	latest := now.Add(max(maxSleep, interval))
	if due > latest.Unix() {
		return latest
	}
	whole := now.Sub(last)/interval + 1
	if until := time.Unix(due, 0).Sub(last); until > 0 {
		whole = max(whole, (until-1)/interval+1)
	}
	return earlier(last.Add(whole*interval), latest)
}

// sweep does what is due. Items that have expired it deletes only if it is to. It returns when the first item expires, in Unix
// seconds, and when to look after the rest, the zero time if there is none.
func (e *Engine) sweep(ctx context.Context, now time.Time, expire bool) (due int64, rest time.Time) {
	e.at(looked)
	tables, list := e.swept()
	due = noExpiry
	for _, t := range tables {
		at, err := e.sweepSafely(ctx, t, now, expire)
		if err != nil {
			e.complain(ctx, "delete expired items", err, "table", t.name)
			at = now.Add(sweepRetry).Unix()
		}
		due = min(due, at)
	}
	look := func(at time.Time, err error, what string, args ...any) {
		if err != nil {
			e.complain(ctx, what, err, args...)
			at = now.Add(sweepRetry)
		}
		if !at.IsZero() && (rest.IsZero() || at.Before(rest)) {
			rest = at
		}
	}
	for _, t := range tables {
		at, err := e.sweepHistory(ctx, t, now)
		look(at, err, "trim history", "table", t.name)
	}
	at, err := e.sweepBackups(now)
	look(at, err, "remove backups whose time is over")
	for _, s := range list {
		at, err := e.sweepStreamSafely(ctx, s, now)
		look(at, err, "maintain stream", "stream", s.meta.Load().ARN)
	}
	return due, rest
}

// swept are the tables and streams there are.
func (e *Engine) swept() (tables []*table, streams []*stream) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, t := range e.tables {
		tables = append(tables, t)
	}
	for _, s := range e.streams {
		streams = append(streams, s)
	}
	return tables, streams
}

func (e *Engine) sweepSafely(ctx context.Context, t *table, now time.Time, expire bool) (due int64, err error) {
	defer e.survive(&err)
	if !expire {
		return e.nextExpiry(ctx, t, now)
	}
	return e.sweepTable(ctx, t, now)
}

func (e *Engine) sweepStreamSafely(ctx context.Context, s *stream, now time.Time) (next time.Time, err error) {
	defer e.survive(&err)
	return e.sweepStream(ctx, s, now)
}

// survive makes an error of a panic in the background, as the server does with
// those of requests. If there is no logger to tell, the panic goes on: a mistake
// in the program that nobody hears of would be worse.
func (e *Engine) survive(err *error) {
	if e.options.Logger == nil {
		return
	}
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// complain reports trouble in the background. That ctx ended is none: the engine
// is being closed. That the disk takes no writes is for the store to tell, once.
func (e *Engine) complain(ctx context.Context, what string, err error, args ...any) {
	if e.options.Logger != nil && ctx.Err() == nil && !errors.Is(err, store.ErrNoWrites) {
		e.options.Logger.Error(what, append(args, "error", err.Error())...)
	}
}

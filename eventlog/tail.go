package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// TailOptions say where a Tail begins and how it polls.
type TailOptions struct {
	// After is the position to continue after, from an Event or a Tail. Default: none; the Tail begins at From.
	After string

	// From is the time of the first events to return, if After is empty. Default: now.
	From time.Time

	// MinPoll and MaxPoll bound the time between two polls. A Tail waits MinPoll after a poll that found events. After
	// a poll that found none it doubles the time, up to MaxPoll. Defaults: 1 s and 30 s.
	MinPoll, MaxPoll time.Duration

	// GiveUp is how long successive polls may fail before the Tail ends with the last error. Default: 1 min. Negative:
	// the Tail ends at the first failure.
	GiveUp time.Duration
}

// Tail follows a log. It returns the events after a position and then new events, in order. It is behind the present by
// Options.Settle and the time to the next poll.
//
// A Tail returns each event after its position exactly once, if the append was acknowledged less than Options.Settle
// after the event's time, by the Tail's clock. Store the Position of each event after you have processed it, and begin
// there after a restart: then no event is missed. Events whose Position was not stored are returned again.
//
// A poll is one strongly consistent query of each shard of the current bucket, and a few more when a bucket ends. Only
// one goroutine may range over a Tail at a time; Position may be called from any.
type Tail[T any] struct {
	core    *core
	log     string
	options TailOptions

	mu       sync.Mutex
	position position
}

// Tail returns a Tail of a log. It reads nothing yet.
func (l *Log[T]) Tail(log string, options TailOptions) (*Tail[T], error) {
	c := l.core
	o := options
	o.MinPoll = cmp.Or(o.MinPoll, time.Second)
	o.MaxPoll = cmp.Or(o.MaxPoll, max(30*time.Second, o.MinPoll))
	o.GiveUp = cmp.Or(o.GiveUp, time.Minute)
	if o.MinPoll < 0 || o.MaxPoll < o.MinPoll {
		return nil, fmt.Errorf("%w: tail of log %q: MinPoll is %v and MaxPoll is %v, want 0 < MinPoll ≤ MaxPoll", ErrQuery, log, o.MinPoll, o.MaxPoll)
	}
	now := time.Now()
	if _, err := c.options.layout().ShardKey(log, now, 0); err != nil {
		return nil, fmt.Errorf("%w: tail: %w", ErrQuery, err)
	}
	t := &Tail[T]{core: c, log: log, options: o}
	if o.After != "" {
		var err error
		if t.position, err = c.parsePosition(o.After, tailed, log); err != nil {
			return nil, err
		}
		if _, err := c.stamps.notAfter(t.position.key); err != nil {
			return nil, fmt.Errorf("%w: log %q: %w", ErrToken, log, err)
		}
		return t, nil
	}
	from := o.From
	if from.IsZero() {
		from = now
	}
	if err := checkTime(from); err != nil {
		return nil, fmt.Errorf("%w: tail of log %q: From: %w", ErrQuery, log, err)
	}
	t.position = position{kind: tailed, key: c.stamps.bound(c.stamps.ceil(from))}
	return t, nil
}

// Position returns the position after the last returned event, or a later one if there is certainly nothing to return
// before it. Store it as text. It stays valid after a restart, a change of buckets, and a growth of shards.
func (t *Tail[T]) Position() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.core.token(t.position, t.log)
}

// Time returns the time of the Tail's position: the Tail has returned every event before it. It is at least
// Options.Settle behind the present.
func (t *Tail[T]) Time() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, _ := t.core.stamps.notAfter(t.position.key) // which was checked before it became the position
	return at
}

func (t *Tail[T]) move(p position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.position = p
}

// Events returns the events after the Tail's position, and waits for more until ctx ends. The last pair is then the
// error of ctx. A failed poll is repeated until TailOptions.GiveUp. Leaving the loop cancels running requests and waits
// for them. Ranging again continues after the last returned event.
//
// Events that expire before they are returned are skipped. Store positions, and restart within the Retention.
func (t *Tail[T]) Events(ctx context.Context) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		var wait time.Duration
		var failing time.Time // since when; the zero time if the last poll succeeded, or brought something
		for {
			found, err := t.poll(ctx, yield)
			if err == nil || found {
				failing = time.Time{}
			}
			if err != nil && failing.IsZero() {
				failing = time.Now()
			}
			if wait = min(2*wait, t.options.MaxPoll); found || wait == 0 {
				wait = t.options.MinPoll
			}
			if err = t.survive(ctx, err, failing); err == nil {
				err = dispatch.Sleep(ctx, wait)
			}
			if err != nil {
				if !errors.Is(err, errEnough) {
					yield(Event[T]{}, err)
				}
				return
			}
		}
	}
}

// survive returns nil if there is to be another poll after one with this error.
func (t *Tail[T]) survive(ctx context.Context, err error, failing time.Time) error {
	if err == nil {
		return nil
	}
	hopeless := errors.Is(err, errEnough) || errors.Is(err, ErrQuery) || errors.As(err, new(*DecodeError))
	if hopeless || ctx.Err() != nil || time.Since(failing) >= t.options.GiveUp {
		return err
	}
	t.core.options.Logger.WarnContext(ctx, "poll failed", "log", t.log, "table", t.core.options.Table,
		"failing", time.Since(failing), "error", err)
	return nil
}

// poll returns the events that are settled by now, and reports whether there were any. The error is errEnough if yield
// wants no more.
func (t *Tail[T]) poll(ctx context.Context, yield func(Event[T], error) bool) (found bool, err error) {
	c := t.core
	s := t.stretch(time.Now())
	if s == nil {
		return false, ctx.Err()
	}
	var stop error
	err = c.gather(ctx, s, func(key string, item heatsink.Item) bool {
		found = true
		p := position{kind: tailed, key: key, returned: true}
		t.move(p)
		event, err := decode[T](c, t.log, key, item)
		if bad, ok := errors.AsType[*DecodeError](err); ok {
			bad.Position = c.token(p, t.log)
			stop = bad
			return false
		}
		if event.Position = c.token(p, t.log); !yield(event, nil) {
			stop = errEnough
		}
		return stop == nil
	})
	if err = cmp.Or(stop, err); err == nil {
		t.move(position{kind: tailed, key: s.hi})
	}
	return found, err
}

// stretch returns what is settled now and behind the position, nil if there is nothing. Any event in it was
// acknowledged before now, or too late. What has expired is skipped.
func (t *Tail[T]) stretch(now time.Time) *stretch {
	c := t.core
	t.mu.Lock()
	p := t.position
	t.mu.Unlock()
	s := &stretch{Query: Query{Log: t.log, Consistent: true, MaxRequests: -1}, lo: p.key, to: c.stamps.floor(now.Add(-c.options.Settle))}
	if p.returned {
		s.passed = p.key
	}
	s.hi = c.stamps.bound(s.to)
	s.from, _ = c.stamps.notAfter(p.key)
	if oldest := c.oldest(now); s.from.Before(oldest) {
		s.from, s.lo = oldest, c.stamps.bound(oldest)
	}
	if s.lo >= s.hi {
		return nil
	}
	return s
}

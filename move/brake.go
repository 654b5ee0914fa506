package move

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// brake keeps requests to a number of units per second. When the table throttles, it halves the rate, at most once a
// second. Then the rate grows by a tenth every second, so that a table that takes little is seldom asked for more.
type brake struct {
	most float64

	mu     sync.Mutex
	rate   float64
	due    time.Time // when the next request may be sent
	grown  time.Time // when the rate was looked at last
	halved time.Time

	failing  time.Time // when the first request failed since one was served; zero if none did
	failures int       // how many did
}

const (
	catchUp    = 100 * time.Millisecond // time that was not used for longer is lost
	halveEvery = time.Second
	growth     = 0.1 // every second
	slowest    = 1.0 // units per second
)

func newBrake(most float64) *brake {
	now := time.Now()
	return &brake{most: most, rate: most, due: now, grown: now}
}

// take waits until so many units may be used.
func (b *brake) take(ctx context.Context, units float64) error {
	b.mu.Lock()
	now := time.Now()
	b.grow(now)
	if earliest := now.Add(-catchUp); b.due.Before(earliest) {
		b.due = earliest
	}
	turn := b.due
	b.spend(units)
	b.mu.Unlock()
	if wait := turn.Sub(now); wait > 0 {
		return dispatch.Sleep(ctx, wait)
	}
	return ctx.Err()
}

// settle corrects what was taken by what was used.
func (b *brake) settle(taken, used float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spend(used - taken)
}

func (b *brake) spend(units float64) {
	b.due = b.due.Add(time.Duration(units / b.rate * float64(time.Second)))
}

func (b *brake) grow(now time.Time) {
	b.rate = min(b.most, b.rate*math.Exp(growth*now.Sub(b.grown).Seconds()))
	b.grown = now
}

// throttled slows down.
func (b *brake) throttled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.grow(now)
	if now.Sub(b.halved) >= halveEvery {
		b.rate, b.halved = max(b.rate/2, min(slowest, b.most)), now
	}
}

// served notes that a request was answered.
func (b *brake) served() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing, b.failures = time.Time{}, 0
}

// failed notes that a request was not served. It reports whether none was for stallTime, in several attempts: a slow rate may
// have few of them. The time before the first failure does not count, because nothing may have been sent then.
func (b *brake) failed() (stalled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.failures++; b.failures == 1 {
		b.failing = now
	}
	return b.failures >= stallTimes && now.Sub(b.failing) > stallTime
}

// now returns the rate at present.
func (b *brake) now() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grow(time.Now())
	return b.rate
}

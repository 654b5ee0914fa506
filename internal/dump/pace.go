package dump

import (
	"context"
	"sync"
	"time"
)

// pace keeps requests to a number of units per second. What a request costs is known
// when it is done, and is paid by those that come later.
type pace struct {
	rate float64 // 0: without a limit

	mu  sync.Mutex
	due time.Time // when what was spent is paid
}

// wait waits until what was spent is paid.
func (p *pace) wait(ctx context.Context) error {
	p.mu.Lock()
	due := p.due
	p.mu.Unlock()
	return rest(ctx, time.Until(due))
}

func (p *pace) spend(units float64) {
	if p.rate <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(time.Duration(units / p.rate * float64(time.Second)))
}

// rest waits, and returns an error if ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

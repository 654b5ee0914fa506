package adapt

import (
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// clock is the time that the machines take. It is safe for concurrent use.
type clock struct {
	mu    sync.Mutex
	clock ledger.Clock
	start time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.start.IsZero() {
		c.start = now
	}
	return c.clock.Now(now.Sub(c.start), now)
}

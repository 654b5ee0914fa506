package adapt

import (
	"sync"
	"time"
)

// clock never goes back, and counts time in which the machine was suspended. The monotonic clock of a frozen machine stands
// still, and a wall clock may be set: what passes is the larger of the two.
type clock struct {
	mu   sync.Mutex
	last time.Time // of the process's clocks
	now  time.Time
}

func (c *clock) read() time.Time {
	at := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.IsZero() {
		c.last, c.now = at, at.Round(0)
		return c.now
	}
	c.now = c.now.Add(max(at.Sub(c.last), at.Round(0).Sub(c.last.Round(0)), 0))
	c.last = at
	return c.now
}

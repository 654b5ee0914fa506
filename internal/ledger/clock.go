package ledger

import "time"

// Clock makes one time of the two clocks of a process. The monotonic clock stands still while its machine is suspended, and
// the wall clock is set back and forth by people and by time servers. A Clock advances as far as the faster of both has, and
// never goes back. So a cached record is never younger than it seems, unless the machine was suspended and its wall clock
// set back between two calls. A wall clock that jumps ahead makes records old early, which costs one read of the ledger each.
//
// The zero Clock is ready. It needs a lock if several goroutines call it. The machines take its time as Now.
type Clock struct {
	Breaks Breaks // the rules to leave out; for tests

	now  time.Time
	mono time.Duration
	wall time.Time
}

// Now returns the time. mono is what the monotonic clock says, such as time.Since of the start of the process, and wall is
// what the wall clock says. Call it at least once a second, so that little can happen to the clocks between two calls.
func (c *Clock) Now(mono time.Duration, wall time.Time) time.Time {
	wall = wall.Round(0) // without the monotonic reading, which Sub would prefer
	if c.now.IsZero() {
		c.now, c.mono, c.wall = wall, mono, wall
		return c.now
	}
	passed, shown := mono-c.mono, wall.Sub(c.wall)
	switch {
	case c.Breaks.WallOnly:
		c.now = c.now.Add(shown)
	case c.Breaks.MonotonicOnly:
		c.now = c.now.Add(passed)
	default:
		c.now = c.now.Add(max(passed, shown, 0))
	}
	c.mono, c.wall = mono, wall
	return c.now
}

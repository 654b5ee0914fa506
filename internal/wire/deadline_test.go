package wire

import (
	"testing"
	"time"
)

// A deadline is never earlier than asked for, nor much later, and is not set
// for every request.
func TestDeadline(t *testing.T) {
	var at time.Time
	sets := 0
	d := deadline{set: func(to time.Time) error {
		at = to
		sets++
		return nil
	}}
	now := time.Now()
	for _, c := range []struct {
		after, by time.Duration // since the last
		sets      int
	}{
		{0, time.Minute, 1},
		{0, time.Minute, 1},
		{slack / 2, time.Minute, 1},
		{slack / 2, time.Minute, 1},
		{1, time.Minute, 2},
		{0, time.Second, 3}, // sooner than before
		{0, time.Minute, 4},
		{time.Hour, time.Minute, 5}, // it has passed
	} {
		now = now.Add(c.after)
		d.extend(now, c.by)
		if left := at.Sub(now); left < c.by || left > c.by+slack {
			t.Errorf("%v: got %v", c.by, left)
		}
		if sets != c.sets {
			t.Errorf("%v: set %d times, want %d", c.by, sets, c.sets)
		}
	}
}

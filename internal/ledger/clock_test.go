package ledger

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	type reading struct {
		mono, wall, want time.Duration // since the first reading
	}
	for _, c := range []struct {
		name     string
		readings []reading
	}{
		{"both agree", []reading{{time.Second, time.Second, time.Second}, {time.Minute, time.Minute, time.Minute}}},
		{"suspended", []reading{{time.Second, time.Hour, time.Hour}, {2 * time.Second, time.Hour + time.Second, time.Hour + time.Second}}},
		{"wall clock set back", []reading{{time.Second, -time.Hour, time.Second}, {3 * time.Second, 2*time.Second - time.Hour, 3 * time.Second}}},
		{"set ahead and back", []reading{{time.Second, time.Hour, time.Hour}, {2 * time.Second, 2 * time.Second, time.Hour + time.Second}}},
		{"both go back", []reading{{-time.Second, -time.Hour, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var clock Clock
			start := clock.Now(time.Hour, time.Now())
			if !start.Equal(clock.wall) {
				t.Fatalf("got %v at first, want the wall clock's %v", start, clock.wall)
			}
			first := clock.wall
			for i, r := range c.readings {
				if got := clock.Now(time.Hour+r.mono, first.Add(r.wall)).Sub(start); got != r.want {
					t.Errorf("reading %d: got %v, want %v", i, got, r.want)
				}
			}
		})
	}
}

// The wall clock counts even if its reading carries a monotonic one.
func TestClockReadsTheWall(t *testing.T) {
	var clock Clock
	now := time.Now() // has both readings, and Add moves both
	start := clock.Now(0, now)
	if got := clock.Now(0, now.Add(time.Hour)).Sub(start); got != time.Hour {
		t.Errorf("got %v, want an hour", got)
	}
}

package counter

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		adds     int64 // of each flush
		failures int   // before they succeed
		flushes  int
		want     time.Duration
	}{
		{"few Adds wait for the whole interval", 2, 0, 50, 50 * time.Millisecond},
		{"enough Adds do not wait for more", 200, 0, 50, minInterval},
		{"just enough", 100, 0, 50, 50 * time.Millisecond},
		{"a failure doubles it", 2, 1, 0, 100 * time.Millisecond},
		{"failures take it to a second", 2, 20, 0, time.Second},
		{"successes bring it back", 2, 20, 100, 50 * time.Millisecond},
		{"nothing is a flush, too", 0, 0, 5, 50 * time.Millisecond},
		{"any number of Adds", 1 << 62, 0, 50, minInterval},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPace(defaultInterval)
			if wait := p.due(start); wait != 0 {
				t.Errorf("the first one waits for %v", wait)
			}
			for range c.failures {
				p.failed(start)
			}
			for range c.flushes {
				p.started(start)
				p.succeeded(c.adds)
			}
			if got := p.due(start); c.failures > 0 && c.flushes == 0 && (got < c.want/2 || got > c.want) {
				t.Errorf("after a failure it waits for %v", got)
			}
			p.started(start)
			got := p.due(start)
			if got < c.want || got > c.want+time.Millisecond {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if wait := p.due(start.Add(time.Minute)); wait != 0 {
				t.Errorf("after a pause it waits for %v", wait)
			}
		})
	}
}

// A clock that is set back must not stop a counter for longer than an interval.
func TestPaceWithAClockThatIsSetBack(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newPace(defaultInterval)
	p.started(start)
	if wait := p.due(start.Add(-time.Hour)); wait > maxInterval {
		t.Errorf("it waits for %v", wait)
	}
}

package scenario

import (
	"math"
	"testing"
	"time"
)

// The operations between two times are the integral of the rate, whatever its shape.
func TestBetweenIsTheIntegral(t *testing.T) {
	s := func(seconds float64) Duration { return Duration(seconds * 1e9) }
	for name, l := range map[string]Load{
		"constant":  {PerSecond: 7},
		"ramp up":   {Ramp: &Ramp{From: 1, To: 11, Over: s(5)}},
		"ramp down": {Ramp: &Ramp{From: 11, To: 0, Over: s(2.5)}},
		"steps":     {Steps: []Step{{s(1.25), 8}, {s(1.5), 0}, {s(6), 3}}},
	} {
		for _, c := range []struct{ from, to float64 }{{0, 10}, {1.3, 1.4}, {1, 6.5}, {2, 2}, {4.75, 5.25}} {
			sum := 0.0
			const parts = 100_000
			for i := range parts {
				at := c.from + (c.to-c.from)*(float64(i)+0.5)/parts
				sum += l.Rate(time.Duration(at*1e9)) * (c.to - c.from) / parts
			}
			if got := l.Between(time.Duration(s(c.from)), time.Duration(s(c.to))); math.Abs(got-sum) > 1e-3 {
				t.Errorf("%s, %v to %v s: got %v, want %v", name, c.from, c.to, got, sum)
			}
		}
	}
}

// A piece is never lower than the rate within it, and a short peak is a piece of its own.
func TestPiecesHoldTheRate(t *testing.T) {
	spike := Load{Steps: []Step{{0, 0.1}, {Duration(3 * time.Second), 400_000}, {Duration(4 * time.Second), 0.1}}}
	if got := spike.Draws(168 * time.Hour); math.Abs(got-460_480) > 1 {
		t.Errorf("a spike in a week takes %v draws, want 460,480", got)
	}
	for _, l := range []Load{spike, {PerSecond: 3}, {Ramp: &Ramp{From: 5, To: 1, Over: Duration(2 * time.Second)}}} {
		for at := time.Duration(0); at < 5*time.Second; at += 10 * time.Millisecond {
			if peak, end := l.Piece(at); peak < l.Rate(at) || end <= at {
				t.Errorf("%+v at %v: got %v until %v", l, at, peak, end)
			}
		}
	}
}

package main

import (
	"context"
	"testing"
	"time"
)

func TestNextSecond(t *testing.T) {
	start := time.Date(2026, 6, 22, 12, 0, 0, 0, time.UTC)
	end := start.Add(7 * time.Second)
	for _, c := range []struct{ last, want time.Duration }{
		{0, time.Second},
		{5 * time.Second, 6 * time.Second},
		{6 * time.Second, 7 * time.Second},
		{5700 * time.Millisecond, 7 * time.Second}, // no short rest
		{6900 * time.Millisecond, 7 * time.Second},
	} {
		if got := nextSecond(start.Add(c.last), end).Sub(start); got != c.want {
			t.Errorf("after %v: got %v, want %v", c.last, got, c.want)
		}
	}
}

// A machine that lets nobody look before all is over still gives figures.
func TestWatchThatComesTooLate(t *testing.T) {
	l := load{runIn: time.Second, measured: time.Second}
	w := &writing{units: 8, offered: 100, from: time.Now().Add(-9 * time.Second)} // ten seconds ago it began
	got := w.watch(context.Background(), l, silent(), nil)
	if len(got.seconds) != 1 || got.measured != got.seconds[0] || !near(got.measured.Offered, 80, 0.2) {
		t.Errorf("got %+v, want 80 WCU/s offered, once", got)
	}
}

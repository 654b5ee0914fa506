package heat

import (
	"math"
	"testing"
	"time"
)

// What a sum has loses value by e every decay; what comes late has lost it already.
func TestDecaying(t *testing.T) {
	const decay = 10 * time.Second
	at := func(d time.Duration) int64 { return int64(time.Hour + d) }
	want := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	var d decaying
	want("nothing", d.at(at(0), decay), 0)
	d.add(at(0), 100, decay)
	want("at once", d.at(at(0), decay), 100)
	want("before", d.at(at(-decay), decay), 100)
	want("after one decay", d.at(at(decay), decay), 100/math.E)
	d.add(at(decay), 50, decay)
	want("with more", d.at(at(decay), decay), 100/math.E+50)
	d.add(at(0), 7, decay) // late by one decay
	want("with something late", d.at(at(decay), decay), 107/math.E+50)
	d.add(at(decay)+grain-1, 3, decay) // the same moment
	want("in the same moment", d.at(at(decay), decay), 107/math.E+53)
	d.add(at(decay)-grain+1, 3, decay)
	want("a little late", d.at(at(decay), decay), 107/math.E+56)
	d.add(at(decay)+grain, 0, decay)
	want("a moment later", d.at(at(decay)+grain, decay), (107/math.E+56)*math.Exp(-float64(grain)/float64(decay)))
}

// The last full second is the one before this one, and empty if nothing happened in it.
func TestSeconds(t *testing.T) {
	at := func(seconds float64) int64 { return int64(seconds * float64(time.Second)) }
	var s seconds
	s.add(at(100), 1)
	s.add(at(100.9), 2)
	s.add(at(101), 4)
	s.add(at(100.5), 8) // late: counted in this second
	for now, want := range map[float64]float64{101: 3, 101.9: 3, 102: 12, 102.9: 12, 103: 0, 200: 0} {
		if got := s.last(at(now)); got != want {
			t.Errorf("at %v s: got %v, want %v", now, got, want)
		}
	}
	s.add(at(105), 1)
	if got := s.last(at(105)); got != 0 {
		t.Errorf("after a pause: got %v, want 0", got)
	}
}

// A rush counts for a minute, or until there is a greater one.
func TestBusy(t *testing.T) {
	at := func(d time.Duration) int64 { return int64(time.Hour + d) }
	var b busy
	b.note(at(0), 100)
	b.note(at(time.Second), 90)
	for after, want := range map[time.Duration]float64{0: 100, time.Minute: 100, time.Minute + 1: 0} {
		if got := b.lately(at(after)); got != want {
			t.Errorf("after %v: got %v, want %v", after, got, want)
		}
	}
	b.note(at(2*time.Second), 100) // as high: it counts from now on
	if got := b.lately(at(time.Minute + 2*time.Second)); got != 100 {
		t.Errorf("as high again: got %v, want 100", got)
	}
	b.note(at(time.Minute+2*time.Second), 50)
	if got := b.lately(at(time.Minute + 2*time.Second)); got != 100 {
		t.Errorf("within the minute: got %v, want 100", got)
	}
	b.note(at(time.Minute+2*time.Second+1), 50)
	if got := b.lately(at(time.Minute + 3*time.Second)); got != 50 {
		t.Errorf("after the minute: got %v, want 50", got)
	}
}

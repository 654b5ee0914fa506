package heat

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// pointsText writes points as "seconds since the start: units/throttled over length".
func pointsText(points []Point, start time.Time) string {
	var all []string
	for _, p := range points {
		all = append(all, fmt.Sprintf("%v: %v/%d over %v", p.From.Sub(start), p.Units, p.Throttled, p.For))
	}
	return strings.Join(all, "; ")
}

// A trend has seconds for five minutes, minutes for three hours, and nothing twice.
func TestTrend(t *testing.T) {
	start := time.Date(2026, 6, 22, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) int64 { return start.Add(d).UnixNano() }
	trend := newTrend()
	later := map[time.Duration]func(){ // what is added before a look
		0: func() {
			for _, d := range []time.Duration{0, 500 * time.Millisecond, 59 * time.Second} {
				trend.add(at(d), 10, 1)
			}
		},
		5*time.Minute + 3*time.Second: func() {
			trend.add(at(5*time.Minute), 10, 1)
			trend.add(at(5*time.Minute+time.Second), 10, 1)
			trend.add(at(5*time.Minute+2*time.Second), 0, 0)
			trend.add(at(5*time.Minute+3*time.Second), 0, 2)
		},
	}
	for _, test := range []struct {
		now  time.Duration
		want string
		peak float64
	}{
		{0, "0s: 20/2 over 1s", 20}, // what is later than now is not shown
		{4*time.Minute + 59*time.Second, "0s: 20/2 over 1s; 59s: 10/1 over 1s", 20},
		{5*time.Minute + 3*time.Second, "59s: 10/1 over 1s; 5m0s: 10/1 over 1s; 5m1s: 10/1 over 1s; 5m3s: 0/2 over 1s", 10},
		{5*time.Minute + 59*time.Second, "0s: 30/3 over 1m0s; 5m0s: 10/1 over 1s; 5m1s: 10/1 over 1s; 5m3s: 0/2 over 1s", 10},
		{10 * time.Minute, "0s: 30/3 over 1m0s; 5m1s: 10/1 over 1s; 5m3s: 0/2 over 1s", 10},
		{11 * time.Minute, "0s: 30/3 over 1m0s; 5m0s: 20/4 over 1m0s", 0},
		{2*time.Hour + 59*time.Minute, "0s: 30/3 over 1m0s; 5m0s: 20/4 over 1m0s", 0},
		{3 * time.Hour, "5m0s: 20/4 over 1m0s", 0},
		{3*time.Hour + 5*time.Minute, "", 0},
	} {
		if add := later[test.now]; add != nil {
			add()
		}
		if got := pointsText(trend.points(at(test.now)), start); got != test.want {
			t.Errorf("after %v: got %s, want %s", test.now, got, test.want)
		}
		if got := trend.peak(at(test.now)); got != test.peak {
			t.Errorf("after %v: peak %v, want %v", test.now, got, test.peak)
		}
	}
}

// A clock that was never set, or that went back by a whole turn, spoils nothing.
func TestTrendOfOddClocks(t *testing.T) {
	r := newRing(time.Second, 10)
	second := func(n int64) int64 { return n * int64(time.Second) }
	r.add(second(-5), 100, 1)
	r.add(second(3), 1, 0)
	r.add(second(25), 2, 0)
	r.add(second(15), 4, 0) // its place has a later second
	r.add(second(24), 8, 0) // a little late
	start := time.Unix(0, 0).UTC()
	if got, want := pointsText(r.points(second(25)), start), "24s: 8/0 over 1s; 25s: 2/0 over 1s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := pointsText(r.points(second(5)), start), "3s: 1/0 over 1s"; got != want {
		t.Errorf("near 1970: got %s, want %s", got, want)
	}
	if got := r.oldest(second(25)); got != second(16) {
		t.Errorf("remembers from %v on, want 16 s", time.Duration(got))
	}
}

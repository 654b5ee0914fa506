package ratelimit

import (
	"testing"
	"time"
)

// The tests of this file were written for breaks of a line that no other test noticed.

// What is left of a lease and what comes to it are good together only for checks that both are good for.
func TestLeaseOfTwoParts(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	for _, test := range []struct {
		name                     string
		left                     int
		from, until, lapse       int // of what is left
		from2, until2, lapse2    int // of what comes to it
		wantFrom, wantU, wantLap int
	}{
		{"later", 3, 10, 20, 60, 12, 22, 60, 12, 20, 60},
		{"earlier", 3, 10, 20, 60, 8, 18, 60, 10, 18, 60},
		{"next window", 3, 10, 20, 15, 14, 24, 75, 14, 20, 15},
		{"nothing left", 0, 10, 20, 15, 8, 18, 75, 8, 18, 75},
	} {
		l := lease{left: test.left, from: at(test.from), until: at(test.until), lapse: at(test.lapse)}
		l.add(5, at(test.from2), at(test.until2), at(test.lapse2), 100)
		if l.left != test.left+5 || !l.from.Equal(at(test.wantFrom)) || !l.until.Equal(at(test.wantU)) || !l.lapse.Equal(at(test.wantLap)) {
			t.Errorf("%s: got %d from %v until %v, lapsing %v", test.name, l.left, l.from.Sub(start), l.until.Sub(start), l.lapse.Sub(start))
		}
		if l.use(1, at(test.wantFrom-1)) {
			t.Errorf("%s: it is used by a check that began before it was counted", test.name)
		}
		end := min(test.wantU, test.wantLap)
		if early := l; test.wantFrom < end && !early.use(1, at(end-1)) {
			t.Errorf("%s: it is not used before its end", test.name)
		}
		if l.use(1, at(end)) {
			t.Errorf("%s: it is used at its end", test.name)
		}
	}
}

// A refusal answers those who began before there was room again, and who need as much.
func TestWhomARefusalAnswers(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	refused := &fetch{at: start, need: 2, d: Decision{RetryAfter: 5 * time.Second}}
	for _, test := range []struct {
		n     int
		after time.Duration
		want  bool
	}{
		{2, 0, true},
		{3, 0, true},
		{1, 0, false},
		{2, 5*time.Second - 1, true},
		{2, 5 * time.Second, false},
		{2, time.Hour, false},
	} {
		if got := refused.answers(test.n, start.Add(test.after)); got != test.want {
			t.Errorf("%d, %v later: got %t, want %t", test.n, test.after, got, test.want)
		}
	}
	if (&fetch{need: 1, d: Decision{Failed: true}, ours: true}).answers(1, start) {
		t.Error("somebody's own reason answers others")
	}
}

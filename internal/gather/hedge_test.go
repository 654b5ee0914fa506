package gather

import (
	"context"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

func TestLatencies(t *testing.T) {
	var l latencies
	for i := range 7 {
		l.saw(time.Duration(i) * time.Second)
	}
	if late, ok := l.late(); ok {
		t.Errorf("late after %v, having seen 7 requests", late)
	}
	for range 64 {
		l.saw(8 * time.Millisecond)
	}
	for range 3 { // fewer than one in twenty
		l.saw(time.Hour)
	}
	if late, ok := l.late(); !ok || late != 9*time.Millisecond {
		t.Errorf("late after %v, %t, want 9ms: the 95th percentile and an eighth", late, ok)
	}
	l.saw(time.Hour)
	if late, _ := l.late(); late < time.Hour {
		t.Errorf("late after %v, want more than an hour: one in twenty takes that long", late)
	}
	hedges := 0
	for range 100 {
		if l.spend() {
			hedges++
		}
	}
	if hedges != 75/20+1 {
		t.Errorf("%d hedges for 75 requests, want one in twenty and one more", hedges)
	}
}

// A late request is sent a second time, and the first answer counts; also if one of the two fails.
func TestHedge(t *testing.T) {
	for _, test := range []struct {
		name    string
		known   int // shards; More adds the others at once
		hedge   func() bool
		fail    bool // the first answer of the two
		took    time.Duration
		fetches int64
	}{
		{"never", 20, nil, false, time.Minute, 20},
		{"not now", 20, func() bool { return false }, false, time.Minute, 20},
		{"hedged", 20, func() bool { return true }, false, 2125 * time.Millisecond, 21},
		{"hedged, and it fails", 20, func() bool { return true }, true, time.Minute, 21},
		{"hedged, and added", 5, func() bool { return true }, false, 2125 * time.Millisecond, 21},
	} {
		bubble.Test(t, func(t *testing.T) {
			s := &store{delay: func(shard string, nth int64) time.Duration {
				if shard == "shard 13" && nth == 0 {
					return time.Minute
				}
				return time.Second
			}}
			s.fail = func(shard string, nth int64) error {
				if test.fail && shard == "shard 13" && nth == 1 {
					return errLost
				}
				return nil
			}
			shards := make([][]string, 20)
			for i := range shards {
				shards[i] = numbers(3)
			}
			plan := once(lists(s, false, 1, shards...))
			if test.known < len(shards) {
				plan = gaining(0, test.known, lists(s, false, 1, shards...))
			}
			start := time.Now()
			got, err := read(context.Background(), Config{Hedge: test.hedge, Lost: lost}, plan)
			if err != nil || len(got) != 60 || time.Since(start) != test.took || s.fetches.Load() != test.fetches {
				t.Errorf("%s: %d entries, %v after %v with %d fetches, want 60 after %v with %d",
					test.name, len(got), err, time.Since(start), s.fetches.Load(), test.took, test.fetches)
			}
		})
	}
}

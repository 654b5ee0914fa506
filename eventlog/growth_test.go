package eventlog

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 6, n, 0, 0, 0, 0, time.UTC) }
	s := schedule{shards: 0, growth: []Growth{{From: day(10), Shards: 4}, {From: day(20).Add(time.Hour), Shards: 10}}}
	for start, want := range map[time.Time]int{
		{}: 0, day(9): 0, day(10): 4, day(20): 4, day(21): 10, day(30): 10,
	} {
		if got := s.at(start); got != want {
			t.Errorf("the bucket of %v has %d shards, want %d", start, got, want)
		}
		width, err := s.Width(t.Context(), "log", start)
		if n := max(want, 1); err != nil || width.Write != n || width.Read != n {
			t.Errorf("the bucket of %v is %v wide, %v, want %d", start, width, err, n)
		}
	}
}

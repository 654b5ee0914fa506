package wire

import (
	"testing"
	"time"
)

func TestDate(t *testing.T) {
	var d date
	begin := time.Date(2026, 11, 15, 10, 0, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "Sun, 15 Nov 2026 09:00:00 GMT"},
		{999 * time.Millisecond, "Sun, 15 Nov 2026 09:00:00 GMT"},
		{time.Second, "Sun, 15 Nov 2026 09:00:01 GMT"},
		{59 * time.Minute, "Sun, 15 Nov 2026 09:59:00 GMT"},
		{time.Minute, "Sun, 15 Nov 2026 09:01:00 GMT"}, // clocks are set back at times
	} {
		if got := string(d.at(begin.Add(c.after))); got != c.want {
			t.Errorf("after %v: got %s, want %s", c.after, got, c.want)
		}
	}
}

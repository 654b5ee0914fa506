package doctor

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	server := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		ahead   []time.Duration // of this machine, for each answer
		outcome Outcome
		want    string
	}{
		{"together", []time.Duration{0}, OK, "agrees"},
		{"within a second", []time.Duration{900 * time.Millisecond}, OK, "agrees"},
		{"some seconds", []time.Duration{20 * time.Second}, OK, "to about 20s"},
		{"minutes ahead", []time.Duration{2 * time.Minute}, Warning, "about 2m0s ahead of"},
		{"minutes behind", []time.Duration{-3 * time.Minute, -3 * time.Minute}, Warning, "about 3m0s behind"},
		{"too far", []time.Duration{-16 * time.Minute}, Problem, "about 16m0s behind"},
		{"set meanwhile", []time.Duration{time.Hour, 0}, OK, "agrees"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k clock
			for _, ahead := range c.ahead {
				k.see(server.Format(http.TimeFormat), server.Add(ahead), server.Add(ahead+100*time.Millisecond))
			}
			if got := k.result(); got.Outcome != c.outcome || !strings.Contains(got.Found, c.want) || (got.Remedy == "") != (got.Outcome == OK) {
				t.Errorf("got %+v, want %s, %q", got, c.outcome, c.want)
			}
		})
	}
}

// A Date may be centuries off, which durations cannot tell.
func TestClockOfAnotherAge(t *testing.T) {
	now := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	for year, want := range map[int]string{9999: "more than a century behind", 1: "more than a century ahead of", 1970: "h0m0s ahead of", 2030: "h0m0s behind"} {
		for answers := range 3 {
			var k clock
			for range answers + 1 {
				k.see(time.Date(year, 6, 22, 1, 0, 0, 0, time.UTC).Format(http.TimeFormat), now, now.Add(100*time.Millisecond))
			}
			if got := k.result(); got.Outcome != Problem || !strings.Contains(got.Found, want) {
				t.Errorf("%d: got %+v, want %q", year, got, want)
			}
		}
	}
}

func TestOutcome(t *testing.T) {
	for o := OK; o <= Problem; o++ {
		var back Outcome
		text, err := o.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != o {
			t.Errorf("%s: got %s, %v", o, back, err)
		}
	}
	if err := new(Outcome).UnmarshalText([]byte("bad")); err == nil {
		t.Error("an outcome that is none was read")
	}
	if got := Outcome(9).String(); got != "Outcome(9)" {
		t.Errorf("got %s", got)
	}
}

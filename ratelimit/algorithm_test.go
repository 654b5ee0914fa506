package ratelimit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // zones with daylight saving time, on any machine

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Windows are UTC's: neither the zone of the machine nor its daylight saving time moves them.
func TestFixedWindowsAreInUTC(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	zones := []*time.Location{time.UTC, newYork, time.FixedZone("Kathmandu", 5*3600+45*60)}
	for _, c := range []struct {
		window time.Duration
		at     string
		want   string
	}{
		{time.Hour, "2024-12-02T15:30:00Z", "f#2024-12-02T15:00:00.000Z"},
		{time.Hour, "2024-12-02T15:59:59.999999999Z", "f#2024-12-02T15:00:00.000Z"},
		{time.Hour, "2024-12-02T16:00:00Z", "f#2024-12-02T16:00:00.000Z"},
		{time.Hour, "2024-12-02T00:00:00Z", "f#2024-12-02T00:00:00.000Z"},
		{time.Hour, "2024-03-10T06:59:59Z", "f#2024-03-10T06:00:00.000Z"}, // New York's clocks go from 2 to 3
		{time.Hour, "2024-03-10T07:00:00Z", "f#2024-03-10T07:00:00.000Z"},
		{time.Hour, "2024-11-03T05:30:00Z", "f#2024-11-03T05:00:00.000Z"}, // and from 2 to 1
		{time.Hour, "2024-11-03T06:30:00Z", "f#2024-11-03T06:00:00.000Z"},
		{24 * time.Hour, "2024-11-03T23:59:59Z", "f#2024-11-03T00:00:00.000Z"},
		{7 * 24 * time.Hour, "2024-12-08T23:59:59Z", "f#2024-12-02T00:00:00.000Z"}, // a Monday
		{250 * time.Millisecond, "2024-12-02T15:30:00.999Z", "f#2024-12-02T15:30:00.750Z"},
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		for _, zone := range zones {
			if got := (fixedWindow{"f", c.window}).sortKey(at.In(zone)); got != c.want {
				t.Errorf("%v of %v: got %q, want %q", c.window, at.In(zone), got, c.want)
			}
		}
	}
}

// X21: sort keys of windows are in the order of time, as texts, for any two times.
func TestWindowsAreSortedAsTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	f := fixedWindow{"f", time.Second}
	for range 1000 {
		a := time.Unix(random.Int64N(4e9), 0)
		b := a.Add(time.Duration(random.Int64N(int64(100 * time.Hour))))
		if before, after := f.sortKey(a), f.sortKey(b); a.Before(b) && before > after {
			t.Errorf("%v is before %v, but %q is not before %q", a, b, before, after)
		}
	}
}

// X21: the mistake that one format for writing and comparing rules out. A sort key that begins with the hour as
// 2024-12-02-15 is compared with a time as 2024-12-02T14:30: what was written a minute ago counts in the first hour of
// the day only.
func TestWhyAMixtureOfFormatsNeverLimits(t *testing.T) {
	const iso = "2006-01-02T15:04:05.000Z"
	for minute := range 24 * 60 {
		now := time.Date(2024, 12, 2, 0, minute, 30, 0, time.UTC)
		at := now.Add(-time.Minute)
		mixed := at.Format("2006-01-02-15") + "#" + at.Format(iso)
		if counted := mixed >= now.Add(-time.Hour).Format(iso); counted != (minute >= 1 && minute < 60) {
			t.Errorf("at %v: counted is %t", now, counted)
		}
		if at.Format(windowText) < now.Add(-time.Hour).Format(windowText) {
			t.Errorf("at %v: not counted in our format", now)
		}
	}
}

func TestIntervalsNeverExceedTheRate(t *testing.T) {
	for _, c := range []struct {
		window            time.Duration
		limit, burst, n   int
		wantFirst, wantAt time.Duration
	}{
		{time.Hour, 3600, 10, 1, time.Second, 0},
		{time.Second, 3, 3, 1, 333_333_334, 0}, // rounded up
		{time.Second, 1000, 10, 3, 2_500_000, 3_333_334},
		{maxWindow, 1, 1, 1, maxWindow, 0},
		{time.Second, 1_000_000_000, 1_000_000_000, 1, 1, 0},
	} {
		o := Options{Table: "t", Algorithm: TokenBucket, Limit: c.limit, Burst: c.burst, Window: c.window, Shards: c.n}.withDefaults()
		if err := o.validate(); err != nil {
			t.Fatal(err)
		}
		b, shares := o.algorithm().(tokenBucket), o.shares()
		if got := b.interval(shares[0]); got != c.wantFirst {
			t.Errorf("%+v: a token every %v, want %v", c, got, c.wantFirst)
		}
		if got := b.interval(shares[len(shares)-1]); c.wantAt > 0 && got != c.wantAt {
			t.Errorf("%+v: a token every %v in the last shard, want %v", c, got, c.wantAt)
		}
		rate := 0.0
		for _, share := range shares {
			rate += 1 / b.interval(share).Seconds()
		}
		if most := float64(c.limit) / c.window.Seconds(); rate > most*(1+1e-12) {
			t.Errorf("%+v: %v tokens a second, want %v at most", c, rate, most)
		}
	}
}

func TestSharesAddUp(t *testing.T) {
	for limit := 1; limit < 200; limit++ {
		for shards := 1; shards < 40; shards++ {
			sum, shares := 0, Options{Limit: limit, Shards: shards}.shares()
			for _, share := range shares {
				if sum += share; share < 1 || share < shares[0]-1 || share > shares[0] {
					t.Fatalf("%d over %d shards: %v", limit, shards, shares)
				}
			}
			if sum != limit || len(shares) != min(limit, shards) {
				t.Fatalf("%d over %d shards: %v", limit, shards, shares)
			}
		}
	}
}

// Clocks that differ by up to ε: a sliding window is shorter by ε at most, a bucket lets through what comes in ε more,
// and every fixed window keeps its limit. A clock that is set back is no worse.
func TestClocksThatDiffer(t *testing.T) {
	const window, epsilon, limit = 10 * time.Second, 3 * time.Second, 6
	for _, algorithm := range []Algorithm{SlidingWindow, FixedWindow, SlidingLog, TokenBucket} {
		bubble.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			db := local.Start(t)
			options := Options{Table: "limits", Algorithm: algorithm, Limit: limit, Window: window, Shards: 2, Remember: -1}
			if err := Setup(t.Context(), db.Client(), options); err != nil {
				t.Fatal(err)
			}
			limiter, err := Open(db.Client(), options)
			if err != nil {
				t.Fatal(err)
			}
			var through []time.Time
			labels := map[time.Time]int{}
			for range 500 {
				c := limiter.newCheck("k", 1, 1)
				c.now = c.now.Add(time.Duration(random.Int64N(int64(epsilon)))) // its process's clock
				_, d, err := c.run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if d.Allowed {
					through = append(through, time.Now())
					labels[c.now.Truncate(window)]++
				}
				time.Sleep(time.Duration(random.Int64N(int64(time.Second))))
			}
			if len(through) < 100 {
				t.Errorf("%v: %d let through in %v: hardly any", algorithm, len(through), through[len(through)-1].Sub(through[0]))
			}
			if fault := tooMany(algorithm, through, labels, window, epsilon, limit); fault != "" {
				t.Errorf("%v: %s", algorithm, fault)
			}
		})
	}
}

func tooMany(algorithm Algorithm, through []time.Time, labels map[time.Time]int, window, epsilon time.Duration, limit int) string {
	if algorithm == FixedWindow {
		for label, n := range labels {
			if n > limit {
				return fmt.Sprintf("%d in the window from %v", n, label)
			}
		}
		return ""
	}
	for i := range through {
		for j := i; j < len(through); j++ {
			length, n := through[j].Sub(through[i]), j-i+1
			if algorithm == TokenBucket {
				if float64(n) > float64(limit)+float64(limit)*(length+epsilon).Seconds()/window.Seconds() {
					return fmt.Sprintf("%d in %v", n, length)
				}
			} else if n > limit && length < window-epsilon {
				return fmt.Sprintf("%d in %v", n, length)
			}
		}
	}
	return ""
}

// A clock that was never set is a time like any other.
func TestAClockAtTheEpoch(t *testing.T) {
	db := local.Start(t)
	for _, algorithm := range []Algorithm{SlidingWindow, FixedWindow, SlidingLog, TokenBucket} {
		options := Options{Table: "limits", Algorithm: algorithm, Limit: 2}
		if err := Setup(t.Context(), db.Client(), options); err != nil {
			t.Fatal(err)
		}
		limiter, err := Open(db.Client(), options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			c := limiter.newCheck("k", 1, 1)
			c.now = time.Unix(1000, 0)
			if _, d, err := c.run(t.Context()); err != nil || d.Allowed != (i < 2) {
				t.Errorf("%v: check %d: got %v, %v", algorithm, i, d, err)
			}
		}
	}
}

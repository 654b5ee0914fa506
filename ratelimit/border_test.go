package ratelimit_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// passage is a check that was let through.
type passage struct{ began, ended time.Time }

// traffic makes checks at random times, by two processes whose requests take up to three seconds, and returns those that
// were let through, in the order in which they began.
func traffic(t *testing.T, options ratelimit.Options, seed uint64) []passage {
	random := rand.New(rand.NewPCG(1, seed))
	client := faulty.On(t, start(t), nil)
	client.Delay(faulty.UpTo(rand.New(rand.NewPCG(2, seed)), 3*time.Second))
	limiters := []*ratelimit.Limiter{open(t, client, options), open(t, client, options)}
	var (
		mu      sync.Mutex
		through []passage
		all     sync.WaitGroup
	)
	for i := range 400 {
		time.Sleep(time.Duration(random.IntN(450)) * time.Millisecond) // somewhat more than the limit
		all.Go(func() {
			began := time.Now()
			// A key that everybody else changes meanwhile may be ErrUnavailable, which is a refusal.
			if d, _ := limiters[i%2].Allow(t.Context(), "k"); d.Allowed {
				mu.Lock()
				defer mu.Unlock()
				through = append(through, passage{began, time.Now()})
			}
		})
	}
	all.Wait()
	slices.SortFunc(through, func(a, b passage) int { return a.began.Compare(b.began) })
	return through
}

// most returns the most checks that lie in a stretch of time as a whole, by the times that began and ended return.
func most(through []passage, stretch time.Duration, end func(passage) time.Time) (n int) {
	for i, p := range through {
		in := 0
		for _, q := range through[i:] {
			if end(q).Before(p.began.Add(stretch)) {
				in++
			}
		}
		n = max(n, in)
	}
	return n
}

// A check counts when it began, also if it waited for the lease of another while a window ended: no window has more than
// the limit of checks that began in it, however slow requests are.
func TestChecksCountWhenTheyBegan(t *testing.T) {
	const limit, window, leaseFor = 20, 5 * time.Second, 2 * time.Second
	began := func(p passage) time.Time { return p.began }
	checks := 0
	for name, options := range everyAlgorithm(limit, 1) {
		for _, lease := range []int{1, 8} {
			for seed := range uint64(4) {
				bubble.Test(t, func(t *testing.T) {
					options.Window, options.Lease = window, lease
					if lease > 1 {
						options.LeaseFor = leaseFor
					}
					through := traffic(t, options, seed)
					checks += 400
					got, want := 0, limit
					switch options.Algorithm {
					case ratelimit.FixedWindow:
						windows := map[time.Time]int{}
						for _, p := range through {
							windows[p.began.Truncate(window)]++
							got = max(got, windows[p.began.Truncate(window)])
						}
					case ratelimit.SlidingLog:
						got = most(through, window-2*time.Millisecond, began)
					case ratelimit.SlidingWindow: // at the latest when it ends
						got = most(through, window, func(p passage) time.Time { return p.ended })
					case ratelimit.TokenBucket:
						got, want = most(through, window, began), 2*limit+int(limit*options.LeaseFor/window)
					}
					if got > want || got < limit/4 {
						t.Errorf("%s, lease %d, seed %d: %d let through, want %d at most", name, lease, seed, got, want)
					}
				})
			}
		}
	}
	t.Logf("%d checks", checks)
}

// A check that began in a new window is not refused for the old window's lease, although it waited for that. A check of the
// old window does not use up the new one.
func TestALeaseAcrossABorder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		limiter := open(t, client, ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 4, Lease: 4, Window: 10 * time.Second})
		time.Sleep(time.Until(time.Now().Truncate(10 * time.Second).Add(19 * time.Second))) // a second before a border
		for range 3 {
			allow(t, limiter, "k") // 1, then 2
		}
		client.Delay(faulty.Exactly(4 * time.Second))
		var all sync.WaitGroup
		var mu sync.Mutex
		through := map[string]int{}
		check := func(window string) {
			all.Go(func() {
				if allow(t, limiter, "k").Allowed {
					mu.Lock()
					defer mu.Unlock()
					through[window]++
				}
			})
			synctest.Wait()
		}
		check("old")
		check("old") // one too many
		time.Sleep(2 * time.Second)
		for range 5 { // one too many
			check("new")
		}
		all.Wait()
		if through["old"] != 1 || through["new"] != 4 {
			t.Errorf("got %v, want one more of the old window and 4 of the new", through)
		}
	})
}

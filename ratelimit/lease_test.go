package ratelimit_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// counting returns a client that takes 5 ms for each update.
func counting(t testing.TB, client *dynamodb.Client) *faulty.Client {
	slow := faulty.On(t, client, nil)
	slow.Delay(faulty.Exactly(5 * time.Millisecond))
	return slow
}

// A process that checks a key a thousand times a second asks DynamoDB now and then.
func TestLeasesSpareRequests(t *testing.T) {
	for name, options := range everyAlgorithm(100_000, 1) {
		if options.Algorithm == ratelimit.SlidingLog {
			options.Limit = 1000
		}
		bubble.Test(t, func(t *testing.T) {
			client := counting(t, start(t))
			options.Lease = 50
			limiter := open(t, client, options)
			var running sync.WaitGroup
			var through atomic.Int64
			for range 1000 {
				running.Go(func() {
					if allow(t, limiter, "k").Allowed {
						through.Add(1)
					}
				})
				time.Sleep(time.Millisecond)
			}
			running.Wait()
			if n := through.Load(); n != 1000 {
				t.Errorf("%s: %d of 1,000 let through", name, n)
			}
			if sent := client.Count("UpdateItem"); sent > 60 {
				t.Errorf("%s: %d updates for 1,000 checks", name, sent)
			}
		})
	}
}

// Those who come while a lease is being taken wait for it, and are part of the next one.
func TestChecksAtTheSameMomentShareALease(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := counting(t, start(t))
		limiter := open(t, client, ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 150, Lease: 2})
		began := time.Now()
		var running sync.WaitGroup
		var through atomic.Int64
		for range 200 {
			running.Go(func() {
				if allow(t, limiter, "k").Allowed {
					through.Add(1)
				}
			})
		}
		running.Wait()
		if n := through.Load(); n != 150 {
			t.Errorf("%d let through, want 150", n)
		}
		if sent, took := client.Count("UpdateItem"), time.Since(began); sent > 4 || took > 20*time.Millisecond {
			t.Errorf("%d updates in %v, want no more than 4, one after another", sent, took)
		}
	})
}

// A key that is checked now and then leaves nothing unused: all of its limit is let through, by any number of
// processes.
func TestLeasesOfAColdKeyLeaveNothingUnused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		options := ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 20, Lease: 10}
		limiters := []*ratelimit.Limiter{open(t, client, options), open(t, client, options)}
		for i := range 20 {
			if d := allow(t, limiters[i%2], "k"); !d.Allowed {
				t.Fatalf("%d let through, then %v", i, d)
			}
			time.Sleep(2 * time.Second)
		}
		if d := allow(t, limiters[0], "k"); d.Allowed {
			t.Errorf("got %v at the limit", d)
		}
	})
}

// What was leased and is not used in time is lost, never let through later: at most half of what was counted, or Lease
// - 1.
func TestALeaseLapses(t *testing.T) {
	for name, options := range everyAlgorithm(1000, 1) {
		bubble.Test(t, func(t *testing.T) {
			options.Lease, options.LeaseFor = 50, 2*time.Second
			limiter := open(t, start(t), options)
			for range 10 { // in leases of 1, 2, 4, and 3 of 8
				allow(t, limiter, "k")
			}
			peek := func() int {
				d, err := limiter.Peek(context.Background(), "k")
				if err != nil {
					t.Fatal(err)
				}
				return d.Remaining
			}
			if left := peek(); left != 985 {
				t.Errorf("%s: %d left, want 985", name, left)
			}
			time.Sleep(2 * time.Second)
			allow(t, limiter, "k")
			if left := peek(); left != 984 {
				t.Errorf("%s: %d left after the lease, want 984", name, left)
			}
		})
	}
}

// A lease of a fixed window ends with it.
func TestALeaseEndsWithItsWindow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limiter := open(t, start(t), ratelimit.Options{Algorithm: ratelimit.FixedWindow, Limit: 20, Lease: 20, LeaseFor: time.Hour})
		time.Sleep(time.Hour - time.Second)
		for range 4 {
			allow(t, limiter, "k")
		}
		time.Sleep(time.Second)
		through := 0
		for range 40 {
			if allow(t, limiter, "k").Allowed {
				through++
			}
		}
		if through != 20 {
			t.Errorf("%d let through in the new window, want 20", through)
		}
	})
}

// What was leased is used after it was counted: the window is longer by as much, so that no stretch of Window has more
// than the limit.
func TestLeasesDoNotShortenTheWindow(t *testing.T) {
	for name, options := range everyAlgorithm(15, 1) {
		if options.Algorithm != ratelimit.SlidingLog && options.Algorithm != ratelimit.SlidingWindow {
			continue
		}
		bubble.Test(t, func(t *testing.T) {
			options.Lease, options.LeaseFor = 8, 30*time.Minute
			limiter := open(t, start(t), options)
			for range 8 { // in leases of 1, 2, 4 and one of 8
				allow(t, limiter, "k")
			}
			time.Sleep(30*time.Minute - time.Millisecond)
			for range 7 {
				if d := allow(t, limiter, "k"); !d.Allowed {
					t.Fatalf("%s: got %v", name, d)
				}
			}
			time.Sleep(time.Hour - time.Millisecond)
			through := 7
			for range 15 {
				if allow(t, limiter, "k").Allowed {
					through++
				}
			}
			if through > 15 {
				t.Errorf("%s: %d let through within an hour, want 15 at most", name, through)
			}
		})
	}
}

// One caller's cancellation is not everybody's.
func TestACancelledLeaseIsTakenByTheNext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limiter := open(t, counting(t, start(t)), ratelimit.Options{Limit: 100, Lease: 10})
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() {
			if d, err := limiter.Allow(ctx, "k"); err == nil || d.Allowed {
				t.Errorf("cancelled: got %v, %v", d, err)
			}
		})
		synctest.Wait()
		for range 5 {
			running.Go(func() {
				if d := allow(t, limiter, "k"); !d.Allowed {
					t.Errorf("waiting: got %v", d)
				}
			})
		}
		running.Go(func() { // gives up while it waits
			ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
			defer stop()
			if d, err := limiter.Allow(ctx, "k"); err == nil || d.Allowed {
				t.Errorf("giving up: got %v, %v", d, err)
			}
		})
		time.Sleep(time.Millisecond + 1)
		cancel()
		running.Wait()
	})
}

// When DynamoDB does not answer, those who wait for a lease learn it together, not one after another.
func TestAFailedLeaseFailsThoseWhoWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limiter := open(t, faulty.On(t, start(t), faulty.Always(faulty.Unanswered)), ratelimit.Options{Limit: 100, Lease: 10, FailOpen: true, Timeout: time.Second})
		began := time.Now()
		var running sync.WaitGroup
		for range 100 {
			running.Go(func() {
				if d, err := limiter.Allow(context.Background(), "k"); err == nil || !d.Failed || !d.Allowed {
					t.Errorf("got %v, %v", d, err)
				}
			})
		}
		running.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v, want Timeout", took)
		}
	})
}

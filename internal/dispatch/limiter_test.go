package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// passes acquires n passes that are there.
func passes(t *testing.T, l *Limiter, n int) []pass {
	t.Helper()
	got := make([]pass, n)
	for i := range got {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var err error
		if got[i], err = l.acquire(ctx); err != nil {
			t.Fatalf("pass %d of %d: %v", i+1, n, err)
		}
	}
	return got
}

// full reports whether the limiter lets nobody pass right now.
func full(l *Limiter) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := l.acquire(ctx)
	if err == nil {
		l.release(p, false)
	}
	return err != nil
}

func TestLimiterStartsAndEnds(t *testing.T) {
	for _, test := range []struct{ most, want int }{{1, 1}, {3, 3}, {128, 128}, {256, 128}, {10000, 128}} {
		l := NewLimiter(test.most)
		all := passes(t, l, test.want)
		if !full(l) {
			t.Errorf("at most %d: more than %d at the start", test.most, test.want)
		}
		for range 40 { // many a round without a throttle
			for _, p := range all {
				l.release(p, false)
			}
			all = passes(t, l, len(all))
		}
		if got := int(l.limit); got > test.most || got < min(test.most, test.want+30) {
			t.Errorf("at most %d: the limit is %d after 40 clean rounds", test.most, got)
		}
	}
}

func TestLimiterHalvesOncePerRound(t *testing.T) {
	l := NewLimiter(64)
	all := passes(t, l, 64)
	for _, p := range all { // all of them were sent before the first answer
		l.release(p, true)
	}
	if l.limit != 32 {
		t.Errorf("after a round of throttles: %g, want 32", l.limit)
	}
	all = passes(t, l, 32)
	l.release(all[0], true)
	if l.limit != 16 {
		t.Errorf("after a throttle of the next round: %g, want 16", l.limit)
	}
	for _, p := range all[1:] {
		l.release(p, true)
	}
	if l.limit != 16 {
		t.Errorf("after the rest of that round: %g, want 16", l.limit)
	}
	for range 10 {
		l.release(passes(t, l, 1)[0], true)
	}
	if l.limit != leastConcurrency {
		t.Errorf("after many throttles: %g, want %d", l.limit, leastConcurrency)
	}
	for rounds := 0; int(l.limit) < 64; rounds++ { // about one more in a round
		for _, p := range passes(t, l, int(l.limit)) {
			l.release(p, false)
		}
		if rounds > 70 {
			t.Fatalf("only %g after %d clean rounds", l.limit, rounds)
		}
	}
	if l.busy != 0 || len(l.waiting) != 0 {
		t.Errorf("%d busy, %d waiting", l.busy, len(l.waiting))
	}
}

// A collection that may send two at a time never gets to four by being throttled.
func TestLimiterFloorIsNotAboveTheMost(t *testing.T) {
	l := NewLimiter(2)
	l.release(passes(t, l, 1)[0], true)
	if l.limit != 2 {
		t.Errorf("got %g, want 2", l.limit)
	}
}

func TestLimiterIsFirstComeFirstServed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := NewLimiter(2)
		held := passes(t, l, 2)
		var mu sync.Mutex
		var order []int
		var running sync.WaitGroup
		for i := range 20 {
			running.Go(func() {
				p, err := l.acquire(context.Background())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				l.release(p, false)
			})
			synctest.Wait()
		}
		late := make(chan pass)
		go func() {
			p, _ := l.acquire(context.Background())
			late <- p
		}()
		synctest.Wait()
		l.release(held[0], false)
		l.release(held[1], false)
		running.Wait()
		l.release(<-late, false)
		for i := 0; i < len(order); i += 2 { // two at a time, which of them first is the scheduler's choice
			if pair := slices.Sorted(slices.Values(order[i : i+2])); pair[0] != i || pair[1] != i+1 {
				t.Fatalf("order %v", order)
			}
		}
	})
}

func TestLimiterContextEndsWaiting(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := NewLimiter(1)
		held := passes(t, l, 1)[0]
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := l.acquire(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v, want the deadline after a minute", err, time.Since(start))
		}
		// one who leaves at the moment its turn comes hands it on
		for range 100 {
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() {
				if p, err := l.acquire(ctx); err == nil {
					l.release(p, false)
				}
			})
			running.Go(func() {
				p, err := l.acquire(context.Background())
				if err != nil {
					t.Error(err)
				}
				l.release(p, false)
			})
			synctest.Wait()
			running.Go(cancel)
			running.Go(func() { l.release(held, false) })
			running.Wait()
			held = passes(t, l, 1)[0]
		}
		l.release(held, false)
		if l.busy != 0 || len(l.waiting) != 0 {
			t.Errorf("%d busy, %d waiting", l.busy, len(l.waiting))
		}
	})
}

// TestLimiterModel lets random requests come, wait, give up, succeed and be throttled, in virtual time.
func TestLimiterModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 12).Draw(rt, "most")
		type request struct {
			at, patience, takes int
			throttled           bool
		}
		requests := make([]request, rapid.IntRange(1, 60).Draw(rt, "requests"))
		for i := range requests {
			requests[i] = request{
				at: rapid.IntRange(0, 20).Draw(rt, "at"), patience: rapid.IntRange(1, 40).Draw(rt, "patience"),
				takes: rapid.IntRange(0, 5).Draw(rt, "takes"), throttled: rapid.IntRange(0, 3).Draw(rt, "throttled") == 0,
			}
		}
		bubble.Test(t, func(t *testing.T) {
			l := NewLimiter(most)
			var mu sync.Mutex
			under, served, gone := 0, 0, 0
			var running sync.WaitGroup
			for _, r := range requests {
				running.Go(func() {
					time.Sleep(time.Duration(r.at) * time.Second)
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.patience)*time.Second)
					defer cancel()
					p, err := l.acquire(ctx)
					mu.Lock()
					if err != nil {
						gone++
						mu.Unlock()
						return
					}
					served++
					if under++; under > most {
						rt.Errorf("%d at a time, %d allowed", under, most)
					}
					mu.Unlock()
					time.Sleep(time.Duration(r.takes) * time.Second)
					mu.Lock()
					under--
					mu.Unlock()
					l.release(p, r.throttled)
				})
			}
			running.Wait()
			if served+gone != len(requests) || l.busy != 0 || len(l.waiting) != 0 {
				rt.Errorf("%d served, %d gone of %d; %d busy, %d waiting", served, gone, len(requests), l.busy, len(l.waiting))
			}
			if least := float64(min(leastConcurrency, most)); l.limit < least || l.limit > float64(most) {
				rt.Errorf("the limit is %g, want %g to %d", l.limit, least, most)
			}
		})
	})
}

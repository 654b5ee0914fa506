package dispatch

import (
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// 003-21: retries never exceed Budget × requests + Burst, in any order of events.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Retry{
			Budget: float64(rapid.IntRange(0, 100).Draw(t, "percent")) / 100,
			Burst:  rapid.IntRange(0, 20).Draw(t, "burst"),
		}
		b := newBudget(r)
		requests, retries := 0, 0
		for range rapid.IntRange(0, 500).Draw(t, "events") {
			if rapid.Bool().Draw(t, "request") {
				b.request()
				requests++
			} else if b.retry() {
				retries++
			}
			if most := r.Budget*float64(requests) + float64(r.Burst); float64(retries) > most+1e-6 {
				t.Fatalf("%d retries for %d requests, want %v at most", retries, requests, most)
			}
		}
	})
}

func TestBudgetIsSavedUpToItsBurst(t *testing.T) {
	b := newBudget(Retry{Budget: 0.5, Burst: 3})
	for range 100 {
		b.request()
	}
	taken := 0
	for b.retry() {
		taken++
	}
	if taken != 3 {
		t.Errorf("after a quiet time there are %d retries, want 3", taken)
	}
	b.request()
	if b.retry() {
		t.Error("half a token was enough for a retry")
	}
	b.request()
	if !b.retry() {
		t.Error("two halves were not enough for a retry")
	}
}

func TestBudgetConcurrently(t *testing.T) {
	b := newBudget(Retry{Budget: 0.25, Burst: 10})
	var retries atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				b.request()
				if b.retry() {
					retries.Add(1)
				}
			}
		})
	}
	wg.Wait()
	for b.retry() {
		retries.Add(1)
	}
	// Tokens above the burst are not kept, so there can be a few less.
	if got := retries.Load(); got > 2010 || got < 1990 {
		t.Errorf("8000 requests had %d retries, want 2010", got)
	}
}

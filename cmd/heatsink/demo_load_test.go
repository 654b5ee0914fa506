package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

func TestLoadOffersEvenly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var puts atomic.Int64
		start := time.Now()
		load{perSecond: 100, runIn: time.Second, measured: 2 * time.Second}.offer(context.Background(), func(i int) {
			if at := time.Since(start); at != time.Duration(i)*10*time.Millisecond {
				t.Errorf("put %d is made after %v", i, at)
			}
			puts.Add(1)
			time.Sleep(time.Second) // slow answers change nothing
		})
		if puts.Load() != 300 || time.Since(start) != 3990*time.Millisecond {
			t.Errorf("got %d puts in %v, want 300, and the last one's answer waited for", puts.Load(), time.Since(start))
		}
	})
}

// After half a second all that may be under way is, until the second is over: of what could not be offered meanwhile, a
// fifth of a second's puts are made up for.
func TestLoadMakesUpForLittle(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var puts atomic.Int64
		start := time.Now()
		end := start.Add(time.Second)
		load{perSecond: 2000, measured: 2 * time.Second}.offer(context.Background(), func(i int) {
			puts.Add(1)
			time.Sleep(time.Until(end))
		})
		if got, want := puts.Load(), int64(mostUnderWay+400+2000); got != want {
			t.Errorf("got %d puts, want %d", got, want)
		}
	})
}

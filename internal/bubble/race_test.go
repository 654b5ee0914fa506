//go:build race

package bubble

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// Dozens of timers that expire at the same moment and are received from by all: on two processors Go 1.26 crashes in most runs.
func TestTimersOfOneMoment(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Run("bubbles", func(t *testing.T) {
		for range 2 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				Test(t, func(*testing.T) {
					if n := runtime.GOMAXPROCS(0); n != 1 {
						t.Errorf("%d processors in a bubble", n)
					}
					expireTogether(64, 100)
				})
			})
		}
	})
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("%d processors after the bubbles, %d before", after, before)
	}
}

func expireTogether(goroutines, rounds int) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for range goroutines {
		wg.Go(func() {
			for range rounds {
				first, second := time.NewTimer(time.Millisecond), time.NewTimer(time.Millisecond)
				<-first.C
				<-second.C
			}
		})
	}
}

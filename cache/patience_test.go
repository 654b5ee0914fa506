package cache_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// However many callers are impatient, a key has one load, and its value is there for those who come later.
func TestCacheImpatientCallers(t *testing.T) {
	for _, callers := range []int{500, 50_000} {
		for _, together := range []bool{true, false} {
			withCache(t, cache.Options{}, &cacheSource{takes: 2 * time.Minute}, func(c cacheCaller) {
				var all sync.WaitGroup
				for range callers {
					call := func() {
						ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
						defer cancel()
						if _, err := c.cache.Get(ctx, "key", c.load); err != context.DeadlineExceeded {
							t.Errorf("got %v, want the caller's deadline", err)
						}
					}
					if together {
						all.Go(call)
					} else {
						call()
					}
				}
				all.Wait()
				c.get(1)
				c.wantLoads(1)
			})
		}
	}
}

// A load that never returns blocks its key and nothing else: whoever asks for it ends with the own context, there is no
// second load, and nothing is left of the callers.
func TestCacheLoadNeverReturns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		kept := cache.New[int](cache.Options{LoadTimeout: time.Second})
		var loads atomic.Int64
		release := make(chan struct{})
		hang := func(context.Context) (int, error) {
			loads.Add(1)
			<-release
			return int(loads.Load()), nil
		}
		call := func(i int) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			get := []cacheRead{kept.Get, kept.GetFresh}[i%2]
			if _, err := get(ctx, "key", hang); err != context.DeadlineExceeded {
				t.Errorf("got %v, want the caller's deadline", err)
			}
			if i%10 == 9 {
				kept.Forget("key")
			}
		}
		call(0)
		synctest.Wait()
		before := runtime.NumGoroutine()
		for i := range 5000 {
			call(i)
		}
		synctest.Wait()
		if got := loads.Load(); got != 1 {
			t.Errorf("got %d loads, want 1", got)
		}
		// While a collection frees the stacks of goroutines that have ended, these count as running.
		runtime.GC()
		if after := runtime.NumGoroutine(); after > before+1000 { // of 5,000 callers; those of other tests come and go
			t.Errorf("%d goroutines have become %d", before, after)
		}
		other, err := kept.Get(context.Background(), "other", func(context.Context) (int, error) { return 7, nil })
		if err != nil || other != 7 {
			t.Errorf("another key: got %d, %v, want 7", other, err)
		}
		close(release)
		synctest.Wait()
		if got, err := kept.Get(context.Background(), "key", hang); err != nil || got != 2 { // the first was forgotten
			t.Errorf("got %d, %v, want 2", got, err)
		}
		kept.Close()
	})
}

// Loads that nobody waits for are bounded for all keys together: those left first are given up, and if they do not
// return, no more are started.
func TestCacheUnattendedLoadsAreBounded(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			kept := cache.New[int](cache.Options{LoadTimeout: -1})
			var running, most atomic.Int64
			release := make(chan struct{})
			hang := func(ctx context.Context) (int, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				if stubborn {
					<-release
				}
				<-ctx.Done()
				return 0, ctx.Err()
			}
			var stuck int
			for i := range 5000 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				_, err := kept.Get(ctx, strconv.Itoa(i), hang)
				cancel()
				switch {
				case errors.Is(err, cache.ErrStuck):
					stuck++
				case err != context.DeadlineExceeded:
					t.Errorf("got %v", err)
				}
				synctest.Wait()
			}
			want, wantStuck := int64(1001), 0
			if stubborn {
				want, wantStuck = 2000, 3000
			}
			if most.Load() != want || stuck != wantStuck {
				t.Errorf("stubborn %v: got %d loads at a time and %d refused, want %d and %d", stubborn, most.Load(), stuck, want, wantStuck)
			}
			close(release)
			kept.Close()
		})
	}
}

func TestCacheLoadContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		type name struct{}
		kept := cache.New[context.Context](cache.Options{})
		defer kept.Close()
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), name{}, "first"), time.Second)
		defer cancel()
		seen, err := kept.Get(ctx, "key", func(ctx context.Context) (context.Context, error) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != 5*time.Minute {
				t.Errorf("got the deadline %v, %v, want that of LoadTimeout", deadline, ok)
			}
			return ctx, ctx.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := seen.Value(name{}); got != "first" {
			t.Errorf("got the value %v, want the caller's", got)
		}
		if seen.Err() == nil {
			t.Error("the context lives on after the load")
		}
	})
}

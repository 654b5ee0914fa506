package counter

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

func TestReset(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{}), open(t, client, Options{})
		resets := func(c *Counter, want int64) {
			t.Helper()
			if n, err := c.Reset(t.Context(), "VIEWS"); err != nil || n != want {
				t.Fatalf("got %d, %v, want %d", n, err, want)
			}
			isTotal(t, c, "VIEWS", 0)
			isTotal(t, other, "VIEWS", 0)
		}
		resets(c, 0)
		mustAdd(t, c, "VIEWS", 5, -2)
		resets(c, 3)
		resets(c, 0)
		mustAdd(t, c, "VIEWS", 1)
		mustAdd(t, other, "VIEWS", 10)
		resets(other, 11)
		mustAdd(t, c, "VIEWS", -4)
		resets(c, -4)

		// A reset of what is folded and removed meanwhile is the same.
		mustAdd(t, c, "VIEWS", 7)
		time.Sleep(time.Hour)
		resets(other, 7)
		time.Sleep(48 * time.Hour)
		mustAdd(t, other, "VIEWS", 1)
		if _, err := other.Fold(t.Context(), "VIEWS"); err != nil {
			t.Fatal(err)
		}
		resets(other, 1)
	})
}

// What is counted while others reset is in exactly one of the resets, or still there.
func TestResetsLoseNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 10*time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var added, removed atomic.Int64
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				c := open(t, client, Options{})
				for ctx.Err() == nil {
					mustAdd(t, c, "VIEWS", 1)
					added.Add(1)
				}
			})
		}
		for range 2 {
			all.Go(func() {
				c := open(t, client, Options{})
				for ctx.Err() == nil {
					n, err := c.Reset(context.Background(), "VIEWS")
					if errors.Is(err, ErrBusy) {
						continue
					}
					if err != nil || n < 0 {
						t.Errorf("got %d, %v", n, err)
					}
					removed.Add(n)
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		reader := open(t, client, Options{})
		for ctx.Err() == nil {
			if n, err := reader.Total(context.Background(), "VIEWS"); err == nil && n < 0 {
				t.Errorf("read %d", n)
			}
			time.Sleep(10 * time.Millisecond)
		}
		all.Wait()
		left, err := reader.Total(t.Context(), "VIEWS")
		if err != nil || left+removed.Load() != added.Load() {
			t.Errorf("%d removed and %d left (%v), want %d", removed.Load(), left, err, added.Load())
		}
	})
}

func TestResetUnderFaults(t *testing.T) {
	for _, f := range []faulty.Fault{faulty.LostAnswer, faulty.LostRequest, faulty.Throttled} {
		bubble.Test(t, func(t *testing.T) {
			client := aTable(t)
			c := open(t, client, Options{})
			mustAdd(t, c, "VIEWS", 5)
			client.Decide(faulty.Script(f, f).Of("UpdateItem"))
			if n, err := c.Reset(t.Context(), "VIEWS"); err != nil || n != 5 {
				t.Errorf("%s: got %d, %v, want 5", f, n, err)
			}
			isTotal(t, c, "VIEWS", 0)
		})
	}
	t.Run("unanswered", func(t *testing.T) {
		bubble.Test(t, func(t *testing.T) {
			client := aTable(t)
			c := open(t, client, Options{})
			mustAdd(t, c, "VIEWS", 5)
			client.Decide(faulty.Always(faulty.UnansweredDone).Of("UpdateItem"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := c.Reset(ctx, "VIEWS"); !errors.As(err, new(*heatsink.UnknownOutcomeError)) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want that nobody knows", err)
			}
			client.Decide(nil)
			isTotal(t, c, "VIEWS", 0)
		})
	})
}

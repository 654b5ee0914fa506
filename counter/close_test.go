package counter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

func TestAddAsyncIsStoredByAndBy(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{}), open(t, client, Options{})
		mustAdd(t, c, "VIEWS", 1)
		for range 100 {
			if err := c.AddAsync("VIEWS", 1); err != nil {
				t.Fatal(err)
			}
		}
		if n := c.Unflushed(); n != 100 {
			t.Errorf("%d unflushed, want 100", n)
		}
		isTotal(t, other, "VIEWS", 1)
		time.Sleep(2 * defaultInterval)
		if n := c.Unflushed(); n != 0 {
			t.Errorf("%d unflushed after two intervals", n)
		}
		isTotal(t, other, "VIEWS", 101)
	})
}

// What a killed process has not flushed is lost, and nothing else.
func TestAddAsyncOfAKilledProcess(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{Interval: time.Second}), open(t, client, Options{})
		mustAdd(t, c, "VIEWS", 5)
		for range 10 {
			if err := c.AddAsync("VIEWS", 1); err != nil {
				t.Fatal(err)
			}
		}
		crash(c)
		isTotal(t, other, "VIEWS", 5)
	})
}

func TestFlushWaitsForWhatWasAddedBefore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{Interval: time.Second}), open(t, client, Options{})
		mustAdd(t, c, "a", 1)
		mustAdd(t, c, "b", 1)
		begun := time.Now()
		for _, key := range []string{"a", "b", "c"} {
			if err := c.AddAsync(key, 10); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		isTotal(t, other, "a", 11)
		isTotal(t, other, "b", 11)
		isTotal(t, other, "c", 10)
		if err := c.Flush(t.Context()); err != nil {
			t.Errorf("with nothing to do: %v", err)
		}
	})
}

// Adds that keep coming do not keep Flush waiting.
func TestFlushEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := open(t, aTable(t), Options{})
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					_ = c.AddAsync("VIEWS", 1)
				}
			}
		}()
		time.Sleep(time.Second)
		begun := time.Now()
		if err := c.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestFlushWhoseContextEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		client.Decide(faulty.Always(faulty.Throttled))
		if err := c.AddAsync("VIEWS", 1); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := c.Flush(ctx)
		lost, ok := errors.AsType[*LostError](err)
		if !ok || lost.Adds != 1 || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "too fast") {
			t.Errorf("got %v, want what is lost and why", err)
		}
		client.Decide(nil)
		if err := c.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		isTotal(t, c, "VIEWS", 1)
	})
}

// Flush does not wait for Adds whose callers have gone.
func TestFlushOfAddsThatGoAway(t *testing.T) {
	for name, f := range map[string]faulty.Fault{"taken back": faulty.Throttled, "on their way": faulty.Unanswered} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				c := open(t, client, Options{Retry: heatsink.Retry{Timeout: time.Hour}})
				mustAdd(t, c, "VIEWS", 1)
				client.Decide(faulty.Script(f, f, f, f, f, f, f, f, f, f, f, f).Of("UpdateItem"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				added := make(chan error, 1)
				go func() { added <- c.Add(ctx, "VIEWS", 1) }()
				synctest.Wait()
				if err := c.Flush(t.Context()); err != nil {
					t.Error(err)
				}
				if err := <-added; err == nil {
					t.Error("the Add was stored: nothing is shown")
				}
				client.Decide(nil)
				mustAdd(t, c, "LIKES", 1)
			})
		})
	}
}

func TestCloseStoresEverything(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{Interval: time.Second}), open(t, client, Options{})
		for range 3 {
			for _, key := range []string{"a", "b"} {
				if err := c.AddAsync(key, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		isTotal(t, other, "a", 3)
		isTotal(t, other, "b", 3)
		view, err := other.Inspect(t.Context(), "a")
		if err != nil || view.Base != 3 || view.Folded != 1 {
			t.Errorf("got %+v, %v, want everything in the base", view, err)
		}
		for name, err := range map[string]error{
			"Add": c.Add(t.Context(), "a", 1), "AddAsync": c.AddAsync("a", 1), "Flush": c.Flush(t.Context()), "Close": c.Close(t.Context()),
			"Total":  second(c.Total(t.Context(), "a")),
			"Cached": second(c.Cached(t.Context(), "a")),
			"Read":   second(c.Read(t.Context(), "a")),
			"Reset":  second(c.Reset(t.Context(), "a")),
			"Fold":   second(c.Fold(t.Context(), "a")),
		} {
			if !errors.Is(err, ErrClosed) || errors.Is(err, ErrUncertain) {
				t.Errorf("%s of a closed counter: got %v", name, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A Close that cannot store everything says what it has lost, and everybody who waits gets an answer that is true.
func TestCloseWhoseContextEnds(t *testing.T) {
	for name, c := range map[string]struct {
		fault     faulty.Fault
		uncertain bool
	}{"throttled": {faulty.Throttled, false}, "unanswered": {faulty.Unanswered, true}} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				n := open(t, client, Options{})
				mustAdd(t, n, "VIEWS", 1)
				client.Decide(faulty.Always(c.fault))
				if err := n.AddAsync("VIEWS", 1); err != nil {
					t.Fatal(err)
				}
				added := make(chan error, 1)
				go func() { added <- n.Add(context.Background(), "VIEWS", 1) }()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := n.Close(ctx)
				if lost, ok := errors.AsType[*LostError](err); !ok || lost.Adds != 1 {
					t.Errorf("close: got %v, want one lost", err)
				}
				if err := <-added; !errors.Is(err, ErrClosed) || errors.Is(err, ErrUncertain) != c.uncertain {
					t.Errorf("add: got %v, want it to be uncertain: %v", err, c.uncertain)
				}
			})
		})
	}
}

// Close folds no slot that is still written to, even if nobody waits for it any more.
func TestCloseWaitsForWhatIsOnItsWay(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{}), open(t, client, Options{})
		mustAdd(t, c, "VIEWS", 1)
		client.Decide(faulty.Script(faulty.UnansweredDone).Of("UpdateItem"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Add(ctx, "VIEWS", 1); !errors.Is(err, ErrUncertain) {
			t.Fatalf("got %v", err)
		}
		begun := time.Now()
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < defaultTimeout-time.Second {
			t.Errorf("it took %v, less than the request", took)
		}
		isTotal(t, other, "VIEWS", 2)
		if view, err := other.Inspect(t.Context(), "VIEWS"); err != nil || view.Base != 2 {
			t.Errorf("got %+v, %v, want everything in the base", view, err)
		}
	})
}

// Close of counters that were only read, or never used, has nothing to do.
func TestCloseOfNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		isTotal(t, c, "VIEWS", 0)
		before := client.Count("UpdateItem")
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := client.Count("UpdateItem") - before; n != 0 {
			t.Errorf("%d writes", n)
		}
	})
}

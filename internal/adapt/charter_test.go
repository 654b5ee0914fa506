package adapt

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

const charterOfOrders = "_hs#C#orders"

// static is a process with a fixed layout, which has a charter alone.
func static(shards int, older ...layout.Layout) func(*Options) {
	return func(o *Options) {
		o.Adaptive = false
		o.Charter.Widths, o.Charter.Layout, o.Charter.Older = charter.Fixed, layout.Layout{Shards: shards}, older
	}
}

// The first use writes the charter, and the next minute's uses send nothing.
func TestCharterIsWrittenOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		for range 5 {
			if err := b.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(11 * time.Second)
		}
		if got, put := client.Count("GetItem"), client.Count("PutItem"); got != 1 || put != 1 {
			t.Errorf("%d reads and %d writes, want one each", got, put)
		}
		time.Sleep(6 * time.Second)
		if err := b.Ready(t.Context()); err != nil || client.Count("GetItem") != 2 || client.Count("PutItem") != 1 {
			t.Errorf("after a minute: %v, %d reads and %d writes, want another read", err, client.Count("GetItem"), client.Count("PutItem"))
		}
		if got := controlItems(t, client.Direct, "items"); len(got) != 1 || got[0] != charterOfOrders {
			t.Errorf("stored: %q", got)
		}
		other := newBook(t, client)
		if err := other.Ready(t.Context()); err != nil || client.Count("PutItem") != 1 {
			t.Errorf("another process: %v, and %d writes", err, client.Count("PutItem")-1)
		}
	})
}

// Many processes and goroutines may come first. One charter is written, and all agree with it.
func TestCharterOfManyAtOnce(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	var wg sync.WaitGroup
	for range 6 {
		b := newBook(t, client)
		for range 5 {
			wg.Go(func() {
				if err := b.Ready(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := client.Count("GetItem"); n != 6 {
		t.Errorf("%d reads, want one of each process", n)
	}
	if n := client.Count("PutItem"); n < 1 || n > 6 {
		t.Errorf("%d writes, want at most one of each process", n)
	}
}

// Of two processes with different layouts that come first, one is refused.
func TestCharterOfTwoAtOnce(t *testing.T) {
	for range 20 {
		client := start(t)
		var refused atomic.Int32
		var wg sync.WaitGroup
		for _, shards := range []int{4, 16} {
			b := newBook(t, client, static(shards))
			wg.Go(func() {
				err := b.Ready(context.Background())
				switch {
				case errors.Is(err, charter.ErrIncompatible):
					refused.Add(1)
				case err != nil:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := refused.Load(); n != 1 {
			t.Fatalf("%d processes were refused, want one", n)
		}
	}
}

// The error names every difference.
func TestCharterIncompatible(t *testing.T) {
	client := start(t)
	if err := newBook(t, client).Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := newBook(t, client, with(func(c *charter.Charter) {
		c.Layout.Strategy, c.Layout.Bucket = layout.Calculated, layout.Day
		c.EventTime = charter.EventTime{Attribute: "at", Unit: charter.UnixSeconds}
		c.ShardBy = []string{"id"}
	})).Ready(t.Context())
	if !errors.Is(err, charter.ErrIncompatible) {
		t.Fatalf("got %v, want ErrIncompatible", err)
	}
	for _, want := range []string{"orders", "items", "random", "calculated", "day", `"at"`, `"id"`, "rewrite the charter"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
}

// A charter that cannot be understood is refused: nobody knows what it asks for.
func TestCharterDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		attribute string
		value     types.AttributeValue
		want      error
	}{
		"garbage":      {"_hs_widths", &types.AttributeValueMemberS{Value: "wide"}, ErrLedger},
		"another type": {"_hs_widths", &types.AttributeValueMemberBOOL{Value: true}, ErrLedger},
		"unknown":      {"_hs_zzz", &types.AttributeValueMemberS{Value: "?"}, ErrLedger},
		"newer":        {"_hs_v", &types.AttributeValueMemberN{Value: "99"}, charter.ErrNewer},
		"new need":     {"_hs_needs", &types.AttributeValueMemberS{Value: `["ledger","teleport"]`}, charter.ErrNewer},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t)
				known := newBook(t, client)
				if err := known.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
				overwrite(t, client, charterOfOrders, c.attribute, c.value)
				if err := newBook(t, client).Ready(t.Context()); !errors.Is(err, c.want) {
					t.Errorf("a process that begins: got %v, want %v", err, c.want)
				}
				if err := known.Ready(t.Context()); err != nil {
					t.Errorf("within the minute: got %v", err)
				}
				time.Sleep(time.Minute)
				for range 3 {
					if err := known.Ready(t.Context()); !errors.Is(err, c.want) {
						t.Errorf("after a minute: got %v, want %v", err, c.want)
					}
				}
			})
		})
	}
}

// If the charter cannot be read, a process that has never read it does not know what to do. One that has goes on.
func TestCharterThatCannotBeRead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		if err := b.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		client.Decide(faulty.Always(faulty.Denied))
		err := newBook(t, client).Ready(t.Context())
		if !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "AccessDenied") || !strings.Contains(err.Error(), "orders") {
			t.Errorf("a process that begins: got %v, want ErrLedger and the reason", err)
		}
		time.Sleep(time.Minute)
		sent := client.Count("GetItem")
		for range 3 {
			if err := b.Ready(t.Context()); err != nil {
				t.Errorf("got %v, want the process to go on", err)
			}
		}
		if n := client.Count("GetItem") - sent; n != 1 {
			t.Errorf("%d requests, want one a minute", n)
		}
		if text := b.logs.String(); !strings.Contains(text, "the charter cannot be read again") || !strings.Contains(text, "AccessDenied") {
			t.Errorf("logged %q, want the reason", text)
		}
	})
}

// A caller whose context ends says nothing about the charter: the next caller reads it.
func TestCharterOfAContextThatEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client, static(4))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		client.Decide(faulty.Always(faulty.Unanswered))
		if err := b.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrLedger) {
			t.Errorf("the first: got %v, want that the context has ended", err)
		}
		client.Decide(nil)
		if err := b.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := newBook(t, client.Direct, static(16)).Rewrite(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		again, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		client.Decide(faulty.Always(faulty.Unanswered))
		_ = b.Ready(again)
		client.Decide(nil)
		if err := b.Ready(context.Background()); !errors.Is(err, charter.ErrIncompatible) {
			t.Errorf("got %v, want ErrIncompatible from the next caller", err)
		}
	})
}

// Who waits for the first read of the charter leaves when its context ends.
func TestCharterWaitEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		client.Delay(faulty.Exactly(time.Minute))
		b := newBook(t, client)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := b.Ready(context.Background()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		begin := time.Now()
		if err := b.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 1100*time.Millisecond {
			t.Errorf("got %v after %v, want it to leave after a second", err, time.Since(begin))
		}
		wg.Wait()
	})
}

// Rewrite replaces the charter. Within a minute each process with the layout before refuses the collection, in all its
// goroutines, and for as long as the charter says so.
func TestCharterRewritten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		before, after := newBook(t, client, static(4)), newBook(t, client.Direct, static(16))
		if err := before.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := after.Ready(t.Context()); !errors.Is(err, charter.ErrIncompatible) {
			t.Fatalf("got %v, want ErrIncompatible", err)
		}
		if err := after.Rewrite(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := after.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		client.Delay(faulty.Exactly(time.Second))
		_ = before.Ready(context.Background()) // this one, or one beside it, has read the charter now
		var allowed atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := before.Ready(context.Background()); !errors.Is(err, charter.ErrIncompatible) {
					allowed.Add(1)
				}
			})
		}
		wg.Wait()
		if n := allowed.Load(); n > 0 {
			t.Errorf("%d of 20 goroutines may go on with a layout that was replaced", n)
		}
		if err := newBook(t, client.Direct, static(4)).Rewrite(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(refuseFor)
		if err := before.Ready(t.Context()); err != nil {
			t.Errorf("got %v, want the process to go on after the charter was put right", err)
		}
	})
}

// A process may read more older layouts than the charter lists. The others are not refused for it while it is deployed. Once the
// charter lists them, nobody may leave them out.
func TestCharterWithMoreOlderLayouts(t *testing.T) {
	client := start(t)
	older := static(16, layout.Layout{Shards: 4})
	for _, option := range []func(*Options){static(16), older, static(16)} {
		if err := newBook(t, client, option).Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := newBook(t, client, older).Rewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := newBook(t, client, static(16)).Ready(t.Context())
	if !errors.Is(err, charter.ErrIncompatible) || !strings.Contains(err.Error(), "Older") {
		t.Errorf("without the older layout: got %v, want ErrIncompatible that names Older", err)
	}
	if err := newBook(t, client, older).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// A process that the charter has refused stays refused if the charter cannot be read any more.
func TestCharterThatCannotBeReadAfterARefusal(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client, static(4))
		if err := b.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := newBook(t, client.Direct, static(16)).Rewrite(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := b.Ready(t.Context()); !errors.Is(err, charter.ErrIncompatible) {
			t.Fatalf("got %v, want ErrIncompatible", err)
		}
		time.Sleep(refuseFor)
		client.Decide(faulty.Always(faulty.Denied))
		if err := b.Ready(t.Context()); !errors.Is(err, ErrLedger) {
			t.Errorf("got %v, want ErrLedger: nobody knows that the refusal is over", err)
		}
	})
}

// An adaptive or movable collection refuses a global table. It asks before its first use, and not again. A process that may not describe
// the table goes on, and so does a collection whose layout stays.
func TestGlobalTablesAreRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		described, replicas, denied := 0, 0, error(nil)
		describe := func(o *Options) {
			o.Describe = func(_ context.Context, table string) (*types.TableDescription, error) {
				described++
				if table != "items" {
					t.Errorf("table %q is described", table)
				}
				return &types.TableDescription{Replicas: make([]types.ReplicaDescription, replicas)}, denied
			}
		}
		b := newBook(t, client, describe)
		for range 3 {
			if err := b.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if described != 1 {
			t.Errorf("the table was described %d times, want once", described)
		}
		denied = errors.New("access denied")
		if err := newBook(t, client, describe).Ready(t.Context()); err != nil {
			t.Errorf("a table that may not be described: got %v", err)
		}
		replicas, denied = 2, nil
		err := newBook(t, client, describe).Ready(t.Context())
		if !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "global table with 2 replicas") {
			t.Errorf("a global table: got %v, want ErrLedger that says so", err)
		}
		moves := with(func(c *charter.Charter) { c.Movable = true })
		err = newBook(t, client, describe, static(4), moves).Ready(t.Context())
		if !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "leave Options.Movable out") {
			t.Errorf("a global table of a movable collection: got %v, want ErrLedger that says so", err)
		}
		other := func(o *Options) { o.Control.Collection = "fixed" }
		if err := newBook(t, client, describe, static(4), other).Ready(t.Context()); err != nil {
			t.Errorf("a collection without ledgers: got %v", err)
		}
	})
}

// A failure is not that of those who come after it, even at the same instant.
func TestFailureIsNotKept(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), faulty.Always(faulty.Denied))
		b := newBook(t, client)
		if err := b.Ready(t.Context()); err == nil {
			t.Fatal("no error although the charter cannot be read")
		}
		client.Decide(nil)
		if err := b.Ready(t.Context()); err != nil {
			t.Errorf("got %v, which was over before", err)
		}
	})
}

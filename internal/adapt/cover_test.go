package adapt

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// sentGet returns the nth GetItem that was sent.
func sentGet(t testing.TB, c *faulty.Client, n int) *dynamodb.GetItemInput {
	t.Helper()
	for _, r := range c.Requests() {
		if in, ok := r.Input.(*dynamodb.GetItemInput); ok {
			if n == 0 {
				return in
			}
			n--
		}
	}
	t.Fatalf("only so many GetItems were sent that %d are missing", n+1)
	return nil
}

// A cover tells at once what the process knows, and the rest when the ledger was read. Until then nothing is sent.
func TestCoverTellsTwice(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	newBook(t, client.Direct).grow(t, "k", 8)
	b := newBook(t, client)
	for i, want := range []struct{ first, all int }{{1, 8}, {8, 8}} {
		c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Strong})
		if err != nil {
			t.Fatal(err)
		}
		if n := client.Count("GetItem"); n != i || !c.Pending() || c.First() != want.first {
			t.Errorf("%d requests, pending %v, %d shards at first, want %d, true and %d", n, c.Pending(), c.First(), i, want.first)
		}
		if n, err := c.Await(t.Context()); n != want.all || err != nil {
			t.Errorf("got %d shards, %v, want %d", n, err, want.all)
		}
		if n, err := c.Await(t.Context()); n != want.all || err != nil || client.Count("GetItem") != i+1 {
			t.Errorf("again: got %d shards, %v after %d requests, want the same without a request", n, err, client.Count("GetItem"))
		}
	}
	if c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Eventual}); err != nil || c.Pending() || c.First() != 8 {
		t.Errorf("got %+v, %v, want an eventual read to use what is known", c, err)
	}
	_, generation := b.Known("k", none)
	if c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Causal, AtLeast: 1}); err != nil || c.Pending() || generation != 1 {
		t.Errorf("got %+v, %v, want a causal read to use what is known", c, err)
	}
	if c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Causal, AtLeast: 2}); err != nil || !c.Pending() {
		t.Errorf("got %+v, %v, want a causal read to ask for a generation that is not known", c, err)
	}
}

// An eventual read uses what is known for as long as Keep says, and not longer.
func TestCoverKeeps(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		b := newBook(t, client, func(o *Options) { o.Keep = 10 * time.Second })
		other := newBook(t, client)
		eventual := func(want int) {
			t.Helper()
			if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual}); n != want || err != nil {
				t.Errorf("got %d shards, %v, want %d", n, err, want)
			}
		}
		eventual(1)
		other.grow(t, "k", 4)
		time.Sleep(10 * time.Second)
		eventual(1)
		time.Sleep(time.Millisecond)
		eventual(4)
	})
}

// An eventual read that shares a request knows no more than that request has seen, so that it does not keep it for longer.
func TestCoverKeepsFromTheRequest(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		slow := faulty.On(t, client, nil)
		slow.Delay(faulty.Exactly(8 * time.Second))
		b := newBook(t, slow, func(o *Options) { o.Keep = 10 * time.Second })
		other := newBook(t, client)
		var wg sync.WaitGroup
		for _, wait := range []time.Duration{0, 7 * time.Second} {
			wg.Go(func() {
				time.Sleep(wait)
				if n, err := b.read(context.Background(), "k", ledger.Reading{Mode: ledger.Eventual}); n != 1 || err != nil {
					t.Errorf("got %d shards, %v, want 1", n, err)
				}
			})
		}
		time.Sleep(4*time.Second + time.Millisecond) // the request has read the ledger
		other.grow(t, "k", 4)
		wg.Wait()
		time.Sleep(2*time.Second + time.Millisecond)
		slow.Delay(nil)
		if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual}); n != 4 || err != nil {
			t.Errorf("10 s after the request was sent: got %d shards, %v, want 4", n, err)
		}
	})
}

// Items whose writers knew a later generation make a read look at the ledger again. If it shows that generation, all is well.
func TestStampsOfAGrowth(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b, other := newBook(t, client), newBook(t, client.Direct)
	for _, mode := range []ledger.Mode{ledger.Strong, ledger.Causal} {
		before := b.grow(t, "k", 2).Generation
		c, err := b.Cover("k", none, ledger.Reading{Mode: mode, AtLeast: before})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent := client.Count("GetItem")
		if err := c.Saw(t.Context(), 0, before); err != nil || client.Count("GetItem") != sent {
			t.Errorf("a stamp that is known: %v, and %d requests", err, client.Count("GetItem")-sent)
		}
		after := other.grow(t, "k", int(4<<before)).Generation
		if err := c.Saw(t.Context(), 1, after); err != nil || client.Count("GetItem") != sent+1 {
			t.Errorf("a stamp of a growth: %v, and %d requests, want one", err, client.Count("GetItem")-sent)
		}
		if err := c.Saw(t.Context(), 0, after); err != nil || client.Count("GetItem") != sent+1 {
			t.Errorf("the same stamp again: %v, and %d requests, want no more", err, client.Count("GetItem")-sent)
		}
		if _, got := b.Known("k", none); got != after {
			t.Errorf("the process knows generation %d, want %d", got, after)
		}
	}
}

// A ledger that is older than an item's stamp was lost. A strong and a causal read say so, and what to do.
func TestStampsOfALoss(t *testing.T) {
	for _, mode := range []ledger.Mode{ledger.Strong, ledger.Causal} {
		client := start(t)
		newBook(t, client).grow(t, "k", 8)
		drop(t, client, "_hs#L#orders##k")
		b := newBook(t, client)
		c, err := b.Cover("k", none, ledger.Reading{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Await(t.Context()); err != nil {
			t.Fatal(err) // nothing speaks of a loss yet
		}
		err = c.Saw(t.Context(), 0, 1)
		if !errors.Is(err, ErrLedger) || !errors.Is(err, ledger.ErrLost) || !strings.Contains(err.Error(), "repair it") {
			t.Errorf("mode %d: got %v, want that the ledger is lost and what to do", mode, err)
		}
		if _, err := b.read(t.Context(), "k", ledger.Reading{Mode: mode, AtLeast: 1}); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("mode %d: the next read: got %v, want ErrLost", mode, err)
		}
	}
}

// An eventual read does not pay for a stamp. The next one reads the ledger, with strong consistency, and goes on with a warning
// if it is lost.
func TestStampsOfAnEventualRead(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	newBook(t, client.Direct).grow(t, "k", 8)
	b := newBook(t, client)
	if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual}); n != 8 || err != nil {
		t.Fatal(n, err)
	}
	c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Eventual})
	if err != nil {
		t.Fatal(err)
	}
	sent := client.Count("GetItem")
	if err := c.Saw(t.Context(), 0, 5); err != nil || client.Count("GetItem") != sent {
		t.Errorf("got %v after %d requests, want neither", err, client.Count("GetItem")-sent)
	}
	if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual}); n != 8 || err != nil {
		t.Errorf("the next read: got %d shards, %v, want the 8 that are known", n, err)
	}
	if in := sentGet(t, client, sent); !*in.ConsistentRead {
		t.Error("the next read asked a replica that may lag")
	}
	if text := b.logs.String(); !strings.Contains(text, "ledger lost") {
		t.Errorf("logged %q, want that the ledger is lost", text)
	}
}

// If the ledger cannot be read, a read that must be exact fails. Another goes on with what the process knows, and says so.
func TestLedgerThatCannotBeRead(t *testing.T) {
	damage := map[string]func(t *testing.T, c *faulty.Client){
		"denied":    func(_ *testing.T, c *faulty.Client) { c.Decide(faulty.Always(faulty.Denied).Of("GetItem")) },
		"throttled": func(_ *testing.T, c *faulty.Client) { c.Decide(faulty.Always(faulty.Throttled).Of("GetItem")) },
		"lost":      func(_ *testing.T, c *faulty.Client) { c.Decide(faulty.Always(faulty.LostAnswer).Of("GetItem")) },
		"garbage": func(t *testing.T, c *faulty.Client) {
			overwrite(t, c.Direct, "_hs#L#orders##k", "_hs_R", &types.AttributeValueMemberS{Value: "wide"})
		},
		"of another type": func(t *testing.T, c *faulty.Client) {
			overwrite(t, c.Direct, "_hs#L#orders##k", "_hs_R", &types.AttributeValueMemberBOOL{Value: true})
		},
		"an attribute too many": func(t *testing.T, c *faulty.Client) {
			overwrite(t, c.Direct, "_hs#L#orders##k", "_hs_zzz", &types.AttributeValueMemberS{Value: "?"})
		},
	}
	for name, damage := range damage {
		t.Run(name, func(t *testing.T) {
			client := faulty.On(t, start(t), nil)
			b := newBook(t, client, func(o *Options) { o.Keep = time.Nanosecond })
			b.grow(t, "k", 8)
			fresh := newBook(t, client)
			if err := fresh.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			damage(t, client)
			if _, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Strong}); !errors.Is(err, ErrLedger) {
				t.Errorf("strong: got %v, want ErrLedger", err)
			}
			if _, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Causal, AtLeast: 2}); !errors.Is(err, ErrLedger) {
				t.Errorf("causal: got %v, want ErrLedger", err)
			}
			if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Causal, AtLeast: 1}); name != "" && (n != 8 || err != nil) && !errors.Is(err, ErrLedger) {
				t.Errorf("causal, of what is known: got %d shards, %v", n, err)
			}
			if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual}); n != 8 || err != nil {
				t.Errorf("eventual: got %d shards, %v, want the 8 that are known", n, err)
			}
			if text := b.logs.String(); !strings.Contains(text, "an eventual read goes on with an older ledger") {
				t.Errorf("logged %q, want a warning", text)
			}
			if _, err := fresh.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual}); !errors.Is(err, ErrLedger) {
				t.Errorf("eventual, of a process that knows nothing: got %v, want ErrLedger", err)
			}
			w, err := b.Write(t.Context(), "k", none, func(width int) int { return width - 1 })
			if err != nil {
				t.Fatal(err)
			}
			if shard, _, stamp, err := w.Next(); shard != 7 || stamp != 1 || err != nil {
				t.Errorf("a write: got shard %d with stamp %d, %v, want it to go on", shard, stamp, err)
			}
		})
	}
}

// The caller's own context is no fault of the ledger.
func TestCoverOfAContextThatEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		client.Decide(faulty.Always(faulty.Unanswered).Of("GetItem"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := b.read(ctx, "k", ledger.Reading{Mode: ledger.Strong})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrLedger) {
			t.Errorf("got %v, want that the context has ended", err)
		}
	})
}

// Several requests of one read wait for one ledger. If the one that reads it is given up, as the slower of two that were hedged
// is, the others read it themselves.
func TestCoverOutlivesAContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		newBook(t, client.Direct).grow(t, "k", 8)
		b := newBook(t, client)
		client.Delay(faulty.Exactly(time.Second))
		c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Strong})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Await(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that is given up: got %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if n, err := c.Await(context.Background()); n != 8 || err != nil {
				t.Errorf("the other: got %d shards, %v, want 8", n, err)
			}
		})
		time.Sleep(time.Second / 4)
		cancel()
		wg.Wait()
	})
}

// A read that resumes where more shards were read reads the ledger first. One that shows fewer is lost.
func TestCoverOfALaterPage(t *testing.T) {
	client := start(t)
	newBook(t, client).grow(t, "k", 8)
	b := newBook(t, client)
	if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual, AtLeastWidth: 8}); n != 8 || err != nil {
		t.Errorf("got %d shards, %v, want 8", n, err)
	}
	if _, err := newBook(t, client).read(t.Context(), "k", ledger.Reading{Mode: ledger.Eventual, AtLeastWidth: 16}); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
}

// A shard has many pages, and any of them may show that the ledger was lost: also the last, after the ledger was read.
func TestEveryPageTellsOfLoss(t *testing.T) {
	b := newBook(t, start(t))
	b.grow(t, "k", 2)
	c, err := b.Cover("k", none, ledger.Reading{Mode: ledger.Strong})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	for page := range 6 {
		if err := c.Saw(t.Context(), page%2, 1); err != nil {
			t.Fatalf("page %d: %v", page, err)
		}
	}
	if err := c.Saw(t.Context(), 0, 5); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("an item of generation 5 after a ledger of generation 1: got %v, want ErrLost", err)
	}
}

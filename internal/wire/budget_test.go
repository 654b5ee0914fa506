package wire

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// waiter takes room in a goroutine and tells when it got it.
func waiter(ctx context.Context, r *room, bytes int) (*claim, chan error) {
	c, got := &claim{drop: func() {}}, make(chan error, 1)
	go func() { got <- c.take(ctx, r, bytes, noLimit) }()
	synctest.Wait()
	return c, got
}

func TestRoomIsGivenInOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := &room{size: 10}
		first := &claim{drop: func() { t.Error("dropped, though it does not wait for its client") }}
		if err := first.take(t.Context(), r, 8, noLimit); err != nil {
			t.Fatal(err)
		}
		large, gotLarge := waiter(t.Context(), r, 100) // more than there is: all of it
		small, gotSmall := waiter(t.Context(), r, 2)
		time.Sleep(5 * time.Second)
		if len(gotLarge)+len(gotSmall) != 0 {
			t.Fatal("the small one, which would fit, overtook the large one")
		}
		first.release()
		synctest.Wait()
		if len(gotLarge) != 1 || len(gotSmall) != 0 || r.used != 10 {
			t.Fatalf("got large %d, small %d, used %d", len(gotLarge), len(gotSmall), r.used)
		}
		large.release()
		large.release() // once more does no harm
		synctest.Wait()
		if len(gotSmall) != 1 || r.used != 2 {
			t.Fatalf("got small %d, used %d", len(gotSmall), r.used)
		}
		small.set(50)
		third, got := waiter(t.Context(), r, 1)
		if len(got) != 0 {
			t.Error("there is room though more is in use than there is")
		}
		small.set(9)
		synctest.Wait()
		if len(got) != 1 {
			t.Error("what was given back is not used")
		}
		small.release()
		third.release()
		if r.used != 0 || len(r.holders) != 0 {
			t.Errorf("used %d, holders %d after all", r.used, len(r.holders))
		}
	})
}

func TestWaitingForRoomEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := &room{size: 10}
		first := &claim{}
		if err := first.take(t.Context(), r, 10, noLimit); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, byCtx := waiter(ctx, r, 1)
		_, byTime := waiter(t.Context(), r, 1)
		refused := &claim{}
		if err := refused.take(t.Context(), r, 1, 2); !errors.Is(err, errBusy) {
			t.Errorf("a third in a queue of two: got %v", err)
		}
		cancel()
		if err := <-byCtx; !errors.Is(err, errBusy) {
			t.Errorf("after its context: got %v", err)
		}
		began := time.Now()
		if err := <-byTime; !errors.Is(err, errBusy) || time.Since(began) != roomWait {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		first.release()
		if r.used != 0 || len(r.waiting) != 0 {
			t.Errorf("used %d, waiting %d after all", r.used, len(r.waiting))
		}
	})
}

// Whoever holds room that others wait for, and waits for a client that does
// nothing, loses it. Others do not, and nobody does if nobody waits.
func TestStalledClientsLoseTheirRoom(t *testing.T) {
	for _, c := range []struct {
		name    string
		client  bool
		done    bool
		rate    int // bytes in a tenth of a second
		dropped bool
	}{
		{"at work", false, false, 0, false},
		{"client stands still", true, false, 0, true},
		{"client is done", true, true, 0, false},
		{"client gets on", true, false, leastRate / 5, false},
		{"client trickles", true, false, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				r := &room{size: 10}
				ended, over := make(chan struct{}), make(chan struct{})
				go func() { // the connection
					holder := &claim{drop: func() { close(ended) }}
					if err := holder.take(context.Background(), r, 10, noLimit); err != nil {
						t.Error(err)
					}
					defer holder.release()
					if c.client {
						holder.await()
					}
					if c.done {
						holder.rest()
					}
					for {
						select {
						case <-ended:
							return
						case <-over:
							return
						case <-time.After(100 * time.Millisecond):
							holder.move(c.rate)
						}
					}
				}()
				dropped := func() bool {
					select {
					case <-ended:
						return true
					default:
						return false
					}
				}
				time.Sleep(5 * time.Second)
				if dropped() {
					t.Fatal("dropped though nobody waits")
				}
				next := &claim{}
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				err := next.take(ctx, r, 1, noLimit)
				if dropped() != c.dropped || (err == nil) != c.dropped {
					t.Errorf("dropped %v, %v, want %v", dropped(), err, c.dropped)
				}
				close(over)
			})
		})
	}
}

// A client that got on well stands still only if it was seen so again and again:
// a machine that was too busy to look was too busy to read as well.
func TestStandingStillIsSeenOften(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := &room{size: 10}
		c := full(t, r)
		c.await()
		c.move(100 * leastRate) // so its rate is no reason
		time.Sleep(10 * stallTime)
		looks := int(stallTime / sweepTime)
		for i := range looks {
			if stalled, want := c.stalled(time.Now(), stallTime), i == looks-1; stalled != want {
				t.Fatalf("look %d of %d: stalled %v", i+1, looks, stalled)
			}
		}
		c.move(1)
		if c.stalled(time.Now(), stallTime) {
			t.Error("it moved, and is stalled")
		}
		c.release()
	})
}

// Whatever happens, a room knows what is taken of it, takes no more in than fits,
// and forgets nobody who waits.
func TestRoomModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bubble.Test(t, func(*testing.T) {
			r := &room{size: 100}
			type held struct {
				*claim
				got    chan error
				cancel context.CancelFunc
			}
			var all []held // waiting or in
			in := func(h held) bool { return len(h.got) == 1 }
			rt.Repeat(map[string]func(*rapid.T){
				"take": func(rt *rapid.T) {
					ctx, cancel := context.WithCancel(context.Background())
					c, got := waiter(ctx, r, rapid.IntRange(1, 120).Draw(rt, "bytes"))
					all = append(all, held{c, got, cancel})
				},
				"end": func(rt *rapid.T) {
					if len(all) == 0 {
						return
					}
					i := rapid.IntRange(0, len(all)-1).Draw(rt, "which")
					if h := all[i]; in(h) {
						h.release()
					} else {
						h.cancel()
						if err := <-h.got; err == nil {
							rt.Fatal("it got in though it gave up")
						}
					}
					all[i].cancel()
					all = slices.Delete(all, i, i+1)
					synctest.Wait()
				},
				"": func(rt *rapid.T) {
					used, waits := 0, false
					for _, h := range all {
						switch {
						case !in(h) && !waits:
							if waits = true; r.used+h.bytes <= r.size {
								rt.Fatalf("%d bytes wait, %d of %d are used", h.bytes, r.used, r.size)
							}
						case in(h) && waits:
							rt.Fatal("one overtook another")
						}
						if in(h) {
							used += h.bytes
						}
					}
					if used != r.used || used > r.size {
						rt.Fatalf("used %d of %d, want %d", r.used, r.size, used)
					}
				},
			})
			for _, h := range all {
				h.cancel()
				if !in(h) {
					<-h.got
				}
			}
			synctest.Wait()
		})
	})
}

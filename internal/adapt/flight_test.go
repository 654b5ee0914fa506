package adapt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// idle fails the test if something of a page's flights is left.
func (b book) idle(t testing.TB, key string) {
	t.Helper()
	p := b.known(Key{Text: key})
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.flights) > 0 {
		t.Errorf("%d flights are left", len(p.flights))
	}
	if _, start := p.share.Join(); !start {
		t.Error("the next read would wait for a flight that nobody sends")
	}
}

// ask reads the ledger of key k.
func (b book) ask(ctx context.Context, t testing.TB, strong bool) ledger.LedgerRead {
	p, err := b.page(Key{Text: "k"})
	if err != nil {
		t.Error(err)
	}
	return b.Book.ask(ctx, p, ledger.ReadLedger{Strong: strong, Sent: time.Now()})
}

// A strong read shares only a request that is sent after it began. An eventual one shares any.
func TestFlightsAreSharedForward(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		slow := faulty.On(t, client, nil)
		slow.Delay(faulty.Exactly(time.Second))
		b, other := newBook(t, slow), newBook(t, client)
		begin := time.Now()
		var wg sync.WaitGroup
		expect := func(name string, strong bool, generation int64, after time.Duration) {
			wg.Go(func() {
				read := b.ask(context.Background(), t, strong)
				if read.Err != nil || read.Record.Generation != generation {
					t.Errorf("%s: got generation %d, %v, want %d", name, read.Record.Generation, read.Err, generation)
				}
				if took := time.Since(begin); took != after {
					t.Errorf("%s: it came after %v, want %v", name, took, after)
				}
			})
		}
		expect("the first", true, 0, time.Second) // it reads the ledger after half a second
		time.Sleep(600 * time.Millisecond)
		other.grow(t, "k", 8)
		time.Sleep(100 * time.Millisecond)
		for range 5 {
			expect("strong, after the growth", true, 1, 2*time.Second)
		}
		expect("eventual, after the growth", false, 0, time.Second)
		time.Sleep(600 * time.Millisecond) // the second request is under way
		expect("strong, during the second", true, 1, 3*time.Second)
		wg.Wait()
		if n := slow.Count("GetItem"); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
		b.idle(t, "k")
	})
}

// Only a strong reader makes the shared request a strong one, at twice the price.
func TestFlightConsistency(t *testing.T) {
	for _, strong := range []bool{false, true} {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		if read := b.ask(t.Context(), t, strong); read.Err != nil {
			t.Fatal(read.Err)
		}
		if got := *sentGet(t, client, 0).ConsistentRead; got != strong {
			t.Errorf("strong %v: ConsistentRead is %v", strong, got)
		}
	}
}

// An eventual reader that waits for the next request gets the strong one that another asked for.
func TestFlightBecomesStrong(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		client.Delay(faulty.Exactly(time.Second))
		b := newBook(t, client)
		var wg sync.WaitGroup
		for _, strong := range []bool{false, true} { // the first is under way when the second comes
			wg.Go(func() {
				if read := b.ask(context.Background(), t, strong); read.Err != nil {
					t.Error(read.Err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if *sentGet(t, client, 0).ConsistentRead || !*sentGet(t, client, 1).ConsistentRead {
			t.Error("want an eventual read, and then a strong one")
		}
	})
}

// A reader whose context ends leaves at once, and the others get their answers, wherever it was: it had sent the request, was
// to send it next, or waited.
func TestFlightsSurviveContexts(t *testing.T) {
	errAsked := errors.New("the caller has had enough")
	for seed := range uint64(150) {
		bubble.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			client := start(t)
			slow := faulty.On(t, client, nil)
			slow.Delay(faulty.UpTo(rand.New(rand.NewPCG(seed, 8)), time.Second))
			b, other := newBook(t, slow), newBook(t, client)
			var mu sync.Mutex
			stored := int64(0)
			var wg sync.WaitGroup
			for n := range 2 + random.IntN(8) {
				starts, ends := time.Duration(random.IntN(2000))*time.Millisecond, time.Duration(random.IntN(3000))*time.Millisecond
				strong, patient := random.IntN(3) > 0, random.IntN(3) == 0
				wg.Go(func() {
					time.Sleep(starts)
					ctx, cancel := context.WithCancelCause(context.Background())
					defer cancel(nil)
					deadline := time.Now().Add(ends)
					if !patient {
						defer time.AfterFunc(ends, func() { cancel(errAsked) }).Stop()
					}
					mu.Lock()
					least := stored
					mu.Unlock()
					read := b.ask(ctx, t, strong)
					switch {
					case read.Err != nil && (patient || time.Now().Before(deadline)):
						t.Errorf("seed %d: reader %d: %v, and its context had not ended", seed, n, read.Err)
					case !patient && time.Now().After(deadline):
						t.Errorf("seed %d: reader %d left %v after its context had ended", seed, n, time.Since(deadline))
					case read.Err == nil && strong && read.Record.Generation < least:
						t.Errorf("seed %d: reader %d: got generation %d, and %d was stored before", seed, n, read.Record.Generation, least)
					}
				})
			}
			pause := time.Duration(random.IntN(700)) * time.Millisecond
			wg.Go(func() {
				for width := 2; width <= 16; width *= 2 {
					time.Sleep(pause)
					r := other.grow(t, "k", width)
					mu.Lock()
					stored = r.Generation
					mu.Unlock()
				}
			})
			wg.Wait()
			b.idle(t, "k")
		})
	}
}

// If a request fails, all who share it are told, and the next reader sends another.
func TestFlightFails(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), faulty.Script(faulty.None, faulty.Denied))
		client.Delay(faulty.Exactly(time.Second))
		b := newBook(t, client)
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				if err := b.ask(context.Background(), t, true).Err; (err != nil) != (n > 0) {
					t.Errorf("reader %d: got %v", n, err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if read := b.ask(context.Background(), t, true); read.Err != nil {
			t.Error(read.Err)
		}
		if n := client.Count("GetItem"); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
		b.idle(t, "k")
	})
}

// Readers of different keys do not wait for each other.
func TestFlightsOfOtherKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		client.Delay(faulty.Exactly(time.Second))
		b := newBook(t, client)
		begin := time.Now()
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				if _, err := b.read(context.Background(), fmt.Sprint("k", n), ledger.Reading{Mode: ledger.Strong}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took != time.Second {
			t.Errorf("20 keys took %v, want one second", took)
		}
	})
}

// An eventual reader may be the one that sends a request which a strong reader waits for. It sends it as a strong one.
func TestFlightIsSentAsStrongAsItsWaiters(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	p, err := b.page(Key{Text: "k"})
	if err != nil {
		t.Fatal(err)
	}
	first := p.join(true)
	<-first.turn         // it is under way
	next := p.join(true) // and somebody waits for the next
	p.mu.Lock()
	close(first.done)
	p.land(first)
	p.mu.Unlock()
	if read := b.ask(t.Context(), t, false); read.Err != nil {
		t.Fatal(read.Err)
	}
	select {
	case <-next.done:
	default:
		t.Fatal("the eventual reader has sent a request of its own")
	}
	if !*sentGet(t, client, 0).ConsistentRead {
		t.Error("the strong reader got an eventual read")
	}
}

package adapt

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// Many processes grow one key at once, through a network that throttles and loses answers. Each generation has one winner, the
// generations have no gap, and the widths never fall.
func TestGrowRaces(t *testing.T) {
	client := start(t)
	type won struct {
		generation  int64
		read, write int
	}
	var mu sync.Mutex
	var all []won
	var wg sync.WaitGroup
	for n := range 12 {
		faults := faulty.Random(rand.New(rand.NewPCG(uint64(n), 3)), 20, faulty.Throttled, faulty.LostAnswer, faulty.LostRequest, faulty.BrokeDown)
		b := newBook(t, faulty.On(t, client, faults))
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 4))
			for range 12 {
				to := 1 + random.IntN(200)
				r, grown, err := b.Grow(context.Background(), "k", none, ledger.Growth{To: to, Why: "a race", Once: random.IntN(3) == 0})
				if grown && err != nil {
					t.Errorf("grown, and yet %v", err)
				}
				if grown {
					if r.Write < to {
						t.Errorf("grown to %d/%d, want %d", r.Write, r.Read, to)
					}
					mu.Lock()
					all = append(all, won{r.Generation, r.Read, r.Write})
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if len(all) == 0 {
		t.Fatal("nobody has grown the key")
	}
	slices.SortFunc(all, func(a, b won) int { return int(a.generation - b.generation) })
	for i := range all[1:] {
		before, now := all[i], all[i+1]
		if now.generation == before.generation {
			t.Errorf("generation %d has two winners: %+v and %+v", now.generation, before, now)
		}
		if now.read < before.read || now.write < before.write {
			t.Errorf("%+v is narrower than %+v", now, before)
		}
	}
	r, err := newBook(t, client).Show(t.Context(), "k", none)
	if last := all[len(all)-1]; err != nil || r.Generation < last.generation || r.Read < last.read {
		t.Errorf("stored: %+v, %v, want %+v or later", r, err, last)
	}
}

// With Once, a growth that was decided by what the process knew is not repeated on top of somebody else's.
func TestGrowOnce(t *testing.T) {
	client := start(t)
	a, b := newBook(t, client), newBook(t, client)
	a.grow(t, "k", 2)
	b.grow(t, "k", 4) // b has read the ledger, a has not
	r, grown, err := a.Grow(t.Context(), "k", none, ledger.Growth{To: 16, Once: true})
	if err != nil || grown || r.Read != 4 || r.Generation != 2 {
		t.Errorf("got %+v, grown %v, %v, want what b has stored", r, grown, err)
	}
	if r, grown, err = a.Grow(t.Context(), "k", none, ledger.Growth{To: 16, Once: true}); err != nil || !grown || r.Read != 16 {
		t.Errorf("again: got %+v, grown %v, %v, want 16", r, grown, err)
	}
}

// A key that is frozen does not grow in any process, until it is thawed.
func TestGrowFrozen(t *testing.T) {
	client := start(t)
	a, b := newBook(t, client), newBook(t, client)
	if _, _, err := a.Grow(t.Context(), "k", none, ledger.Growth{To: 1, Freeze: ledger.Freeze, Why: "a sale"}); err != nil {
		t.Fatal(err)
	}
	_, grown, err := b.Grow(t.Context(), "k", none, ledger.Growth{To: 4})
	if !errors.Is(err, ledger.ErrFrozen) || errors.Is(err, ErrLedger) || grown || !strings.Contains(err.Error(), "a sale") {
		t.Errorf("got %v, want ErrFrozen and why", err)
	}
	if _, _, err := b.Grow(t.Context(), "k", none, ledger.Growth{To: 1, Freeze: ledger.Thaw}); err != nil {
		t.Fatal(err)
	}
	if r, _, err := a.Grow(t.Context(), "k", none, ledger.Growth{To: 4}); err != nil || r.Read != 4 || r.Frozen {
		t.Errorf("got %+v, %v, want 4 shards", r, err)
	}
}

// What is stored by a newer version is not touched.
func TestGrowOverANewerVersion(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	b.grow(t, "k", 4)
	overwrite(t, client, "_hs#L#orders##k", "_hs_v", &types.AttributeValueMemberN{Value: "9"})
	overwrite(t, client, "_hs#L#orders##k", "_hs_g", &types.AttributeValueMemberN{Value: "7"})
	if _, grown, err := b.Grow(t.Context(), "k", none, ledger.Growth{To: 8}); grown || !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("got grown %v, %v, want ErrNewer", grown, err)
	}
	if _, grown, err := newBook(t, client).Grow(t.Context(), "k", none, ledger.Growth{To: 8}); grown || !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("another process: got grown %v, %v, want ErrNewer", grown, err)
	}
	w, err := b.Write(t.Context(), "k", none, func(int) int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := w.Next(); !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("a write: got %v, want ErrNewer", err)
	}
}

// A growth whose answer was lost is looked up: it is not made twice, and not taken for made if it was not.
func TestGrowWithALostAnswer(t *testing.T) {
	for fault, grows := range map[faulty.Fault]bool{faulty.LostAnswer: true, faulty.LostRequest: true, faulty.BrokeDown: true} {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		b.grow(t, "k", 2)
		client.Decide(faulty.Script(fault).Of("PutItem"))
		r, grown, err := b.Grow(t.Context(), "k", none, ledger.Growth{To: 8})
		if err != nil || grown != grows || r.Generation != 2 || r.Read != 8 {
			t.Errorf("%s: got %+v, grown %v, %v, want generation 2 with 8 shards", fault, r, grown, err)
		}
	}
}

// A caller whose context ends during a growth is told that nobody knows.
func TestGrowOfAContextThatEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		b.grow(t, "k", 2)
		client.Decide(faulty.Always(faulty.UnansweredDone).Of("PutItem"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, grown, err := b.Grow(ctx, "k", none, ledger.Growth{To: 8})
		if grown || !errors.Is(err, ledger.ErrUnknownOutcome) {
			t.Errorf("got grown %v, %v, want ErrUnknownOutcome", grown, err)
		}
		client.Decide(nil)
		if n, err := b.read(context.Background(), "k", ledger.Reading{Mode: ledger.Strong}); n != 8 || err != nil {
			t.Errorf("the next read: got %d, %v, want 8", n, err)
		}
	})
}

// Growth has the condition that the read width does not fall, so that a request of before a loss that arrives late hides no shard.
func TestGrowThatArrivesLate(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	b.grow(t, "k", 2)
	b.grow(t, "k", 4)
	var late faulty.Request // generation 2 on top of generation 1
	for _, r := range client.Requests() {
		if r.Operation == "PutItem" {
			late = r
		}
	}
	drop(t, client.Direct, "_hs#L#orders##k")
	other := newBook(t, client.Direct)
	other.grow(t, "k", 64) // generation 1 again
	if err := late.Again(); err == nil {
		t.Error("the late request was carried out, and hides 60 shards")
	}
}

// The bucket is part of the ledger's key.
func TestGrowOfABucket(t *testing.T) {
	client := start(t)
	day := time.Date(2024, 12, 2, 0, 0, 0, 0, time.UTC)
	b := newBook(t, client, byDay)
	if _, _, err := b.Grow(t.Context(), "k", day, ledger.Growth{To: 8}); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Show(t.Context(), "k", day.AddDate(0, 0, 1)); err != nil || r.Read != 1 {
		t.Errorf("the next day: got %+v, %v, want one shard", r, err)
	}
	if got := controlItems(t, client, "items"); !slices.Contains(got, "_hs#L#orders#2024-12-02#k") {
		t.Errorf("stored: %q", got)
	}
	if _, _, err := b.Grow(t.Context(), "k", time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), ledger.Growth{To: 8}); err == nil || !strings.Contains(err.Error(), "20000") {
		t.Errorf("got %v, want an error about the year", err)
	}
	if (layout.ControlKey{Role: layout.RoleLedger, Collection: "orders", Bucket: "2024-12-02", Key: "k"}).Validate() != nil {
		t.Error("the key is none of a ledger")
	}
}

// The error of a growth that could not be stored says that it is about a ledger, with the reason.
func TestGrowThatIsDenied(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.Decide(faulty.Always(faulty.Denied).Of("PutItem"))
	_, grown, err := b.Grow(t.Context(), "k", none, ledger.Growth{To: 8})
	if grown || !errors.Is(err, ErrLedger) || errors.Is(err, ledger.ErrUnknownOutcome) || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("grown is %v, got %v, want ErrLedger and the reason", grown, err)
	}
}

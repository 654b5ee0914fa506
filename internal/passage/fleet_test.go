package passage

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
)

// fleet is what several processes have seen of one record.
type fleet struct {
	mu     sync.Mutex
	random *rand.Rand
	acked  int64           // the newest generation that is known to be stored
	won    map[int64]*View // who has stored a generation
	known  map[int64]Record
}

func (f *fleet) draw(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.IntN(n)
}

func (f *fleet) newest() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acked
}

// saw notes a view. All who see a generation see the same record.
func (f *fleet) saw(t *testing.T, v *View) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := v.Record.Generation
	if before, ok := f.known[g]; ok && !before.Equal(v.Record) {
		t.Errorf("generation %d is %+v and %+v", g, before, v.Record)
	}
	f.known[g] = v.Record
	f.acked = max(f.acked, g)
}

// Processes use a record and move on with it while a fifth of their requests goes wrong. One of them at a time stores a stage, everybody
// sees the same ones, and whoever renews sees what was stored before.
func TestFleet(t *testing.T) {
	for seed := range uint64(2) {
		bubble.Test(t, func(t *testing.T) { runFleet(t, seed) })
	}
}

func runFleet(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	client := faulty.On(t, start(t), faulty.Random(random, 20, faulty.LostAnswer, faulty.LostRequest, faulty.Throttled, faulty.Late, faulty.BrokeDown))
	client.Delay(faulty.UpTo(rand.New(rand.NewPCG(seed, 2)), 3*time.Second))
	f := &fleet{random: rand.New(rand.NewPCG(seed, 3)), won: map[int64]*View{}, known: map[int64]Record{}}
	until := time.Now().Add(16 * time.Hour)
	var all sync.WaitGroup
	for range 3 {
		b := newBook(client, calculated(4))
		for range 3 {
			all.Go(func() {
				for time.Now().Before(until) {
					f.live(t, b)
					time.Sleep(time.Duration(f.draw(1200)) * time.Second)
				}
			})
		}
	}
	all.Wait()
	if len(f.won) < 8 {
		t.Errorf("seed %d: %d stages were stored, want at least 8", seed, len(f.won))
	}
}

// live does one thing with a book.
func (f *fleet) live(t *testing.T, b *Book) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+f.draw(20))*time.Second)
	defer cancel()
	before := f.newest()
	v, err := b.View(ctx)
	if err == nil && f.draw(2) == 0 {
		if v, err = b.Renew(ctx, v); err == nil && v.Record.Generation < before {
			t.Errorf("Renew returns generation %d, and %d was stored before", v.Record.Generation, before)
		}
	}
	if err != nil {
		if !errors.Is(err, adapt.ErrLedger) && ctx.Err() == nil && dispatch.Judge(err) == dispatch.Rejected {
			t.Errorf("got %v", err)
		}
		return
	}
	f.saw(t, v)
	// An answer that comes late sets the clock of signatures back, by as much as it was late.
	if now := time.Now(); v.Lease().Over(now.Add(-jitter)) {
		t.Errorf("at %s got a view of %s ago whose lease is over: %+v", now, v.age(), v.Lease())
	}
	_, then, _ := v.Record.Stage.Next(true, &none)
	if v.Record.Stage == split && f.draw(3) == 0 {
		then = back
	}
	var next *Arrangement
	if then == (forward.Stage{Phase: forward.Split}) {
		to := calculated(4)
		if v.Record.Now.Equal(to) {
			to = calculated(16)
		}
		next = &to
	}
	changed, err := b.Advance(ctx, v, then, next, "")
	switch {
	case err == nil:
		f.saw(t, changed)
		f.mu.Lock()
		defer f.mu.Unlock()
		if changed.Record.Stage != then { // somebody was faster still
			return
		}
		if g := changed.Record.Generation; f.won[g] != nil {
			t.Errorf("generation %d was stored twice", g)
		} else {
			f.won[g] = changed
		}
		if before := f.known[v.Record.Generation]; then != back && v.Record.Stage != clean && v.Record.Stage != closed &&
			changed.Record.At-before.At < lease.Wait.Milliseconds() {
			t.Errorf("%s came %d ms after %s", describe(then), changed.Record.At-before.At, describe(v.Record.Stage))
		}
	case errors.Is(err, ErrStage):
		t.Errorf("got %v", err)
	}
}

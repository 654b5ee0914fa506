package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

var killsAsked = flag.Int("kills", 4, "how many movers and how many clients are killed")

// Movers and clients are killed at random moments of moves there and back, and others go on.
func TestKills(t *testing.T) {
	var r killsResult
	bubble.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fillIDs(bare, *items)
		k := &kills{world: w, now: bare}
		w.stage.Store(moving)
		for range idProcesses {
			random := rand.New(rand.NewPCG(w.random.Uint64(), 0))
			w.users.Go(func() { k.client(random) })
		}
		for k.Movers < *killsAsked || k.clients() < *killsAsked || k.Backs == 0 || k.Moves == 0 {
			k.one(w.random.IntN(3) == 0)
			if !w.right() {
				break
			}
		}
		w.stop()
		m := k.mover(k.now)
		w.checkIDs(m, k.now)
		r = k.killsResult
		r.shapeResult, r.Lost = w.sum(), w.unknowns
	})
	writeResult(t, r)
	if !r.Faults.none() || r.Damaged != 0 || r.Left != 0 {
		t.Errorf("faults %+v, %d damaged and %d left", r.Faults, r.Damaged, r.Left)
	}
}

// kills is a table whose movers and clients are killed.
type kills struct {
	*world
	killsResult
	own sync.Mutex
	now layout.Layout
}

func (k *kills) clients() int {
	k.own.Lock()
	defer k.own.Unlock()
	return k.Clients
}

// layout returns what programs have now.
func (k *kills) layout() layout.Layout {
	k.own.Lock()
	defer k.own.Unlock()
	return k.now
}

// client is a program that is killed and started again.
func (k *kills) client(random *rand.Rand) {
	for k.life(random) {
	}
}

// life is one process of a client, until it is killed, or started again with another layout. It reports whether another one follows.
func (k *kills) life(random *rand.Rand) bool {
	with := k.layout()
	ctx, kill := context.WithCancel(k.ctx)
	defer kill()
	p := &process{k.world, k.open(movable(with)), ctx}
	long := time.Duration(random.ExpFloat64() * float64(clientLife))
	if k.stage.Load() == waiting {
		long *= waitingLife
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	call := func() {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		calls.Go(func() {
			if own.IntN(30) == 0 {
				p.list(own)
			} else {
				p.act(own)
			}
		})
	}
	for until := time.After(long); ; {
		select {
		case <-k.ending:
			calls.Wait()
			return false
		case <-until:
			for range 3 { // it is killed in the middle of calls
				call()
			}
			time.Sleep(time.Duration(random.Int64N(int64(4 * latency))))
			kill()
			k.own.Lock()
			k.Clients++
			k.own.Unlock()
			return true
		case <-time.After(k.gap(random)):
			if with != k.layout() {
				calls.Wait()
				return true
			}
			call()
		}
	}
}

// gap returns the time until the next call.
func (k *kills) gap(random *rand.Rand) time.Duration {
	perSecond := *rate
	if k.stage.Load() == waiting {
		perSecond *= slowly
	}
	return time.Duration(random.ExpFloat64() * float64(time.Second) * idProcesses / perSecond)
}

// mover returns a new mover.
func (k *kills) mover(to layout.Layout) *move.Mover {
	m, err := move.New(k.world.client(), move.Options{Collection: movable(k.layout()), To: to, WCU: killWCU, RCU: killWCU, Segments: 4})
	if err != nil {
		k.Fatal(err)
	}
	return m
}

// one moves everything to another layout with movers that are killed, or turns back in the middle.
func (k *kills) one(back bool) {
	to := []layout.Layout{bare, sixteen, others}[k.random.IntN(3)]
	for to == k.now {
		to = []layout.Layout{bare, sixteen, others}[k.random.IntN(3)]
	}
	turn := k.random.IntN(4) // kills until it turns back
	var returning bool
	for killed := 0; ; {
		m := k.mover(to)
		stage, err := m.Stage(k.ctx)
		if err != nil {
			k.wrong("the stage: %v", err)
			return
		}
		if back && !returning && killed > turn && stage.Name == "split" {
			returning = true
		}
		if returning && !stage.Moving() { // it was killed when all was done
			k.ended(m, to, true)
			return
		}
		run := m.Run
		if returning {
			run = m.Back
		}
		k.stage.Store(moving)
		ctx, kill := context.WithTimeout(k.ctx, time.Duration(k.random.Int64N(int64(moverLife))))
		result, err := run(ctx)
		gone := ctx.Err() != nil
		kill()
		switch {
		case err == nil && result.Done:
			k.ended(m, to, returning)
			return
		case gone:
			killed++
			k.Movers++
		case err != nil:
			k.wrong("the mover: %v", err)
			return
		default:
			k.stage.Store(waiting)
			time.Sleep(time.Duration(k.random.Int64N(int64(40 * time.Minute))))
		}
	}
}

// ended compares everything at the end of a move, while clients go on.
func (k *kills) ended(m *move.Mover, to layout.Layout, back bool) {
	if back {
		k.Backs++
	} else {
		k.own.Lock()
		k.now = to
		k.own.Unlock()
		k.Moves++
	}
	report, err := m.Verify(k.ctx)
	if err != nil || report.Damaged() != 0 {
		k.wrong("verified behind a move (back: %t): %+v, %v", back, report, err)
	}
	k.stage.Store(waiting)
	time.Sleep(30 * time.Minute) // until clients have been started with the layout
	if err := m.Finish(k.ctx); err != nil {
		k.wrong("finish: %v", err)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// roll changes five processes from 4 to 16 shards while they write and read: with nothing that keeps the layout, with a charter,
// and with ledgers.
func roll(ctx context.Context, p *proof) error {
	for _, show := range []func(context.Context, *proof, *serving) error{oldAccident, recordedRoll, adaptiveRoll} {
		s, err := serve(ctx, 0)
		if err != nil {
			return err
		}
		err = show(ctx, p, s)
		if err = errors.Join(err, s.close()); err != nil {
			return err
		}
	}
	return nil
}

// fromTo starts a fleet with a fixed number of shards, and gives one process after the other another number.
func fromTo(ctx context.Context, s *serving, m mode) (*fleet, error) {
	f, err := newFleet(membership{URL: s.url, Mode: m, Shards: rollFrom, PerSecond: 20}, rollProcesses)
	if err != nil {
		return nil, err
	}
	defer f.kill()
	if err := sleep(ctx, 2*time.Second); err != nil {
		return nil, err
	}
	f.like.Shards = rollTo
	for i := range rollProcesses {
		if err := f.restart(i, false); err != nil {
			return nil, err
		}
		if err := sleep(ctx, 1500*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return f, f.end()
}

// strongKinds are the reads that must have everything that was acknowledged before them.
var strongKinds = []string{strongRead, pagedRead, countRead}

// oldAccident has nothing that keeps processes with different layouts apart.
func oldAccident(ctx context.Context, p *proof, s *serving) error {
	f, err := fromTo(ctx, s, static)
	if err != nil {
		return err
	}
	a, _ := f.account(0)
	missed, reads := sum(a.missed, strongKinds...), sum(a.reads, strongKinds...)
	p.Note(scenario.Figure{
		What: "for comparison, without a charter or ledgers: strong reads that miss an acknowledged item", Before: new(beforeRoll),
		After: fmt.Sprintf("%d of %d", missed, reads), Want: "more than 0: else the run shows nothing", Holds: missed > 0,
	})
	return nil
}

// recordedRoll has a charter, so that the processes with another layout are refused.
func recordedRoll(ctx context.Context, p *proof, s *serving) error {
	f, err := fromTo(ctx, s, recorded)
	if err != nil {
		return err
	}
	a, acks := f.account(0)
	is := membership{URL: s.url, Mode: recorded, Shards: rollFrom}
	items, err := is.collection(nil)
	if err == nil {
		err = a.readBack(ctx, items, acks)
	}
	if err != nil {
		return err
	}
	p.None("with Recorded: strong reads that miss an acknowledged item", sum(a.missed, strongKinds...), sum(a.reads, strongKinds...))
	p.None("with Recorded: acknowledged items that are missing at the end", a.lost, a.acked)
	p.Must("with Recorded: operations of the changed processes that got ErrCharter", fmt.Sprint(a.events[refusedEvent]), "more than 0, and no other error",
		a.events[refusedEvent] > 0 && a.events[putError]+a.events[readError] == 0)
	p.Tell("with Recorded: what they are told", a.first[refusedEvent])
	return nil
}

// adaptiveRoll has ledgers. All processes are replaced one by one while the keys grow. Then some are killed and some are
// stopped for a while, and their keys grow on.
func adaptiveRoll(ctx context.Context, p *proof, s *serving) error {
	is := membership{URL: s.url, Mode: adaptive, PerSecond: 80}
	operator, err := is.collection(nil)
	if err != nil {
		return err
	}
	if err := growAll(ctx, operator, rollFrom, fleetKeys); err != nil {
		return err
	}
	f, err := newFleet(is, rollProcesses)
	if err != nil {
		return err
	}
	defer f.kill()
	if err := sleep(ctx, 2*time.Second); err != nil {
		return err
	}
	for i := range rollProcesses {
		if i+1 < len(fleetKeys) { // not the first: the law is to make that one grow
			if err := growAll(ctx, operator, rollTo, fleetKeys[i+1:i+2]); err != nil {
				return err
			}
		}
		if err := f.restart(i, false); err != nil {
			return err
		}
		if err := sleep(ctx, 2*time.Second); err != nil {
			return err
		}
	}
	if err := sleep(ctx, 10*time.Second); err != nil { // for the law, which takes some reports of one process
		return err
	}
	f.like.Grows = true
	killed, stopped, err := f.storm(ctx, 40*time.Second)
	if err == nil {
		err = f.end()
	}
	if err != nil {
		return err
	}
	a, acks := f.account(fleetKeep)
	if err := a.readBack(ctx, operator, acks); err != nil {
		return err
	}
	var widths []string
	wide := true
	for _, key := range fleetKeys {
		l, err := operator.Ledgers().Show(ctx, key, time.Time{})
		if err != nil {
			return err
		}
		widths = append(widths, fmt.Sprintf("%s %d", key, l.Width.Read))
		wide = wide && l.Width.Read >= rollTo
	}
	p.Must("with Adaptive: how wide the keys are at the end", strings.Join(widths, ", "), fmt.Sprintf("all >= %d", rollTo), wide)
	p.Tell("with Adaptive: what happened", fmt.Sprintf("%d processes, %d killed, %d stopped for 1 to 4 s; %d growths by the law and %d by processes, beside those by hand",
		f.last, killed, stopped, a.grown["law"], a.grown["member"]))
	p.Must("with Adaptive: processes that were killed, and that were stopped", fmt.Sprintf("%d, %d", killed, stopped), ">= 5 each", killed >= 5 && stopped >= 5)
	p.accountOf("with Adaptive: ", a)
	return nil
}

// accountOf notes what became of an adaptive fleet.
func (p *proof) accountOf(prefix string, a account) {
	strong := sum(a.reads, strongKinds...)
	p.Must(prefix+"strong reads that miss an acknowledged item", fmt.Sprintf("%d of %d", sum(a.missed, strongKinds...), strong), fmt.Sprintf("0 of %d", strong), strong > 0 && sum(a.missed, strongKinds...) == 0)
	p.None(prefix+"causal reads that miss a write of their own process", a.missed[causalRead], a.reads[causalRead])
	p.None(fmt.Sprintf("%seventual reads that miss an item acknowledged more than Keep (%v) before", prefix, fleetKeep), sum(a.missed, eventualRead, eventualPages), sum(a.reads, eventualRead, eventualPages))
	p.None(prefix+"reads with an item twice or out of order", a.twice, sum(a.reads))
	p.None(prefix+"acknowledged items that are missing at the end", a.lost, a.acked)
	p.None(prefix+"items that are there twice at the end, or out of order", a.doubled+a.disorder, a.acked)
	failed := fmt.Sprintf("%d of %d", a.events[readError], sum(a.reads))
	if a.events[readError] > 0 {
		failed += ": " + a.first[readError]
	}
	p.Must(prefix+"reads and growths that failed", failed, "0", a.events[readError] == 0)
	unacked := fmt.Sprintf("%d of %d", a.events[putError], a.acked)
	if a.events[putError] > 0 {
		unacked += ": " + a.first[putError]
	}
	p.Tell(prefix+"writes that returned an error", unacked)
}

// growAll makes keys wider by hand.
func growAll(ctx context.Context, operator *heatsink.Collection[heatsink.Item], width int, keys []string) error {
	for _, key := range keys {
		if _, err := operator.Ledgers().Grow(ctx, key, time.Time{}, width, "the proof"); err != nil {
			return err
		}
	}
	return nil
}

// storm kills a process or stops one, again and again.
func (f *fleet) storm(ctx context.Context, long time.Duration) (killed, stopped int, err error) {
	var resting sync.WaitGroup // stopped processes
	defer resting.Wait()
	stopping := make([]bool, len(f.members))
	var mu sync.Mutex
	for until := time.Now().Add(long); time.Now().Before(until); {
		if err := sleep(ctx, 500*time.Millisecond+rand.N(time.Second)); err != nil {
			return killed, stopped, err
		}
		i := rand.IntN(len(f.members))
		mu.Lock()
		rests := stopping[i]
		mu.Unlock()
		if rests {
			continue
		}
		if rand.IntN(2) == 0 {
			if err := f.restart(i, true); err != nil {
				return killed, stopped, err
			}
			killed++
			continue
		}
		m := f.members[i]
		if err := m.signal(ctx, "STOP"); err != nil {
			return killed, stopped, err
		}
		stopped++
		mu.Lock()
		stopping[i] = true
		mu.Unlock()
		resting.Go(func() {
			_ = sleep(ctx, time.Second+rand.N(3*time.Second)) // it is to go on in any case
			if err := m.signal(context.WithoutCancel(ctx), "CONT"); err != nil {
				progress("%v", err)
			}
			mu.Lock()
			stopping[i] = false
			mu.Unlock()
		})
	}
	return killed, stopped, nil
}

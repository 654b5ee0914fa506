package ledger

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// home returns the homes of an id with this hash.
func home(hash int) func(int) int { return func(width int) int { return hash & (width - 1) } }

func calculated(t *testing.T, r Record) *View {
	t.Helper()
	v := NewView(ViewOptions{Key: "k", Strategy: layout.Calculated})
	r.Strategy = layout.Calculated
	if err := v.Learn(v.Ask(t0, true), r); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestGetEffects(t *testing.T) {
	cold := func() *View { return NewView(ViewOptions{Key: "k", Strategy: layout.Calculated}) }
	for _, c := range []struct {
		name    string
		view    *View
		finding Finding
		want    string
	}{
		{"strong, cold", cold(), Finding{Now: t0}, "ledger strong=true floor=0, get 0 strong=true"},
		{"strong, known", calculated(t, widths(2, 4, 8)), Finding{Now: t0}, "ledger strong=true floor=2, get 3 strong=true"},
		{"causal, known", calculated(t, widths(2, 4, 8)), Finding{Mode: Causal, AtLeast: 2, Now: t0}, "get 3 strong=true, get 7 strong=true, get 1 strong=true, get 0 strong=true"},
		{"causal, newer", calculated(t, widths(2, 4, 8)), Finding{Mode: Causal, AtLeast: 3, Now: t0}, "ledger strong=true floor=2, get 3 strong=true"},
		{"eventual, fresh", calculated(t, widths(2, 4, 4)), Finding{Mode: Eventual, Now: t0}, "get 3 strong=false, get 1 strong=false, get 0 strong=false"},
		{"eventual, old", calculated(t, widths(2, 4, 4)), Finding{Mode: Eventual, Now: t0.Add(time.Hour)}, "ledger strong=false floor=2, get 3 strong=false"},
	} {
		c.finding.Home = home(0b10111)
		t.Run(c.name, func(t *testing.T) { next(t, NewGet(c.view, c.finding), c.want) })
	}
}

func TestGet(t *testing.T) {
	start := func() *Get {
		m := NewGet(calculated(t, widths(2, 4, 4)), Finding{Home: home(0b1110), Now: t0})
		next(t, m, "ledger strong=true floor=2, get 2 strong=true")
		return m
	}
	grown := strongRead(widths(3, 16, 16))
	grown.Record.Strategy = layout.Calculated

	t.Run("a hit ends it", func(t *testing.T) {
		m := start()
		m.Handle(ItemRead{Shard: 2, Found: true, Stamp: 7})
		if got, err := m.Result(); !m.Over() || err != nil || got != (GetResult{Found: true, Shard: 2, Homes: 1}) || m.view.Floor() != 7 {
			t.Errorf("got %+v, %v, floor %d", got, err, m.view.Floor())
		}
	})
	t.Run("what the ledger says after a hit is learnt", func(t *testing.T) {
		m := start()
		m.Handle(ItemRead{Shard: 2, Found: true})
		m.Handle(grown)
		if r, _ := m.view.Record(); r.Generation != 3 {
			t.Errorf("got generation %d, want 3", r.Generation)
		}
		m.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Sent: t0}, Err: fmt.Errorf("%w: version 9", ErrNewer)})
		if got, err := m.Result(); !got.Found || err != nil || !errors.Is(m.view.Newer(), ErrNewer) {
			t.Errorf("got %+v, %v, newer %v", got, err, m.view.Newer())
		}
	})
	t.Run("a miss waits for the ledger", func(t *testing.T) {
		m := start()
		m.Handle(ItemRead{Shard: 2})
		if m.Over() {
			t.Fatal("over before the ledger was read")
		}
		m.Handle(grown)
		next(t, m, "get 14 strong=true, get 6 strong=true, get 0 strong=true") // shard 2 is the home of 4 shards
		m.Handle(ItemRead{Shard: 0})
		m.Handle(ItemRead{Shard: 14})
		if m.Over() {
			t.Fatal("over before all homes were read")
		}
		m.Handle(ItemRead{Shard: 6})
		if got, err := m.Result(); !m.Over() || err != nil || got.Found || got.Homes != 4 {
			t.Errorf("got %+v, %v, want nothing in 4 homes", got, err)
		}
	})
	t.Run("a home that fails", func(t *testing.T) {
		for _, found := range []bool{false, true} {
			m := start()
			m.Handle(ItemRead{Shard: 2, Err: errSome})
			m.Handle(grown)
			m.Next()
			m.Handle(ItemRead{Shard: 14})
			m.Handle(ItemRead{Shard: 6, Found: found})
			m.Handle(ItemRead{Shard: 0})
			if got, err := m.Result(); !m.Over() || got.Found != found || errors.Is(err, errSome) == found {
				t.Errorf("found elsewhere %v: got %+v, %v", found, got, err)
			}
		}
	})
	t.Run("no ledger", func(t *testing.T) {
		m := start()
		m.Handle(LedgerRead{Err: errSome})
		if _, err := m.Result(); !m.Over() || !errors.Is(err, errSome) {
			t.Errorf("got %v, want the error", err)
		}
	})
	t.Run("a lost ledger", func(t *testing.T) {
		m := start()
		m.Handle(LedgerRead{Asked: ReadLedger{Strong: true, Floor: 2}, Record: Absent(layout.Calculated, layout.XXHash)})
		if _, err := m.Result(); !m.Over() || !errors.Is(err, ErrLost) {
			t.Errorf("got %v, want ErrLost", err)
		}
	})
	t.Run("stale", func(t *testing.T) {
		m := NewGet(calculated(t, widths(2, 2, 2)), Finding{Home: home(3), Mode: Eventual, Now: t0.Add(time.Hour)})
		m.Next()
		m.Handle(LedgerRead{Err: errSome})
		m.Next()
		m.Handle(ItemRead{Shard: 1})
		m.Handle(ItemRead{Shard: 0})
		if got, err := m.Result(); !m.Over() || err != nil || !got.Stale || !errors.Is(got.Cause, errSome) {
			t.Errorf("got %+v, %v, want it to say that it is stale, and why", got, err)
		}
	})
	t.Run("a home outside of the width", func(t *testing.T) {
		m := NewGet(calculated(t, widths(2, 2, 2)), Finding{Home: func(width int) int { return width }, Now: t0})
		if _, err := m.Result(); !m.Over() || err == nil || m.Next() != nil {
			t.Errorf("got %v, want an error", err)
		}
	})
}

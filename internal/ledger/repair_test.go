package ledger

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// planText shows what a repair would write as show does, "" if that is nothing.
func planText(stored, planned Record) string {
	if planned.Equal(stored) {
		return ""
	}
	return show([]Effect{WriteLedger{Record: planned, If: stored.Generation, Most: planned.Read}})
}

func TestRepair(t *testing.T) {
	absent := Absent(layout.Random, layout.XXHash)
	frozen := widths(2, 2, 4)
	frozen.Frozen = true
	for _, c := range []struct {
		name      string
		view      *View
		repairing Repairing
		stored    Record
		probed    ShardsProbed
		want      string
	}{
		{"deleted", nil, Repairing{}, absent, ShardsProbed{Largest: 4, Stamp: 6}, "store 7 8/8 if 0 most 8"},
		{"the last of them", nil, Repairing{}, absent, ShardsProbed{Largest: 7, Stamp: 6}, "store 7 8/8 if 0 most 8"},
		{"restored", nil, Repairing{}, widths(3, 4, 4), ShardsProbed{Largest: 9, Stamp: 5}, "store 6 16/16 if 3 most 16"},
		{"restored, and right", nil, Repairing{}, widths(3, 4, 4), ShardsProbed{Largest: 3, Stamp: 2}, "store 4 4/4 if 3 most 4"},
		{"the process knows more", knowing(t, widths(9, 32, 32)), Repairing{}, widths(3, 4, 4), ShardsProbed{Largest: 9, Stamp: 5}, "store 10 32/32 if 3 most 32"},
		{"somebody knows more", nil, Repairing{AtLeast: 20, AtLeastWidth: 64}, widths(3, 4, 4), ShardsProbed{Largest: 9, Stamp: 5}, "store 21 64/64 if 3 most 64"},
		{"frozen", nil, Repairing{}, frozen, ShardsProbed{Largest: 9}, "store 3 2/16 if 2 most 16"},
		{"no items", nil, Repairing{}, absent, ShardsProbed{Largest: -1}, ""},
		{"never grown", nil, Repairing{}, absent, ShardsProbed{Largest: 0}, ""},
		{"one shard, and a stamp", nil, Repairing{}, absent, ShardsProbed{Largest: 0, Stamp: 2}, "store 3 1/1 if 0 most 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, order := range []string{"ledger first", "probe first"} {
				v := NewView(ViewOptions{Key: "k"})
				if c.view != nil {
					known := *c.view
					v = &known
				}
				c.repairing.Now, c.repairing.To = t0, 100
				planned := *v
				plan := c.repairing
				plan.DryRun = true
				dry := NewRepair(&planned, plan)
				m := NewRepair(v, c.repairing)
				next(t, m, "ledger strong=true floor=0, probe 100")
				events := []Event{strongRead(c.stored), c.probed}
				if order == "probe first" {
					events[0], events[1] = events[1], events[0]
				}
				dry.Handle(events[0])
				dry.Handle(events[1])
				if stored, would := dry.Plan(); !dry.Over() || len(dry.Next()) > 0 || !stored.Equal(c.stored) || planText(c.stored, would) != c.want {
					t.Fatalf("%s: the plan is %q of %+v, want %q", order, planText(c.stored, would), stored, c.want)
				}
				m.Handle(events[0])
				next(t, m, "")
				m.Handle(events[1])
				next(t, m, c.want)
				if c.want == "" {
					if r, repaired, err := m.Result(); !m.Over() || repaired || err != nil || r.Generation != 0 {
						t.Fatalf("%s: got %+v, %v, %v, want nothing", order, r, repaired, err)
					}
					continue
				}
				m.Handle(LedgerWritten{Outcome: Done})
				r, repaired, err := m.Result()
				if !m.Over() || !repaired || err != nil || !r.Equal(m.written.Record) || v.Suspect() != nil {
					t.Fatalf("%s: got %+v, %v, %v", order, r, repaired, err)
				}
			}
		})
	}
}

// What a process took for lost is right again once it was repaired.
func TestRepairEndsTheLoss(t *testing.T) {
	v := knowing(t, widths(5, 8, 8))
	if err := v.Learn(v.Ask(t0, true), widths(1, 2, 2)); !errors.Is(err, ErrLost) {
		t.Fatal(err)
	}
	m := NewRepair(v, Repairing{Now: t0})
	next(t, m, "ledger strong=true floor=0, probe 256")
	m.Handle(strongRead(widths(1, 2, 2)))
	m.Handle(ShardsProbed{Largest: 3, Stamp: 5})
	next(t, m, "store 6 8/8 if 1 most 8")
	m.Handle(LedgerWritten{Outcome: Done})
	if v.Suspect() != nil {
		t.Errorf("got %v", v.Suspect())
	}
	if err := v.Learn(v.Ask(t0.Add(time.Second), true), m.written.Record); err != nil {
		t.Error(err)
	}
}

func TestRepairMeetsOthers(t *testing.T) {
	start := func() *Repair {
		m := NewRepair(NewView(ViewOptions{Key: "k"}), Repairing{Now: t0})
		m.Next()
		m.Handle(strongRead(widths(1, 2, 2)))
		m.Handle(ShardsProbed{Largest: 5, Stamp: 3})
		next(t, m, "store 4 8/8 if 1 most 8")
		return m
	}
	t.Run("grown meanwhile", func(t *testing.T) {
		m := start()
		m.Handle(LedgerWritten{Outcome: Refused, Record: widths(2, 16, 16), Err: errSome})
		next(t, m, "store 4 16/16 if 2 most 16")
	})
	t.Run("lost meanwhile", func(t *testing.T) {
		m := start()
		m.Handle(LedgerWritten{Outcome: Refused, Record: widths(9, 32, 32), Err: errSome})
		next(t, m, "store 10 32/32 if 9 most 32")
		m.Handle(LedgerWritten{Outcome: Refused, Record: Absent(0, 0), Err: errSome})
		next(t, m, "store 10 32/32 if 0 most 32")
		if m.view.Floor() != 9 {
			t.Errorf("got floor %d, want 9", m.view.Floor())
		}
	})
	t.Run("newer", func(t *testing.T) {
		m := start()
		m.Handle(LedgerWritten{Outcome: Refused, Unparsed: fmt.Errorf("%w: version 9", ErrNewer), Err: errSome})
		if _, _, err := m.Result(); !m.Over() || !errors.Is(err, ErrNewer) {
			t.Errorf("got %v, want ErrNewer", err)
		}
	})
	t.Run("a lost answer, and it was stored", func(t *testing.T) {
		m := start()
		m.Handle(LedgerWritten{Outcome: Unknown, Err: errSome})
		next(t, m, "ledger strong=true floor=0")
		m.Handle(strongRead(m.written.Record))
		if _, repaired, err := m.Result(); !m.Over() || !repaired || err != nil {
			t.Errorf("got %v, %v", repaired, err)
		}
	})
	t.Run("a lost answer, and nobody knows", func(t *testing.T) {
		m := start()
		m.Handle(LedgerWritten{Outcome: Unknown, Err: errSome})
		m.Next()
		m.Handle(LedgerRead{Err: errSome})
		if _, _, err := m.Result(); !errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, errSome) {
			t.Errorf("got %v, want ErrUnknownOutcome with its cause", err)
		}
	})
	t.Run("throttled", func(t *testing.T) {
		m := start()
		m.Handle(LedgerWritten{Outcome: Throttled, Err: errSome})
		if _, _, err := m.Result(); !m.Over() || !errors.Is(err, errSome) || errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("got %v, want the cause, and no doubt", err)
		}
	})
	t.Run("others, without end", func(t *testing.T) {
		m := start()
		for n := int64(2); !m.Over(); n++ {
			m.Handle(LedgerWritten{Outcome: Refused, Record: widths(n, 2, 2), Err: errSome})
			m.Next()
		}
		if _, _, err := m.Result(); !errors.Is(err, ErrContended) {
			t.Errorf("got %v, want ErrContended", err)
		}
	})
}

func TestRepairEnds(t *testing.T) {
	for _, c := range []struct {
		name      string
		repairing Repairing
		event     Event
		want      error
	}{
		{"too many shards", Repairing{To: layout.MaxShards + 1}, nil, nil},
		{"fewer than none", Repairing{To: -1}, nil, nil},
		{"no ledger", Repairing{}, LedgerRead{Err: errSome}, errSome},
		{"no probe", Repairing{}, ShardsProbed{Err: errSome}, errSome},
		{"no record", Repairing{}, LedgerRead{Err: fmt.Errorf("%w: R is missing", ErrRecord)}, ErrRecord},
		{"another layout", Repairing{}, strongRead(Absent(layout.Calculated, layout.FNV)), ErrRecord},
	} {
		m := NewRepair(NewView(ViewOptions{Key: "k"}), c.repairing)
		m.Handle(c.event) // what was not asked for yet must not be, after the end
		if _, repaired, err := m.Result(); !m.Over() || repaired || err == nil || c.want != nil && !errors.Is(err, c.want) || len(m.Next()) > 0 {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

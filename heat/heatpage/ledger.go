package heatpage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
)

// Ledger is how wide a key of an adaptive collection is, and how it came to be. A heatsink.Ledger can be converted to one.
type Ledger = round.Ledger

const (
	// lookEvery is how often the ledger of a key is read whose shards have not changed.
	lookEvery = 15 * time.Second
	// lookFor is how long all ledgers of a round may take.
	lookFor = 3 * time.Second
	// mostLedgers bounds how many keys have one on the page.
	mostLedgers = 20
)

// ledgers are those that were read, by the name of a table or index and by the key.
type ledgers struct {
	ask   func(context.Context, heat.Resource, string) (Ledger, error)
	known map[string]map[string]looked
}

// looked is when a ledger was read, and what was known of its key.
type looked struct {
	at      time.Time
	shards  int
	decided time.Time
	ledger  Ledger
	grew    heat.Decision // by which it got its width, without a reason if that is not known
}

// read returns what is known of a key with the ledger that was just read.
func (l *looked) read(at time.Time, c *candidate, stored Ledger) looked {
	now := looked{at: at, shards: c.shards, decided: c.decided, ledger: stored}
	before, width := l.ledger.Width.Write, stored.Width.Write
	n := len(stored.History)
	switch {
	case n > 0 && stored.Generation == int64(n): // its last change was of the width, as all were
		before = stored.History[n-1].Write
	case l.ledger.Generation > 0 && before == width:
		now.grew = l.grew
		return now
	case l.ledger.Generation == 0 || l.ledger.Generation+1 != stored.Generation:
		return now // nobody knows when it grew
	}
	if before < width && !stored.At.IsZero() {
		now.grew = heat.Decision{Resource: c.of, Key: c.key, Reason: heat.DecidedGrow, From: before, To: width, Text: stored.Why, At: stored.At}
	}
	return now
}

// candidate is a key that may have a ledger.
type candidate struct {
	of      heat.Resource
	key     string
	shards  int
	decided time.Time // the last decision about it
}

// candidates returns keys that are seen in shards or that something was decided about, the hottest first.
func candidates(r *round.Round, layouts []heat.Layout) (all []candidate) {
	at := make(map[string]int)
	add := func(c candidate) {
		id := c.of.String() + "|" + c.key
		i, there := at[id]
		if !there && len(all) == mostLedgers {
			return
		}
		if !there {
			i, at[id] = len(all), len(all)
			all = append(all, c)
		}
		all[i].shards = max(all[i].shards, c.shards)
		if c.decided.After(all[i].decided) {
			all[i].decided = c.decided
		}
	}
	for _, d := range r.Decisions {
		add(candidate{of: d.Resource, key: d.Key, decided: d.At})
	}
	for i := range r.Resources {
		of := &r.Resources[i]
		for _, k := range of.Writes.Folded(layouts...) {
			if k.Shards > 1 {
				add(candidate{of: of.Resource, key: k.Key, shards: k.Shards})
			}
		}
	}
	return all
}

// look reads the ledgers that may have changed, and puts those of the hottest keys into a round. One that cannot be read is a note of
// the round.
func (l *ledgers) look(ctx context.Context, r *round.Round, o *Options) {
	if l.ask == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	before := l.known
	l.known = make(map[string]map[string]looked)
	failed := false
	for _, c := range candidates(r, o.Layouts) {
		name := c.of.String()
		known, there := before[name][c.key]
		age := r.To.Sub(known.at)
		if !failed && (!there || c.shards != known.shards || !c.decided.Equal(known.decided) || age >= lookEvery || age < 0) {
			read, err := l.ask(ctx, c.of, c.key)
			if err != nil {
				r.Notes = append(slices.Clip(r.Notes), fmt.Sprintf("The ledgers of %s could not be read: %s", name, o.reason(err)))
				failed = true
			} else {
				known, there = known.read(r.To, &c, read), true
			}
		}
		if !there {
			continue
		}
		if l.known[name] == nil {
			l.known[name] = make(map[string]looked)
		}
		l.known[name][c.key] = known
	}
	l.tell(r)
}

// tell puts the ledgers that are stored into a round, and the growths that they tell of, whoever has decided them.
func (l *ledgers) tell(r *round.Round) {
	r.Ledgers = make(map[string][]Ledger, len(l.known))
	r.Decisions = slices.Clone(r.Decisions) // they are the source's
	for _, name := range slices.Sorted(maps.Keys(l.known)) {
		of := l.known[name]
		for _, key := range slices.Sorted(maps.Keys(of)) {
			known := of[key]
			if known.ledger.Generation == 0 {
				continue
			}
			r.Ledgers[name] = append(r.Ledgers[name], known.ledger)
			if d := known.grew; d.Reason != "" && r.To.Sub(d.At) < growthKept {
				addGrowth(r, d)
			}
		}
	}
}

// growthKept is how long a growth is a finding, as that of a decision is.
const growthKept = time.Hour

// addGrowth adds a decision to those of a round, unless it has that one or a later one. A decision is told a moment after its ledger
// was written.
func addGrowth(r *round.Round, d heat.Decision) {
	i := slices.IndexFunc(r.Decisions, func(known heat.Decision) bool {
		return known.Reason == heat.DecidedGrow && known.Resource == d.Resource && known.Key == d.Key
	})
	switch {
	case i < 0:
		r.Decisions = append(r.Decisions, d)
	case r.Decisions[i].To < d.To && r.Decisions[i].At.Before(d.At):
		r.Decisions[i] = d
	}
}

// ledgerPanel is a key with a ledger, as the page shows it.
type ledgerPanel struct {
	Resource string `json:"resource"`
	Key      string `json:"key"`
	Widths   []int  `json:"widths"` // of shards that are written, the oldest first
	Read     int    `json:"read"`   // shards that are read
	Changes  int64  `json:"changes"`
	Frozen   bool   `json:"frozen,omitempty"`
	Why      string `json:"why,omitempty"`
	By       string `json:"by,omitempty"`
	At       int64  `json:"at,omitempty"` // milliseconds since 1970; of the last change
}

func newLedgerPanels(r *round.Round) []ledgerPanel {
	all := []ledgerPanel{}
	for _, name := range slices.Sorted(maps.Keys(r.Ledgers)) {
		for _, l := range r.Ledgers[name] {
			p := ledgerPanel{Resource: name, Key: l.Key, Read: l.Width.Read, Changes: l.Generation, Frozen: l.Frozen, Why: l.Why, By: l.By}
			if !l.At.IsZero() {
				p.At = l.At.UnixMilli()
			}
			for _, w := range append(slices.Clip(l.History), l.Width) {
				p.Widths = append(p.Widths, w.Write)
			}
			all = append(all, p)
		}
	}
	return all
}

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
				known, there = looked{r.To, c.shards, c.decided, read}, true
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

// tell puts the ledgers that are stored into a round.
func (l *ledgers) tell(r *round.Round) {
	r.Ledgers = make(map[string][]Ledger, len(l.known))
	for name, of := range l.known {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if stored := of[key].ledger; stored.Generation > 0 {
				r.Ledgers[name] = append(r.Ledgers[name], stored)
			}
		}
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

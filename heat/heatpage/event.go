package heatpage

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// event is a change of how a table or a key is spread, which the picture marks.
type event struct {
	At       int64    `json:"at"` // milliseconds since 1970
	Resource string   `json:"resource"`
	Key      string   `json:"key,omitempty"`      // the key whose layout has changed
	Parent   uint64   `json:"parent,omitempty"`   // the partition that was split
	Children []uint64 `json:"children,omitempty"` // what it was split into
	Text     string   `json:"text"`
	Short    string   `json:"short"` // for the picture

	stored bool // it is a ledger's, and not a decision or what was seen
}

// mostEvents bounds how many are kept.
const mostEvents = 500

// events are what has changed, the oldest first.
type events struct {
	all    []event
	splits map[string]map[partitions.Split]bool // those of a table or index that are known
	grown  map[string]time.Time                 // the last change of a key that is known
	ledger map[string]Ledger                    // the ledgers of keys that are known
	widths map[string]width                     // of sharded keys
}

// width is how many shards of a key were seen.
type width struct {
	shards int
	at     time.Time // when the first of them was
	event  int64     // the number of the event that tells it
}

// widening is the time within which further shards of a key belong to the same change of its layout.
const widening = 30 * time.Second

func newEvents() events {
	return events{
		splits: make(map[string]map[partitions.Split]bool), grown: make(map[string]time.Time),
		ledger: make(map[string]Ledger), widths: make(map[string]width),
	}
}

func (e *events) add(at time.Time, of event) {
	of.At = at.UnixMilli()
	e.all = append(e.all, of)
	if more := len(e.all) - mostEvents; more > 0 {
		e.all = append(e.all[:0:0], e.all[more:]...)
	}
}

// split notes the splits of partitions that were not known yet.
func (e *events) split(h *partitions.Heat) {
	name := heat.Resource{Table: h.Table, Index: h.Index}.String()
	before := e.splits[name]
	e.splits[name] = make(map[partitions.Split]bool, len(h.Splits))
	for _, s := range h.Splits {
		e.splits[name][s] = true
		if !before[s] {
			e.add(s.At, event{
				Resource: name, Parent: s.Parent, Children: s.Children[:], Short: fmt.Sprintf("#%d splits", s.Parent),
				Text: fmt.Sprintf("partition #%d was split into #%d and #%d, by %s", s.Parent, s.Children[0], s.Children[1], s.Cause),
			})
		}
	}
}

// decide notes decisions that keys grow.
func (e *events) decide(decisions []heat.Decision) {
	for _, d := range decisions {
		name := d.Resource.String()
		if id := name + "|" + d.Key; d.Reason == heat.DecidedGrow && d.At.After(e.grown[id]) {
			e.tell(id, d.To, d.At)
			if l, known := e.ledger[id]; known && l.Width.Write >= d.To && d.At.Before(l.At.Add(widening)) {
				continue // the ledger was written just before its process told of it
			}
			e.add(d.At, event{Resource: name, Key: d.Key, Text: fmt.Sprintf("grows from %d to %d shards", d.From, d.To), Short: widthsText(d.From, d.To)})
		}
	}
}

// tell notes that a key has so many shards since a time, whatever is seen of them later.
func (e *events) tell(id string, shards int, at time.Time) {
	e.grown[id] = at
	e.widths[id] = width{shards: max(shards, e.widths[id].shards), at: at}
}

func widthsText(from, to int) string { return fmt.Sprintf("%d → %d shards", from, to) }

// store notes the last changes of ledgers. They take the place of the decisions that led to them, but not of each other's.
func (e *events) store(resource string, all []Ledger) {
	for i := range all {
		l := &all[i]
		id := resource + "|" + l.Key
		before, known := e.ledger[id]
		if l.At.IsZero() || known && before.Generation == l.Generation {
			continue
		}
		e.ledger[id] = *l
		e.tell(id, l.Width.Write, l.At)
		begun := l.At.Add(-widening).UnixMilli()
		e.all = slices.DeleteFunc(e.all, func(v event) bool {
			return v.Resource == resource && v.Key == l.Key && v.At >= begun && !v.stored
		})
		text, short := storedText(l, before, known)
		if l.Why != "" {
			text += ": " + l.Why
		}
		e.add(l.At, event{Resource: resource, Key: l.Key, Text: text, Short: short, stored: true})
	}
	if len(e.ledger) > 10*mostEvents {
		clear(e.ledger)
	}
}

// storedText says what has changed in a ledger since the one before, if that is known. A ledger alone tells its last width; whether the
// last change was of the width, it tells only if all were.
func storedText(l *Ledger, before Ledger, known bool) (text, short string) {
	from, to := before.Width.Write, l.Width.Write
	if n := len(l.History); !known && n > 0 && l.Generation == int64(n) {
		from, known = l.History[n-1].Write, true
	}
	switch {
	case known && from != to:
		return fmt.Sprintf("grew from %d to %d shards", from, to), widthsText(from, to)
	case l.Frozen:
		return fmt.Sprintf("is frozen at %d shards", to), fmt.Sprintf("frozen at %d", to)
	case known && before.Frozen:
		return fmt.Sprintf("may grow again; it has %d shards", to), "thawed"
	}
	return fmt.Sprintf("has %d shards", to), fmt.Sprintf("%d shards", to)
}

// back forgets what is known of the time after one, because the clock went back.
func (e *events) back(to time.Time) {
	e.all = slices.DeleteFunc(e.all, func(v event) bool { return v.At > to.UnixMilli() })
	after := func(_ string, at time.Time) bool { return at.After(to) }
	maps.DeleteFunc(e.grown, after)
	maps.DeleteFunc(e.widths, func(_ string, w width) bool { return w.at.After(to) })
}

// widen notes that more shards of a key are in use than before. Shards that follow within a while belong to the same change.
func (e *events) widen(at time.Time, resource string, shardsOf map[string]int) {
	for key, shards := range shardsOf {
		id := resource + "|" + key
		w, known := e.widths[id]
		switch {
		case shards <= w.shards:
			continue
		case e.grown[id].After(at.Add(-widening)):
			w = width{shards: shards, at: at} // told already: it is no other change when it is seen again later
		case known && at.Sub(w.at) < widening && e.retell(w, key, shards):
			w.shards = shards
		default:
			w = width{shards, at, at.UnixMilli()}
			e.add(at, event{Resource: resource, Key: key, Text: seenText(shards), Short: fmt.Sprintf("%d shards", shards)})
		}
		e.widths[id] = w
	}
	if len(e.widths) > 10*mostEvents { // whoever has so many sharded keys may hear of one twice
		clear(e.widths)
	}
	if len(e.grown) > 10*mostEvents {
		clear(e.grown)
	}
}

func seenText(shards int) string { return fmt.Sprintf("is seen in %d shards", shards) }

// retell corrects the number of shards in the event of a change that goes on, and reports whether that is still kept.
func (e *events) retell(w width, key string, shards int) bool {
	for i := range e.all {
		if v := &e.all[i]; v.At == w.event && v.Key == key {
			v.Text, v.Short = seenText(shards), fmt.Sprintf("%d shards", shards)
			return true
		}
	}
	return false
}

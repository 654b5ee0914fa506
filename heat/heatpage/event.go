package heatpage

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// event is a change of how a table or a key is spread, which the picture marks.
type event struct {
	At       int64  `json:"at"` // milliseconds since 1970
	Resource string `json:"resource"`
	Key      string `json:"key,omitempty"`    // the key whose layout has changed
	Parent   uint64 `json:"parent,omitempty"` // the partition that was split
	Text     string `json:"text"`
}

// mostEvents bounds how many are kept.
const mostEvents = 500

// events are what has changed, the oldest first.
type events struct {
	all    []event
	splits map[string]map[partitions.Split]bool // those of a table or index that are known
	grown  map[string]time.Time                 // the last decision about a key that is known
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
	return events{splits: make(map[string]map[partitions.Split]bool), grown: make(map[string]time.Time), widths: make(map[string]width)}
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
			e.add(s.At, event{Resource: name, Parent: s.Parent, Text: fmt.Sprintf("partition #%d was split into #%d and #%d, by %s", s.Parent, s.Children[0], s.Children[1], s.Cause)})
		}
	}
}

// decide notes decisions that keys grow.
func (e *events) decide(decisions []heat.Decision) {
	for _, d := range decisions {
		name := d.Resource.String()
		if id := name + "|" + d.Key; d.Reason == heat.DecidedGrow && d.At.After(e.grown[id]) {
			e.grown[id] = d.At
			e.add(d.At, event{Resource: name, Key: d.Key, Text: fmt.Sprintf("grows from %d to %d shards", d.From, d.To)})
		}
	}
}

// widen notes that more shards of a key are in use than before. Shards that follow within a while belong to the same change.
func (e *events) widen(at time.Time, resource string, shardsOf map[string]int) {
	for key, shards := range shardsOf {
		id := resource + "|" + key
		w, known := e.widths[id]
		switch {
		case shards <= w.shards || e.grown[id].After(at.Add(-widening)):
			continue
		case known && at.Sub(w.at) < widening && e.retell(w, key, shards):
			w.shards = shards
		default:
			w = width{shards, at, at.UnixMilli()}
			e.add(at, event{Resource: resource, Key: key, Text: fmt.Sprintf("is seen in %d shards", shards)})
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

// retell corrects the number of shards in the event of a change that goes on, and reports whether that is still kept.
func (e *events) retell(w width, key string, shards int) bool {
	for i := range e.all {
		if v := &e.all[i]; v.At == w.event && v.Key == key {
			v.Text = fmt.Sprintf("is seen in %d shards", shards)
			return true
		}
	}
	return false
}

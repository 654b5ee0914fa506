package heatpage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// history is what the picture shows: rows, and what each took in each column. Its memory is bounded: of each flow the hottest keys
// have rows, and the others share one.
type history struct {
	grid
	events

	most   int // rows of keys that a flow may have
	rows   map[rowName]*row
	byID   map[int]*row
	counts counts
	last   time.Time            // the last second that was taken
	seen   map[string]time.Time // the last second of the partitions of a table or index that was taken
	ids    int
	taken  int // rounds
	lays   []heat.Layout
}

func newHistory(most int, layouts []heat.Layout) *history {
	return &history{events: newEvents(), most: most, rows: make(map[rowName]*row), byID: make(map[int]*row), seen: make(map[string]time.Time), lays: layouts}
}

// change is what a round has changed in a history.
type change struct {
	rows    []*row   // new ones, and those that something new is known of
	gone    []int    // rows that were given up
	columns []column // new and merged ones; each replaces those within its range
	anew    bool     // the clock went back, so that what is known of the time after it is void
}

// gap is the time after which what happened in between is not told: a machine slept, or the source was away.
const gap = time.Minute

// take adds a round.
func (h *history) take(r *round.Round) change {
	second := r.To.Truncate(time.Second).Add(-time.Second) // the last whole one
	back := second.Before(h.last)
	if back || second.Sub(h.last) > gap {
		h.counts = counts{}
		h.last = second.Add(-time.Second)
	}
	if back {
		clear(h.seen)
		h.events.back(r.To)
		h.columns = slices.DeleteFunc(h.columns, func(c column) bool { return !c.start.Before(second) })
	}
	t := &taking{history: h, from: h.last.Add(time.Second), to: second, change: change{anew: back}}
	if t.to.Before(t.from) {
		t.from = t.to // a second round within the second
	}
	h.counts.begin()
	for _, line := range h.rows {
		line.weight *= 0.98
	}
	for i := range r.Partitions {
		t.partitions(&r.Partitions[i])
		h.events.split(&r.Partitions[i])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Ledgers)) {
		h.events.store(name, r.Ledgers[name])
	}
	h.events.decide(r.Decisions) // before shards are seen that it leads to
	flows := r.Flows()
	for i := range flows {
		t.flow(r, &flows[i])
	}
	h.last = second
	t.change.columns = append(t.change.columns, h.since(t.first())...)
	t.change.columns = append(t.change.columns, h.compact(second)...)
	for i := range t.change.columns {
		t.trim(&t.change.columns[i])
	}
	if h.taken++; h.taken%forgetAfter == 0 {
		t.forget()
	}
	return t.change
}

// forgetAfter is after how many rounds rows are looked for that took nothing in all columns.
const forgetAfter = 60

// forget drops rows without a cell, such as those of partitions that were split hours ago.
func (t *taking) forget() {
	used := make(map[int]bool)
	for i := range t.grid.columns {
		for id := range t.grid.columns[i].cells {
			used[id] = true
		}
	}
	for name, r := range t.rows {
		if !used[r.ID] {
			delete(t.rows, name)
			delete(t.byID, r.ID)
			t.change.gone = append(t.change.gone, r.ID)
		}
	}
}

// since returns the columns that end after a time.
func (h *history) since(at time.Time) []column {
	var new []column
	for _, c := range h.columns {
		if c.end().After(at) {
			new = append(new, c)
		}
	}
	return new
}

// row returns a row, which it adds if there is none.
func (h *history) row(of row) (r *row, added bool) {
	if known := h.rows[of.name()]; known != nil {
		return known, false
	}
	h.ids++
	of.ID = h.ids
	h.rows[of.name()], h.byID[of.ID] = &of, &of
	return &of, true
}

// all returns the rows in the order of their numbers.
func (h *history) all() []*row {
	all := make([]*row, 0, len(h.rows))
	for _, r := range h.rows {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *row) int { return a.ID - b.ID })
	return all
}

// taking is a round that is being taken.
type taking struct {
	*history
	from, to time.Time // the first and the last second that it is about
	oldest   time.Time // the first second of a partition that it has told
	change   change
}

// first returns the first second that has changed.
func (t *taking) first() time.Time {
	if !t.oldest.IsZero() && t.oldest.Before(t.from) {
		return t.oldest
	}
	return t.from
}

// spread adds what a row took to the seconds that the round is about, to each the same.
func (t *taking) spread(r *row, d cell) {
	n := float64(t.to.Sub(t.from)/time.Second) + 1
	for at := t.from; !at.After(t.to); at = at.Add(time.Second) {
		t.at(at).add(r.ID, cell{d.units / n, d.refused / n})
	}
	r.weight += d.units + d.refused
}

// partitions adds what partitions served in whole seconds that were not taken yet.
func (t *taking) partitions(h *partitions.Heat) {
	name := heat.Resource{Table: h.Table, Index: h.Index}
	newest := t.seen[name.String()]
	for i := range h.Partitions {
		p := &h.Partitions[i]
		for _, s := range p.Seconds {
			if s.Start.After(t.to) || !s.Start.After(t.seen[name.String()]) {
				continue
			}
			newest = later(newest, s.Start)
			if t.oldest.IsZero() || s.Start.Before(t.oldest) {
				t.oldest = s.Start
			}
			t.partition(name, heat.Write, p.ID, s.Start, cell{s.WriteUnits, s.WriteThrottled})
			t.partition(name, heat.Read, p.ID, s.Start, cell{s.ReadUnits, s.ReadThrottled})
		}
	}
	t.seen[name.String()] = newest
}

func (t *taking) partition(of heat.Resource, d heat.Direction, id uint64, at time.Time, took cell) {
	if took == (cell{}) {
		return
	}
	r, added := t.row(row{Flow: flowName(of, d), Kind: partitionRow, Number: id})
	if added {
		t.change.rows = append(t.change.rows, r)
	}
	t.at(at).add(r.ID, took)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// flowName is how a flow is named on the page.
func flowName(of heat.Resource, d heat.Direction) string { return fmt.Sprintf("%s %ss", of, d) }

// flow adds what the keys of a flow took, and gives the rest to the row of the others.
func (t *taking) flow(r *round.Round, f *round.Flow) {
	of, name := f.Flow(f.Direction), f.Name()
	naming, shardsOf := round.Names(of, t.lays)
	t.events.widen(t.to, f.Resource.String(), shardsOf)
	second := round.LastSecond(of.Trend, r.To)
	all, now := cell{of.Units, float64(of.Throttled)}, cell{second.Units, float64(second.Throttled)}
	fresh := now
	if t.counts.begun() {
		fresh = all
	}
	rest := t.counts.since(name, all, fresh, now)
	// Where all keys are listed, one that was not there before is new. Elsewhere nobody knows when its total grew.
	complete := t.counts.begun() && of.Distinct.Error == 0 && int64(len(of.Keys)) >= of.Distinct.Keys
	for i := range of.Keys {
		k := &of.Keys[i]
		total, now := cell{k.Low, float64(k.Throttled)}, cell{k.Second, k.Refused}
		fresh := now
		if complete {
			fresh = total
		}
		took := t.counts.since(name+"|"+k.Key, total, fresh, now)
		known := t.rows[rowName{flow: name, kind: keyRow, key: k.Key}] != nil
		if took == (cell{}) && !known {
			continue
		}
		line, added := t.row(row{Flow: name, Kind: keyRow, Key: k.Key})
		logical, _ := naming(k.Key)
		if line.follow(k, logical, r.Homes[f.Resource.String()][k.Key]) || added {
			t.change.rows = append(t.change.rows, line)
		}
		t.spread(line, took)
		rest = cell{rest.units - took.units, rest.refused - took.refused}
	}
	t.others(name, cell{max(0, rest.units), max(0, rest.refused)})
	t.giveUp(name)
}

// others adds what keys without a row took.
func (t *taking) others(flow string, took cell) {
	if took.units < 0.5 && took.refused < 0.5 { // the rounding of sketches
		return
	}
	t.spread(t.othersOf(flow), took)
}

// giveUp merges the lightest keys of a flow into the others, if it has too many rows.
func (t *taking) giveUp(flow string) {
	var keys []*row
	for _, r := range t.rows {
		if r.Flow == flow && r.Kind == keyRow {
			keys = append(keys, r)
		}
	}
	if len(keys) <= t.most+t.most/10 { // so that it is not done in each round
		return
	}
	slices.SortFunc(keys, func(a, b *row) int { return cmp.Or(cmp.Compare(b.weight, a.weight), a.ID-b.ID) })
	to := make(map[int]int, len(keys)-t.most)
	others := t.othersOf(flow)
	for _, r := range keys[t.most:] {
		to[r.ID] = others.ID
		delete(t.rows, r.name())
		delete(t.byID, r.ID)
		t.change.gone = append(t.change.gone, r.ID)
	}
	t.move(to)
}

// othersOf returns the row of the keys of a flow that have none of their own.
func (t *taking) othersOf(flow string) *row {
	r, added := t.row(row{Flow: flow, Kind: othersRow})
	if added {
		t.change.rows = append(t.change.rows, r)
	}
	return r
}

// trim merges the coldest keys of a column into the others, if it has too many. A row thus has no cell where it took little.
func (t *taking) trim(c *column) {
	most := cellsOf(c.span)
	if len(c.cells) <= most {
		return
	}
	var keys []int
	for id := range c.cells {
		if r := t.byID[id]; r != nil && r.Kind == keyRow {
			keys = append(keys, id)
		}
	}
	if len(keys) <= most {
		return
	}
	slices.SortFunc(keys, func(a, b int) int {
		x, y := c.cells[a], c.cells[b]
		return cmp.Or(cmp.Compare(y.units+y.refused, x.units+x.refused), a-b)
	})
	for _, id := range keys[most:] {
		d := c.cells[id]
		delete(c.cells, id)
		c.add(t.othersOf(t.byID[id].Flow).ID, d)
	}
}

package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// near is the part of a limit from which on a key or a partition is hot.
const near = 0.7

// tooCold and tooSmall are the rate and the share below which a key is not listed.
const tooCold, tooSmall = 0.05, 0.001

// row is a line of the list.
type row struct {
	id     string
	title  bool // a heading: the text alone, over the whole line
	level  int
	text   string
	words  string // why it is as it is
	value  float64
	refuse float64
	share  float64 // below 0: not shown
	load   float64 // part of what one partition serves; below 0: not shown
	past   []float64
	opens  bool // it has shards to show
	open   bool
	hot    bool
}

// listing is a list in the making.
type listing struct {
	*Model
	now   time.Time
	every bool // whatever is selected: for the trends
	flat  bool
	rows  []row

	name     round.Naming   // of the flow at hand
	shardsOf map[string]int // the shards of a logical key, in all partitions of that flow
}

// list returns the rows that the settings select.
func (m *Model) list() []row {
	l := &listing{Model: m, now: m.round.To, flat: m.flat}
	l.all()
	return l.rows
}

func (l *listing) all() {
	flows := l.round.Flows()
	for i := range flows {
		if l.every || l.only == "" || l.only == flows[i].Resource.String() {
			l.flow(&flows[i])
		}
	}
}

// flow adds a heading and, below it, keys inside their partitions or alone.
func (l *listing) flow(f *round.Flow) {
	of := f.Flow(f.Direction)
	l.rows = append(l.rows, l.heading(f, of))
	entries := make([]entry, 0, len(of.Keys))
	for i := range of.Keys {
		k := &of.Keys[i]
		if k.Rate >= tooCold || k.Share >= tooSmall || k.Refused >= tooCold {
			entries = append(entries, newEntry(k, l.round.Homes[f.Resource.String()]))
		}
	}
	l.name, l.shardsOf = round.Names(of, l.layouts)
	h := l.round.Of(f.Resource)
	if l.flat || h == nil {
		l.keys(f, "", 1, fold(entries, l.name))
		return
	}
	l.partitions(f, h, entries)
}

// heading is the row of a flow.
func (l *listing) heading(f *round.Flow, of *heat.Flow) row {
	units, throttled := round.Lately(of.Trend, l.now)
	text := fmt.Sprintf("%s: %s units/s", round.Safe(f.Name()), figure.Thousands(units))
	if of.Throttled > 0 {
		text += fmt.Sprintf(", %s/s throttled", figure.Thousands(throttled))
	}
	about := ""
	if of.Distinct.Error > 0 {
		about = "about "
	}
	text += fmt.Sprintf(" (peak %s/s) on %s%s", figure.Thousands(of.Peak), about, figure.Count(of.Distinct.Keys, "key"))
	if c := of.Control; c.Requests > 0 {
		text += fmt.Sprintf("; control items: %s", figure.Count(c.Requests, "request"))
	}
	return row{id: f.Name(), title: true, text: text, past: seconds(of.Trend, l.now), hot: throttled > 0}
}

// seconds returns the last seconds of a trend, the newest last.
func seconds(trend []heat.Point, now time.Time) []float64 {
	values := make([]float64, pastRounds)
	end := now.Truncate(time.Second)
	for _, p := range trend {
		if i := pastRounds - int(end.Sub(p.From)/time.Second); p.For == time.Second && i >= 0 && i < pastRounds {
			values[i] = p.Units
		}
	}
	return values
}

// partitions adds the partitions of a flow with their keys. What is idle is counted.
func (l *listing) partitions(f *round.Flow, h *partitions.Heat, entries []entry) {
	type home struct {
		row
		keys []logical
	}
	var homes []home
	idle := 0
	for _, p := range h.Partitions {
		r, keys := l.partition(f, &p), fold(within(entries, p.ID), l.name)
		if r.value == 0 && r.refuse == 0 && len(keys) == 0 {
			idle++
			continue
		}
		homes = append(homes, home{r, keys})
	}
	slices.SortStableFunc(homes, func(a, b home) int { return l.compare(&a.row, &b.row) })
	for _, h := range homes {
		mark := len(l.rows)
		l.rows = append(l.rows, h.row)
		l.keys(f, h.id, 2, h.keys)
		if !l.every && l.filter != "" && len(l.rows) == mark+1 {
			l.rows = l.rows[:mark] // none of its keys is asked for
		}
	}
	if idle > 0 {
		l.note(1, fmt.Sprintf("%s idle", figure.Count(idle, "partition")))
	}
	var lost []entry
	for _, e := range entries {
		if len(e.homes) == 0 {
			lost = append(lost, e)
		}
	}
	if len(lost) > 0 {
		mark := len(l.rows)
		l.note(1, "keys whose partition is not known")
		l.keys(f, "?", 2, fold(lost, l.name))
		if len(l.rows) == mark+1 {
			l.rows = l.rows[:mark] // the filter has left none
		}
	}
}

// note adds a line without figures.
func (l *listing) note(level int, text string) {
	l.rows = append(l.rows, row{title: true, level: level, text: text})
}

// partition is the row of a partition.
func (l *listing) partition(f *round.Flow, p *partitions.Partition) row {
	s := round.LastWhole(p.Seconds, l.now)
	r := row{id: fmt.Sprintf("%s|#%d", f.Name(), p.ID), level: 1, text: fmt.Sprintf("partition #%d", p.ID), value: s.WriteUnits, refuse: s.WriteThrottled, share: -1}
	if f.Direction == heat.Read {
		r.value, r.refuse = s.ReadUnits, s.ReadThrottled
	}
	if f.Limit > 0 {
		r.load = r.value / f.Limit
	}
	var words []string
	switch {
	case r.refuse > 0:
		words = append(words, fmt.Sprintf("full: one partition serves %s %ss/s", figure.Thousands(f.Limit), f.Direction))
	case r.load >= near:
		words = append(words, fmt.Sprintf("near the %s %ss/s that one partition serves", figure.Thousands(f.Limit), f.Direction))
	}
	if o := round.ObstacleWords(p.Obstacle); o != "" {
		words = append(words, o)
	}
	r.words = strings.Join(words, "; ")
	r.hot = r.refuse > 0 || r.load >= near
	r.past = l.past[r.id]
	return r
}

// keys adds logical keys in their order, and the shards of those that are open.
func (l *listing) keys(f *round.Flow, home string, level int, keys []logical) {
	var rows []row
	byID := make(map[string]*logical)
	for i := range keys {
		k := &keys[i]
		if !l.every && !l.wanted(k) {
			continue
		}
		r := l.key(f, home, level, k)
		byID[r.id] = k
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return l.compare(&a, &b) })
	most := l.most
	if l.every {
		most = len(rows)
	}
	for _, r := range rows[:min(most, len(rows))] {
		l.rows = append(l.rows, r)
		if r.open || l.every {
			l.shards(f, &r, byID[r.id])
		}
	}
	if more := len(rows) - most; more > 0 {
		l.note(level, fmt.Sprintf("and %d more", more))
	}
}

// wanted reports whether the filter lets a key through, for its own text or that of a shard.
func (l *listing) wanted(k *logical) bool {
	has := func(key string) bool {
		return strings.Contains(strings.ToLower(round.Safe(key)), strings.ToLower(l.filter))
	}
	return l.filter == "" || has(k.key) || slices.ContainsFunc(k.shards, func(e entry) bool { return has(e.key) })
}

// key is the row of a logical key.
func (l *listing) key(f *round.Flow, home string, level int, k *logical) row {
	id := f.Name() + "|" + home + "|" + k.key
	if k.shards == nil {
		return l.entry(f, id, level, &k.entry)
	}
	r := l.entry(f, id+"|shards", level, &k.entry) // the bare key may be another row
	r.opens, r.open = true, l.open[r.id]
	words := figure.Count(len(k.shards), "shard")
	if all := l.shardsOf[k.key]; all > len(k.shards) {
		words = fmt.Sprintf("%d of %d shards", len(k.shards), all)
	}
	words += fmt.Sprintf(", the fullest takes %.0f %%", 100*k.fullest())
	r.load, r.hot = 0, false
	for i := range k.shards {
		shard := l.entry(f, "", 0, &k.shards[i])
		r.load, r.hot = max(r.load, shard.load), r.hot || shard.hot // a shard is full, not the key
	}
	if k.refused >= tooCold {
		words += "; " + round.ReasonWords(k.reason)
	}
	r.words = words
	return r
}

// entry is the row of a stored key.
func (l *listing) entry(f *round.Flow, id string, level int, e *entry) row {
	r := row{id: id, level: level, text: l.shown(e.key), value: e.rate, refuse: e.refused, share: e.share, past: l.past[id]}
	if f.Limit > 0 {
		r.load = e.rate / f.Limit
	}
	var words []string
	switch {
	case e.refused >= tooCold:
		words = append(words, round.ReasonWords(e.reason))
	case r.load >= near:
		words = append(words, fmt.Sprintf("near the %s %ss/s that one partition serves", figure.Thousands(f.Limit), f.Direction))
	}
	if len(e.homes) > 1 {
		words = append(words, fmt.Sprintf("in %s", figure.Count(len(e.homes), "partition")))
	}
	r.words = strings.Join(words, "; ")
	r.hot = e.refused >= tooCold || r.load >= near
	return r
}

// shards adds the shards of a key.
func (l *listing) shards(f *round.Flow, of *row, k *logical) {
	var rows []row
	for i := range k.shards {
		rows = append(rows, l.entry(f, of.id+"|"+k.shards[i].key, of.level+1, &k.shards[i]))
	}
	slices.SortStableFunc(rows, func(a, b row) int { return l.compare(&a, &b) })
	l.rows = append(l.rows, rows...)
}

// compare orders rows as the user has chosen.
func (m *Model) compare(a, b *row) int {
	byText := strings.Compare(a.text, b.text)
	switch m.order {
	case byKey:
		return byText
	case byThrottles:
		return cmp.Or(cmp.Compare(b.refuse, a.refuse), cmp.Compare(b.value, a.value), byText)
	}
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.refuse, a.refuse), byText)
}

// values returns what all rows of a round take, in both ways to list them.
func (m *Model) values() map[string]float64 {
	values := make(map[string]float64)
	for _, flat := range [...]bool{false, true} {
		l := &listing{Model: m, now: m.round.To, flat: flat, every: true}
		l.all()
		for _, r := range l.rows {
			if !r.title {
				values[r.id] = r.value
			}
		}
	}
	return values
}

package counter

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// A counter that was an attribute, explored: every interleaving of an older program that adds to the attribute, a process that
// counts into a slot, importers whose requests are lost and arrive late, a fold, a reset, and readers.

// adoption is who takes part.
type adoption struct {
	older     int // Adds of an older program
	adds      int // flushes of a process with this package
	importers int
	lost      int // answers to imports
	folds     bool
	resets    bool
	reader    bool
	broken    rules
	unread    bool // an importer that was refused does not read the attribute again
	forgets   bool // a reset does not take off what is in the attribute
	trusts    bool // the reader takes the import for the attribute, if there is one
}

// adopting is a state of the exploration.
type adopting struct {
	model   model
	older   int
	sent    int // requests of the process that counts
	flushed int64
	removed int64 // by the reset

	imports [2]importing
	begun   [2]bool
	ended   [2]bool
	floor   int64 // the least that imports must have: the attribute when one of those began that have ended
	start   [2]int64
	ghosts  []request
	lost    int

	fold    fold
	folding bool
	reset   resetting
	listing [2]listing // of the reset and of the reader
	taking  bool
	taken   bool
	reader  reading
	reading bool
	read    bool
	atStart int64
}

func (w adopting) attribute() int64 {
	if w.model.origin == nil {
		return 0
	}
	return int64(w.model.origin.lo)
}

func (c adoption) explore() (fault string, states int) {
	seen := map[string]bool{}
	for stack := []adopting{{}}; len(stack) > 0; {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		states++
		if fault := c.wrong(w); fault != "" {
			return fault, states
		}
		c.successors(w, func(n adopting) {
			if key := n.key(); !seen[key] {
				seen[key] = true
				stack = append(stack, n)
			}
		})
	}
	return "", states
}

// wrong says what must not be.
func (c adoption) wrong(w adopting) string {
	all := int64(w.older) + w.flushed
	if n := w.model.truth() + w.removed; n != all {
		return fmt.Sprintf("the counter is %d, with %d counted", n, all)
	}
	if n := int64(w.model.base.imported.lo); n < w.floor || n > w.attribute() {
		return fmt.Sprintf("%d is imported, want %d or more, and the attribute is %d", n, w.floor, w.attribute())
	}
	if w.ended[0] && w.ended[1] && len(w.ghosts) == 0 && w.floor == w.attribute() {
		without := w.model
		without.origin = nil
		if n := without.truth() + w.removed; n != all {
			return fmt.Sprintf("without the origin the counter is %d, with %d counted and everything imported", n, all)
		}
	}
	if w.read {
		g := w.reader
		if c.trusts && g.base.imports > 0 {
			g.origin = nil
		}
		n, _ := g.total().value().int64()
		if !c.resets && (n < w.atStart || n > all) {
			return fmt.Sprintf("read %d, with %d counted before and %d at the end", n, w.atStart, all)
		}
		if n < 0 {
			return fmt.Sprintf("read %d", n)
		}
	}
	return ""
}

func (c adoption) successors(w adopting, next func(adopting)) {
	if w.older < c.older {
		n := w
		n.model, n.older = w.model.older(1), w.older+1
		next(n)
	}
	if w.sent <= c.adds {
		n := w
		r := request{operation: openSlot, id: "0-a"}
		if w.sent > 0 {
			r = request{operation: flushSlot, id: "0-a", total: amount{up: int64(w.sent), adds: int64(w.sent)}, seq: int64(w.sent)}
		}
		var a answer
		n.model, a = w.model.apply(rules{}, 1, r)
		n.sent++
		if a.outcome == done && w.sent > 0 {
			n.flushed++
		}
		if a.outcome == done || w.sent == 0 {
			next(n)
		}
	}
	for i, ghost := range w.ghosts {
		n := w
		n.ghosts = slices.Delete(slices.Clone(w.ghosts), i, i+1)
		n.model, _ = w.model.apply(c.broken, 1, ghost)
		next(n)
	}
	for i := range c.importers {
		c.importerSteps(w, i, next)
	}
	if _, there := w.model.slots["0-a"]; c.folds && there {
		c.foldSteps(w, next)
	}
	if c.resets {
		c.resetSteps(w, next)
	}
	if c.reader {
		c.readerSteps(w, next)
	}
}

func (c adoption) importerSteps(w adopting, i int, next func(adopting)) {
	if w.ended[i] || i > 0 && !w.begun[0] {
		return
	}
	if !w.begun[i] {
		w.begun[i], w.start[i] = true, w.attribute()
	}
	m := w.imports[i]
	r, _ := m.next()
	n := w
	var a answer
	n.model, a = w.model.apply(c.broken, 1, r)
	n.imports[i] = m.step(r, a)
	if c.unread && r.operation == importBase && a.outcome == refused {
		n.imports[i].asked, n.imports[i].value = true, m.value
	}
	if _, more := n.imports[i].next(); !more {
		n.ended[i] = true
		n.floor = max(n.floor, n.start[i])
	}
	next(n)
	if r.operation != importBase || w.lost == c.lost {
		return
	}
	late := w // not answered, and still to come
	late.lost++
	late.ghosts = append(slices.Clone(w.ghosts), r)
	late.imports[i] = m.step(r, answer{outcome: unknown})
	next(late)
	if a.outcome == done { // it has happened, and may come again
		n.imports[i], n.ended[i], n.floor = late.imports[i], false, w.floor
		n.lost++
		next(n)
		n.ghosts = late.ghosts
		next(n)
	}
}

func (c adoption) foldSteps(w adopting, next func(adopting)) {
	if !w.folding {
		w.folding, w.fold = true, foldOf([]slotID{"0-a"})
	}
	if r, more := w.fold.next(); more {
		var a answer
		w.model, a = w.model.apply(rules{}, 1, r)
		w.fold = w.fold.step(r, a)
		next(w)
	}
}

func (c adoption) resetSteps(w adopting, next func(adopting)) {
	if w.taken {
		return
	}
	if !w.taking {
		w.taking, w.reset = true, resetting{reading: reading{shards: 1, beside: true}, token: "reset"}
	}
	r, _ := w.reset.next()
	if r.operation == listSlots {
		w.listing[0].advance(w.model, r.width, func(g listing, complete bool) {
			n := w
			n.listing[0] = listing{}
			n.reset = n.reset.step(r, answer{slots: g.slots})
			next(n)
		})
		return
	}
	if r.operation == resetBase && c.forgets {
		r.sum = w.reset.reading.counted().negative()
	}
	var a answer
	w.model, a = w.model.apply(c.broken, 1, r)
	w.reset = w.reset.step(r, a)
	if r.operation == resetBase && a.outcome == done {
		n, _ := w.reset.reading.total().value().int64() // as Reset returns it
		w.removed += n
	}
	_, more := w.reset.next()
	w.taken = !more
	next(w)
}

func (c adoption) readerSteps(w adopting, next func(adopting)) {
	if w.read {
		return
	}
	if !w.reading {
		w.reading, w.atStart = true, int64(w.older)+w.flushed
		w.reader = reading{shards: 2, beside: true}
	}
	r, _ := w.reader.next()
	if r.operation == listSlots {
		w.listing[1].advance(w.model, r.width, func(g listing, complete bool) {
			n := w
			n.listing[1] = g
			if complete {
				n.listing[1] = listing{}
				n.reader = n.reader.step(r, answer{slots: g.slots})
			}
			next(n)
		})
		return
	}
	_, a := w.model.apply(rules{}, 1, r)
	w.reader = w.reader.step(r, a)
	_, more := w.reader.next()
	w.read = !more
	next(w)
}

func (w adopting) key() string {
	k := make(stateKey, 0, 256)
	k.model(w.model)
	k.numbers(int64(w.older), int64(w.sent), w.flushed, w.removed, w.floor, int64(w.lost), w.atStart)
	for i, m := range w.imports {
		k.flags(w.begun[i], w.ended[i], m.known, m.asked, m.ended, m.changed)
		k.numbers(w.start[i], m.imports, int64(m.stored.lo))
		k.origin(m.value)
	}
	k.numbers(int64(len(w.ghosts)))
	for _, ghost := range w.ghosts {
		k.request(ghost)
	}
	k.flags(w.folding, w.fold.known, w.taking, w.taken, w.reading, w.read)
	k.ids(w.fold.due...)
	k.slots(w.fold.frozen)
	k.base(w.fold.base)
	k.reading(w.reset.reading)
	k.reading(w.reader)
	for _, l := range w.listing {
		k.numbers(int64(l.read))
		k.slots(l.slots)
	}
	return string(k)
}

var adoptions = map[string]adoption{
	"importers": {older: 3, importers: 2, lost: 2},
	"counting":  {older: 2, adds: 2, importers: 1, folds: true, reader: true},
	"reader":    {older: 2, adds: 1, importers: 1, lost: 1, reader: true},
	"reset":     {older: 1, adds: 1, importers: 1, resets: true, reader: true},
	"folded":    {older: 1, adds: 1, importers: 1, folds: true, resets: true},
}

func TestAdoptionCountsEverythingOnce(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(adoptions)) {
		t.Run(name, func(t *testing.T) {
			fault, states := adoptions[name].explore()
			if fault != "" {
				t.Fatal(fault)
			}
			t.Logf("%d states", states)
			if states < 100 {
				t.Errorf("only %d states: somebody does not take part", states)
			}
		})
	}
}

func TestAdoptionNeedsEachOfItsRules(t *testing.T) {
	t.Parallel()
	for rule, x := range map[string]struct {
		scenario string
		breaks   func(*adoption)
	}{
		"an import needs the number of imports":             {"importers", func(c *adoption) { c.broken.importUnguarded = true }},
		"who is refused reads the attribute again":          {"importers", func(c *adoption) { c.unread = true }},
		"a reset takes off what is in the attribute":        {"reset", func(c *adoption) { c.forgets = true }},
		"readers with an origin do not rely on the imports": {"reader", func(c *adoption) { c.trusts = true }},
	} {
		t.Run(rule, func(t *testing.T) {
			c := adoptions[x.scenario]
			x.breaks(&c)
			fault, states := c.explore()
			if fault == "" {
				t.Fatalf("nothing is wrong without this rule in %d states", states)
			}
			t.Logf("%d states: %s", states, fault)
		})
	}
}

package counter

import (
	"fmt"
	"testing"
)

// A snapshot says what a counter was at one moment. Here every interleaving of one is explored with writers that go up
// and down, one of whose slots is folded and removed meanwhile, and what it says is compared with all values that there
// were.

// writes are what a process does to its slot, one total after the other.
type writes struct {
	id     slotID
	totals []amount
}

func (w writes) requests() []request {
	all := []request{{operation: openSlot, id: w.id}}
	for i, total := range w.totals {
		all = append(all, request{operation: flushSlot, id: w.id, total: total, seq: int64(i + 1)})
	}
	return all
}

// looking is a state of the exploration.
type looking struct {
	model    model
	done     [2]int // requests that each writer has sent
	older    int    // Adds of the older program
	fold     fold
	folding  bool
	sweep    sweep
	snapshot snapshot
	listing  listing
	begun    bool
	held     uint64 // the values that the counter had since: bit 8 is 0
}

type lookout struct {
	level   level
	writers [2][]request
	folds   slotID
	trusts  bool    // the reader believes the transaction, whatever slots there are
	older   []int64 // what an older program adds to the attribute of the origin
	hasty   bool    // with an origin, the reader takes the value of one reading
	newest  bool    // with an origin, the reader takes its value in the second of two readings
}

func (l lookout) successors(w looking, next func(looking)) {
	move := func(n looking) {
		n.held |= 1 << (8 + n.model.truth())
		next(n)
	}
	for i, requests := range l.writers {
		if w.done[i] < len(requests) {
			n := w
			n.model, _ = w.model.apply(rules{}, 1, requests[w.done[i]])
			n.done[i]++
			move(n)
		}
	}
	if w.older < len(l.older) {
		n := w
		n.model = w.model.older(l.older[w.older])
		n.older++
		move(n)
	}
	if _, there := w.model.slots[l.folds]; there && !w.folding {
		n := w
		n.folding, n.fold, n.sweep = true, foldOf([]slotID{l.folds}), sweep{due: []slotID{l.folds}}
		next(n)
	}
	if w.folding {
		n := w
		if r, more := w.fold.next(); more {
			var a answer
			n.model, a = w.model.apply(rules{}, 1, r)
			n.fold = w.fold.step(r, a)
			move(n)
		} else if r, more := w.sweep.next(); more {
			var a answer
			n.model, a = w.model.apply(rules{}, 1, r)
			n.sweep = w.sweep.step(r, a)
			move(n)
		}
	}
	l.look(w, next)
}

func (l lookout) look(w looking, next func(looking)) {
	if !w.begun {
		w.begun, w.held = true, 1<<(8+w.model.truth())
		w.snapshot = snapshot{reading: reading{shards: 2, beside: len(l.older) > 0}}
	}
	r, more := w.snapshot.next()
	if !more || w.snapshot.reading.tries > 2 {
		return
	}
	_, a := w.model.apply(rules{}, 1, r)
	if r.operation == listSlots {
		w.listing.advance(w.model, r.width, func(g listing, complete bool) {
			n := w
			n.listing = g
			if complete {
				n.listing = listing{}
				n.snapshot = n.snapshot.step(r, answer{slots: g.slots})
			}
			next(n)
		})
		return
	}
	before := w.snapshot.previous
	w.snapshot = w.snapshot.step(r, a)
	switch {
	case r.operation != readOrigin:
	case l.hasty:
		g := w.snapshot.previous
		w.snapshot = w.snapshot.is(g.total())
	case l.newest && w.snapshot.ended && before.same(w.snapshot.reading):
		w.snapshot = w.snapshot.is(w.snapshot.reading.total())
	}
	if l.trusts && r.operation == readAtOnce {
		w.snapshot = w.snapshot.is(w.snapshot.atOnce.total())
	}
	next(w)
}

// wrong says what is wrong with what the snapshot says.
func (l lookout) wrong(w looking) string {
	if !w.begun || !w.snapshot.ended {
		return ""
	}
	lo, _ := w.snapshot.lo.int64()
	hi, _ := w.snapshot.hi.int64()
	if w.snapshot.exact != (lo == hi) {
		return fmt.Sprintf("between %d and %d is said to be exact: %v", lo, hi, w.snapshot.exact)
	}
	for n := lo; n <= hi; n++ {
		if w.held&(1<<(8+n)) != 0 {
			return ""
		}
	}
	return fmt.Sprintf("it is said to have been between %d and %d; it was one of %b", lo, hi, w.held)
}

func (l lookout) explore() (fault string, states, exact, between int) {
	start := looking{model: model{base: base{level: l.level}}}
	seen := map[string]bool{}
	for stack := []looking{start}; len(stack) > 0; {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		states++
		if fault := l.wrong(w); fault != "" {
			return fault, states, exact, between
		}
		if w.snapshot.ended {
			if w.snapshot.exact {
				exact++
			} else {
				between++
			}
			continue
		}
		l.successors(w, func(n looking) {
			if key := n.key(); !seen[key] {
				seen[key] = true
				stack = append(stack, n)
			}
		})
	}
	return "", states, exact, between
}

func (w looking) key() string {
	k := make(stateKey, 0, 256)
	k.model(w.model)
	k.numbers(int64(w.done[0]), int64(w.done[1]), int64(w.older), int64(w.held), int64(w.snapshot.collects))
	k.numbers(int64(w.listing.read))
	k.slots(w.listing.slots)
	k.downs(reading{slots: w.listing.slots})
	k.flags(w.folding, w.begun, w.fold.known, w.snapshot.ended, w.snapshot.exact)
	k.ids(w.fold.due...)
	k.slots(w.fold.frozen)
	k.base(w.fold.base)
	k.ids(w.sweep.due...)
	k.ids(w.sweep.gone...)
	for _, g := range []reading{w.snapshot.reading, w.snapshot.previous, w.snapshot.atOnce} {
		k.reading(g)
		k.downs(g)
	}
	lo, _ := w.snapshot.lo.int64()
	hi, _ := w.snapshot.hi.int64()
	k.numbers(lo, hi)
	return string(k)
}

// downs adds what goes down, which the protocol's exploration has nothing of.
func (k *stateKey) downs(g reading) {
	k.numbers(int64(g.base.sum.down.lo), int64(g.tries))
	for _, s := range g.slots {
		k.numbers(s.total.down)
	}
}

var (
	up         = writes{"0-a", []amount{{up: 1, adds: 1}}}
	upThenDown = writes{"0-a", []amount{{up: 1, adds: 1}, {up: 1, down: 1, adds: 2}}}
	downThenUp = writes{"1-b", []amount{{down: 1, adds: 1}, {up: 1, down: 1, adds: 2}}}
	onesA      = writes{"0-a", []amount{{up: 1, adds: 1}, {up: 2, adds: 2}}}
	onesB      = writes{"1-b", []amount{{up: 1, adds: 1}}}
)

func TestSnapshotIsAValueThatWas(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]lookout{
		"up and down": {level: signed, writers: [2][]request{upThenDown.requests(), downThenUp.requests()}},
		"folded":      {level: signed, writers: [2][]request{up.requests(), onesB.requests()}, folds: "0-a"},
		"ones":        {level: ones, writers: [2][]request{onesA.requests(), onesB.requests()}, folds: "0-a"},
		"older":       {level: ones, writers: [2][]request{up.requests(), onesB.requests()}, older: []int64{2}},
		"older, down": {level: signed, writers: [2][]request{upThenDown.requests()}, older: []int64{2, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			fault, states, exact, between := l.explore()
			if fault != "" {
				t.Fatal(fault)
			}
			t.Logf("%d states, %d ends with a value, %d with two", states, exact, between)
			if exact == 0 {
				t.Error("no value was ever found")
			}
		})
	}
}

func TestSnapshotNeedsEachOfItsRules(t *testing.T) {
	for name, l := range map[string]lookout{
		"the level is known before": {level: ones, writers: [2][]request{downThenUp.requests(), onesA.requests()}},
		"slots that a transaction does not know": {
			level: signed, writers: [2][]request{upThenDown.requests(), downThenUp.requests()}, trusts: true,
		},
		"one reading is not enough with an origin": {
			level: ones, writers: [2][]request{up.requests(), onesB.requests()}, older: []int64{2, -2}, hasty: true,
		},
		"the moment is that of the first reading's origin": {
			level: signed, writers: [2][]request{upThenDown.requests()}, older: []int64{2}, newest: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if fault, states, _, _ := l.explore(); fault == "" {
				t.Errorf("nothing is wrong without it in %d states", states)
			} else {
				t.Logf("%d states: %s", states, fault)
			}
		})
	}
}

package counter

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

// The protocol's machines, explored: every interleaving of an owner that counts, folds, a sweep, a reset and a reader
// on one counter, with answers that get lost, requests that arrive late, and everybody stopping anywhere for any time.
// Then each rule is broken, and the exploration must find a counter that is wrong.

// HEATSINK_COUNTER_LONG makes the tests of this package that look for the unlikely take minutes instead of seconds.
const longEnv = "HEATSINK_COUNTER_LONG"

// scenario is who takes part.
type scenario struct {
	adds    int  // that the owner is asked for
	lost    int  // requests that go unanswered; they happen now, later, or not at all, maybe twice
	opens   bool // openings of slots, too
	folds   int
	sweep   bool
	resets  int
	reader  bool
	moves   bool // the owner has two shards, the reader knows of one
	broken  rules
	blunder blunder
}

// blunder is a mistake in who does what when, which no condition can catch.
type blunder uint8

const (
	noBlunder      blunder = iota
	judgesByFrozen         // the reader leaves out slots that are frozen, not those that are included
	trustsVersion          // the reader does not look at the version
	trustsWidth            // the reader does not look at the width
	namesFirst             // the sweep takes names out of the base before it deletes the slots
	reopens                // the owner uses a slot although its opening has an unknown outcome, and opens it again
	forgetsDoubts          // the owner flushes what is in doubt once more when its slot is gone
	usesUntold             // the owner opens a slot in a shard that the base does not tell of
)

// world is a state of the exploration. Nothing in it is ever changed in place.
type world struct {
	model   model
	ghosts  []request // sent and unanswered: they may still arrive
	lost    int       // how many were
	names   int       // slots named so far
	removed int64     // by resets

	owner     owner
	queue     int64           // Adds that are not on their way
	flying    map[int64]int64 // Adds that are, by seq
	pending   request         // the flush that is to be sent again, if unsure
	unsure    bool
	begun     int64
	acked     int64
	folds     [2]fold
	folding   [2]bool
	folded    [2]bool
	sweep     sweep
	sweeping  bool
	swept     bool
	resets    [2]resetting
	resetting [2]bool
	reset     [2]bool
	applied   [2]int     // how often each reset happened
	listings  [3]listing // of the resets and of the reader
	reader    reading
	atStart   int64 // acknowledged when the reader began
	reading   bool
	read      bool
}

// explore visits every state that can be reached, and returns the first that is wrong, with how it was reached.
func (c scenario) explore(start world) (fault string, states int) {
	type visit struct {
		world world
		trail *trail
	}
	seen := map[string]bool{start.key(): true}
	for stack := []visit{{world: start}}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		states++
		if fault := c.wrong(v.world); fault != "" {
			return fault + v.trail.String(), states
		}
		c.successors(v.world, func(s step, next world) {
			if key := next.key(); !seen[key] {
				seen[key] = true
				stack = append(stack, visit{next, &trail{s, v.trail}})
			}
		})
	}
	return "", states
}

// wrong says what must not be.
func (c scenario) wrong(w world) string {
	if c.broken.foldDeletes && !w.folded[0] {
		return "" // between the two steps of such a fold nothing is right, which is not the point
	}
	if n := w.model.truth() + w.removed; n < w.acked || n > w.begun {
		return fmt.Sprintf("the counter is %d, with %d acknowledged and %d begun", n, w.acked, w.begun)
	}
	if n := w.model.truth(); n < 0 {
		return fmt.Sprintf("the counter is %d", n)
	}
	for i, z := range w.resets {
		if w.reset[i] && !z.unknown && w.applied[i] != 1 {
			return fmt.Sprintf("reset %d has ended, and happened %d times", i, w.applied[i])
		}
	}
	if !w.read {
		return ""
	}
	if n := c.total(w.reader) + w.removed; c.resets == 0 && (n < w.atStart || n > w.begun) {
		return fmt.Sprintf("read %d, with %d acknowledged before and %d begun", n, w.atStart, w.begun)
	}
	if n := c.total(w.reader); n < 0 {
		return fmt.Sprintf("read %d", n)
	}
	return ""
}

// total is what the reader makes of what it read.
func (c scenario) total(g reading) int64 {
	if c.blunder == judgesByFrozen {
		g.base.included = set{}
		g.slots = slices.DeleteFunc(slices.Clone(g.slots), func(s slot) bool { return s.frozen != 0 })
	}
	n, _ := g.total().value().int64()
	return n
}

// successors calls next with every state that one step leads to. Whoever is not chosen sleeps, for as long as it takes.
func (c scenario) successors(w world, next func(step, world)) {
	if w.begun < int64(c.adds) && w.begun-w.acked < 2 {
		n := w
		n.begun++
		n.queue++
		next(step{who: "an Add begins, nothing is sent"}, n)
	}
	c.ownerSteps(w, next)
	for i, ghost := range w.ghosts {
		n := w
		n.ghosts = slices.Delete(slices.Clone(w.ghosts), i, i+1)
		n, _ = c.arrive(n, ghost)
		next(step{"late", ghost, ""}, n)
	}
	for i := range c.folds {
		c.foldSteps(w, i, next)
	}
	if c.sweep {
		c.sweepSteps(w, next)
	}
	for i := range c.resets {
		c.resetSteps(w, i, next)
	}
	if c.reader {
		c.readerSteps(w, next)
	}
}

// ask calls got with every answer that a request may get, and what it leaves behind.
func (c scenario) ask(w world, r request, got func(string, world, answer)) {
	n, a := c.arrive(w, r)
	got("", n, a)
	if w.lost == c.lost || r.operation == openSlot && !c.opens {
		return
	}
	n.lost++
	lost := answer{outcome: unknown}
	if a.outcome == done {
		got(", unanswered", n, lost)
		n.ghosts = append(slices.Clone(w.ghosts), r)
		got(", unanswered, to come again", n, lost)
	}
	w.lost++
	w.ghosts = append(slices.Clone(w.ghosts), r)
	got(", late or never", w, lost)
}

// arrive lets a request happen.
func (c scenario) arrive(w world, r request) (world, answer) {
	var a answer
	w.model, a = w.model.apply(c.broken, 1, r)
	if r.operation == resetBase && a.outcome == done {
		taken, _ := r.sum.value().int64()
		w.removed -= taken
		w.applied[r.token[len(r.token)-1]-'0']++
	}
	return w, a
}

// ownerSteps are those of the process that counts: what flusher.go does around the owner.
func (c scenario) ownerSteps(w world, next func(step, world)) {
	if !w.unsure {
		if w.queue == 0 && len(w.flying) == 0 {
			return
		}
		w = c.launched(w)
	}
	unsure := w.unsure
	w.unsure = false
	c.ask(w, w.pending, func(how string, n world, a answer) {
		if a.outcome == unknown && w.pending.operation == flushSlot { // the same flush may be sent again
			again := n
			again.unsure = true
			next(step{"owner", w.pending, how + ", and will again"}, again)
		}
		a.lost = a.outcome == refused && unsure
		n = c.landed(n, a)
		n.pending = request{}
		next(step{"owner", w.pending, how}, n)
	})
}

// launched decides what the owner sends next.
func (c scenario) launched(w world) world {
	newID := func(shards int) slotID {
		w.names++
		return slotID(fmt.Sprintf("%d-%d", w.names%shards, w.names))
	}
	if c.blunder == usesUntold {
		w.owner.width = w.owner.shards
	}
	var more bool
	if w.owner, w.pending, more = w.owner.next(ones, newID); !more {
		w.owner, w.pending = w.owner.launch(amount{up: w.queue, adds: w.queue})
		w.flying = maps.Clone(w.flying)
		if w.flying == nil {
			w.flying = map[int64]int64{}
		}
		w.flying[w.pending.seq] = w.queue
		w.queue = 0
	}
	return w
}

func (c scenario) landed(w world, a answer) world {
	if w.pending.operation != flushSlot {
		if c.blunder == reopens && w.pending.operation == openSlot {
			w.owner.open = a.outcome != unknown // refused: it is there, so it can be used
			return w
		}
		w.owner = w.owner.prepared(w.pending, a)
		return w
	}
	var l landing
	w.owner, l = w.owner.landed(w.pending, a)
	flying := map[int64]int64{}
	for seq, adds := range w.flying {
		switch {
		case slices.Contains(l.again, seq) || c.blunder == forgetsDoubts && slices.Contains(l.lost, seq):
			w.queue += adds
		case seq <= l.counted:
			w.acked += adds
		case slices.Contains(l.lost, seq):
		default:
			flying[seq] = adds
		}
	}
	w.flying = flying
	return w
}

func (c scenario) foldSteps(w world, i int, next func(step, world)) {
	advance := func(w world) {
		r, _ := w.folds[i].next()
		c.ask(w, r, func(how string, n world, a answer) {
			if a.outcome == unknown && r.operation != includeIDs {
				return // reading and freezing once more changes nothing
			}
			n.folds[i] = n.folds[i].step(r, a)
			if _, more := n.folds[i].next(); !more {
				n.folds[i] = fold{}
				n.folded[i] = true
			}
			next(step{[...]string{"fold 0", "fold 1"}[i], r, how}, n)
		})
	}
	switch {
	case w.folded[i]:
	case w.folding[i]:
		advance(w)
	case i == 0 || w.folding[0]: // it does not matter which one starts
		for _, id := range slices.Sorted(maps.Keys(w.model.slots)) {
			n := w
			n.folding[i], n.folds[i] = true, foldOf([]slotID{id})
			advance(n)
		}
	}
}

func (c scenario) sweepSteps(w world, next func(step, world)) {
	advance := func(w world) {
		r, _ := w.sweep.next()
		n := w
		var a answer
		n.model, a = w.model.apply(c.broken, 1, r)
		n.sweep = w.sweep.step(r, a)
		if c.blunder == namesFirst {
			n.sweep = sweep{}
			if r.operation == unlistIDs {
				n.sweep.due = r.ids
			}
		}
		_, more := n.sweep.next()
		n.swept = !more
		next(step{"sweep", r, ""}, n)
	}
	switch {
	case w.swept:
	case w.sweeping:
		advance(w)
	default:
		for _, id := range slices.Sorted(maps.Keys(w.model.base.included)) {
			n := w
			n.sweeping, n.sweep = true, sweep{due: []slotID{id}}
			if c.blunder == namesFirst {
				n.sweep = sweep{gone: []slotID{id}}
			}
			advance(n)
		}
	}
}

func (c scenario) resetSteps(w world, i int, next func(step, world)) {
	if w.reset[i] || i > 0 && !w.resetting[0] {
		return
	}
	if !w.resetting[i] {
		w.resetting[i], w.resets[i] = true, resetting{reading: reading{shards: 2}, token: fmt.Sprint("reset ", i)}
	}
	r, _ := w.resets[i].next()
	if r.operation == listSlots {
		listMore(w, i, r, next, func(n *world, a answer) { n.resets[i] = n.resets[i].step(r, a) })
		return
	}
	c.ask(w, r, func(how string, n world, a answer) {
		if a.outcome == unknown && r.operation != resetBase {
			return
		}
		n.resets[i] = n.resets[i].step(r, a)
		_, more := n.resets[i].next()
		n.reset[i] = !more
		next(step{[...]string{"reset 0", "reset 1"}[i], r, how}, n)
	})
}

// listMore reads one more shard for the i-th listing, and calls take with the answer if it was the last.
func listMore(w world, i int, r request, next func(step, world), take func(*world, answer)) {
	w.listings[i].advance(w.model, r.width, func(g listing, complete bool) {
		n := w
		n.listings[i] = g
		if complete {
			n.listings[i] = listing{}
			take(&n, answer{slots: g.slots})
		}
		next(step{[...]string{"reset 0", "reset 1", "reader"}[i], r, fmt.Sprintf(", shards %b", g.read)}, n)
	})
}

func (c scenario) readerSteps(w world, next func(step, world)) {
	if w.read {
		return
	}
	if !w.reading {
		w.reading, w.atStart = true, w.acked
		w.reader = reading{shards: 2}
		if c.moves {
			w.reader = reading{shards: 1, width: 1, known: true} // from an earlier time
		}
	}
	r, _ := w.reader.next()
	if r.operation == listSlots {
		listMore(w, 2, r, next, func(n *world, a answer) { n.reader = n.reader.step(r, a) })
		return
	}
	_, a := w.model.apply(c.broken, 1, r)
	switch {
	case r.operation != readBase || !w.reader.listed:
	case c.blunder == trustsVersion:
		a.base.version = w.reader.version
	case c.blunder == trustsWidth:
		a.base.width = w.reader.width
	}
	w.reader = w.reader.step(r, a)
	_, more := w.reader.next()
	w.read = !more
	next(step{"reader", r, ""}, w)
}

var scenarios = map[string]scenario{
	"folds":  {adds: 2, lost: 1, folds: 2},
	"folded": {adds: 2, folds: 1, reader: true},
	"late":   {adds: 2, lost: 2, folds: 1},
	"opens":  {adds: 1, lost: 2, opens: true, folds: 1, sweep: true},
	"sweep":  {adds: 1, lost: 1, folds: 2, sweep: true},
	"swept":  {adds: 2, folds: 1, sweep: true, reader: true},
	"resets": {adds: 1, lost: 1, resets: 2},
	"reset":  {adds: 2, resets: 1, reader: true},
	"moves":  {adds: 2, moves: true, reader: true},
}

// larger are scenarios for when there is time: see longEnv.
var larger = map[string]scenario{
	"folds":  {adds: 2, lost: 1, folds: 2, reader: true},
	"opens":  {adds: 2, lost: 2, opens: true, folds: 1, sweep: true},
	"sweep":  {adds: 2, lost: 1, folds: 2, sweep: true, reader: true},
	"resets": {adds: 2, lost: 1, resets: 2},
}

func (c scenario) start() world {
	w := world{owner: owner{shards: 2, width: 2}}
	if c.moves {
		w.owner.width = 1
	}
	return w
}

func TestProtocolCountsEveryAddOnce(t *testing.T) {
	t.Parallel()
	all := scenarios
	if os.Getenv(longEnv) != "" {
		all = larger
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			fault, states := c.explore(c.start())
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

func TestProtocolNeedsEachOfItsRules(t *testing.T) {
	for _, x := range []struct {
		rule     string
		scenario string
		broken   rules
		blunder  blunder
	}{
		{"slots are frozen, not deleted", "folds", rules{foldDeletes: true}, noBlunder},
		{"a slot is included once", "folds", rules{noIncludedGuard: true}, noBlunder},
		{"a reader judges by what is included", "folded", rules{}, judgesByFrozen},
		{"a flush needs a greater seq", "late", rules{noSeqGuard: true}, noBlunder},
		{"a flush needs a slot that is not frozen", "folds", rules{noFrozenGuard: true}, noBlunder},
		{"a sweep raises the version", "swept", rules{sweepIsSilent: true}, noBlunder},
		{"a reader looks at the version", "swept", rules{}, trustsVersion},
		{"a sweep deletes slots before names", "swept", rules{}, namesFirst},
		{"a flush creates no slot", "sweep", rules{flushCreates: true}, noBlunder},
		{"an include needs the version", "sweep", rules{noVersionGuard: true}, noBlunder},
		{"a name whose opening is in doubt is not used", "opens", rules{}, reopens},
		{"what is in doubt is not flushed twice", "sweep", rules{}, forgetsDoubts},
		{"a reset raises the version", "reset", rules{resetIsSilent: true}, noBlunder},
		{"a reset needs the version", "resets", rules{resetUnguarded: true}, noBlunder},
		{"the base tells of a shard before it is used", "moves", rules{}, usesUntold},
		{"a reader looks at the width", "moves", rules{}, trustsWidth},
	} {
		t.Run(x.rule, func(t *testing.T) {
			c := scenarios[x.scenario]
			c.broken, c.blunder = x.broken, x.blunder
			fault, states := c.explore(c.start())
			if fault == "" {
				t.Fatalf("nothing is wrong without this rule in %d states", states)
			}
			t.Logf("%d states: %s", states, fault)
		})
	}
}

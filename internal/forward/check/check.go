package check

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// The most that a scenario may have.
const (
	maxProcesses = 4
	maxMovers    = 3
	maxLate      = 2
	maxStages    = 18
)

// Scenario is what happens to one id.
type Scenario struct {
	// Item is the item in the beginning, "" for none.
	Item string
	// Processes are the operations of each process, one after another: "put:a;get". The kinds are get, list, put:a, transact:a,
	// create:a, update:a, upsert:a, swap:a>b and delete. A condition on the item that is there is upsert:a>b and delete:a>. The items
	// of a list have append:a, remove and scan. Of transactions are transact:a, which is a put, and tcreate:a, tupsert:a, tswap:a>b and
	// tdelete. Of a transaction are also the checks has:a>, which wants that value, and hasno, which wants no item.
	Processes []string
	// Movers run at the same time. Returns of them go back as soon as they can.
	Movers, Returns int
	// Late is how many writes take effect a second time, later.
	Late int
	// Moves is how many moves there are, one after another: there and back again. The default is 1.
	Moves int
	// Breaks are the rules that are left out.
	Breaks forward.Breaks
	// Limit is the number of states after which the run gives up. The default is 4,000,000.
	Limit int
}

// Verdict is what a run has found.
type Verdict struct {
	States int
	Wrong  string // how a wrong answer came about, "" if there is none
	Whole  bool   // all states were seen
}

// Run looks at all interleavings of a scenario. The error says what is wrong with the scenario.
func Run(s Scenario) (Verdict, error) {
	w, err := newWorld(s)
	if err != nil {
		return Verdict{}, err
	}
	return w.explore(), nil
}

// world is a scenario with all that does not change.
type world struct {
	Scenario
	monitor *monitor
	of      [maxProcesses][]int // the operations of each process
	list    bool                // the item is one of a list
}

// state is what does change.
type state struct {
	generation, floor uint8 // of the ledger; the oldest one of which a request may arrive
	stages            [maxStages]stage
	slots             [2]forward.Slot[value]
	locked            [2]bool // by a transaction that has not committed
	late              [maxLate]late
	budget            uint8
	processes         [maxProcesses]process
	movers            [maxMovers]mover
	pending           uint32
	orders            string
}

// stage is a stage of the ledger, and which slot is the old home.
type stage struct {
	forward.Stage
	old uint8
}

// late is a write that takes effect again.
type late struct {
	used       bool
	request    forward.Request[value]
	slot       uint8
	operation  int8 // -1: of a mover, or a stub or a copy
	generation uint8
}

// process works off its operations.
type process struct {
	next       uint8 // the operation
	running    bool
	committing bool
	slot       uint8               // where it commits
	then       forward.Slot[value] // what it commits
	absent     bool                // a Delete has become a check that there is no item
	generation uint8               // of the ledger that it uses
	machine    forward.Operation[value]
}

// mover moves the item. Some movers move it back.
type mover struct {
	working    bool
	finished   bool // the chore of its stage
	generation uint8
	machine    forward.Move[value]
}

func newWorld(s Scenario) (*world, error) {
	if len(s.Processes) > maxProcesses || s.Movers+s.Returns > maxMovers || s.Late > maxLate {
		return nil, fmt.Errorf("a scenario has at most %d processes, %d movers and %d late writes", maxProcesses, maxMovers, maxLate)
	}
	if s.Moves == 0 {
		s.Moves = 1
	}
	if s.Limit == 0 {
		s.Limit = 4_000_000
	}
	w := &world{Scenario: s, monitor: newMonitor(nil)}
	for i, text := range s.Processes {
		for word := range strings.SplitSeq(text, ";") {
			o, err := w.parse(word)
			if err != nil {
				return nil, err
			}
			w.of[i] = append(w.of[i], len(w.monitor.operations))
			w.monitor.operations = append(w.monitor.operations, o)
		}
	}
	return w, nil
}

var kinds = map[string]forward.Kind{
	"get": forward.Get, "list": forward.List, "put": forward.Put, "transact": forward.Put, "create": forward.Create,
	"update": forward.Update, "upsert": forward.Upsert, "swap": forward.Swap, "delete": forward.Delete,
	"append": forward.Append, "remove": forward.Remove, "scan": forward.Scan,
	"tcreate": forward.Create, "tupsert": forward.Upsert, "tswap": forward.Swap, "tdelete": forward.Delete,
	"has": forward.Swap, "hasno": forward.Create,
}

func (w *world) parse(word string) (operation, error) {
	name, text, _ := strings.Cut(word, ":")
	kind, ok := kinds[name]
	if !ok {
		return operation{}, fmt.Errorf("unknown operation %q", word)
	}
	o := operation{kind: kind, text: text, check: name == "has" || name == "hasno"}
	o.transact = o.check || name == "transact" || name[0] == 't'
	w.list = w.list || kind == forward.Append || kind == forward.Remove || kind == forward.Scan
	if from, to, ok := strings.Cut(text, ">"); ok {
		o.from, o.text = w.monitor.value(from), to
	}
	return o, nil
}

// explore sees each state once.
func (w *world) explore() Verdict {
	first := state{budget: uint8(w.Late), orders: w.monitor.begin(w.monitor.value(w.Item))}
	if w.Item != "" {
		first.slots[0] = forward.Slot[value]{State: forward.Live, Content: w.monitor.value(w.Item)}
	}
	type node struct {
		state
		before *node // only for the text of a fault
	}
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	hash := func(s state) [2]uint64 {
		return [2]uint64{maphash.Comparable(seeds[0], s), maphash.Comparable(seeds[1], s)}
	}
	seen := map[[2]uint64]struct{}{hash(first): {}}
	open := []*node{{state: first}}
	for n := 0; len(open) > 0; n++ {
		if n >= w.Limit {
			return Verdict{States: n}
		}
		at := open[len(open)-1]
		open = open[:len(open)-1]
		next := w.next(at.state)
		if len(next) == 0 && at.state.waiting() {
			return Verdict{States: n, Wrong: "an operation waits for ever:\n" + at.state.String()}
		}
		for _, s := range next {
			if s.orders == "" {
				var steps []string
				for x := (&node{s, at}); x != nil; x = x.before {
					steps = append([]string{x.state.String()}, steps...)
				}
				return Verdict{States: n, Wrong: strings.Join(steps, "\n")}
			}
			h := hash(s)
			if _, ok := seen[h]; !ok {
				seen[h] = struct{}{}
				open = append(open, &node{s, at})
			}
		}
	}
	return Verdict{States: len(seen), Whole: true}
}

// waiting reports whether an operation has begun and not ended.
func (s *state) waiting() bool {
	for _, p := range s.processes {
		if p.running {
			return true
		}
	}
	return false
}

// String returns the state in a line.
func (s state) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stage %d of %v, expired below %d; slots %v %v", s.generation, s.stages[s.generation], s.floor, s.slots[0], s.slots[1])
	for i, p := range s.processes {
		if p.running {
			fmt.Fprintf(&b, "; process %d in %d: %v %v", i, p.generation, p.machine.Kind, p.machine.Next())
		}
	}
	for i, m := range s.movers {
		if m.working {
			fmt.Fprintf(&b, "; mover %d in %d: %v", i, m.generation, m.machine.Next())
		}
	}
	for _, l := range s.late {
		if l.used {
			fmt.Fprintf(&b, "; late %v in slot %d of %d", l.request, l.slot, l.generation)
		}
	}
	return b.String()
}

// next returns the states that may follow.
func (w *world) next(s state) []state {
	out := w.pass(s)
	for i := range w.Processes {
		out = append(out, w.step(s, i)...)
	}
	for i := range w.Movers + w.Returns {
		out = append(out, w.move(s, i)...)
	}
	return out
}

// pass lets time pass: a stage expires, or a late write takes effect.
func (w *world) pass(s state) (out []state) {
	if s.floor < s.generation && !s.commits(s.floor) {
		t := s
		t.floor++
		for i := range t.late {
			if t.late[i].used && t.late[i].generation < t.floor && !w.Breaks.ShortWait {
				t.late[i] = late{}
			}
		}
		out = append(out, t)
	}
	for i, l := range s.late {
		if !l.used || s.locked[l.slot] {
			continue
		}
		t := s
		t.late[i] = late{}
		var u forward.User[value]
		if l.operation >= 0 {
			u = w.monitor.user(w.monitor.operations[l.operation])
		}
		t.slots[l.slot], _ = forward.Apply(l.request, u, s.slots[l.slot], &w.Breaks)
		out = append(out, t)
	}
	return out
}

// commits reports whether a transaction of a generation has still to commit.
func (s *state) commits(generation uint8) bool {
	for _, p := range s.processes {
		if p.committing && p.generation <= generation {
			return true
		}
	}
	return false
}

// sent is what follows on a request: the state, and the answer.
type sent struct {
	state
	answer forward.Answer[value]
}

// send sends a request of a generation: it takes effect, and perhaps once more later. There is nothing if a transaction holds the item.
func (w *world) send(s state, r forward.Request[value], operation int8, generation uint8) []sent {
	slot := s.slotOf(r.Home, generation)
	var u forward.User[value]
	if operation >= 0 {
		u = w.monitor.user(w.monitor.operations[operation])
	}
	if r.Act == forward.Read {
		return []sent{{s, forward.Answer[value]{Done: true, Slot: s.slots[slot]}}}
	}
	if s.locked[slot] {
		return nil
	}
	before := s.slots[slot]
	t := s
	var ok bool
	t.slots[slot], ok = forward.Apply(r, u, before, &w.Breaks)
	a := forward.Answer[value]{Done: ok, Slot: before}
	if r.Act == forward.Freeze || r.Act == forward.FreezeBack {
		a.Slot = t.slots[slot]
	}
	out := []sent{{t, a}}
	if s.budget == 0 {
		return out
	}
	l := late{used: true, request: r, slot: slot, operation: -1, generation: generation}
	if users(r.Act) {
		l.operation = operation
	}
	for i := range t.late {
		if t.late[i] == l {
			return out
		}
		if !t.late[i].used {
			t.late[i] = l
			break
		}
	}
	t.budget--
	if users(r.Act) { // it is an operation of its own, which never returns
		t.pending |= 1 << (len(w.monitor.operations) + int(operation))
		t.orders = w.monitor.call(t.orders, t.pending)
	}
	return append(out, sent{t, a})
}

// slotOf returns the slot of a home, as a generation of the ledger has it.
func (s *state) slotOf(h forward.Home, generation uint8) uint8 {
	old := s.stages[generation].old
	if h == forward.Old {
		return old
	}
	return 1 - old
}

// step lets a process send one request.
func (w *world) step(s state, i int) (out []state) {
	p := &s.processes[i]
	switch {
	case p.committing:
		return []state{w.commit(s, i)}
	case p.running && p.machine.Outcome == forward.Running && (p.generation >= s.floor || w.Breaks.NoLease):
		return w.request(s, i)
	case p.running: // its lease has ended, or it has met a mark: it reads the ledger
		return w.begin(s, i, s.generation)
	case int(p.next) >= len(w.of[i]):
		return nil
	}
	o := w.of[i][p.next]
	p.running = true
	s.pending |= 1 << o
	s.orders = w.monitor.call(s.orders, s.pending)
	oldest := s.floor
	if w.Breaks.NoLease {
		oldest = 0
	}
	for g := oldest; g <= s.generation; g++ {
		out = append(out, w.begin(s, i, g)...)
	}
	return out
}

// begin begins an operation with a generation of the ledger, in each order, and sends its first request.
func (w *world) begin(s state, i int, generation uint8) (out []state) {
	p := &s.processes[i]
	kind, phase := w.monitor.operations[w.of[i][p.next]].kind, s.stages[generation].Phase
	orders := []forward.First{forward.OldFirst}
	if phase != forward.Settling && (phase != forward.Settled || kind == forward.Scan) {
		orders = append(orders, forward.NewFirst)
		if kind == forward.Put || kind == forward.Upsert {
			orders = append(orders, forward.StubFirst)
		}
	}
	for _, f := range orders {
		p.generation, p.absent, p.machine = generation, false, forward.NewOperation[value](kind, phase, f, &w.Breaks)
		if w.list { // else no request depends on it
			p.machine.Generation = uint64(generation)
		}
		out = append(out, w.request(s, i)...)
	}
	return out
}

// request sends the next request of an operation.
func (w *world) request(s state, i int) (out []state) {
	p := s.processes[i]
	o := w.of[i][p.next]
	if w.monitor.operations[o].transact {
		return w.part(s, i)
	}
	for _, x := range w.send(s, p.machine.Next(), int8(o), p.generation) {
		out = append(out, w.took(x.state, i, p.machine.Take(x.answer)))
	}
	return out
}

// took goes on with the machine of an operation, or ends it.
func (w *world) took(s state, i int, m forward.Operation[value]) state {
	s.processes[i].machine = m
	if m.Outcome != forward.Running && m.Outcome != forward.Stale {
		return w.ended(s, i, resultOf(m))
	}
	return s
}

// part sends the next request of an operation that is part of a transaction. The transaction itself checks and locks now, and takes effect
// later. It has no late duplicate, because its token is known.
func (w *world) part(s state, i int) (out []state) {
	p := s.processes[i]
	o := w.of[i][p.next]
	op, r := w.monitor.operations[o], p.machine.Next()
	if !users(r.Act) {
		for _, x := range w.send(s, r, int8(o), p.generation) {
			out = append(out, w.tookPart(x.state, i, x.answer)...)
		}
		return out
	}
	slot := s.slotOf(r.Home, p.generation)
	if s.locked[slot] {
		return nil
	}
	u := w.monitor.user(op)
	if p.absent {
		u = forward.User[value]{Kind: forward.Create, Write: u.Write}
	}
	before := s.slots[slot]
	then, ok := forward.Apply(r, u, before, &w.Breaks)
	if !ok {
		return w.tookPart(s, i, forward.Answer[value]{Slot: before})
	}
	if op.check || p.absent {
		then = before
	}
	s.locked[slot] = true
	q := &s.processes[i]
	q.committing, q.slot, q.then = true, slot, then
	return []state{s}
}

// tookPart takes an answer. A Delete of an absent item becomes a check that it is absent, and that a Delete again.
func (w *world) tookPart(s state, i int, a forward.Answer[value]) (out []state) {
	p := s.processes[i]
	m := p.machine.Take(a)
	op := w.monitor.operations[w.of[i][p.next]]
	if m.Outcome != forward.Refused || op.kind != forward.Delete || op.from != 0 {
		return []state{w.took(s, i, m)}
	}
	kind := forward.Delete
	if !p.absent {
		kind = forward.Create
	}
	phase := s.stages[p.generation].Phase
	for _, f := range []forward.First{forward.OldFirst, forward.NewFirst} {
		t := s
		q := &t.processes[i]
		q.absent, q.machine = !p.absent, forward.NewOperation[value](kind, phase, f, &w.Breaks)
		out = append(out, t)
	}
	return out
}

// users reports whether an act is the user's own.
func users(a forward.Act) bool {
	return a == forward.Write || a == forward.WriteExisting || a == forward.Kill || a == forward.WriteOwn
}

// commit lets a transaction take effect. That is the moment at which all of its parts do.
func (w *world) commit(s state, i int) state {
	p := &s.processes[i]
	s.slots[p.slot], s.locked[p.slot] = p.then, false
	s.orders = w.monitor.now(s.orders, s.pending, w.of[i][p.next])
	if p.absent {
		return w.ended(s, i, refused)
	}
	return w.ended(s, i, done)
}

// ended returns an operation's result.
func (w *world) ended(s state, i int, r result) state {
	p := &s.processes[i]
	o := w.of[i][p.next]
	s.orders = w.monitor.returned(s.orders, o, r)
	s.pending &^= 1 << o
	*p = process{next: p.next + 1}
	return s
}

func resultOf(m forward.Operation[value]) result {
	switch m.Outcome {
	case forward.Found:
		return read | m.Content
	case forward.Missing:
		return read
	case forward.Done:
		return done
	}
	return refused
}

// move lets a mover send one request, or change the ledger.
func (w *world) move(s state, i int) (out []state) {
	m := &s.movers[i]
	now := s.stages[s.generation]
	backwards := i >= w.Movers
	if m.working && m.generation < s.floor && !w.Breaks.MoverLease {
		*m = mover{}
	}
	switch {
	case m.finished && now.Phase == forward.Split && s.floor >= s.generation: // broken: see Breaks.OldPass
		return append(w.advance(s, i), w.enter(s, forward.Stage{Phase: forward.Closed}, now.old))
	case m.finished:
		return w.advance(s, i)
	case m.working:
		return w.chore(s, i)
	case backwards && now.Phase == forward.Split:
		return []state{w.enter(s, forward.Stage{Phase: forward.Back}, now.old)}
	case backwards && now.Phase != forward.Back && now.Trace != forward.Returned:
		return nil
	}
	waited := s.floor >= s.generation
	chore, then, ok := now.Next(waited, &w.Breaks)
	if now.Phase == forward.Split { // it may move at once, and closes the key later
		t := s
		t.movers[i] = mover{working: true, generation: s.generation, machine: w.newMove(s.generation)}
		out = append(out, t)
		if ok && w.Returns == 0 {
			out = append(out, w.enter(s, then, now.old))
		}
		return out
	}
	if !ok {
		return nil
	}
	if chore == forward.Nothing {
		if w.splits(s) < w.Moves {
			out = append(out, w.enter(s, then, now.old))
		}
		return out
	}
	*m = mover{working: true, generation: s.generation, machine: w.newMove(s.generation)}
	if now.Phase == forward.Back {
		m.machine = forward.NewReturn[value](&w.Breaks)
	}
	return []state{s}
}

// newMove returns the machine of a move.
func (w *world) newMove(generation uint8) forward.Move[value] {
	m := forward.NewMove[value](&w.Breaks)
	if w.list {
		m.Generation = uint64(generation)
	}
	return m
}

// splits returns how many moves have begun.
func (w *world) splits(s state) (n int) {
	for _, x := range s.stages[:s.generation+1] {
		if x.Phase == forward.Split {
			n++
		}
	}
	return n
}

// chore sends a request of a mover's chore.
func (w *world) chore(s state, i int) (out []state) {
	m := s.movers[i]
	at := s.stages[m.generation]
	r, all := forward.Request[value]{}, false
	switch {
	case at.Phase == forward.Split || at.Phase == forward.Closed || at.Phase == forward.Back:
		r, all = m.machine.Next(), true
	default:
		chore, _, _ := at.Next(true, &w.Breaks)
		r = drops[chore]
		if at.Phase == forward.Settling && chore == forward.DropDeads { // broken: see Breaks.SweepEarly
			r.Home = forward.New
		}
	}
	for _, x := range w.send(s, r, -1, m.generation) {
		t := x.state
		q := &t.movers[i]
		if all {
			q.machine = m.machine.Take(x.answer)
		}
		q.finished = !all || q.machine.Over
		if q.finished && at.Phase == forward.Split && !w.Breaks.OldPass {
			*q = mover{}
		}
		out = append(out, t)
	}
	return out
}

var drops = map[forward.Chore]forward.Request[value]{
	forward.DropStubs: {Home: forward.Old, Act: forward.DropStub},
	forward.DropDeads: {Home: forward.Old, Act: forward.DropDead},
	forward.DropBacks: {Home: forward.New, Act: forward.DropBack},
}

// advance changes the ledger after a chore, if it is still the one that the mover knows.
func (w *world) advance(s state, i int) []state {
	m := s.movers[i]
	now := s.stages[s.generation]
	s.movers[i] = mover{}
	oldPass := w.Breaks.OldPass && now.Phase == forward.Closed && s.stages[m.generation].Phase == forward.Split
	if m.generation != s.generation && !oldPass {
		return []state{s}
	}
	_, then, ok := now.Next(s.floor >= s.generation, &w.Breaks)
	if !ok || now.Phase == forward.Split {
		return []state{s}
	}
	old := now.old
	if now.Phase == forward.Settling {
		old = 1 - old
	}
	return []state{w.enter(s, then, old)}
}

// enter changes the ledger.
func (w *world) enter(s state, to forward.Stage, old uint8) state {
	s.generation++
	s.stages[s.generation] = stage{to, old}
	return s
}

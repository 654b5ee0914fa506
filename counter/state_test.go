package counter

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// key tells states apart. What is left out follows from the rest.
func (w world) key() string {
	k := make(stateKey, 0, 256)
	k.model(w.model)
	k.numbers(int64(len(w.ghosts)), int64(w.lost), int64(w.names), w.removed, w.queue, w.begun, w.acked, w.atStart)
	for _, ghost := range w.ghosts {
		k.request(ghost)
	}
	k.flags(w.owner.open, w.unsure, w.sweeping, w.swept, w.reading, w.read)
	k.numbers(int64(w.owner.width), w.owner.seq, w.owner.stored.up, int64(len(w.owner.doubts)))
	k.ids(w.owner.id)
	for _, d := range w.owner.doubts {
		k.numbers(d.seq, d.total.up)
	}
	for _, seq := range slices.Sorted(maps.Keys(w.flying)) {
		k.numbers(seq, w.flying[seq])
	}
	k.request(w.pending)
	for i := range 2 {
		f, z := w.folds[i], w.resets[i]
		k.flags(w.folding[i], w.folded[i], f.known, w.resetting[i], w.reset[i], z.lost, z.ended, z.unknown)
		k.ids(f.due...)
		k.slots(f.frozen)
		k.base(f.base)
		k.reading(z.reading)
		k.numbers(int64(w.applied[i]))
	}
	k.ids(w.sweep.due...)
	k.ids(w.sweep.gone...)
	k.reading(w.reader)
	for _, l := range w.listings {
		k.numbers(int64(l.read))
		k.slots(l.slots)
	}
	return string(k)
}

// stateKey is a state, written down.
type stateKey []byte

func (k *stateKey) numbers(all ...int64) {
	for _, n := range all {
		*k = binary.AppendVarint(*k, n)
	}
}

func (k *stateKey) flags(all ...bool) {
	for _, set := range all {
		*k = append(*k, map[bool]byte{true: 1}[set])
	}
}

func (k *stateKey) ids(all ...slotID) {
	for _, id := range all {
		*k = append(append(*k, id...), ',')
	}
	*k = append(*k, ';')
}

func (k *stateKey) slots(all []slot) {
	for _, s := range all {
		k.ids(s.id)
		k.numbers(s.total.up, s.seq, s.frozen)
	}
	*k = append(*k, ';')
}

func (k *stateKey) base(b base) {
	k.numbers(int64(b.sum.up.lo), b.version, int64(b.width), int64(b.imported.lo), b.imports)
	k.ids(slices.Sorted(maps.Keys(b.included))...)
	*k = append(*k, b.reset...)
}

func (k *stateKey) model(m model) {
	for _, id := range slices.Sorted(maps.Keys(m.slots)) {
		k.slots([]slot{m.slots[id]})
	}
	k.base(m.base)
	k.origin(m.origin)
}

func (k *stateKey) origin(n *wide) {
	k.flags(n != nil)
	if n != nil {
		k.numbers(int64(n.lo))
	}
}

func (k *stateKey) reading(g reading) {
	k.flags(g.known, g.listed, g.based, g.ended)
	k.origin(g.origin)
	k.numbers(g.version, int64(g.width))
	k.slots(g.slots)
	k.base(g.base)
}

func (k *stateKey) request(r request) {
	k.numbers(int64(r.operation), r.total.up, r.seq, r.version, int64(r.sum.up.lo), int64(r.width), r.imports, int64(r.imported.lo))
	k.ids(r.id)
	k.ids(r.ids...)
	*k = append(*k, r.token...)
}

// trail is how a state was reached, the last step first.
type trail struct {
	step   step
	before *trail
}

// step is what somebody did.
type step struct {
	who     string
	request request
	how     string
}

func (s step) String() string {
	name := [...]string{
		"read base", "list", "read at once", "raise", "open", "flush", "freeze", "include", "delete", "unlist", "reset", "read origin", "import",
	}[s.request.operation]
	r := s.request
	return fmt.Sprintf("%s: %s %s%v, total %d, seq %d, version %d%s", s.who, name, r.id, r.ids, r.total.up, r.seq, r.version, s.how)
}

func (t *trail) String() string {
	if t == nil {
		return ""
	}
	return t.before.String() + "\n\t" + t.step.String()
}

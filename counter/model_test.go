package counter

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// model is a counter's items and what requests do to them, as DynamoDB's conditions have it. TestStoreIsTheModel holds
// the real expressions to it. A model is never changed: requests return another.
type model struct {
	slots  map[slotID]slot
	base   base
	origin *wide // the attribute that older programs change; nil if there is none
}

// rules are the rules of the protocol that are enforced by conditions; those that are set are broken.
type rules struct {
	noSeqGuard      bool // a flush does not look at seq
	noFrozenGuard   bool // a flush does not look at frozen
	flushCreates    bool // a flush creates the slot if there is none
	foldDeletes     bool // a slot is deleted instead of frozen
	noIncludedGuard bool // an include does not look whether the slot is included
	noVersionGuard  bool // an include does not look at the version
	sweepIsSilent   bool // taking names out of the base does not raise the version
	resetIsSilent   bool // nor does a reset
	resetUnguarded  bool // a reset does not look at the version
	importUnguarded bool // an import does not look at the number of imports
}

func (m model) apply(broken rules, now int64, r request) (model, answer) {
	switch r.operation {
	case readBase:
		return m, answer{base: m.base}
	case listSlots:
		var a answer
		for _, id := range slices.Sorted(maps.Keys(m.slots)) {
			if shard, _ := id.shard(); shard < r.width {
				a.slots = append(a.slots, m.slots[id])
			}
		}
		return m, a
	case readAtOnce:
		a := answer{base: m.base}
		if r.origin {
			a.origin = m.origin
		}
		for _, id := range r.ids {
			if s, ok := m.slots[id]; ok {
				a.slots = append(a.slots, s)
			}
		}
		return m, a
	case readOrigin:
		return m, answer{origin: m.origin}
	case openSlot, flushSlot, freezeSlot, deleteSlot:
		return m.applySlot(broken, now, r)
	}
	return m.applyBase(broken, r)
}

func (m model) applySlot(broken rules, now int64, r request) (model, answer) {
	s, there := m.slots[r.id]
	refuse := answer{outcome: refused}
	if there {
		refuse.slot = &s
	}
	switch r.operation {
	case openSlot:
		if there {
			return m, answer{outcome: refused}
		}
		return m.with(slot{id: r.id, at: now}), answer{}
	case flushSlot:
		fits := there || broken.flushCreates
		fits = fits && (s.frozen == 0 || broken.noFrozenGuard) && (s.seq < r.seq || broken.noSeqGuard)
		if !fits {
			return m, refuse
		}
		return m.with(slot{id: r.id, total: r.total, seq: r.seq, at: now, frozen: s.frozen}), answer{}
	case freezeSlot:
		if !there {
			return m, answer{outcome: refused}
		}
		if s.frozen == 0 {
			s.frozen = now
		}
		if broken.foldDeletes {
			return m.without(r.id), answer{slot: &s}
		}
		return m.with(s), answer{slot: &s}
	}
	if s.frozen == 0 {
		return m, refuse
	}
	return m.without(r.id), answer{}
}

func (m model) applyBase(broken rules, r request) (model, answer) {
	b := m.base
	refuse := answer{outcome: refused, base: b}
	switch r.operation {
	case raiseBase:
		if b.level > r.level || b.width > r.width {
			return m, refuse
		}
		b.level, b.width = r.level, r.width
	case includeIDs:
		if b.version != r.version && !broken.noVersionGuard {
			return m, refuse
		}
		if slices.ContainsFunc(r.ids, b.included.has) && !broken.noIncludedGuard {
			return m, refuse
		}
		b.sum = b.sum.plus(r.sum)
		b.included = setOf(append(slices.Collect(maps.Keys(b.included)), r.ids...))
	case unlistIDs:
		b.included = maps.Clone(b.included)
		for _, id := range r.ids {
			delete(b.included, id)
		}
		if !broken.sweepIsSilent {
			b.version++
		}
	case resetBase:
		if b.version != r.version && !broken.resetUnguarded {
			return m, refuse
		}
		b.sum, b.reset = b.sum.plus(r.sum), r.token
		if !broken.resetIsSilent {
			b.version++
		}
	case importBase:
		if b.imports != r.imports && !broken.importUnguarded {
			return m, refuse
		}
		b.imported, b.imports = r.imported, r.imports+1
	}
	m.base = b
	return m, answer{}
}

func (m model) with(s slot) model {
	slots := maps.Clone(m.slots)
	if slots == nil {
		slots = map[slotID]slot{}
	}
	slots[s.id] = s
	m.slots = slots
	return m
}

func (m model) without(id slotID) model {
	m.slots = maps.Clone(m.slots)
	delete(m.slots, id)
	return m
}

// older returns the model after an older program has added to the attribute.
func (m model) older(delta int64) model {
	n := wideOf(delta)
	if m.origin != nil {
		n = n.plus(*m.origin)
	}
	m.origin = &n
	return m
}

// truth is what the counter is.
func (m model) truth() int64 {
	slots := slices.Collect(maps.Values(m.slots))
	n, _ := reading{slots: slots, base: m.base, origin: m.origin}.total().value().int64()
	return n
}

// listing is a request for all slots on its way: shards are read one after the other, in any order, and what happens in
// between is seen in some of them only.
type listing struct {
	read  uint8 // the shards
	slots []slot
}

// advance calls got with what there is after one more shard, for each that may be next, and whether it was the last.
func (l listing) advance(m model, width int, got func(_ listing, complete bool)) {
	for shard := range width {
		if l.read&(1<<shard) != 0 {
			continue
		}
		n := listing{read: l.read | 1<<shard, slots: slices.Clone(l.slots)}
		for _, id := range slices.Sorted(maps.Keys(m.slots)) {
			if at, _ := id.shard(); at == shard {
				n.slots = append(n.slots, m.slots[id])
			}
		}
		slices.SortFunc(n.slots, func(a, b slot) int { return cmp.Compare(a.id, b.id) })
		got(n, bits.OnesCount8(n.read) == width)
	}
}

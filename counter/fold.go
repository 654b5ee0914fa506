package counter

import "slices"

// fold is the machine that makes slots part of the base: freeze them, so that their totals are final, then include
// their sum and their names in one write. It may stop after every step, and any number of them may run at a time.
//
// A slot is included once: not while the base has its name, and not after that was taken out again, because then the
// base has another version than it had before the slot was seen to be there. Names are only taken out of the base when
// their slots are gone.
type fold struct {
	due    []slotID // to be frozen, with the base known
	frozen []slot   // seen after the base was
	base   base
	known  bool // base is
}

// foldOf returns a fold of slots.
func foldOf(ids []slotID) fold { return fold{due: ids} }

// next returns the request to send, and false if the fold has ended.
func (f fold) next() (request, bool) {
	switch {
	case len(f.due) == 0 && len(f.frozen) == 0:
		return request{}, false
	case !f.known:
		return request{operation: readBase}, true
	case len(f.due) > 0:
		return request{operation: freezeSlot, id: f.due[0]}, true
	}
	r := request{operation: includeIDs, version: f.base.version}
	for _, s := range f.frozen {
		r.ids = append(r.ids, s.id)
		r.sum = r.sum.plus(sumOf(s.total))
	}
	return r, true
}

// step takes the answer to a request of next. If it has failed, the same request may be sent again.
func (f fold) step(r request, a answer) fold {
	switch {
	case a.outcome == failed || a.outcome == unknown && r.operation != includeIDs:
		return f
	case r.operation == readBase:
		return f.with(a.base)
	case r.operation == freezeSlot:
		f.due = f.due[1:]
		if a.outcome == done {
			f.frozen = append(f.frozen[:len(f.frozen):len(f.frozen)], *a.slot)
		}
		return f // else it is gone: somebody has folded it
	case a.outcome == done:
		return fold{}
	case a.outcome == refused:
		return f.again().with(a.base)
	}
	return f.again()
}

// again starts over: all slots must be seen once more after the base was.
func (f fold) again() fold {
	due := slices.Clone(f.due)
	for _, s := range f.frozen {
		due = append(due, s.id)
	}
	return fold{due: due}
}

// with returns the fold with what is known about the base. What it includes already needs no more.
func (f fold) with(b base) fold {
	f.base, f.known = b, true
	f.due = slices.DeleteFunc(slices.Clone(f.due), b.included.has)
	return f
}

package counter

// sweep is the machine that removes slots that are included in the base: first the slots, then their names from the
// base, which gets a new version by that. A reader that saw a slot and then the base without its name finds that
// version.
type sweep struct {
	due  []slotID // to be deleted
	gone []slotID // deleted, still in the base
}

// next returns the request to send, and false if the sweep has ended.
func (s sweep) next() (request, bool) {
	switch {
	case len(s.due) > 0:
		return request{operation: deleteSlot, id: s.due[0]}, true
	case len(s.gone) > 0:
		return request{operation: unlistIDs, ids: s.gone}, true
	}
	return request{}, false
}

// step takes the answer to a request of next. If it has failed, the same request may be sent again.
func (s sweep) step(r request, a answer) sweep {
	if a.outcome == failed || a.outcome == unknown {
		return s
	}
	if r.operation == unlistIDs {
		return sweep{}
	}
	if a.outcome == done || a.slot == nil {
		s.gone = append(s.gone[:len(s.gone):len(s.gone)], s.due[0])
	}
	s.due = s.due[1:] // a slot that is there and not frozen is none to be removed
	return s
}

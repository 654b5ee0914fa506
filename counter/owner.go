package counter

// owner is the machine that counts into a slot. Its rules:
//
// A slot is opened empty, and a name whose opening has an unknown outcome is never used. A flush needs the slot to be
// there. So a slot that was folded and removed while its owner slept does not come back, however late a request
// arrives.
//
// A flush sets the total instead of adding to it, and needs a greater seq than the slot has. So it may be repeated, and
// a late copy of an earlier one changes nothing.
//
// Before the first flush that needs it, the base says of what level the counter is and how many shards have slots.
// Readers look at the base last.
type owner struct {
	shards int   // of new slots
	level  level // what the base is known to allow; it never says less
	width  int   // 0: the base is not known

	id     slotID // "" if there is no slot
	open   bool   // it was created
	seq    int64  // the last one used
	stored amount // what is certainly in the slot

	// doubts are the flushes that came after stored and whose outcome is unknown, in order. A flush that was sent but
	// not answered yet is none of them.
	doubts []flush
}

// flush is a total on its way to the slot.
type flush struct {
	seq   int64
	total amount
}

// latest is the greatest total that may be in the slot, or may get there.
func (o owner) latest() amount {
	if n := len(o.doubts); n > 0 {
		return o.doubts[n-1].total
	}
	return o.stored
}

// lastDoubt is the seq of the last flush that is in doubt, 0 if none is.
func (o owner) lastDoubt() int64 {
	if n := len(o.doubts); n > 0 {
		return o.doubts[n-1].seq
	}
	return 0
}

// next returns what has to be sent before Adds of a level can be flushed, and false if they can be right away. newID
// invents the name of a slot.
func (o owner) next(needed level, newID func(shards int) slotID) (owner, request, bool) {
	switch {
	case o.width == 0:
		return o, request{operation: readBase}, true
	case o.level < needed || o.width < o.shards:
		return o, request{operation: raiseBase, level: max(o.level, needed), width: max(o.width, o.shards)}, true
	case o.id == "":
		o.id = newID(o.shards)
		return o, request{operation: openSlot, id: o.id}, true
	case !o.open:
		return o, request{operation: openSlot, id: o.id}, true
	}
	return o, request{}, false
}

// prepared takes the answer to a request of next.
func (o owner) prepared(r request, a answer) owner {
	switch {
	case r.operation == openSlot && a.outcome == done:
		o.open = true
	case r.operation == openSlot && a.outcome != failed:
		o.id = "" // it may be created later, by nobody who would flush to it: a slot that stays empty
	case a.outcome == failed || a.outcome == unknown:
	case r.operation == raiseBase && a.outcome == done:
		o.level, o.width = max(o.level, r.level), max(o.width, r.width)
	default:
		o.level, o.width = max(o.level, a.base.level), max(o.width, a.base.width, 1)
	}
	return o
}

// launch returns the request that adds an amount to the slot.
func (o owner) launch(added amount) (owner, request) {
	total, _ := o.latest().plus(added) // that it fits was made sure of when the Adds came in
	o.seq++
	return o, request{operation: flushSlot, id: o.id, total: total, seq: o.seq}
}

// landing is what is known after a flush was answered. Flushes are named by their seq.
type landing struct {
	counted int64   // all up to this one are counted
	again   []int64 // these are not, and never will be: what they added must be flushed again
	lost    []int64 // nobody will ever know of these
}

// landed takes the answer to a request of launch.
func (o owner) landed(r request, a answer) (owner, landing) {
	switch {
	case a.outcome == done:
		o.stored, o.doubts = r.total, nil
		return o, landing{counted: r.seq}
	case a.outcome == unknown:
		o.doubts = append(o.doubts[:len(o.doubts):len(o.doubts)], flush{r.seq, r.total})
		return o, landing{}
	case a.outcome == failed:
		return o, landing{again: []int64{r.seq}}
	case a.slot == nil:
		return o.gone(r, a.lost)
	case a.slot.seq > r.seq || a.slot.seq == r.seq && a.slot.total != r.total:
		// Somebody else writes this slot: a copy of this process, made by restoring or cloning a machine.
		return o.gone(r, true)
	}
	return o.met(r, *a.slot)
}

// met takes it that the slot was frozen, or had this very flush already. Both may be.
func (o owner) met(r request, s slot) (owner, landing) {
	l := landing{counted: s.seq}
	for _, d := range o.doubts {
		if d.seq > s.seq {
			l.again = append(l.again, d.seq)
		}
	}
	if s.seq < r.seq {
		l.again = append(l.again, r.seq)
	}
	if s.frozen != 0 {
		return o.without(), l
	}
	o.stored, o.doubts = s.total, nil
	return o, l
}

// gone takes it that the slot was removed. That happens long after it was frozen, so the owner must have slept. The
// flushes in doubt may have come in before.
func (o owner) gone(r request, lost bool) (owner, landing) {
	var l landing
	for _, d := range o.doubts {
		l.lost = append(l.lost, d.seq)
	}
	if lost {
		l.lost = append(l.lost, r.seq)
	} else {
		l.again = []int64{r.seq}
	}
	return o.without(), l
}

// without returns the owner without its slot. The next one has a name of its own, so seq starts again; it goes on
// instead, so that flushes of different slots can be told apart.
func (o owner) without() owner {
	return owner{shards: o.shards, level: o.level, width: o.width, seq: o.seq}
}

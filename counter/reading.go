package counter

// reading is the machine that adds a counter up: all slots, then the base, and of the slots those that the base does
// not include. Whether a slot is frozen says nothing: it may be frozen and not included yet.
//
// The slots count for nothing if the base has another version than it had before they were read: then a slot that was
// seen may be included and no longer listed as such. They also are too few if it has more shards than were read. In
// both cases the reading starts over, with what it has learnt.
//
// If there is an origin, its attribute is read last. An import does not change what it adds to the total.
type reading struct {
	shards  int   // the least to read
	version int64 // the base's before the slots are read
	width   int
	known   bool // version and width are
	beside  bool // there is an origin

	listed bool
	slots  []slot
	based  bool // base is there
	base   base
	origin *wide
	ended  bool
	tries  int
}

// next returns the request to send, and false if everything is read.
func (g reading) next() (request, bool) {
	switch {
	case g.ended:
		return request{}, false
	case g.known && !g.listed:
		return request{operation: listSlots, width: max(g.shards, g.width)}, true
	case g.based:
		return request{operation: readOrigin}, true
	}
	return request{operation: readBase}, true
}

// step takes the answer to a request of next. If it has failed, the same request may be sent again.
func (g reading) step(r request, a answer) reading {
	switch {
	case a.outcome != done:
		return g
	case r.operation == listSlots:
		g.slots, g.listed = a.slots, true
		return g
	case r.operation == readOrigin:
		g.origin, g.ended = a.origin, true
		return g
	case g.listed && a.base.version == g.version && a.base.width <= max(g.shards, g.width):
		g.base, g.based, g.ended = a.base, true, !g.beside
		return g
	}
	tries := g.tries
	if g.listed {
		tries++
	}
	return g.after(a.base, tries)
}

// after returns a reading that starts over with what is known of the base.
func (g reading) after(b base, tries int) reading {
	return reading{shards: g.shards, version: b.version, width: b.width, known: true, beside: g.beside, tries: tries}
}

// total adds up what was read.
func (g reading) total() sum { return g.counted().plus(sum{up: g.earlier()}) }

// earlier is what the counter has from before: the attribute of the origin, or what was imported from it.
func (g reading) earlier() wide {
	if g.origin != nil {
		return *g.origin
	}
	return g.base.imported
}

// counted adds up what was counted in slots.
func (g reading) counted() sum {
	total := g.base.sum
	for _, s := range g.slots {
		if !g.base.included.has(s.id) {
			total = total.plus(sumOf(s.total))
		}
	}
	return total
}

// same reports whether two readings, one after the other, saw the same: then nothing has changed from the end of the
// first to the start of the second.
func (g reading) same(later reading) bool {
	if !g.sameBase(later) || !g.sameSlots(later) {
		return false
	}
	seqs := make(map[slotID]int64, len(g.slots))
	for _, s := range g.slots {
		seqs[s.id] = s.seq
	}
	for _, s := range later.slots {
		if seqs[s.id] != s.seq {
			return false
		}
	}
	return true
}

// sameBase reports whether nothing that counts was folded or taken away between two readings.
func (g reading) sameBase(later reading) bool {
	return g.base.version == later.base.version && g.base.sum == later.base.sum && g.base.imports == later.base.imports
}

// sameSlots reports whether two readings saw the same slots, whatever was in them.
func (g reading) sameSlots(later reading) bool {
	if len(g.slots) != len(later.slots) {
		return false
	}
	there := make(set, len(g.slots))
	for _, s := range g.slots {
		there[s.id] = struct{}{}
	}
	for _, s := range later.slots {
		if !there.has(s.id) {
			return false
		}
	}
	return true
}

package counter

// maxCollects is how often a snapshot reads a counter that does not hold still before it asks for one moment of it.
const maxCollects = 3

// maxAtOnce is how many items DynamoDB reads at one moment: slots, the base, and the origin if there is one.
const maxAtOnce = 100

// snapshot is the machine that reads what a counter was at one moment, or between which values.
//
// One reading is enough if every Add is of 1: what it adds up is at least what the counter was at its start and at most
// what it was at its end, and the counter passes through every number in between. If not, two readings that saw the
// same prove that the counter was just that in between. If it does not hold still for that, it is read in one
// transaction: that is its value, unless a reading after it finds slots that the transaction did not know of. Then two
// readings still say between which values it was when the first had ended and the second had not begun: what went up
// and what went down only grow, each for itself.
//
// An origin may go up and down by any number. So one reading is never enough with an origin. Of two readings, the first
// has read the origin when its slots were read and those of the second were not: that is the moment of the value.
type snapshot struct {
	reading  reading
	previous reading // with ended, if there is one
	atOnce   reading // with ended, if there is one
	collects int
	ended    bool

	lo, hi wide
	exact  bool
}

// next returns the request to send, and false if the snapshot is there.
func (p snapshot) next() (request, bool) {
	switch {
	case p.ended:
		return request{}, false
	case p.wantsAtOnce():
		r := request{operation: readAtOnce, origin: p.previous.beside}
		for _, s := range p.previous.slots {
			r.ids = append(r.ids, s.id)
		}
		return r, true
	}
	return p.reading.next()
}

func (p snapshot) wantsAtOnce() bool {
	items := len(p.previous.slots) + 1
	if p.previous.beside {
		items++
	}
	return p.collects == maxCollects && !p.atOnce.ended && !p.reading.listed && items <= maxAtOnce
}

// step takes the answer to a request of next. If it has failed, the same request may be sent again.
func (p snapshot) step(r request, a answer) snapshot {
	if r.operation == readAtOnce {
		if a.outcome == done {
			p.atOnce = reading{slots: a.slots, base: a.base, origin: a.origin, ended: true}
		} else {
			p.collects++ // without it, then
		}
		return p
	}
	p.reading = p.reading.step(r, a)
	if p.reading.ended {
		return p.collected()
	}
	return p
}

// collected takes it that another reading has ended.
func (p snapshot) collected() snapshot {
	now := p.reading
	p.collects++
	switch before := p.previous; {
	case now.base.level == ones && !now.beside:
		return p.is(now.total())
	case before.ended && before.same(now):
		return p.is(before.total())
	case p.atOnce.ended && before.sameSlots(now) && before.sameBase(now):
		return p.is(p.atOnce.total()) // no slot has come, not even one that was folded and removed at once
	case p.collects > maxCollects && before.base.version == now.base.version && before.base.imports == now.base.imports:
		first, last, earlier := before.counted(), now.counted(), before.earlier()
		p.lo, p.hi, p.ended = first.up.minus(last.down).plus(earlier), last.up.minus(first.down).plus(earlier), true
		p.exact = p.lo == p.hi
		return p
	}
	p.previous, p.atOnce = now, reading{}
	width := max(now.width, now.base.width)
	p.reading = now.after(now.base, now.tries)
	p.reading.width = width
	return p
}

func (p snapshot) is(s sum) snapshot {
	p.lo, p.hi = s.value(), s.value()
	p.exact, p.ended = true, true
	return p
}

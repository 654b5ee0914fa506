package forward

// Outcome is what an operation has come to.
type Outcome uint8

// The outcomes.
const (
	Running Outcome = iota // it has another request
	Found                  // a read: Content has it
	Missing                // a read: there is no item
	Done                   // a write
	// Refused is the outcome of a write that is not done: the condition does not hold for what the last answer has, or there is an
	// item (Create), or there is none (Update, Swap, Delete). DynamoDB calls some of these a success: see express.User.
	Refused
	// Stale says that the process has met a mark of a later phase. It reads the ledger with strong consistency, and begins again.
	Stale
)

// First is which home an operation asks first while an id may be in either. Any is right. A good one saves a request.
type First uint8

// The orders.
const (
	OldFirst  First = iota
	NewFirst        // the id has probably moved, or is new
	StubFirst       // of a Put or an Upsert: the id is probably new
)

// Operation is the machine of one operation on an id. It is a value: Take returns the next one.
type Operation[C any] struct {
	Kind  Kind
	Phase Phase
	// Outcome ends the machine unless it is Running.
	Outcome Outcome
	// Content is what a read has found, or what is to be copied.
	Content C
	// Generation is that of the ledger which the process knows. Set it before the first request.
	Generation uint64

	step   step
	home   Home    // where a read has looked first
	saw    Slot[C] // what it saw there
	absent bool    // the new home had nothing
	breaks *Breaks
}

type step uint8

const (
	stepOne    step = iota // the only home of the phase
	stepFirst              // read the first home
	stepSecond             // read the other
	stepThird              // read the new home again, because of a stub
	stepNew                // write where it has probably moved
	stepOld                // write where it was
	stepLook               // read the old home, in place of a stub
	stepStub               // put a stub
	stepCopy               // copy what is frozen
	stepMoved              // write in the new home, which decides
	stepHelp               // finish the way back
	stepOther              // remove in the other home of a settled key
)

// NewOperation returns the machine of an operation by a process that knows the phase.
func NewOperation[C any](k Kind, p Phase, f First, b *Breaks) Operation[C] {
	o := Operation[C]{Kind: k, Phase: p, breaks: b}
	switch {
	case k == Scan && p == Settled:
		o.step, o.home = stepFirst, Old
		if f != OldFirst {
			o.home = New
		}
	case k == Append && p.both():
		o.step = stepMoved // nobody else creates the item
	case p == Back && (k == Get || k == List) && f == NewFirst:
		o.step, o.home = stepFirst, New
	case p == Back && k.reads():
		o.step, o.home = stepFirst, Old
	case !p.both():
		o.step = stepOne
	case k.reads():
		o.step, o.home = stepFirst, Old
		if f != OldFirst {
			o.home = New
		}
	case f == NewFirst:
		o.step = stepNew
	case f == StubFirst && (k == Put || k == Upsert):
		o = o.stub()
	default:
		o = o.old()
	}
	return o
}

// old goes to the old home. A Create has to keep others from creating the id there.
func (o Operation[C]) old() Operation[C] {
	if o.Kind == Create && !o.breaks.CreateOld {
		return o.stub()
	}
	o.step = stepOld
	return o
}

// stub keeps others from creating the id in the old home. If nobody can any more, it is enough to look.
func (o Operation[C]) stub() Operation[C] {
	o.step = stepStub
	if o.Phase == Closed || o.breaks.NoStub {
		o.step = stepLook
	}
	if o.Phase == Closed && o.breaks.ClosedBlind {
		o.step = stepMoved
	}
	return o
}

// Next returns the request that comes next.
func (o Operation[C]) Next() Request[C] {
	switch o.step {
	case stepFirst:
		return Request[C]{Home: o.home}
	case stepSecond:
		return Request[C]{Home: o.home.Other()}
	case stepThird:
		return Request[C]{Home: New}
	case stepNew:
		return Request[C]{Home: New, Act: o.write(WriteExisting, Kill)}
	case stepOld:
		if o.Kind == Create { // broken: see Breaks.CreateOld
			return Request[C]{Home: Old, Act: Write}
		}
		return Request[C]{Home: Old, Act: o.write(WriteExisting, Write)}
	case stepLook:
		return Request[C]{Home: Old}
	case stepStub:
		return Request[C]{Home: Old, Act: PutStub}
	case stepCopy:
		return Request[C]{Home: New, Act: Copy, Content: o.Content, Generation: o.Generation}
	case stepMoved:
		return Request[C]{Home: New, Act: o.write(Write, Kill)}
	case stepHelp:
		return giveBack(o.saw)
	case stepOther:
		return Request[C]{Home: New, Act: WriteOwn, Generation: o.Generation}
	}
	return o.one()
}

// write returns how a write is done, and how a Delete is.
func (o Operation[C]) write(other, remove Act) Act {
	if o.Kind == Delete || o.Kind == Remove {
		return remove
	}
	return other
}

// one returns the request for the only home of the phase.
func (o Operation[C]) one() Request[C] {
	home := Old
	if o.Phase == Settling {
		home = New
	}
	switch {
	case o.Kind.reads():
		return Request[C]{Home: home, Eventual: o.Phase == Settled}
	case o.Phase == Settling && !o.breaks.SettlingReal:
		return Request[C]{Home: home, Act: o.write(Write, Kill)}
	}
	return Request[C]{Home: home, Act: Write}
}

// Take takes the answer to the last request.
func (o Operation[C]) Take(a Answer[C]) Operation[C] {
	switch o.step {
	case stepFirst, stepSecond, stepThird:
		if o.Phase == Back {
			return o.readBack(a.Slot)
		}
		return o.readBoth(a.Slot)
	case stepNew:
		return o.tookNew(a)
	case stepOld:
		return o.tookOld(a)
	case stepLook, stepStub:
		return o.tookStub(a)
	case stepCopy:
		o.step = stepMoved
		return o
	case stepMoved:
		return o.tookMoved(a)
	case stepHelp:
		o.step = stepOne
		return o
	case stepOther:
		return o.tookOther(a)
	}
	return o.tookOne(a)
}

// found ends a read with a slot that decides.
func (o Operation[C]) found(s Slot[C]) Operation[C] {
	o.Outcome = Missing
	if s.State == Live || s.State == Frozen || s.State == Leaving {
		o.Outcome, o.Content = Found, s.Content
	}
	return o
}

func (o Operation[C]) end(outcome Outcome) Operation[C] {
	o.Outcome = outcome
	return o
}

// tookOne takes the answer of the only home.
func (o Operation[C]) tookOne(a Answer[C]) Operation[C] {
	s, reads := a.Slot, o.Kind.reads()
	switch {
	case reads && s.State.Forwarded() && !o.breaks.BlindRead:
		return o.end(Stale)
	case reads:
		return o.found(s)
	case a.Done:
		return o.end(Done)
	case s.State.Forwarded() && o.Phase == Back:
		return o.forwarded(s)
	case s.State.Forwarded():
		return o.end(Stale)
	case o.Kind == Remove && o.Phase == Settled:
		o.step = stepOther
		return o
	}
	return o.end(Refused)
}

// tookOther takes the answer of the other home of a settled key. A copy there says that the process knows too little.
func (o Operation[C]) tookOther(a Answer[C]) Operation[C] {
	switch {
	case a.Done:
		return o.end(Done)
	case a.Slot.State.empty():
		return o.end(Refused)
	}
	return o.end(Stale)
}

// forwarded goes on after the old home has said that the item has moved on. What is still there must be copied first if the
// operation depends on it.
func (o Operation[C]) forwarded(s Slot[C]) Operation[C] {
	depends := o.Kind != Put && !(o.Kind == Upsert && o.breaks.UpsertBlind)
	if s.State == Frozen && depends && !o.breaks.NoHelp {
		o.step, o.Content = stepCopy, s.Content
		return o
	}
	o.step = stepMoved
	return o
}

// readBoth reads an id that may be in either home.
func (o Operation[C]) readBoth(s Slot[C]) Operation[C] {
	switch o.step {
	case stepFirst:
		sure := s.State == Live || o.home == New && s.State == Dead || o.breaks.OldAbsent && o.home == Old && s.State == Absent
		if o.Kind == Get && sure {
			return o.found(s)
		}
		o.step, o.saw = stepSecond, s
		return o
	case stepThird:
		return o.decided(s)
	}
	old, moved := o.saw, s
	if o.home == New {
		old, moved = s, o.saw
	}
	switch {
	case moved.State != Absent:
		return o.decided(moved)
	case old.State == Leaving || old.State == Left:
		return o.end(Stale) // no old home has such a mark in this phase
	case old.State == Frozen && o.breaks.FrozenAbsent:
		return o.end(Missing)
	case old.State != Stub || o.home == Old || o.breaks.NoFollow:
		return o.found(old)
	}
	o.step = stepThird // the new home was read before the stub was
	return o
}

// decided ends a read with what the new home has.
func (o Operation[C]) decided(s Slot[C]) Operation[C] {
	if s.State.Forwarded() {
		return o.end(Stale)
	}
	return o.found(s)
}

// readBack reads an id whose old home decides, unless it says that the item has moved on.
func (o Operation[C]) readBack(s Slot[C]) Operation[C] {
	switch {
	case o.step == stepFirst && o.home == New && o.Kind == List:
		o.step, o.saw = stepSecond, s
		return o
	case o.step == stepFirst && o.home == New && s.State == Live:
		return o.found(s) // what is live there is current
	case o.step == stepFirst && o.home == New:
		o.home = Old
		return o
	case o.step == stepFirst && !s.State.Forwarded():
		return o.found(s)
	case o.step == stepFirst:
		o.step, o.saw = stepSecond, s
		return o
	case o.step == stepThird || o.home == Old:
		return o.decidedBack(o.saw, s)
	case !s.State.Forwarded():
		return o.found(s)
	case s.State == Stub && o.saw.State == Absent && !o.breaks.NoFollow:
		o.step, o.saw = stepThird, s // the new home was read before the stub was
		return o
	}
	return o.decidedBack(s, o.saw)
}

// decidedBack ends a read of an id whose old home says that the item has moved on.
func (o Operation[C]) decidedBack(old, moved Slot[C]) Operation[C] {
	switch {
	case old.State == Leaving || old.State == Left, moved.State == Frozen || moved.State == Stub:
		return o.end(Stale) // no home has such a mark in this phase
	case moved.State == Absent:
		return o.found(old) // the content is still where it was frozen
	}
	return o.found(moved)
}

// tookNew takes the answer of the new home that was asked first.
func (o Operation[C]) tookNew(a Answer[C]) Operation[C] {
	switch {
	case a.Done:
		return o.end(Done)
	case a.Slot.State.Forwarded():
		return o.end(Stale)
	case a.Slot.State == Absent:
		o.absent = true
		return o.old()
	}
	return o.end(Refused)
}

// tookOld takes the answer of the old home.
func (o Operation[C]) tookOld(a Answer[C]) Operation[C] {
	s := a.Slot
	switch {
	case a.Done:
		return o.end(Done)
	case s.State.Forwarded():
		return o.forwarded(s)
	case s.State == Live:
		return o.end(Refused)
	case o.Kind == Put || o.Kind == Upsert && !o.breaks.UpsertNoStub:
		return o.stub()
	case o.absent && !(o.Kind == Delete && o.breaks.Bury):
		return o.end(Refused) // both were absent, this one last
	}
	o.step = stepMoved
	return o
}

// tookStub takes the answer to a stub, or to a look that replaces one.
func (o Operation[C]) tookStub(a Answer[C]) Operation[C] {
	s := a.Slot
	switch {
	case o.step == stepStub && a.Done, o.step == stepLook && s.State.empty():
		o.step = stepMoved
		return o
	case s.State.Forwarded():
		return o.forwarded(s)
	case o.Kind == Create:
		return o.end(Refused)
	}
	o.step, o.absent = stepOld, false
	return o
}

// tookMoved takes the answer of the new home when it decides.
func (o Operation[C]) tookMoved(a Answer[C]) Operation[C] {
	s := a.Slot
	switch {
	case a.Done:
		return o.end(Done)
	case o.Phase == Back && (s.State == Leaving || s.State == Left):
		o.step, o.saw = stepHelp, s
		return o
	case s.State.Forwarded():
		return o.end(Stale)
	}
	return o.end(Refused)
}

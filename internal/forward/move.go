package forward

// Move is the machine that moves one id from its old home to its new one, or back. It is a value: Take returns the next one.
// Any number may run at once, and stop at any point: another one goes on.
type Move[C any] struct {
	// Over says that there is nothing to move any more.
	Over bool
	// Generation is that of the ledger, which a copy carries. Set it before the first request.
	Generation uint64
	// Stale says that it has met a mark that its phase cannot have. Then it goes no further. The caller reads the ledger with strong
	// consistency and begins again, and reports the item if the ledger has not changed.
	Stale bool

	back    bool
	step    moveStep
	content C
	saw     Slot[C]
	breaks  *Breaks
}

type moveStep uint8

const (
	moveLook moveStep = iota
	moveFreeze
	moveCopy
	moveStrip
	moveFreezeBack
	moveMarkBack
	moveReturn
)

// NewMove returns the machine for a key that is Split or Closed.
func NewMove[C any](b *Breaks) Move[C] { return Move[C]{breaks: b} }

// NewReturn returns the machine for a key that is on its way back. It may run only when no request of Split can arrive any more.
func NewReturn[C any](b *Breaks) Move[C] { return Move[C]{back: true, breaks: b} }

// Next returns the request that comes next.
func (m Move[C]) Next() Request[C] {
	switch m.step {
	case moveFreeze:
		return Request[C]{Home: Old, Act: Freeze}
	case moveCopy:
		return Request[C]{Home: New, Act: Copy, Content: m.content, Generation: m.Generation}
	case moveStrip:
		return Request[C]{Home: Old, Act: Strip}
	case moveFreezeBack:
		if m.breaks.ReturnUnfrozen {
			return Request[C]{Home: New}
		}
		return Request[C]{Home: New, Act: FreezeBack}
	case moveMarkBack:
		return Request[C]{Home: New, Act: MarkBack}
	case moveReturn:
		return giveBack(m.saw)
	}
	return Request[C]{Home: Old}
}

// giveBack returns the request that puts what was in the new home into the old one.
func giveBack[C any](s Slot[C]) Request[C] {
	if s.State == Leaving || s.State == Live {
		return Request[C]{Home: Old, Act: Return, Content: s.Content}
	}
	return Request[C]{Home: Old, Act: ReturnNothing}
}

// Take takes the answer to the last request.
func (m Move[C]) Take(a Answer[C]) Move[C] {
	switch m.step {
	case moveLook:
		return m.looked(a.Slot)
	case moveFreeze:
		switch {
		case !a.Done:
			m.step = moveLook // somebody was faster
		case m.breaks.CopyFirst:
			m.step = moveStrip
		case m.breaks.StripFirst:
			m.content, m.step = a.Slot.Content, moveStrip
		default:
			m.content, m.step = a.Slot.Content, moveCopy
		}
	case moveCopy:
		switch {
		case m.back:
			m.step = moveFreezeBack
		case m.breaks.CopyFirst:
			m.step = moveFreeze
		case m.breaks.StripFirst:
			m.step = moveLook
		default:
			m.step = moveStrip
		}
	case moveStrip:
		m.step = moveLook
		if m.breaks.StripFirst {
			m.step = moveCopy
		}
	case moveFreezeBack:
		return m.marked(a.Slot)
	case moveMarkBack:
		if a.Done {
			a.Slot = Slot[C]{State: Left}
		}
		return m.marked(a.Slot)
	case moveReturn:
		m.step = moveLook
	}
	return m
}

// marked goes on by what the new home has. It goes back when it has a mark of the way back.
func (m Move[C]) marked(s Slot[C]) Move[C] {
	switch {
	case s.State == Leaving || s.State == Left || m.breaks.ReturnUnfrozen:
		m.step, m.saw = moveReturn, s
	case s.State == Live:
		m.step = moveFreezeBack
	case s.State.empty():
		m.step = moveMarkBack
	default:
		m.Stale = true
	}
	return m
}

// looked decides by what the old home has.
func (m Move[C]) looked(s Slot[C]) Move[C] {
	switch {
	case m.back && s.State == Frozen && !m.breaks.ReturnUncopied:
		m.content, m.step = s.Content, moveCopy
	case m.back && s.State.Forwarded():
		m.step = moveFreezeBack
	case m.back:
		m.Over = true
	case s.State == Live && m.breaks.CopyFirst:
		m.content, m.step = s.Content, moveCopy
	case s.State == Live:
		m.step = moveFreeze
	case s.State == Frozen:
		m.content, m.step = s.Content, moveCopy
	default:
		m.Over = true
	}
	return m
}

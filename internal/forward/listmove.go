package forward

// ListMove is the machine that moves one item of a list from a shard that is given up to the one that its sort key determines. It is a
// value, as Move is, and any number may run at once, and stop at any point.
//
// Programs promise that each item of a list has a sort key of its own. Where they break it, two items may have the same new home. A
// ListMove never takes one for the copy of the other: it compares their contents. It looks at the new home before it freezes an item. If
// somebody else's item comes there meanwhile, it thaws the frozen one. That is safe because no item of a list ever changes. What it thaws
// is what was frozen, and the new home has another item for good, so that no ListMove has copied this one there and would strip it.
type ListMove[C any] struct {
	// Over says that there is nothing to move any more.
	Over bool
	// Clash says that the new home has another item with the same sort key. The item is live in its old home, and stays there.
	Clash bool
	// Stale says that it has met a mark that its phase cannot have: see Move.Stale.
	Stale bool
	// Generation is that of the ledger, which a copy carries. Set it before the first request.
	Generation uint64

	step    listStep
	content C
	same    func(a, b C) bool
}

type listStep uint8

const (
	listLook listStep = iota
	listPeek
	listFreeze
	listCopy
	listStrip
	listThaw
)

// NewListMove returns the machine for an item of a list that is Split or Closed. same reports whether two contents are those of one item,
// wherever it is stored.
func NewListMove[C any](same func(a, b C) bool) ListMove[C] { return ListMove[C]{same: same} }

// Next returns the request that comes next.
func (m ListMove[C]) Next() Request[C] {
	switch m.step {
	case listPeek:
		return Request[C]{Home: New}
	case listFreeze:
		return Request[C]{Home: Old, Act: Freeze}
	case listCopy:
		return Request[C]{Home: New, Act: Copy, Content: m.content, Generation: m.Generation}
	case listStrip:
		return Request[C]{Home: Old, Act: Strip}
	case listThaw:
		return Request[C]{Home: Old, Act: Thaw}
	}
	return Request[C]{Home: Old}
}

// Take takes the answer to the last request.
func (m ListMove[C]) Take(a Answer[C]) ListMove[C] {
	switch m.step {
	case listLook:
		return m.looked(a.Slot)
	case listPeek:
		switch {
		case a.Slot.State == Absent:
			m.step = listFreeze
		case a.Slot.State != Live:
			m.Stale = true
		case m.same(a.Slot.Content, m.content): // a late duplicate
			m.step = listFreeze
		default:
			m.Clash = true
		}
	case listFreeze:
		m.step = listLook // somebody was faster
		if a.Done {
			m.content, m.step = a.Slot.Content, listCopy
		}
	case listCopy:
		switch {
		case a.Done:
			m.step = listStrip
		case a.Slot.State != Live:
			m.Stale = true
		case m.same(a.Slot.Content, m.content):
			m.step = listStrip
		default:
			m.step = listThaw
		}
	case listStrip:
		m.step = listLook
	case listThaw:
		m.step = listLook // it may have been moved or deleted meanwhile, if people repair the list
		if a.Done {
			m.Clash = true
		}
	}
	return m
}

// looked decides by what the old home has.
func (m ListMove[C]) looked(s Slot[C]) ListMove[C] {
	switch s.State {
	case Live:
		m.content, m.step = s.Content, listPeek
	case Frozen:
		m.content, m.step = s.Content, listCopy
	case Absent, Stub:
		m.Over = true
	default:
		m.Stale = true
	}
	return m
}

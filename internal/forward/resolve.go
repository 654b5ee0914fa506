package forward

// Seen is what a read of many items has seen of an id in one of its homes.
type Seen[C any] struct {
	Slot[C]
	// Covered says that the read of this home includes the id's sort key: an Absent slot was absent when it was read. It is false if the
	// shard could not be read. A slot with any other state is covered, of course.
	Covered bool
}

// known reports whether the slot is what the home had.
func (s Seen[C]) known() bool { return s.Covered || s.State != Absent }

// Resolved is what a read of many items makes of an id.
type Resolved[C any] struct {
	// Outcome is Found, Missing, Stale or Running. Running says that what was seen does not decide: the id is to be read with a Get.
	Outcome Outcome
	Content C    // of Found
	Home    Home // of Found: where the content was
}

// Resolve returns what a read of many items makes of an id, by what it has seen in the two homes. The homes were read at different times
// and in any order, all in one phase. Settled needs the old home only, and Settling the new one.
//
// It decides as an Operation of kind List does, which package check runs in all interleavings, in both orders: a test compares the two
// for all states. The machine knows its order, so it looks again for a stub only if it has read the new home before. Here the order is
// not known, and a stub whose new home was not seen always asks for a Get.
func Resolve[C any](p Phase, old, moved Seen[C]) Resolved[C] {
	switch p {
	case Settled:
		return only(old, Old)
	case Settling:
		return only(moved, New)
	case Back:
		return resolveBack(old, moved)
	}
	switch {
	case moved.State != Absent:
		return only(moved, New)
	case old.State == Leaving || old.State == Left:
		return Resolved[C]{Outcome: Stale}
	case old.State == Live:
		return decides(old.Slot, Old)
	case old.State == Stub || !old.known() || !moved.known():
		return Resolved[C]{} // the new home may have been read before, or not at all
	}
	return decides(old.Slot, Old)
}

// resolveBack is Resolve for a key that is on its way back: the old home decides, unless it says that the item has moved on.
func resolveBack[C any](old, moved Seen[C]) Resolved[C] {
	switch {
	case old.State == Leaving || old.State == Left:
		return Resolved[C]{Outcome: Stale}
	case old.known() && !old.State.Forwarded():
		return decides(old.Slot, Old)
	case moved.State == Frozen || moved.State == Stub:
		return Resolved[C]{Outcome: Stale}
	case moved.State == Live: // what is live there is current
		return decides(moved.Slot, New)
	case !old.known() || !moved.known():
		return Resolved[C]{}
	case moved.State != Absent:
		return decides(moved.Slot, New)
	case old.State == Stub:
		return Resolved[C]{} // the new home may have been read before
	}
	return decides(old.Slot, Old)
}

// only is what a home that decides alone makes of an id.
func only[C any](s Seen[C], h Home) Resolved[C] {
	switch {
	case !s.known():
		return Resolved[C]{}
	case s.State.Forwarded():
		return Resolved[C]{Outcome: Stale}
	}
	return decides(s.Slot, h)
}

// decides is what a slot that decides makes of an id.
func decides[C any](s Slot[C], h Home) Resolved[C] {
	if s.State == Live || s.State == Frozen || s.State == Leaving {
		return Resolved[C]{Found, s.Content, h}
	}
	return Resolved[C]{Outcome: Missing}
}

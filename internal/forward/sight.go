package forward

// Sight is where an operation has last seen an id. It is advice for later operations: the id may have moved since.
type Sight struct {
	At Where
	// Made says that nothing shows that a move has brought the id to its new home. It was created there, or was put there as a whole.
	// So it says nothing about how far a move has come.
	Made bool
}

// Where is a home that has an id, or none.
type Where uint8

// The places of an id.
const (
	Unseen  Where = iota // the operation does not tell
	InOld                // the old home has the item
	InNew                // the new home has it, or knows that it is deleted
	Nowhere              // neither home knows the id
)

// in returns where an id is that a home has.
func (h Home) in() Where {
	if h == New {
		return InNew
	}
	return InOld
}

// Sight returns where the operation has seen its id, by its last request and the answer to that.
func (o Operation[C]) Sight(r Request[C], a Answer[C]) Sight {
	switch {
	case o.Outcome == Done && r.Home == Old && (o.Kind == Delete || o.Kind == Remove):
		return Sight{At: Nowhere}
	case o.Outcome == Done:
		return Sight{At: r.Home.in()}
	}
	return SightOf(r.Home, a.Slot)
}

// Creates reports whether an answer of the old home shows that a write creates its id, if the new home lets it.
func (r Request[C]) Creates(a Answer[C]) bool {
	return r.Home == Old && (r.Act == PutStub && a.Done || r.Act == Read && a.Slot.State.empty())
}

// SightOf returns where an id is, by what the home has that was read last and that decides.
func SightOf[C any](h Home, s Slot[C]) Sight {
	switch {
	case s.State == Absent || s.State == Dead && h == Old:
		return Sight{At: Nowhere}
	case s.State == Dead:
		return Sight{At: InNew, Made: true}
	case s.State == Live:
		return Sight{At: h.in(), Made: s.Copied == 0}
	}
	return Sight{} // it is between its homes
}

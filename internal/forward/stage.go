package forward

// Stage is what the ledger of a key says about its move.
type Stage struct {
	Phase Phase
	Trace Trace // what a move has left behind, of a Settled key
}

// Trace is what is left of a move that has ended.
type Trace uint8

// The traces.
const (
	Clean    Trace = iota // nothing: the key may move again
	Deads                 // dead items in the homes that are the only ones now
	Returned              // marks in the new homes, which nobody uses any more
)

// Chore is what has to be done for all ids of a key before the next stage.
type Chore uint8

// The chores.
const (
	Nothing   Chore = iota
	MoveAll         // run a Move for each id, until a pass over all old homes meets nothing to move
	ReturnAll       // run a Return for each id, until a pass over all old homes meets nothing that has moved on
	DropStubs       // send DropStub for each item in the old homes
	DropDeads       // send DropDead for each item in the homes
	DropBacks       // send DropBack for each item in the new homes
)

// Next returns what is to be done at this stage, and the stage that may follow when it is done. waited says that no request which
// was built on an earlier stage can arrive any more. ok is false if the next stage has to wait for that.
func (s Stage) Next(waited bool, b *Breaks) (c Chore, then Stage, ok bool) {
	switch {
	case s.Phase == Split:
		return Nothing, Stage{Phase: Closed}, waited || b.CloseEarly
	case s.Phase == Closed:
		return MoveAll, Stage{Phase: Settling}, true
	case s.Phase == Settling && b.SweepEarly:
		return DropDeads, Stage{Trace: Deads}, true
	case s.Phase == Settling:
		return DropStubs, Stage{Trace: Deads}, waited || b.DropEarly
	case s.Phase == Back:
		return ReturnAll, Stage{Trace: Returned}, waited || b.ReturnEarly
	case s.Trace == Deads:
		return DropDeads, Stage{}, waited || b.SweepAtOnce
	case s.Trace == Returned:
		return DropBacks, Stage{}, waited || b.DropBackEarly
	}
	return Nothing, Stage{Phase: Split}, true // a request of either settled stage does no harm
}

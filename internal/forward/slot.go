package forward

import "fmt"

// Home is one of the two places of an id.
type Home uint8

// The homes.
const (
	Old Home = iota
	New
)

// Other returns the other home.
func (h Home) Other() Home { return 1 - h }

// String returns the home in lower case.
func (h Home) String() string {
	if h == Old {
		return "old"
	}
	return "new"
}

// State is what a home has of an id.
type State uint8

// The states.
const (
	Absent  State = iota
	Live          // an item as the user has put it
	Frozen        // its content, with the mark that it has moved on
	Stub          // the mark alone
	Dead          // the mark that the id is absent, for the new home has known it
	Leaving       // content in the new home, on its way back
	Left          // no content in the new home, on its way back
)

var stateNames = [...]string{"absent", "live", "frozen", "stub", "dead", "leaving", "left"}

// String returns the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Forwarded reports whether a state says that the other home is to be asked.
func (s State) Forwarded() bool { return s == Frozen || s == Stub || s == Leaving || s == Left }

// empty reports whether a home knows of no content and of no move.
func (s State) empty() bool { return s == Absent || s == Dead }

// Slot is a home with its content. C is the content of an item: its attributes without those that mark its state.
type Slot[C any] struct {
	State   State
	Content C // of a Live, Frozen or Leaving slot
	// Copied is the generation of the ledger by which a Live slot was copied from the other home, 0 if the user has put it there. It
	// matters for items that only Append and Remove change.
	Copied uint64
}

package forward

import "fmt"

// Phase is how far the move of a key has come.
type Phase uint8

// The phases. The ledger goes from Settled to Split, Closed, Settling and again to Settled, which has the new homes then. From Split
// it may go to Back and to Settled, which has the old homes again.
const (
	// Settled keys have one home for each id. Nothing is paid for moves.
	Settled Phase = iota
	// Split keys have two. An item is in its old home until it is moved. Nothing is created there any more.
	Split
	// Closed is Split when no request of Settled can arrive any more. An id that the old home does not have is in the new one,
	// or nowhere, for good.
	Closed
	// Settling keys use their new homes alone. Requests of Split and Closed may still arrive.
	Settling
	// Back is on the way from Split to the old homes.
	Back
)

var phaseNames = [...]string{"settled", "split", "closed", "settling", "back"}

// String returns the phase in lower case.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// both reports whether an id may be in either home.
func (p Phase) both() bool { return p == Split || p == Closed }

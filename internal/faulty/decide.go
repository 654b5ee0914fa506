package faulty

import (
	"math/rand/v2"
	"slices"
)

// Decide says what goes wrong with a request. It is asked for one request at a time, in the order in which they are sent,
// and so needs no lock of its own; it must not wait for another request through the same client. A nil Decide is None.
type Decide func(Request) Fault

// Script makes the first requests go wrong, one after another; those after them do not.
func Script(faults ...Fault) Decide {
	return func(Request) Fault {
		if len(faults) == 0 {
			return None
		}
		first := faults[0]
		faults = faults[1:]
		return first
	}
}

// Always makes all requests go wrong in the same way.
func Always(f Fault) Decide {
	return func(Request) Fault { return f }
}

// Random makes a percentage of requests go wrong in one of some ways, all as likely as they are listed. Requests that are
// sent one after another meet the same faults whenever random has the same seed.
func Random(random *rand.Rand, percent int, faults ...Fault) Decide {
	return func(Request) Fault {
		if random.IntN(100) >= percent {
			return None
		}
		return faults[random.IntN(len(faults))]
	}
}

// Of restricts decide to requests of some operations, such as "UpdateItem": it is not asked for the others, which are None.
func (decide Decide) Of(operations ...string) Decide {
	return func(r Request) Fault {
		if !slices.Contains(operations, r.Operation) {
			return None
		}
		return decide(r)
	}
}

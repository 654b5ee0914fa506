package faulty

import (
	"math/rand/v2"
	"time"
)

// Delay says how long a request takes, of which the fault is decided. It is asked under the same rules as [Decide].
// A nil Delay is none.
type Delay func(Request) time.Duration

// Exactly makes all requests take the same time.
func Exactly(d time.Duration) Delay {
	return func(Request) time.Duration { return d }
}

// UpTo makes requests take any time up to most, all being as likely.
func UpTo(random *rand.Rand, most time.Duration) Delay {
	return func(Request) time.Duration { return time.Duration(random.Int64N(int64(most) + 1)) }
}

// Of restricts delay to requests with a fault, such as those that are [Late]: it is not asked for the others.
func (delay Delay) Of(fault Fault) Delay {
	return func(r Request) time.Duration {
		if r.Fault != fault {
			return 0
		}
		return delay(r)
	}
}

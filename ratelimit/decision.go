package ratelimit

import (
	"fmt"
	"time"
)

// Decision is the answer to a check.
type Decision struct {
	// Allowed is whether to go ahead. It is always the answer to act on, also beside an error.
	Allowed bool

	// Limit is what the limiter lets through in a window, or what a full bucket has.
	Limit int

	// Remaining is how much more would have been let through at that moment. With one shard it is exact; with more it
	// is made up of what this process last saw of each, so that it is an estimate. Peek's is exact with any number.
	Remaining int

	// RetryAfter is how long to wait until there is room, if nobody else takes it; of a cost above one, at least. It is
	// 0 if the answer is yes, or if it is not known. One that is much longer than the window tells of a process whose
	// clock is ahead: Reset helps.
	RetryAfter time.Duration

	// Failed is set if DynamoDB could not say: Allowed is what Options.FailOpen says then, and Remaining and RetryAfter
	// are not known. The error says why.
	Failed bool
}

// String describes the decision in a line, such as "allowed, 41 of 100 left" or "refused, retry after 12s".
func (d Decision) String() string {
	switch {
	case d.Failed && d.Allowed:
		return "allowed without a check: failed open"
	case d.Failed:
		return "refused without a check: failed closed"
	case d.Allowed:
		return fmt.Sprintf("allowed, %d of %d left", d.Remaining, d.Limit)
	case d.RetryAfter == 0:
		return "refused"
	}
	return fmt.Sprintf("refused, retry after %v", d.RetryAfter)
}

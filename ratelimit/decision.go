package ratelimit

import (
	"fmt"
	"time"
)

// Decision is the result of a check.
type Decision struct {
	// Allowed says whether to proceed. Act on it even if there is an error.
	Allowed bool

	// Limit is what the limiter allows in a window, or the tokens of a full bucket.
	Limit int

	// Remaining is how much more would have been allowed at that moment. It is exact with one shard. With more shards
	// it is an estimate from what this process last saw of each. Peek returns an exact number for any number of shards.
	Remaining int

	// RetryAfter is the time until there is room, if nobody else takes it. For a cost above one it is a lower bound. It
	// is 0 if the check is allowed, or if the time is not known. If it is much longer than the window, the clock of
	// some process is ahead: call Reset.
	RetryAfter time.Duration

	// Failed is set if DynamoDB did not answer. Allowed then follows Options.FailOpen, and Remaining and RetryAfter are
	// not known. The error gives the reason.
	Failed bool
}

// String describes the decision in one line, such as "allowed, 41 of 100 left" or "refused, retry after 12s".
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

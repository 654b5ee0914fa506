package simulate

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// policy is how a throttled request is retried. Waits are drawn evenly between 0 and a longest one.
type policy struct {
	attempts int
	wait     func(attempt int) time.Duration // the longest, after so many attempts
	budget   budget                          // of a process that has sent nothing yet
}

// budget is tokens that retries take. The SDK and heatsink differ in what brings tokens back.
type budget struct {
	tokens, most float64
	first        float64 // that a first attempt brings
	success      float64 // that a first attempt brings if it succeeds
	cost         float64 // of a retry
	refund       float64 // of a retry that succeeds
}

// policyOf returns how a layout's writer retries.
func policyOf(r scenario.Retries) policy {
	switch r {
	case scenario.SDK:
		return policy{
			attempts: retry.DefaultMaxAttempts,
			wait: func(attempt int) time.Duration {
				return min(time.Second<<min(attempt, 30), retry.DefaultMaxBackoff)
			},
			budget: budget{
				tokens: float64(retry.DefaultRetryRateTokens), most: float64(retry.DefaultRetryRateTokens),
				success: float64(retry.DefaultNoRetryIncrement), cost: float64(retry.DefaultRetryCost), refund: float64(retry.DefaultRetryCost),
			},
		}
	case scenario.Heatsink:
		d := dispatch.Retry{}.WithDefaults()
		return policy{
			attempts: d.Attempts,
			wait:     func(attempt int) time.Duration { return min(d.Base<<min(attempt-1, 30), d.Max) },
			budget:   budget{tokens: float64(d.Burst), most: float64(d.Burst), first: d.Budget, cost: 1},
		}
	}
	return policy{attempts: 1}
}

// times returns the budget of n processes together.
func (b budget) times(n float64) budget {
	b.tokens, b.most = b.tokens*n, b.most*n
	return b
}

func (b *budget) add(tokens float64) { b.tokens = min(b.tokens+tokens, b.most) }

// take takes the tokens of up to n retries, and returns how many there were.
func (b *budget) take(n float64) float64 {
	if b.cost == 0 {
		return n
	}
	n = min(n, b.tokens/b.cost)
	b.tokens -= n * b.cost
	return n
}

// retry takes the tokens of one retry, if they are there.
func (b *budget) retry() bool {
	if b.tokens < b.cost {
		return false
	}
	b.tokens -= b.cost
	return true
}

package ratelimit

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
	"github.com/heatsink-go/heatsink/layout"
)

// What can be wrong. The errors that wrap them say what and where.
var (
	// ErrOptions is wrapped by errors of Open and Setup if options contradict each other or a required option is
	// missing.
	ErrOptions = heatsink.ErrOptions
	// ErrTable is wrapped by errors of Setup if the existing table lacks something.
	ErrTable = schema.ErrMismatch
	// ErrKey is wrapped if a key is empty, too long, not valid UTF-8, or ends like a shard key (#SHARD_7). The decision
	// is then a refusal, even with FailOpen, because a caller may have chosen such a key.
	ErrKey = layout.ErrKey
	// ErrCost is wrapped if n is below one, or more than the limiter can ever allow at once. The decision is then a
	// refusal.
	ErrCost = errors.New("invalid cost")
	// ErrUnavailable is wrapped if DynamoDB did not answer, throttled, or rejected the request. The decision has Failed
	// set.
	ErrUnavailable = errors.New("the rate limit could not be checked")
)

var (
	errTimeout   = errors.New("the check took longer than its Timeout")
	errContended = errors.New("concurrent changes of the item on every attempt")
	errForeign   = errors.New("the item was not written by this limiter")
)

// refusal returns the item that made an update's condition fail, nil if there was none, and whether that is what
// happened. If an answer was lost before, the update may itself have made it fail: what it counted then stays counted.
func refusal(err error) (heatsink.Item, bool) {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, false
	}
	return failed.Item, true
}

// unanswered reports whether an update may have been applied although there was no answer.
func unanswered(err error) bool {
	_, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err)
	return unknown
}

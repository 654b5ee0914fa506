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
	// ErrOptions is wrapped by what Open and Setup return for options that contradict each other or lack something.
	ErrOptions = heatsink.ErrOptions
	// ErrTable is wrapped by Setup when a table is there and is not what is needed.
	ErrTable = schema.ErrMismatch
	// ErrKey is wrapped when a key is empty, too long, not valid UTF-8, or ends like a shard key (#SHARD_7). Keys that
	// callers make up may be like that: the decision beside the error is a refusal, also for a limiter that fails open.
	ErrKey = layout.ErrKey
	// ErrCost is wrapped when n is below one, or more than the limiter could ever let through at once. The decision
	// beside it is a refusal.
	ErrCost = errors.New("impossible cost")
	// ErrUnavailable is wrapped when DynamoDB could not say: it did not answer, throttled, or rejected the request. The
	// decision beside it has Failed set.
	ErrUnavailable = errors.New("the rate limit could not be checked")
)

var (
	errTimeout   = errors.New("the check took longer than its Timeout")
	errContended = errors.New("others changed the item every time")
	errForeign   = errors.New("the item is not one of this limiter")
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

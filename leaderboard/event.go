package leaderboard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink"
)

// submitOnce adds to a sum and remembers the submission's ID, both or neither. The ID is an item of its own, which no
// index lists, so that any number of them does not make the entry larger.
func (x box) submitOnce(ctx context.Context, s Submission, c *change) (Outcome, error) {
	update, err := x.entries.TransactUpdate(ctx, x.like(s.Player), c.editPart)
	if err != nil {
		return Outcome{}, err
	}
	const id, entry = 0, 1 // the positions of the two
	parts := []types.TransactWriteItem{{Put: x.event(s)}, update}
	err = x.transact(ctx, parts)
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		switch reasons := canceled.CancellationReasons; {
		case failedCondition(reasons, id):
			return x.reread(ctx, s.Player, false)
		case failedCondition(reasons, entry):
			return x.refused(s, reasons[entry].Item, err)
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	return x.reread(ctx, s.Player, true)
}

// event returns the item that remembers a submission.
func (x box) event(s Submission) *types.Put {
	names := x.options.Names
	expires := time.Now().Add(x.options.EventTTL).Unix()
	return &types.Put{
		TableName: &x.options.Table,
		Item: heatsink.Item{
			names.Player: text(s.Player + eventMark + s.ID),
			names.Board:  text(x.key),
			names.TTL:    number(strconv.FormatInt(expires, 10)),
		},
		ConditionExpression:      aws.String("attribute_not_exists(#player)"),
		ExpressionAttributeNames: map[string]string{"#player": names.Player},
	}
}

// reread returns the outcome with the entry as it is now: a transaction says nothing about the items it changed. One
// that was removed meanwhile has the player's name only.
func (x box) reread(ctx context.Context, player string, changed bool) (Outcome, error) {
	entry, err := x.get(ctx, player)
	switch {
	case errors.Is(err, ErrNotFound):
		return Outcome{Entry: Entry{Player: player}, Changed: changed}, nil
	case err != nil:
		return Outcome{}, fmt.Errorf("it is counted, but reading it back failed: %w", err)
	}
	return Outcome{Entry: entry, Changed: changed}, nil
}

// transact sends a transaction until it is certain what became of it. One token for all attempts makes DynamoDB do it
// once, and say yes again to who did not hear the first one. If the last answer is lost, too, the error is an
// UnknownOutcomeError.
func (b *Boards) transact(ctx context.Context, parts []types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: parts, ClientRequestToken: aws.String(rand.Text())}
	attempts := cmp.Or(b.options.Retry.Attempts, 6)
	lost := false
	for attempt := 1; ; attempt++ {
		err := b.transactOnce(ctx, in)
		v := judge(err)
		lost = lost || v == unknown
		switch {
		case v == done:
			return nil
		case v == rejected:
			return err
		case ctx.Err() == nil && attempt < attempts && b.pause(ctx, attempt):
			continue
		}
		if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w after: %w", ctx.Err(), err)
		}
		err = fmt.Errorf("TransactWriteItems %s (%d attempts): %w", b.options.Table, attempt, err)
		if lost {
			return &heatsink.UnknownOutcomeError{Err: err}
		}
		return err
	}
}

func (b *Boards) transactOnce(ctx context.Context, in *dynamodb.TransactWriteItemsInput) error {
	if timeout := b.options.Retry.Timeout; timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	_, err := b.client.TransactWriteItems(ctx, in, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return err
}

// pause waits before the next attempt: for any time up to Base × 2ⁿ⁻¹. It reports false if ctx ended first.
func (b *Boards) pause(ctx context.Context, attempt int) bool {
	longest := cmp.Or(b.options.Retry.Max, 2*time.Second)
	if base := cmp.Or(b.options.Retry.Base, 20*time.Millisecond); attempt <= 32 && base <= longest>>(attempt-1) {
		longest = base << (attempt - 1)
	}
	timer := time.NewTimer(mathrand.N(max(longest, 1))) // below longest, which may be the greatest there is
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// verdict is what an error says about the transaction that it answers.
type verdict uint8

const (
	done     verdict = iota
	busy             // it did not happen, and may if it is sent again
	rejected         // it did not happen, and never will
	unknown          // it may have happened
)

// judge tells what became of a transaction.
func judge(err error) verdict {
	if err == nil {
		return done
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, reason := range canceled.CancellationReasons {
			switch aws.ToString(reason.Code) {
			case "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			default:
				return rejected
			}
		}
		return busy
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return unknown
	}
	switch api.ErrorCode() {
	case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded":
		return busy
	case "TransactionInProgressException": // an attempt whose answer was lost is under way still
		return unknown
	}
	if api.ErrorFault() == smithy.FaultServer {
		return unknown
	}
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok && answer.HTTPStatusCode() >= 500 {
		return unknown
	}
	return rejected
}

// failedCondition reports whether it was the condition of one part that cancelled a transaction.
func failedCondition(reasons []types.CancellationReason, part int) bool {
	return part < len(reasons) && aws.ToString(reasons[part].Code) == "ConditionalCheckFailed"
}

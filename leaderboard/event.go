package leaderboard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
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
			out, why := x.refused(s, reasons[entry].Item, err)
			if why != nil && errors.As(err, new(*heatsink.UnknownOutcomeError)) {
				return Outcome{}, err // an attempt may still be on its way, and meet another sum
			}
			return out, why
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
		return Outcome{}, fmt.Errorf("the score is counted, but the entry could not be read: %w", err)
	}
	return Outcome{Entry: entry, Changed: changed}, nil
}

// transact sends a transaction until it is certain what became of it. One token for all attempts makes DynamoDB do it
// once, and say yes again to who did not hear the first one. If the last answer is lost, too, the error is an
// UnknownOutcomeError.
func (b *Boards) transact(ctx context.Context, parts []types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: parts, ClientRequestToken: aws.String(rand.Text())}
	meter.Ask(ctx, &in.ReturnConsumedCapacity)
	lost := false
	attempts, err := b.sender.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) error {
		out, err := b.client.TransactWriteItems(ctx, in, dispatch.Once)
		if err == nil {
			meter.WroteAll(ctx, out.ConsumedCapacity)
		}
		lost = lost || dispatch.Judge(err) == dispatch.Unknown
		return err
	}})
	switch {
	case err == nil || dispatch.Judge(err) == dispatch.Rejected && !lost:
		return err
	case lost: // an attempt may still be on its way, whatever the last one was told
		return &heatsink.UnknownOutcomeError{Err: b.transactError(attempts, err)}
	}
	return b.transactError(attempts, err)
}

func (b *Boards) transactError(attempts int, err error) error {
	return fmt.Errorf("TransactWriteItems %s (%d attempts): %w", b.options.Table, attempts, err)
}

// failedCondition reports whether it was the condition of one part that cancelled a transaction.
func failedCondition(reasons []types.CancellationReason, part int) bool {
	return part < len(reasons) && aws.ToString(reasons[part].Code) == "ConditionalCheckFailed"
}

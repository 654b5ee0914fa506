package counter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

const (
	// tokenLife is for how long a transaction is sent again: DynamoDB remembers its token for ten minutes.
	tokenLife = 9 * time.Minute

	maxTokenBytes = 36
)

// newToken returns a name that nobody else has.
func newToken() string { return rand.Text() }

// AddOnce is Add in a transaction with a token. However often it is called with the same token within ten minutes, by
// any process, delta is counted once. Use the id of the counted event as the token, at most 36 bytes. key, delta,
// Shards and Format must be the same each time.
//
// It costs two write units.
func (t *Tally) AddOnce(ctx context.Context, key string, delta int64, token string) error {
	uncertain, err := t.addOnce(ctx, key, delta, token)
	if err != nil {
		return &AddError{Key: key, Delta: delta, Uncertain: uncertain, Err: err}
	}
	return nil
}

func (t *Tally) addOnce(ctx context.Context, key string, delta int64, token string) (uncertain bool, err error) {
	if token == "" || len(token) > maxTokenBytes {
		return false, fmt.Errorf("%w: the token has %d bytes, want 1 to %d", heatsink.ErrItem, len(token), maxTokenBytes)
	}
	item, err := t.item(key, layout.XXHash.Shard(token, t.options.Shards))
	if err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: &token,
		TransactItems: []types.TransactWriteItem{{Update: &types.Update{
			TableName:                 &t.options.Table,
			Key:                       item,
			UpdateExpression:          aws.String("ADD #a :d"),
			ExpressionAttributeNames:  map[string]string{"#a": t.options.Attribute},
			ExpressionAttributeValues: heatsink.Item{":d": number(wideOf(delta))},
		}}},
	}
	meter.Ask(ctx, &in.ReturnConsumedCapacity)
	begun, expired := time.Now(), false
	var last error
	_, err = t.sender.Do(ctx, dispatch.Request{
		Send: func(ctx context.Context, attempt int) error {
			if age := elapsed(begun); attempt > 1 && age > tokenLife {
				expired = true
				return &dispatch.NotSentError{Err: fmt.Errorf("not sent again after %v: %w", age, last)}
			}
			out, err := t.client.TransactWriteItems(ctx, in, dispatch.Once)
			if err == nil {
				meter.WroteAll(ctx, out.ConsumedCapacity)
				return nil
			}
			last = fmt.Errorf("TransactWriteItems %s: %w", t.options.Table, err)
			uncertain = uncertain || dispatch.Judge(err) == dispatch.Unknown
			return last
		},
		Again: func(dispatch.Verdict) bool { return !expired },
	})
	if err == nil {
		return false, nil
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return uncertain, err
}

// elapsed returns how long ago something was, by the clock that says more: one stops while the machine sleeps, the
// other can be set.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

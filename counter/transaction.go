package counter

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
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
// It costs two write units, which no heatsink.Meter includes.
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
	item, err := t.item(key, heatsink.XXHash.Shard(token, t.options.Shards))
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
	begun := time.Now()
	for attempt := 1; ; attempt++ {
		if err = t.transact(ctx, in); err == nil {
			return false, nil
		}
		v := dispatch.Judge(err)
		uncertain = uncertain || v == dispatch.Unknown
		if v == dispatch.Rejected || attempt == cmp.Or(t.options.Retry.Attempts, dispatch.DefaultAttempts) {
			return uncertain, err
		}
		longest := min(minInterval<<min(attempt-1, 10), maxInterval)
		select {
		case <-ctx.Done():
			return uncertain, fmt.Errorf("%w after: %w", context.Cause(ctx), err)
		case <-time.After(mathrand.N(longest)): // any time, so that those in conflict do not meet again
		}
		if age := elapsed(begun); age > tokenLife {
			return uncertain, fmt.Errorf("not sent again after %v: %w", age, err)
		}
	}
}

// transact sends a transaction once.
func (t *Tally) transact(ctx context.Context, in *dynamodb.TransactWriteItemsInput) error {
	ctx, cancel := context.WithTimeout(ctx, t.options.Retry.Timeout)
	defer cancel()
	if _, err := t.client.TransactWriteItems(ctx, in, dispatch.Once); err != nil {
		return fmt.Errorf("TransactWriteItems %s: %w", t.options.Table, err)
	}
	return nil
}

// elapsed returns how long ago something was, by the clock that says more: one stops while the machine sleeps, the
// other can be set.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

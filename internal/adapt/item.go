package adapt

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// These are for control items whose meaning this package does not know.

// Read reads a control item with strong consistency. Each attempt has the options. stored is false if there is none. It costs 1 RCU
// for 4 KB.
func (c *Control) Read(ctx context.Context, k layout.ControlKey, options ...func(*dynamodb.Options)) (values []ledger.Value, stored bool, err error) {
	item, err := c.probe(ctx, k, options...)
	if item == nil || err != nil {
		return nil, false, err
	}
	values, err = c.values(item)
	return values, true, err
}

// Attempt is one attempt to write a control item: what it stores, and the options of the request.
type Attempt struct {
	Values  []ledger.Value
	Options []func(*dynamodb.Options)
}

// Create stores a control item if there is none. It calls attempt for each time that it sends the request. created is false if there is one, perhaps by a lost attempt of this call. Read it
// then.
func (c *Control) Create(ctx context.Context, k layout.ControlKey, attempt func() (Attempt, error)) (created bool, err error) {
	in := &dynamodb.PutItemInput{
		ConditionExpression: aws.String("attribute_not_exists(#pk)"), ExpressionAttributeNames: map[string]string{"#pk": c.PartitionKey},
	}
	created, _, err = c.put(ctx, k, in, attempt)
	return created, err
}

// Replace stores a control item in place of one with the given generation, in the attribute ledger.GenerationName. It calls attempt for
// each time that it sends the request. replaced is false if another one is stored, perhaps by a lost attempt of this call: read it then.
// After an error, lost says that an attempt may have taken effect, or still does.
func (c *Control) Replace(ctx context.Context, k layout.ControlKey, generation int64, attempt func() (Attempt, error)) (replaced, lost bool, err error) {
	in := &dynamodb.PutItemInput{
		ConditionExpression: aws.String("#g = :g"), ExpressionAttributeNames: map[string]string{"#g": ledger.GenerationName},
		ExpressionAttributeValues: Item{":g": &types.AttributeValueMemberN{Value: strconv.FormatInt(generation, 10)}},
	}
	return c.put(ctx, k, in, attempt)
}

// put sends a conditional PutItem. Because of the condition, another attempt after a lost one does no harm.
func (c *Control) put(ctx context.Context, k layout.ControlKey, in *dynamodb.PutItemInput, attempt func() (Attempt, error)) (done, lost bool, err error) {
	in.TableName, in.ReturnConsumedCapacity = &c.Table, meter.Of(ctx).Wanted()
	_, err = c.Writes.Write(ctx, true, &lost, func(ctx context.Context, _ int) error {
		a, err := attempt()
		if err != nil {
			return &dispatch.RejectedError{Err: err}
		}
		in.Item = c.item(k, a.Values)
		out, err := c.Client.PutItem(ctx, in, append(a.Options, dispatch.Once)...)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	})
	if errors.As(err, new(*types.ConditionalCheckFailedException)) {
		return false, lost, nil
	}
	if err != nil {
		return false, lost, fmt.Errorf("PutItem %s %q: %w", c.Table, c.name(k), err)
	}
	return true, lost, nil
}

package heatsink

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// delete deletes an item where it is. If that may be in several shards it is looked for first, and deleted from the first
// that has it: another copy, in a shard that counts behind, shows from then on. An item that is put in between may be
// missed, as by any delete that comes before a put.
//
// Deleting twice is deleting once, except for who wants the old item, and for conditions: see update.
func (c *core) delete(ctx context.Context, like Item, edits []func(*dynamodb.DeleteItemInput)) (w Written[Item], err error) {
	return c.change(ctx, like, func(cost *Cost, at *location) (Item, *types.ConsumedCapacity, error) {
		in := &dynamodb.DeleteItemInput{TableName: &c.options.Table, Key: maps.Clone(at.key)}
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Key = &c.options.Table, at.key
		metersOf(ctx).ask(&in.ReturnConsumedCapacity)

		r := &request{operation: "DeleteItem", target: at.target}
		var out *dynamodb.DeleteItemOutput
		err := c.write(ctx, cost, r, !wantsOld(in.ReturnValues), func(ctx context.Context, _ int) (err error) {
			out, err = c.client.DeleteItem(ctx, in, dispatch.Once)
			return err
		})
		if err != nil {
			c.failedCondition(err, in.ReturnValuesOnConditionCheckFailure, like)
			return nil, nil, err
		}
		return out.Attributes, out.ConsumedCapacity, nil
	})
}

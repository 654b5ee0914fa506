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

		if c.options.Version != "" {
			out, err := c.bury(ctx, cost, at, in, like)
			if err != nil {
				return nil, nil, err
			}
			return out.Attributes, out.ConsumedCapacity, nil
		}
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

// bury deletes an item of a collection with versions: it puts a tombstone in its place.
func (c *core) bury(ctx context.Context, cost *Cost, at *location, in *dynamodb.DeleteItemInput, like Item) (*dynamodb.PutItemOutput, error) {
	put, err := c.tombstone(at.key, in)
	if err != nil {
		return nil, err
	}
	out, err := c.sendPut(ctx, cost, &request{operation: "PutItem"}, &placement{target: at.target}, put, gone)
	if err != nil {
		c.failedCondition(err, in.ReturnValuesOnConditionCheckFailure, like)
		return nil, err
	}
	if c.buried(out.Attributes) {
		out.Attributes = nil
	}
	return out, nil
}

package heatsink

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// delete deletes an item where it is. If that may be in several shards it is looked for first.
//
// A random layout has as many items of a key as were put, of which the first is deleted. Of a calculated one all copies
// that the look found are deleted, those that count less first: whenever it stops, no older copy shows that was hidden
// before. The copy that counts is deleted last, with the caller's conditions and return values. An item that is put in
// between may be missed, as by any delete that comes before a put.
//
// Deleting twice is deleting once, except for who wants the old item, and for conditions: see update.
func (c *core) delete(ctx context.Context, like Item, edits []func(*dynamodb.DeleteItemInput)) (w Written[Item], err error) {
	return c.change(ctx, like, func(at *location) (Item, *types.ConsumedCapacity, error) {
		for _, copied := range slices.Backward(at.hidden) {
			in := &dynamodb.DeleteItemInput{TableName: &c.options.Table, Key: c.in(at.key, copied)}
			meter.Ask(ctx, &in.ReturnConsumedCapacity)
			out, err := c.deleteOne(ctx, copied, in)
			if err != nil {
				return nil, nil, err
			}
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		in := &dynamodb.DeleteItemInput{TableName: &c.options.Table, Key: maps.Clone(at.key)}
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Key = &c.options.Table, at.key
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		out, err := c.deleteOne(ctx, at.target, in)
		if err != nil {
			c.failedCondition(err, in.ReturnValuesOnConditionCheckFailure, like)
			return nil, nil, err
		}
		return out.Attributes, out.ConsumedCapacity, nil
	})
}

// deleteOne sends one DeleteItem, or what a delete is in a collection with versions: a put of a tombstone.
func (c *core) deleteOne(ctx context.Context, at target, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	if c.options.Version != "" {
		return c.bury(ctx, at, in)
	}
	r := &request{operation: "DeleteItem", target: at}
	var out *dynamodb.DeleteItemOutput
	err := c.write(ctx, r, !wantsOld(in.ReturnValues), func(ctx context.Context, _ int) (err error) {
		out, err = c.client.DeleteItem(ctx, in, dispatch.Once)
		return err
	})
	return out, err
}

// bury deletes an item of a collection with versions: it puts a tombstone in its place.
func (c *core) bury(ctx context.Context, at target, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	put, err := c.tombstone(in)
	if err != nil {
		return nil, err
	}
	out, err := c.sendPut(ctx, &placement{target: at}, put, gone)
	if err != nil {
		return nil, err
	}
	if c.buried(out.Attributes) {
		out.Attributes = nil
	}
	return &dynamodb.DeleteItemOutput{Attributes: out.Attributes, ConsumedCapacity: out.ConsumedCapacity}, nil
}

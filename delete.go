package heatsink

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
)

// delete deletes an item. If the item may be in several shards, delete looks for it first.
//
// A Random layout may have several items under a key, of which delete removes the first. With a Calculated layout, delete
// removes all copies that it found. The copy that Get returns is the last to go, so that no hidden copy becomes visible
// wherever the delete stops. The caller's conditions and return values apply to that copy. A Put in between may be
// missed, as if the delete had come first.
//
// A delete is idempotent, unless the caller asks for the old item or sets a condition: see update.
func (w *writer) delete(ctx context.Context, like Item, edits []func(*dynamodb.DeleteItemInput)) (Written[Item], error) {
	return w.change(ctx, like, func(at *located) (Item, *types.ConsumedCapacity, error) {
		for _, copied := range slices.Backward(at.hidden) {
			in := &dynamodb.DeleteItemInput{TableName: &w.sender.table, Key: w.schema.KeyAt(at.key, copied)}
			meter.Ask(ctx, &in.ReturnConsumedCapacity)
			out, err := w.deleteOne(ctx, copied, in)
			if err != nil {
				return nil, nil, err
			}
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		in := &dynamodb.DeleteItemInput{TableName: &w.sender.table, Key: maps.Clone(at.key)}
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Key = &w.sender.table, at.key
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		out, err := w.deleteOne(ctx, at.Home, in)
		if err != nil {
			w.failedCondition(err, in.ReturnValuesOnConditionCheckFailure, like)
			return nil, nil, err
		}
		return out.Attributes, out.ConsumedCapacity, nil
	})
}

// deleteOne sends one DeleteItem. In a collection with versions it puts a tombstone instead.
func (w *writer) deleteOne(ctx context.Context, at place.Home, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	if w.versions.Keeps() {
		return w.bury(ctx, at, in)
	}
	r := &request{operation: "DeleteItem", Home: at}
	var out *dynamodb.DeleteItemOutput
	err := w.sender.write(ctx, r, !wantsOld(in.ReturnValues), func(ctx context.Context, _ int) (err error) {
		out, err = w.sender.client.DeleteItem(ctx, in, dispatch.Once)
		return err
	})
	return out, err
}

// bury deletes an item of a collection with versions: it replaces the item with a tombstone.
func (w *writer) bury(ctx context.Context, at place.Home, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	put, claim, err := w.versions.Tombstone(in)
	if err != nil {
		return nil, err
	}
	out, err := w.sendPut(ctx, &place.Placement{Home: at}, put, claim)
	if err != nil {
		return nil, err
	}
	if w.versions.Buried(out.Attributes) {
		out.Attributes = nil
	}
	return &dynamodb.DeleteItemOutput{Attributes: out.Attributes, ConsumedCapacity: out.ConsumedCapacity}, nil
}

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

// delete deletes an item where it is. If that may be in several shards it is looked for first.
//
// A random layout has as many items of a key as were put, of which the first is deleted. Of a calculated one all copies
// that the look found are deleted, those that count less first: whenever it stops, no older copy shows that was hidden
// before. The copy that counts is deleted last, with the caller's conditions and return values. An item that is put in
// between may be missed, as by any delete that comes before a put.
//
// Deleting twice is deleting once, except for who wants the old item, and for conditions: see update.
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

// deleteOne sends one DeleteItem, or what a delete is in a collection with versions: a put of a tombstone.
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

// bury deletes an item of a collection with versions: it puts a tombstone in its place.
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

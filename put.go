package heatsink

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/version"
)

// writer writes single items: each to its place, and none twice.
type writer struct {
	schema   *place.Schema
	movable  *movable // nil if items stay where they are
	watcher  *watcher
	placer   *place.Placer
	versions *version.Keeper
	ttl      expiry.TTL
	finder   *finder
	sender   *sender
}

// put writes an item to its shard.
//
// With a Random layout, a throttled write moves to another shard, as long as DynamoDB has certainly refused every attempt
// so far. After a lost response the shard is fixed: the item may already be there, and a write to another shard would
// store it twice.
//
// A Put is idempotent, with two exceptions. First, its condition may fail because of the item that the lost attempt
// wrote, or because of an equal item from another writer. Only a version can tell them apart. Second, a retry would
// return the new item as the old one, so a Put that returns the old item is not retried.
func (w *writer) put(ctx context.Context, item Item, edits []func(*dynamodb.PutItemInput)) (done Written[Item], err error) {
	switch {
	case w.movable == nil:
	case w.movable.list:
		return w.movable.appendItem(ctx, w, item, edits)
	default:
		return w.movable.put(ctx, item, edits)
	}
	in := &dynamodb.PutItemInput{TableName: &w.sender.table, Item: w.ttl.Give(item)}
	if len(edits) > 0 {
		in.Item = w.schema.WithKeyOf(item, in.Item) // a copy, for edits to change
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Item = &w.sender.table, w.schema.WithKeyOf(item, in.Item)
	}
	w.watcher.hint(ctx, in.Item)
	p, err := w.placer.Place(ctx, in.Item, conditional(in))
	if err != nil {
		return done, err
	}
	in.Item = w.placer.Stored(p, in.Item)
	meter.Ask(ctx, &in.ReturnConsumedCapacity)

	wanted := in.ReturnValuesOnConditionCheckFailure
	claim, err := w.versions.ClaimPut(in)
	if err != nil {
		return done, err
	}
	watch := w.watcher.watch(ctx, &p.Key, true, &in.ReturnConsumedCapacity)
	out, err := w.sendPut(ctx, p, in, claim, watch)
	if out != nil {
		watch.end(out.ConsumedCapacity, in.Item)
	} else {
		watch.end(nil, in.Item)
	}
	if err != nil {
		w.failedCondition(err, wanted, item)
		return done, err
	}
	meter.Wrote(ctx, out.ConsumedCapacity)
	return Written[Item]{ShardKey: p.ShardKey, Shard: p.Shard, Generation: p.Stamp(), Attributes: w.replaced(ctx, out.Attributes, item)}, nil
}

// sendPut sends a put to its place, and to other shards as long as that is safe. claim is nil without versions.
func (w *writer) sendPut(ctx context.Context, p *place.Placement, in *dynamodb.PutItemInput, claim *version.Claim, watch *watch) (out *dynamodb.PutItemOutput, err error) {
	r := &request{operation: "PutItem", Home: p.Home}
	err = w.sender.write(ctx, r, !wantsOld(in.ReturnValues), func(ctx context.Context, attempt int) (err error) {
		if attempt > 1 {
			moved, err := w.placer.Again(p, r.lost)
			if err != nil {
				return &dispatch.RejectedError{Err: err}
			}
			if moved {
				again := *in // a copy: middleware that logs or records requests may still hold the first
				r.Home = p.Home
				again.Item = w.placer.Stored(p, in.Item)
				in = &again
			}
		}
		if claim == nil {
			out, err = w.sender.client.PutItem(ctx, in, dispatch.Once)
		} else {
			out, err = w.contestPut(ctx, in, claim, r.lost)
		}
		watch.failed(err)
		if dispatch.HotKey(err) {
			w.placer.Throttled(p)
			w.watcher.throttled(ctx, &p.Key)
		}
		return err
	})
	return out, err
}

// contestPut sends a put under a claim. The output is empty if an earlier attempt has written the item.
func (w *writer) contestPut(ctx context.Context, in *dynamodb.PutItemInput, claim *version.Claim, lost bool) (out *dynamodb.PutItemOutput, err error) {
	left, err := claim.Contest(ctx, lost, func() (err error) {
		out, err = w.sender.client.PutItem(ctx, claim.Put(in), dispatch.Once)
		return err
	})
	if err == nil && left != nil {
		out = &dynamodb.PutItemOutput{}
	}
	return out, err
}

// replaced returns the item that a put or a delete replaced, with its logical key, or nil if it was a tombstone.
func (w *writer) replaced(ctx context.Context, old, like Item) Item {
	if w.versions.Buried(old) {
		return nil
	}
	w.returned(ctx, old, like)
	return old
}

func conditional(in *dynamodb.PutItemInput) bool {
	return in.ConditionExpression != nil || len(in.Expected) > 0
}

// wantsOld reports whether a write returns what it replaces. Only the first attempt can do so.
func wantsOld(v types.ReturnValue) bool {
	return v == types.ReturnValueAllOld || v == types.ReturnValueUpdatedOld
}

// returned restores the logical key in the attributes that a write returned. The write has happened, so an item in a
// shard that queries do not read is a warning, not an error.
func (w *writer) returned(ctx context.Context, attributes, like Item) {
	if w.schema.Index != "" {
		if err := w.schema.CheckListing(ctx, attributes); err != nil {
			w.sender.logger.WarnContext(ctx, "a write returned an item that queries do not read",
				"table", w.sender.table, "index", w.schema.Index, "error", err)
		}
	}
	w.schema.RestoreLike(attributes, like)
}

// failedCondition adjusts the item in the error of a failed condition: it restores the logical key, and removes the item
// if the caller did not ask for it.
func (w *writer) failedCondition(err error, wanted types.ReturnValuesOnConditionCheckFailure, like Item) {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	switch {
	case !ok || failed.Item == nil:
	case w.versions.Buried(failed.Item):
		failed.Item = nil
	case wanted != types.ReturnValuesOnConditionCheckFailureAllOld:
		failed.Item = nil
	default:
		w.schema.RestoreLike(failed.Item, like)
	}
}

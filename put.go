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

// writer writes single items: each to its place, and never twice.
type writer struct {
	schema   *place.Schema
	placer   *place.Placer
	versions *version.Keeper
	ttl      expiry.TTL
	finder   *finder
	sender   *sender
}

// put writes an item to its shard.
//
// A random write that is throttled goes to another shard, as long as every attempt so far was refused for certain. After
// a lost answer the shard is pinned: the item may be there already, and anywhere else it would be there twice.
//
// Put replaces what it finds, so repeating it does no harm, with two exceptions. A condition may fail because of the very
// item that the lost attempt has written, or because of an equal one that somebody else has: nobody knows, unless the item
// has a version. And asked for the old item, a repetition would return the new one: such a put is not repeated.
func (w *writer) put(ctx context.Context, item Item, edits []func(*dynamodb.PutItemInput)) (done Written[Item], err error) {
	in := &dynamodb.PutItemInput{TableName: &w.sender.table, Item: w.ttl.Give(item)}
	if len(edits) > 0 {
		in.Item = w.schema.WithKeyOf(item, in.Item) // a copy, for edits to change
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Item = &w.sender.table, w.schema.WithKeyOf(item, in.Item)
	}
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
	out, err := w.sendPut(ctx, p, in, claim)
	if err != nil {
		w.failedCondition(err, wanted, item)
		return done, err
	}
	meter.Wrote(ctx, out.ConsumedCapacity)
	return Written[Item]{ShardKey: p.ShardKey, Shard: p.Shard, Attributes: w.replaced(ctx, out.Attributes, item)}, nil
}

// sendPut sends a put to its place, and elsewhere as long as that is harmless. claim is nil if there are no versions.
func (w *writer) sendPut(ctx context.Context, p *place.Placement, in *dynamodb.PutItemInput, claim *version.Claim) (out *dynamodb.PutItemOutput, err error) {
	r := &request{operation: "PutItem", Home: p.Home}
	err = w.sender.write(ctx, r, !wantsOld(in.ReturnValues), func(ctx context.Context, attempt int) (err error) {
		if attempt > 1 && !r.lost && p.Random {
			again := *in // not the same, which who logs or records requests may still have
			w.placer.Elsewhere(p)
			r.Home = p.Home
			again.Item = w.placer.Stored(p, in.Item)
			in = &again
		}
		if claim == nil {
			out, err = w.sender.client.PutItem(ctx, in, dispatch.Once)
		} else {
			out, err = w.contestPut(ctx, in, claim, r.lost)
		}
		if dispatch.HotKey(err) {
			w.placer.Throttled(p)
		}
		return err
	})
	return out, err
}

// contestPut sends a put under a claim. The answer is empty if an earlier attempt did it.
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

// replaced returns the item that a put or a delete has replaced, as the caller knows it: nil if it was a tombstone.
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

// wantsOld reports whether a write is to return what it replaces, which it can do only the first time.
func wantsOld(v types.ReturnValue) bool {
	return v == types.ReturnValueAllOld || v == types.ReturnValueUpdatedOld
}

// returned makes attributes that a write returned what the caller expects. The write has happened, so that an item in a shard
// which is not read is no error, but a warning.
func (w *writer) returned(ctx context.Context, attributes, like Item) {
	if w.schema.Index != "" {
		if err := w.schema.CheckListing(ctx, attributes); err != nil {
			w.sender.logger.WarnContext(ctx, "write returned an item that queries do not read",
				"table", w.sender.table, "index", w.schema.Index, "error", err)
		}
	}
	w.schema.RestoreLike(attributes, like)
}

// failedCondition makes the item in a failed condition's error what the caller expects: nothing unless it was asked for,
// and with the logical key.
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

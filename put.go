package heatsink

import (
	"context"
	"errors"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// put writes an item to its shard.
//
// A random write that is throttled goes to another shard, as long as every attempt so far was refused for certain. After
// a lost answer the shard is pinned: the item may be there already, and anywhere else it would be there twice.
//
// Put replaces what it finds, so repeating it does no harm, with two exceptions. A condition may fail because of the very
// item that the lost attempt has written, or because of an equal one that somebody else has: nobody knows, unless the item
// has a version. And asked for the old item, a repetition would return the new one: such a put is not repeated.
func (c *core) put(ctx context.Context, item Item, edits []func(*dynamodb.PutItemInput)) (w Written[Item], err error) {
	in := &dynamodb.PutItemInput{TableName: &c.options.Table, Item: c.withTTL(item)}
	if len(edits) > 0 {
		in.Item = c.withKeyOf(item, in.Item) // a copy, for edits to change
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Item = &c.options.Table, c.withKeyOf(item, in.Item)
	}
	p, err := c.placePut(ctx, in.Item, conditional(in))
	if err != nil {
		return w, err
	}
	in.Item = c.stored(p, in.Item)
	meter.Ask(ctx, &in.ReturnConsumedCapacity)

	wanted := in.ReturnValuesOnConditionCheckFailure
	out, err := c.sendPut(ctx, p, in, "")
	if err != nil {
		c.failedCondition(err, wanted, item)
		return w, err
	}
	meter.Wrote(ctx, out.ConsumedCapacity)
	return Written[Item]{ShardKey: p.shardKey, Shard: p.shard, Attributes: c.replaced(ctx, out.Attributes, item)}, nil
}

// sendPut sends a put to its place, and elsewhere as long as that is harmless. mark is that of a tombstone's version.
func (c *core) sendPut(ctx context.Context, p *placement, in *dynamodb.PutItemInput, mark string) (out *dynamodb.PutItemOutput, err error) {
	claim, err := c.claimPut(in, mark)
	if err != nil {
		return nil, err
	}
	r := &request{operation: "PutItem", target: p.target}
	err = c.write(ctx, r, !wantsOld(in.ReturnValues), func(ctx context.Context, attempt int) (err error) {
		if attempt > 1 && !r.lost && p.random {
			again := *in // not the same, which who logs or records requests may still have
			c.elsewhere(p)
			r.target = p.target
			again.Item = c.stored(p, in.Item)
			in = &again
		}
		send := func() (err error) {
			own := in
			if claim != nil {
				own = claim.put(in)
			}
			out, err = c.client.PutItem(ctx, own, dispatch.Once)
			return err
		}
		if claim == nil {
			err = send()
		} else if left, e := claim.contest(ctx, r.lost, send); e != nil || left == nil {
			err = e
		} else {
			out = &dynamodb.PutItemOutput{}
		}
		if p.random && dispatch.HotKey(err) {
			c.chooser.throttled(&p.spot, p.shard)
		}
		return err
	})
	return out, err
}

// replaced returns the item that a put or a delete has replaced, as the caller knows it: nil if it was a tombstone.
func (c *core) replaced(ctx context.Context, old, like Item) Item {
	if c.buried(old) {
		return nil
	}
	c.returned(ctx, old, like)
	return old
}

// placePut is place for an item as the edits of a put left it. A condition sees one shard, so that with one the item must
// have no other that it could be in.
func (c *core) placePut(ctx context.Context, item Item, conditional bool) (*placement, error) {
	p, err := c.place(ctx, item)
	if err == nil && conditional && c.options.Index == "" {
		_, err = c.onlyHome(ctx, item, "a condition checks only one of them: leave the condition out, or store items by a key of their own, with an Index")
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// withKeyOf returns a copy of an item with the key attributes that another has, and no others.
func (c *core) withKeyOf(other, item Item) Item {
	own := make(Item, len(item)+2)
	maps.Copy(own, item)
	keys := c.keyNames()
	for _, name := range append(keys[:], c.options.PartitionKey) {
		if v := other[name]; v != nil {
			own[name] = v
		} else {
			delete(own, name)
		}
	}
	return own
}

func conditional(in *dynamodb.PutItemInput) bool {
	return in.ConditionExpression != nil || len(in.Expected) > 0
}

// wantsOld reports whether a write is to return what it replaces, which it can do only the first time.
func wantsOld(v types.ReturnValue) bool {
	return v == types.ReturnValueAllOld || v == types.ReturnValueUpdatedOld
}

// failedCondition makes the item in a failed condition's error what the caller expects: nothing unless it was asked for,
// and with the logical key.
func (c *core) failedCondition(err error, wanted types.ReturnValuesOnConditionCheckFailure, like Item) {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	switch {
	case !ok || failed.Item == nil:
	case c.buried(failed.Item):
		failed.Item = nil
	case wanted != types.ReturnValuesOnConditionCheckFailureAllOld:
		failed.Item = nil
	default:
		c.restoreLike(failed.Item, like)
	}
}

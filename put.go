package heatsink

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// put writes an item to its shard.
//
// A random write that is throttled goes to another shard, as long as every attempt so far was refused for certain. After
// a lost answer the shard is pinned: the item may be there already, and anywhere else it would be there twice.
//
// Put replaces what it finds, so repeating it does no harm, with two exceptions. A condition may fail because of the
// very item that the lost attempt has written: if what is stored is exactly the item, the put has succeeded. And asked for
// the old item, a repetition would return the new one: such a put is not repeated.
func (c *core) put(ctx context.Context, item Item, edits []func(*dynamodb.PutItemInput)) (w Written[Item], err error) {
	p, err := c.place(ctx, item)
	if err != nil {
		return w, err
	}
	in := &dynamodb.PutItemInput{TableName: &c.options.Table, Item: c.stored(p, c.withTTL(item))}
	if len(edits) > 0 {
		for _, edit := range edits {
			edit(in)
		}
		in.TableName = &c.options.Table
		in.Item = c.stored(p, in.Item) // a copy: it may be a map of the caller's by now
	}
	if conditional(in) && c.scattered(p) {
		return w, errScatteredCondition
	}
	meters := metersOf(ctx)
	meters.ask(&in.ReturnConsumedCapacity)
	var cost Cost
	defer func() { meters.add(cost) }()

	wanted := in.ReturnValuesOnConditionCheckFailure
	r := &request{operation: "PutItem", target: p.target}
	var out *dynamodb.PutItemOutput
	err = c.write(ctx, &cost, r, !wantsOld(in.ReturnValues), func(ctx context.Context, attempt int) (err error) {
		if attempt > 1 {
			again := *in // not the same, which who logs or records requests may still have
			switch {
			case r.lost && conditional(in):
				again.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
			case !r.lost && p.random:
				c.elsewhere(p)
				r.target = p.target
				again.Item = c.stored(p, in.Item)
			}
			in = &again
		}
		out, err = c.client.PutItem(ctx, in, once)
		if p.random && hotShard(err) {
			c.chooser.throttled(&p.spot, p.shard)
		}
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && r.lost {
			if sameItem(failed.Item, in.Item) {
				out = &dynamodb.PutItemOutput{}
				return nil
			}
			r.lost = false // somebody else's item is there, or nothing that the condition allows
		}
		return err
	})
	if err != nil {
		c.failedCondition(err, wanted, item)
		return w, err
	}
	cost.WriteUnits += units(out.ConsumedCapacity)
	c.restoreLike(out.Attributes, item)
	return Written[Item]{ShardKey: p.shardKey, Shard: p.shard, Attributes: out.Attributes}, nil
}

// ask makes a request report what it consumes if somebody wants to know, unless the caller has decided that.
func (l *meterLink) ask(report *types.ReturnConsumedCapacity) {
	if l != nil && *report == "" {
		*report = l.wanted()
	}
}

// errScatteredCondition is the answer to a condition that could not see the whole of a key.
var errScatteredCondition = fmt.Errorf("%w: a condition would see one shard of a random layout only", ErrScattered)

// scattered reports whether an item with the same key may be in another shard than the one it is put in.
func (c *core) scattered(p *placement) bool {
	return c.options.Layout.Strategy == Random && p.width.Read > 1
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
	case wanted != types.ReturnValuesOnConditionCheckFailureAllOld:
		failed.Item = nil
	default:
		c.restoreLike(failed.Item, like)
	}
}

// sameItem reports whether two items are equal for DynamoDB, to which 1 and 1.0 are the same and sets have no order.
func sameItem(a, b Item) bool {
	va, errA := canonical(&types.AttributeValueMemberM{Value: a})
	vb, errB := canonical(&types.AttributeValueMemberM{Value: b})
	return errA == nil && errB == nil && va.Equal(vb)
}

// canonical returns a value in the one form that it has in package attr.
func canonical(v types.AttributeValue) (attr.Value, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return attr.String(v.Value), nil
	case *types.AttributeValueMemberB:
		return attr.Binary(string(v.Value)), nil
	case *types.AttributeValueMemberN:
		n, err := attr.ParseNumber(v.Value)
		return attr.Num(n), err
	case *types.AttributeValueMemberBOOL:
		return attr.Boolean(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return attr.Value{Kind: attr.Null}, nil
	case *types.AttributeValueMemberSS:
		elems, err := canonicalAll(v.Value, func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} })
		return attr.Set(attr.SS, elems), err
	case *types.AttributeValueMemberNS:
		elems, err := canonicalAll(v.Value, func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} })
		return attr.Set(attr.NS, elems), err
	case *types.AttributeValueMemberBS:
		elems, err := canonicalAll(v.Value, func(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} })
		return attr.Set(attr.BS, elems), err
	case *types.AttributeValueMemberL:
		elems, err := canonicalAll(v.Value, func(v types.AttributeValue) types.AttributeValue { return v })
		return attr.List(elems...), err
	case *types.AttributeValueMemberM:
		fields := make([]attr.Field, 0, len(v.Value))
		for name, v := range v.Value {
			value, err := canonical(v)
			if err != nil {
				return attr.Value{}, err
			}
			fields = append(fields, attr.Field{Name: name, Value: value})
		}
		return attr.Map(attr.NewItem(fields...)), nil
	}
	return attr.Value{}, fmt.Errorf("attribute value of type %T", v)
}

// canonicalAll returns the canonical values of a list's or set's elements.
func canonicalAll[E any](elems []E, as func(E) types.AttributeValue) ([]attr.Value, error) {
	values := make([]attr.Value, len(elems))
	for i, e := range elems {
		var err error
		if values[i], err = canonical(as(e)); err != nil {
			return nil, err
		}
	}
	return values, nil
}

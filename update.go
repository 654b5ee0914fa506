package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// update changes an item where it is.
//
// If that may be in several shards it is looked for first, and changed in the first that has it. In between it may be
// deleted, or put in a shard that counts before: the update then changes the copy it found, or, of a random layout, is
// ErrNotFound. It never creates an item there, as nobody could tell which shard a second update should look in.
//
// A repetition is a problem in three cases, and the outcome of a lost answer unknown: the expression is not idempotent;
// the old values are asked for, which only the first attempt can see; or the condition fails the second time, maybe
// because of the first.
func (c *core) update(ctx context.Context, like Item, edits []func(*dynamodb.UpdateItemInput)) (w Written[Item], err error) {
	return c.change(ctx, like, func(at *location) (Item, *types.ConsumedCapacity, error) {
		in := &dynamodb.UpdateItemInput{TableName: &c.options.Table, Key: maps.Clone(at.key)}
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Key = &c.options.Table, at.key
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		versioned, err := c.versioned(len(in.Expected) > 0 || len(in.AttributeUpdates) > 0)
		if err == nil && versioned {
			err = checkGuarded(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
		}
		assigned := append(assignments(aws.ToString(in.UpdateExpression), in.ExpressionAttributeNames, in.ExpressionAttributeValues),
			legacyAssignments(in.AttributeUpdates)...)
		if err == nil {
			err = c.checkAssignments(assigned, like)
		}
		if err != nil {
			return nil, nil, err
		}
		repeatable := idempotent(in) && !wantsOld(in.ReturnValues)
		wanted := in.ReturnValuesOnConditionCheckFailure
		if err := c.complete(ctx, in, at, like, assigned); err != nil {
			return nil, nil, err
		}

		r := &request{operation: "UpdateItem", target: at.target}
		var out *dynamodb.UpdateItemOutput
		if versioned {
			out, err := c.updateVersion(ctx, r, in)
			if err != nil {
				c.failedCondition(err, wanted, like)
				return nil, nil, err
			}
			return out.Attributes, out.ConsumedCapacity, nil
		}
		err = c.write(ctx, r, repeatable, func(ctx context.Context, _ int) (err error) {
			out, err = c.client.UpdateItem(ctx, in, dispatch.Once)
			return err
		})
		if err != nil {
			failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
			if ok && at.found && failed.Item == nil && !r.lost {
				return nil, nil, ErrNotFound
			}
			c.failedCondition(err, wanted, like)
			return nil, nil, err
		}
		return out.Attributes, out.ConsumedCapacity, nil
	})
}

// updateVersion sends an update of a collection with versions. As the item then tells whether the update was done, any may
// be repeated that need not return what only the first attempt sees. It changes what is there, and creates nothing: the
// error is ErrNotFound.
func (c *core) updateVersion(ctx context.Context, r *request, in *dynamodb.UpdateItemInput) (out *dynamodb.UpdateItemOutput, err error) {
	claim := c.newClaim("")
	whole := in.ReturnValues == types.ReturnValueAllNew
	repeatable := whole || in.ReturnValues == "" || in.ReturnValues == types.ReturnValueNone
	err = c.write(ctx, r, repeatable, func(ctx context.Context, _ int) error {
		left, err := claim.contest(ctx, r.lost, func() error {
			var err error
			out, err = c.client.UpdateItem(ctx, claim.update(in), dispatch.Once)
			return err
		})
		if left != nil {
			out = &dynamodb.UpdateItemOutput{}
			if whole {
				out.Attributes = left
			}
		}
		return err
	})
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if ok && !r.lost && c.absent(failed.Item, time.Now()) {
		return nil, ErrNotFound
	}
	return out, err
}

// complete adds to the caller's update what heatsink needs of it: that it keeps an index's listing, and creates nothing
// where an item was found.
func (c *core) complete(ctx context.Context, in *dynamodb.UpdateItemInput, at *location, like Item, assigned []assignment) error {
	if c.options.Index != "" && c.listed(like) {
		t, listing, err := c.listing(ctx, like, assigned)
		if err != nil {
			return err
		}
		at.target = t
		if err := setListing(in, listing); err != nil {
			return err
		}
		c.keepSortKey(in, like, assigned)
		return nil
	}
	if at.found && c.options.Version == "" {
		return c.onlyIfThere(in)
	}
	return nil
}

// listing returns where an index lists an item from now on, and the attributes that make it so. The event time is among them,
// unless the update sets it itself: an item that says another one than like would be listed in a bucket that is not its own.
func (c *core) listing(ctx context.Context, like Item, assigned []assignment) (target, Item, error) {
	p, err := c.placeLike(ctx, like)
	if err != nil {
		return target{}, nil, err
	}
	listing := make(Item, 3)
	c.list(p, listing)
	o, at := &c.options, c.options.EventTime.Attribute
	if o.Layout.Bucket != layout.NoBucket && !slices.Contains(o.TableKey, at) &&
		!slices.ContainsFunc(assigned, func(a assignment) bool { return a.attribute == at }) {
		listing[at] = like[at]
	}
	return p.target, listing, nil
}

// keepSortKey makes an update that creates an item give it the index's sort key that like has: without one, the index would
// not list it. An item that is there keeps its own.
func (c *core) keepSortKey(in *dynamodb.UpdateItemInput, like Item, assigned []assignment) {
	name := c.options.SortKey
	if name == "" || attribute.Empty(like[name]) || slices.Contains(c.options.TableKey, name) || len(in.AttributeUpdates) > 0 ||
		slices.ContainsFunc(assigned, func(a assignment) bool { return a.attribute == name }) {
		return
	}
	in.ExpressionAttributeNames["#hs_sk"], in.ExpressionAttributeValues[":hs_sk"] = name, like[name]
	in.UpdateExpression = aws.String(outline.AddToSet(aws.ToString(in.UpdateExpression), "#hs_sk = if_not_exists(#hs_sk, :hs_sk)"))
}

// setListing makes an update put the item where it belongs in the index.
func setListing(in *dynamodb.UpdateItemInput, listing Item) error {
	if in.UpdateExpression == nil && len(in.AttributeUpdates) > 0 {
		in.AttributeUpdates = maps.Clone(in.AttributeUpdates)
		for name, v := range listing {
			in.AttributeUpdates[name] = types.AttributeValueUpdate{Action: types.AttributeActionPut, Value: v}
		}
		return nil
	}
	return setAttributes(listing, &in.UpdateExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
}

// onlyIfThere makes an update fail if the item is no longer there, and say so in the error by returning no item.
func (c *core) onlyIfThere(in *dynamodb.UpdateItemInput) error {
	if len(in.Expected) > 0 || len(in.AttributeUpdates) > 0 {
		return fmt.Errorf("%w: Expected and AttributeUpdates cannot say that it must be there still; use expressions", ErrScattered)
	}
	if err := checkGuarded(in.ConditionExpression, nil, nil); err != nil {
		return err
	}
	names, err := ownNames(in.ExpressionAttributeNames)
	if err != nil {
		return err
	}
	names["#hs_pk"] = c.options.PartitionKey
	condition := "attribute_exists(#hs_pk)"
	if in.ConditionExpression != nil {
		condition = "(" + *in.ConditionExpression + ") AND " + condition
	}
	in.ConditionExpression, in.ExpressionAttributeNames = &condition, names
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return nil
}

// idempotent reports whether doing an update twice is surely the same as doing it once. It is if all it does is to give
// attributes values that come with the request, to remove attributes, and to take elements out of sets. It is not, or may
// not be, if the new values depend on old ones (ADD, a sum, list_append, a copy of another attribute), or if it names
// elements of lists, which move up when one is removed. if_not_exists of the attribute that is set is harmless.
func idempotent(in *dynamodb.UpdateItemInput) bool {
	for _, u := range in.AttributeUpdates {
		if u.Action == types.AttributeActionAdd {
			return false
		}
	}
	return in.UpdateExpression == nil || idempotentExpression(*in.UpdateExpression)
}

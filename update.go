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
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/version"
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
func (w *writer) update(ctx context.Context, like Item, edits []func(*dynamodb.UpdateItemInput)) (Written[Item], error) {
	return w.change(ctx, like, func(at *located) (Item, *types.ConsumedCapacity, error) {
		in := &dynamodb.UpdateItemInput{TableName: &w.sender.table, Key: maps.Clone(at.key)}
		for _, edit := range edits {
			edit(in)
		}
		in.TableName, in.Key = &w.sender.table, at.key
		meter.Ask(ctx, &in.ReturnConsumedCapacity)
		claim, assigned, err := w.checkUpdate(in, like)
		if err != nil {
			return nil, nil, err
		}
		repeatable := idempotent(in) && !wantsOld(in.ReturnValues)
		wanted := in.ReturnValuesOnConditionCheckFailure
		if err := w.complete(ctx, in, at, like, assigned); err != nil {
			return nil, nil, err
		}

		r := &request{operation: "UpdateItem", Home: at.Home}
		var out *dynamodb.UpdateItemOutput
		if claim == nil {
			err = w.sender.write(ctx, r, repeatable, func(ctx context.Context, _ int) (err error) {
				out, err = w.sender.client.UpdateItem(ctx, in, dispatch.Once)
				return err
			})
		} else {
			out, err = w.updateVersion(ctx, r, in, claim)
		}
		if err != nil {
			failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
			if ok && at.found && failed.Item == nil && !r.lost {
				return nil, nil, ErrNotFound
			}
			w.failedCondition(err, wanted, like)
			return nil, nil, err
		}
		return out.Attributes, out.ConsumedCapacity, nil
	})
}

// checkUpdate refuses an update that heatsink cannot do, and returns its claim, nil without versions, and what it assigns.
func (w *writer) checkUpdate(in *dynamodb.UpdateItemInput, like Item) (*version.Claim, []compose.Assignment, error) {
	claim, err := w.versions.ClaimUpdate(in)
	if err != nil {
		return nil, nil, err
	}
	assigned := append(compose.Assignments(aws.ToString(in.UpdateExpression), in.ExpressionAttributeNames, in.ExpressionAttributeValues),
		compose.LegacyAssignments(in.AttributeUpdates)...)
	if err := w.versions.CheckAssignments(assigned, like); err != nil {
		return nil, nil, err
	}
	return claim, assigned, w.schema.CheckAssignments(assigned, like)
}

// change finds the item that is like another and has send change it there. send returns the attributes that were asked for
// and what the request consumed.
func (w *writer) change(ctx context.Context, like Item, send func(at *located) (Item, *types.ConsumedCapacity, error)) (done Written[Item], err error) {
	at, err := w.finder.locate(ctx, like)
	if err != nil {
		return done, err
	}
	attributes, consumed, err := send(at)
	if err != nil {
		return done, err
	}
	meter.Wrote(ctx, consumed)
	w.returned(ctx, attributes, like)
	return Written[Item]{ShardKey: at.ShardKey, Shard: at.Shard, Attributes: attributes}, nil
}

// updateVersion sends an update of a collection with versions. As the item then tells whether the update was done, any may
// be repeated that need not return what only the first attempt sees. It changes what is there, and creates nothing: the
// error is ErrNotFound.
func (w *writer) updateVersion(ctx context.Context, r *request, in *dynamodb.UpdateItemInput, claim *version.Claim) (out *dynamodb.UpdateItemOutput, err error) {
	whole := in.ReturnValues == types.ReturnValueAllNew
	repeatable := whole || in.ReturnValues == "" || in.ReturnValues == types.ReturnValueNone
	err = w.sender.write(ctx, r, repeatable, func(ctx context.Context, _ int) error {
		left, err := claim.Contest(ctx, r.lost, func() (err error) {
			out, err = w.sender.client.UpdateItem(ctx, claim.Update(in), dispatch.Once)
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
	if ok && !r.lost && w.versions.Absent(failed.Item, time.Now()) {
		return nil, ErrNotFound
	}
	return out, err
}

// complete adds to the caller's update what heatsink needs of it: that it keeps an index's listing, and creates nothing
// where an item was found.
func (w *writer) complete(ctx context.Context, in *dynamodb.UpdateItemInput, at *located, like Item, assigned []compose.Assignment) error {
	if w.schema.Index != "" && w.schema.Listed(like) {
		home, listing, err := w.placer.Listing(ctx, like, assigned)
		if err != nil {
			return err
		}
		at.Home = home
		if err := setListing(in, listing); err != nil {
			return err
		}
		w.keepSortKey(in, like, assigned)
		return nil
	}
	if at.found && !w.versions.Keeps() {
		return w.onlyIfThere(in)
	}
	return nil
}

// keepSortKey makes an update that creates an item give it the index's sort key that like has: without one, the index would
// not list it. An item that is there keeps its own.
func (w *writer) keepSortKey(in *dynamodb.UpdateItemInput, like Item, assigned []compose.Assignment) {
	name := w.schema.SortKey
	if name == "" || attribute.Empty(like[name]) || slices.Contains(w.schema.TableKey, name) || len(in.AttributeUpdates) > 0 ||
		slices.ContainsFunc(assigned, func(a compose.Assignment) bool { return a.Attribute == name }) {
		return
	}
	compose.SetIfAbsent(name, like[name], in)
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
	return compose.Set(listing, &in.UpdateExpression, &in.ExpressionAttributeNames, &in.ExpressionAttributeValues)
}

// onlyIfThere makes an update fail if the item is no longer there, and say so in the error by returning no item.
func (w *writer) onlyIfThere(in *dynamodb.UpdateItemInput) error {
	if len(in.Expected) > 0 || len(in.AttributeUpdates) > 0 {
		return fmt.Errorf("%w: Expected and AttributeUpdates cannot say that it must be there still; use expressions", ErrScattered)
	}
	if err := compose.CheckCondition(in.ConditionExpression); err != nil {
		return fmt.Errorf("%w: %w", ErrItem, err)
	}
	names, err := compose.Names(in.ExpressionAttributeNames)
	if err != nil {
		return err
	}
	names["#hs_pk"] = w.schema.PartitionKey
	condition := "attribute_exists(#hs_pk)"
	if in.ConditionExpression != nil {
		condition = "(" + *in.ConditionExpression + ") AND " + condition
	}
	in.ConditionExpression, in.ExpressionAttributeNames = &condition, names
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return nil
}

// idempotent reports whether doing an update twice is surely the same as doing it once: see compose.Idempotent.
func idempotent(in *dynamodb.UpdateItemInput) bool {
	for _, u := range in.AttributeUpdates {
		if u.Action == types.AttributeActionAdd {
			return false
		}
	}
	return in.UpdateExpression == nil || compose.Idempotent(*in.UpdateExpression)
}

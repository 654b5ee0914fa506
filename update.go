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

// update changes an item where it is stored.
//
// If the item may be in several shards, update looks for it first and changes the first copy. In between, the item may be
// deleted, or put in a shard that Get prefers. The update then changes the copy that it found, or returns ErrNotFound
// with a Random layout. It never creates an item there, because a second update could not know which shard to look in.
//
// A retry after a lost response is unsafe in three cases, in which the outcome is unknown. The expression is not
// idempotent; the caller asks for old values, which only the first attempt can see; or the condition fails the second
// time, possibly because of the first attempt.
func (w *writer) update(ctx context.Context, like Item, edits []func(*dynamodb.UpdateItemInput)) (Written[Item], error) {
	if w.movable != nil {
		return w.movable.update(ctx, like, edits)
	}
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

		watch := w.watcher.watch(ctx, &at.of, false, &in.ReturnConsumedCapacity)
		r := &request{operation: "UpdateItem", Home: at.Home}
		var out *dynamodb.UpdateItemOutput
		if claim == nil {
			err = w.sender.write(ctx, r, repeatable, func(ctx context.Context, _ int) (err error) {
				out, err = w.sender.client.UpdateItem(ctx, in, dispatch.Once)
				watch.failed(err)
				if dispatch.HotKey(err) {
					w.watcher.throttled(ctx, &at.of)
				}
				return err
			})
		} else {
			out, err = w.updateVersion(ctx, r, in, claim)
		}
		if out != nil {
			watch.end(out.ConsumedCapacity, nil)
		} else {
			watch.end(nil, nil)
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

// checkUpdate refuses an update that heatsink cannot do. It returns the update's claim, which is nil without versions,
// and its assignments.
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

// change finds the item that has the key of like, and calls send to change it there. send returns the attributes that the
// caller asked for, and the consumed capacity.
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

// updateVersion sends an update of a collection with versions. The version shows whether an attempt happened, so the
// update is repeatable unless it returns values that only the first attempt can see. It changes only an existing item,
// and returns ErrNotFound otherwise.
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

// complete adds what heatsink needs to the caller's update: the attributes of the index's listing, or a condition that
// the found item still exists.
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

// keepSortKey gives an item that the update creates the index's sort key of like, because the index lists no item without
// one. An existing item keeps its own.
func (w *writer) keepSortKey(in *dynamodb.UpdateItemInput, like Item, assigned []compose.Assignment) {
	name := w.schema.SortKey
	if name == "" || attribute.Empty(like[name]) || slices.Contains(w.schema.TableKey, name) || len(in.AttributeUpdates) > 0 ||
		slices.ContainsFunc(assigned, func(a compose.Assignment) bool { return a.Attribute == name }) {
		return
	}
	compose.SetIfAbsent(name, like[name], in)
}

// setListing makes an update set the attributes that list the item in the index.
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

// onlyIfThere makes an update fail if the item no longer exists. The error then has no item.
func (w *writer) onlyIfThere(in *dynamodb.UpdateItemInput) error {
	if len(in.Expected) > 0 || len(in.AttributeUpdates) > 0 {
		return fmt.Errorf("%w: the item may be in several shards, but Expected and AttributeUpdates cannot require that it still exists: use expressions", ErrScattered)
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
		condition = compose.Group(*in.ConditionExpression) + " AND " + condition
	}
	in.ConditionExpression, in.ExpressionAttributeNames = &condition, names
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return nil
}

// idempotent reports whether an update is certainly idempotent: see compose.Idempotent.
func idempotent(in *dynamodb.UpdateItemInput) bool {
	for _, u := range in.AttributeUpdates {
		if u.Action == types.AttributeActionAdd {
			return false
		}
	}
	return in.UpdateExpression == nil || compose.Idempotent(*in.UpdateExpression)
}

package express

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// User is one request of the user, which was checked. It never changes, and the request of the user is never changed either.
type User struct {
	table Table
	kind  forward.Kind

	// One of these is the request.
	get    *dynamodb.GetItemInput
	put    *dynamodb.PutItemInput
	update *dynamodb.UpdateItemInput
	remove *dynamodb.DeleteItemInput
	check  *types.ConditionCheck

	condition string // "" if there is none
	ofNothing bool   // there is no condition, or it is true without an item
	creates   bool   // without an item, the request makes one
	oldOnFail bool   // the user wants the item for which the condition does not hold
}

// Kind returns what the request is to the machines of package forward.
func (u *User) Kind() forward.Kind { return u.kind }

// Get checks a GetItem. Its projection may be anything but marks.
func (t Table) Get(in *dynamodb.GetItemInput) (*User, error) {
	c := checker{table: t, what: "get", names: in.ExpressionAttributeNames}
	c.attributes("AttributesToGet", slices.Values(in.AttributesToGet))
	c.placeholders()
	c.expression("ProjectionExpression", in.ProjectionExpression)
	return &User{table: t, kind: forward.Get, get: in}, c.err
}

// CheckQuery refuses a Query whose expressions name marks. Its projection, if it has one, must be made to include them, see Marks.
func (t Table) CheckQuery(in *dynamodb.QueryInput) error {
	c := checker{table: t, what: "query", names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues}
	c.attributes("AttributesToGet", slices.Values(in.AttributesToGet))
	c.attributes("QueryFilter", maps.Keys(in.QueryFilter))
	c.placeholders()
	c.expression("KeyConditionExpression", in.KeyConditionExpression)
	c.expression("FilterExpression", in.FilterExpression)
	c.expression("ProjectionExpression", in.ProjectionExpression)
	return c.err
}

// Put checks a PutItem.
func (t Table) Put(in *dynamodb.PutItemInput) (*User, error) {
	c := checker{table: t, what: "put", names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues}
	c.legacy(len(in.Expected) > 0, in.ConditionalOperator)
	c.item(in.Item)
	u := &User{table: t, put: in, creates: true, oldOnFail: in.ReturnValuesOnConditionCheckFailure == allOld}
	c.condition(u, in.ConditionExpression)
	u.kind = c.kind(u)
	if u.condition == "" && (in.ReturnValues == "" || in.ReturnValues == types.ReturnValueNone) {
		u.kind = forward.Put
	}
	return u, c.err
}

// Update checks an UpdateItem.
func (t Table) Update(in *dynamodb.UpdateItemInput) (*User, error) {
	c := checker{table: t, what: "update", names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues}
	c.legacy(len(in.Expected) > 0 || len(in.AttributeUpdates) > 0, in.ConditionalOperator)
	u := &User{table: t, update: in, oldOnFail: in.ReturnValuesOnConditionCheckFailure == allOld}
	c.condition(u, in.ConditionExpression)
	u.creates = c.update(in.UpdateExpression)
	u.kind = c.kind(u)
	return u, c.err
}

// Delete checks a DeleteItem.
func (t Table) Delete(in *dynamodb.DeleteItemInput) (*User, error) {
	c := checker{table: t, what: "delete", names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues}
	c.legacy(len(in.Expected) > 0, in.ConditionalOperator)
	u := &User{table: t, kind: forward.Delete, remove: in, oldOnFail: in.ReturnValuesOnConditionCheckFailure == allOld}
	c.condition(u, in.ConditionExpression)
	return u, c.err
}

// Part checks one action of a transaction. The kind of a ConditionCheck is that of a change with its condition.
//
// A transaction is cancelled where a single request would be refused, also if that is a success for the user: a Delete of an absent
// item. Refused tells which actions to leave out then. The caller has to check instead that there still is no item, see Absent.
func (t Table) Part(in types.TransactWriteItem) (*User, error) {
	switch {
	case in.Put != nil:
		p := in.Put
		return t.Put(&dynamodb.PutItemInput{
			TableName: p.TableName, Item: p.Item, ConditionExpression: p.ConditionExpression,
			ExpressionAttributeNames: p.ExpressionAttributeNames, ExpressionAttributeValues: p.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
		})
	case in.Update != nil:
		p := in.Update
		return t.Update(&dynamodb.UpdateItemInput{
			TableName: p.TableName, Key: p.Key, UpdateExpression: p.UpdateExpression, ConditionExpression: p.ConditionExpression,
			ExpressionAttributeNames: p.ExpressionAttributeNames, ExpressionAttributeValues: p.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
		})
	case in.Delete != nil:
		p := in.Delete
		return t.Delete(&dynamodb.DeleteItemInput{
			TableName: p.TableName, Key: p.Key, ConditionExpression: p.ConditionExpression,
			ExpressionAttributeNames: p.ExpressionAttributeNames, ExpressionAttributeValues: p.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: p.ReturnValuesOnConditionCheckFailure,
		})
	case in.ConditionCheck != nil:
		p := in.ConditionCheck
		c := checker{table: t, what: "condition check", names: p.ExpressionAttributeNames, values: p.ExpressionAttributeValues}
		u := &User{table: t, check: p, creates: true, oldOnFail: p.ReturnValuesOnConditionCheckFailure == allOld}
		if aws.ToString(p.ConditionExpression) == "" {
			c.refuse("it has no ConditionExpression: give one")
		}
		c.condition(u, p.ConditionExpression)
		u.kind = c.kind(u)
		return u, c.err
	}
	return nil, fmt.Errorf("transaction: %w: an action has none of Put, Update, Delete and ConditionCheck: give one", ErrRequest)
}

// Absent returns the action of a transaction that takes the place of a Delete, or of an Update that only removes, if there is no item: it
// checks that there is none.
func (u *User) Absent() *User {
	const name = "#p"
	condition := "attribute_not_exists(" + name + ")"
	return &User{
		table: u.table, kind: forward.Create, condition: condition, ofNothing: true, creates: true,
		check: &types.ConditionCheck{Key: u.Key(), ConditionExpression: &condition, ExpressionAttributeNames: map[string]string{name: u.table.partition}},
	}
}

// Key returns the key that the user has given, with whatever else a Put has.
func (u *User) Key() Item {
	switch {
	case u.get != nil:
		return u.get.Key
	case u.put != nil:
		return u.put.Item
	case u.update != nil:
		return u.update.Key
	case u.remove != nil:
		return u.remove.Key
	}
	return u.check.Key
}

// placeholders returns the names and values that the user has given.
func (u *User) placeholders() (map[string]string, Item) {
	switch {
	case u.get != nil:
		return u.get.ExpressionAttributeNames, nil
	case u.put != nil:
		return u.put.ExpressionAttributeNames, u.put.ExpressionAttributeValues
	case u.update != nil:
		return u.update.ExpressionAttributeNames, u.update.ExpressionAttributeValues
	case u.remove != nil:
		return u.remove.ExpressionAttributeNames, u.remove.ExpressionAttributeValues
	}
	return u.check.ExpressionAttributeNames, u.check.ExpressionAttributeValues
}

// Refused returns what DynamoDB would have answered to a write that a machine has refused, by its last answer. The error is nil if that
// is a success: there is no item, and the request makes none. Otherwise it is a ConditionalCheckFailedException, with the item if the
// user wants it.
func (u *User) Refused(last forward.Answer[Item]) error {
	failed := &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}
	if last.Slot.State != forward.Live {
		if u.ofNothing && !u.creates {
			return nil
		}
		return failed
	}
	if u.oldOnFail {
		failed.Item = last.Slot.Content
	}
	return failed
}

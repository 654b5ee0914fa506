package express

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// Homes are the two homes of one id.
type Homes struct {
	// Table is the one that the user's requests name.
	Table Table
	// Old and New are the primary keys in the homes, which differ in their partition keys, or in their tables, only.
	Old, New Item
	// OldTable and NewTable are the tables of the homes, with the key attributes of Table. They are "" if that is Table itself.
	OldTable, NewTable string
}

// In returns the table of a home.
func (h Homes) In(home forward.Home) Table {
	t, name := h.Table, h.OldTable
	if home == forward.New {
		name = h.NewTable
	}
	if name != "" {
		t.name = name
	}
	return t
}

// Request is a request of DynamoDB: one of the five is not nil. A ConditionCheck can be sent only in a transaction, see Part. Each but
// Get has a condition and returns the item for which it does not hold.
type Request struct {
	Get    *dynamodb.GetItemInput
	Put    *dynamodb.PutItemInput
	Update *dynamodb.UpdateItemInput
	Delete *dynamodb.DeleteItemInput
	Check  *types.ConditionCheck

	table   Table
	act     forward.Act
	project []string // what the read fetches beyond what the user has asked for
}

// Express returns a request for DynamoDB that does to the item what forward.Apply says. The user is needed for Write, WriteExisting, Kill
// and WriteOwn. With a Read it may be the user's Get, whose projection holds then, or nil for the whole item. Content that is read with a
// projection must not be copied. An Eventual Read is eventually consistent if the user's Get is.
func (h Homes) Express(r forward.Request[Item], u *User) (Request, error) {
	key, other := h.Old, h.New
	if r.Home == forward.New {
		key, other = h.New, h.Old
	}
	if err := h.check(r.Act, key, other, u); err != nil {
		return Request{}, err
	}
	e := expression{Request: Request{table: h.In(r.Home), act: r.Act}, key: key, guard: h.Table.guard(nil, nil)}
	g := e.guard
	switch r.Act {
	case forward.Read:
		e.read(u, r.Eventual)
	case forward.Write, forward.WriteExisting, forward.Kill, forward.WriteOwn:
		e.user(u, r)
	case forward.PutStub:
		e.put(nil, forwarded, text(stub), g.empty())
	case forward.Freeze:
		e.mark(pad(frozen, key[h.Table.partition], other[h.Table.partition], true))
	case forward.Copy:
		e.put(r.Content, moved, number(r.Generation), g.hasNo(h.Table.partition))
	case forward.Strip:
		e.put(nil, forwarded, text(stub), g.begins(frozen))
	case forward.DropStub:
		e.drop(g.is(stub))
	case forward.DropDead:
		e.drop(g.has(dead) + " AND " + g.hasNo(forwarded))
	case forward.FreezeBack:
		e.mark(pad(leaving, key[h.Table.partition], other[h.Table.partition], false))
	case forward.MarkBack:
		e.put(nil, forwarded, text(left), g.empty())
	case forward.Return:
		e.put(r.Content, "", nil, g.begins(frozen)+" OR "+g.is(stub))
	case forward.ReturnNothing:
		e.drop(g.begins(frozen) + " OR " + g.is(stub))
	case forward.DropBack:
		e.drop(g.begins(back))
	case forward.Thaw:
		e.thaw()
	}
	return e.Request, nil
}

// Eventual reports whether the request is an eventually consistent read.
func (r Request) Eventual() bool { return r.Get != nil && !aws.ToBool(r.Get.ConsistentRead) }

// check refuses what no request can be made of. Only a mistake of the caller can be wrong here.
func (h Homes) check(a forward.Act, key, other Item, u *User) error {
	for _, k := range []Item{key, other} {
		if err := h.Table.checkKey(a.String(), k); err != nil {
			return err
		}
	}
	users := a == forward.Write || a == forward.WriteExisting || a == forward.Kill || a == forward.WriteOwn
	switch {
	case a > forward.Thaw:
		return fmt.Errorf("%v: there is no such act", a)
	case !h.Table.sameID(key, other):
		return fmt.Errorf("%v: the keys of the two homes have different %q: give those of one id", a, h.Table.sort)
	case users && (u == nil || u.get != nil), (a == forward.Kill || a == forward.WriteOwn) && u.remove == nil, a == forward.Read && u != nil && u.get == nil:
		return fmt.Errorf("%v: the user's request is none of its kind: give the one that the machine was made for", a)
	case u != nil && u.table != h.Table:
		return fmt.Errorf("%v: the user's request is for table %q, the homes are in %q", a, u.table.name, h.Table.name)
	case u != nil && !h.Table.sameID(u.Key(), key):
		return fmt.Errorf("%v: the user's request and the homes have different %q: give those of one id", a, h.Table.sort)
	}
	return nil
}

// expression is a request that is being written.
type expression struct {
	Request
	key   Item
	guard *guard
}

// put puts content under the key, with a mark unless its name is "".
func (e *expression) put(content Item, mark string, as types.AttributeValue, condition string) {
	item := make(Item, len(content)+3)
	maps.Copy(item, unmarked(content))
	maps.Copy(item, e.key)
	if mark != "" {
		item[mark] = as
	}
	e.Put = &dynamodb.PutItemInput{
		TableName: &e.table.name, Item: item, ConditionExpression: &condition,
		ExpressionAttributeNames: e.guard.names, ExpressionAttributeValues: e.guard.values, ReturnValuesOnConditionCheckFailure: allOld,
	}
}

// drop deletes what is under the key.
func (e *expression) drop(condition string) {
	e.Delete = &dynamodb.DeleteItemInput{
		TableName: &e.table.name, Key: e.key, ConditionExpression: &condition,
		ExpressionAttributeNames: e.guard.names, ExpressionAttributeValues: e.guard.values, ReturnValuesOnConditionCheckFailure: allOld,
	}
}

// mark marks a live item as moved on, and returns it.
func (e *expression) mark(as types.AttributeValue) {
	g := e.guard
	condition := g.live()
	const value = ":" + placeholder
	g.values = Item{value: as}
	e.Update = &dynamodb.UpdateItemInput{
		TableName: &e.table.name, Key: e.key, UpdateExpression: aws.String("SET " + g.name(forwarded) + " = " + value),
		ConditionExpression: &condition, ReturnValues: types.ReturnValueAllNew,
		ExpressionAttributeNames: g.names, ExpressionAttributeValues: g.values, ReturnValuesOnConditionCheckFailure: allOld,
	}
}

// thaw makes a frozen item live again.
func (e *expression) thaw() {
	g := e.guard
	condition := g.begins(frozen) + " AND " + g.hasNo(dead)
	e.Update = &dynamodb.UpdateItemInput{
		TableName: &e.table.name, Key: e.key, UpdateExpression: aws.String("REMOVE " + g.name(forwarded)), ConditionExpression: &condition,
		ExpressionAttributeNames: g.names, ExpressionAttributeValues: g.values, ReturnValuesOnConditionCheckFailure: allOld,
	}
}

// read reads the item, with its marks.
func (e *expression) read(u *User, eventual bool) {
	in := &dynamodb.GetItemInput{}
	if u != nil {
		*in = *u.get
	}
	strong := u == nil || !eventual || aws.ToBool(in.ConsistentRead)
	in.TableName, in.Key, in.ConsistentRead = &e.table.name, e.key, &strong
	e.Get = in
	need := []string{e.table.partition, forwarded, dead, moved}
	switch {
	case len(in.AttributesToGet) > 0:
		e.project = slices.DeleteFunc(need, func(name string) bool { return slices.Contains(in.AttributesToGet, name) })
		in.AttributesToGet = slices.Concat(in.AttributesToGet, e.project)
	case in.ProjectionExpression != nil:
		asked := compose.TopLevel(*in.ProjectionExpression, in.ExpressionAttributeNames)
		e.project = slices.DeleteFunc(need, func(name string) bool { return slices.Contains(asked, name) })
		g := e.table.guard(in.ExpressionAttributeNames, nil)
		projection := *in.ProjectionExpression
		for _, name := range e.project {
			projection += ", " + g.name(name)
		}
		in.ProjectionExpression, in.ExpressionAttributeNames = &projection, g.names
	}
}

// user writes the user's request, or that of a dead item for a Delete.
func (e *expression) user(u *User, r forward.Request[Item]) {
	e.guard = e.table.guard(u.placeholders())
	condition := e.fence(u, r.Act)
	if r.Act == forward.WriteOwn {
		condition += " AND " + e.guard.known(r.Generation)
	}
	switch {
	case u.put != nil:
		in := *u.put
		in.Item = maps.Clone(u.put.Item)
		maps.Copy(in.Item, e.key)
		e.Put = &in
		in.TableName, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure = &e.table.name, &condition, allOld
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.guard.names, e.guard.values
	case u.update != nil:
		in := *u.update
		if u.creates && u.ofNothing { // it may meet a dead item, and then makes it live
			in.UpdateExpression = aws.String(outline.AddToRemove(*u.update.UpdateExpression, e.guard.name(dead)))
		}
		in.Key = e.key
		e.Update = &in
		in.TableName, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure = &e.table.name, &condition, allOld
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.guard.names, e.guard.values
	case u.remove != nil && r.Act == forward.Kill:
		e.put(nil, dead, &types.AttributeValueMemberBOOL{Value: true}, condition)
		e.Put.ReturnValues = u.remove.ReturnValues
		e.Put.ReturnConsumedCapacity, e.Put.ReturnItemCollectionMetrics = u.remove.ReturnConsumedCapacity, u.remove.ReturnItemCollectionMetrics
	case u.remove != nil:
		in := *u.remove
		in.Key = e.key
		e.Delete = &in
		in.TableName, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure = &e.table.name, &condition, allOld
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.guard.names, e.guard.values
	default:
		in := *u.check
		in.Key = e.key
		e.Check = &in
		in.TableName, in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure = &e.table.name, &condition, allOld
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.guard.names, e.guard.values
	}
}

// fence returns the user's condition with that of the act. A dead item is absent to the user, so there it counts what the user's
// condition is without an item.
func (e *expression) fence(u *User, act forward.Act) string {
	g, users := e.guard, ""
	if u.condition != "" {
		users = compose.Group(u.condition) + " AND "
	}
	switch {
	case !u.creates:
		return users + g.live()
	case u.condition != "" && u.ofNothing:
		users = "(" + g.has(dead) + " OR " + compose.Group(u.condition) + ") AND "
	case u.condition != "":
		users += g.hasNo(dead) + " AND "
	}
	if act == forward.WriteExisting {
		users += g.has(e.table.partition) + " AND "
	}
	return users + g.hasNo(forwarded)
}

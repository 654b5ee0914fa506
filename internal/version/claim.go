package version

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// maxRaises is how often one attempt may get a larger version because other writers were faster.
const maxRaises = 8

const newer = "(attribute_not_exists(#hs_v) OR #hs_v < :hs_v)"

// Claim is the version of one write. All attempts of the write share it.
type Claim struct {
	keeper  *Keeper
	version string // without mark
	mark    string // gone for a tombstone
}

func (c *Claim) attribute() types.AttributeValue {
	return &types.AttributeValueMemberS{Value: c.version + c.mark}
}

// Put returns a put with the claim's version and condition.
func (c *Claim) Put(in *dynamodb.PutItemInput) *dynamodb.PutItemInput {
	g := c.over(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	own := *in
	own.Item = maps.Clone(in.Item)
	own.Item[c.keeper.name] = c.attribute()
	own.ConditionExpression, own.ExpressionAttributeNames, own.ExpressionAttributeValues = &g.text, g.names, g.values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &own
}

// Update returns an update with the claim's version and condition.
func (c *Claim) Update(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
	own := *in
	g := c.within(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	own.UpdateExpression = aws.String(outline.AddToSet(aws.ToString(in.UpdateExpression), "#hs_v = :hs_v"))
	own.ConditionExpression, own.ExpressionAttributeNames, own.ExpressionAttributeValues = &g.text, g.names, g.values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &own
}

// guard is a condition with its names and values.
type guard struct {
	text   string
	names  map[string]string
	values Item
}

// over returns the condition of a write that replaces any item: the item has no newer version, and the caller's condition
// holds. For the caller a tombstone is no item, so there the caller's condition must hold without an item.
func (c *Claim) over(condition *string, names map[string]string, values Item) guard {
	g := c.guard(names, values)
	g.text = newer
	if condition == nil {
		return g
	}
	g.values[":hs_gone"] = &types.AttributeValueMemberS{Value: gone}
	if holdsOfNothing(*condition, names, values) {
		g.text += " AND (contains(#hs_v, :hs_gone) OR " + compose.Group(*condition) + ")"
	} else {
		g.text += " AND " + Unburied + " AND " + compose.Group(*condition)
	}
	return g
}

// within returns the condition of an update: there is an item without a newer version, and the caller's condition holds.
func (c *Claim) within(condition *string, names map[string]string, values Item) guard {
	g := c.guard(names, values)
	g.names["#hs_pk"] = c.keeper.key
	g.values[":hs_gone"] = &types.AttributeValueMemberS{Value: gone}
	c.keeper.ttl.AddAlive(g.names, g.values)
	g.text = "attribute_exists(#hs_pk) AND " + Unburied + " AND " + expiry.Alive + " AND " + newer
	if condition != nil {
		g.text += " AND " + compose.Group(*condition)
	}
	return g
}

// guard returns the names and values of a request, with those of the version.
func (c *Claim) guard(names map[string]string, values Item) guard {
	g := guard{names: make(map[string]string, len(names)+2), values: make(Item, len(values)+2)}
	maps.Copy(g.names, names)
	maps.Copy(g.values, values)
	g.names["#hs_v"], g.values[":hs_v"] = c.keeper.name, c.attribute()
	return g
}

// holdsOfNothing reports whether a condition is true without an item. DynamoDB rejects a condition that cannot be parsed.
func holdsOfNothing(condition string, names map[string]string, values Item) bool {
	fields := make([]attr.Field, 0, len(values))
	for name, value := range values {
		v, err := attribute.Canonical(value)
		if err != nil {
			return false
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
	}
	parsed, err := expr.ParseCondition(expr.ConditionExpression, condition, expr.NewScope(names, attr.NewItem(fields...)))
	return err == nil && parsed.Eval(nil)
}

// Contest sends a write until its version does not make the condition fail. If the version is not the largest, because
// another writer's clock is ahead, the attempt gets a larger one. That is safe only if no earlier attempt may have
// happened, so not if lost is set.
//
// If an earlier attempt has done the write, Contest returns the item that it left.
func (c *Claim) Contest(ctx context.Context, lost bool, send func() error) (left Item, err error) {
	for raises := range maxRaises {
		if raises > 0 {
			meter.Add(ctx, meter.Cost{Requests: 1}) // the dispatcher counts the first
		}
		err = send()
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok {
			return nil, err
		}
		stored, fault := c.keeper.of(failed.Item)
		switch {
		case fault != nil:
			return nil, &dispatch.RejectedError{Err: fault}
		case stored == c.version+c.mark:
			return failed.Item, nil
		case lost || stored < c.version:
			return nil, err // the caller's condition failed, or a newer write has overtaken this one
		}
		at, _ := timeOf(stored)
		c.version = newText(c.keeper.tick(at))
	}
	return nil, fmt.Errorf("%d other writers were faster in turn: %w", maxRaises, err)
}

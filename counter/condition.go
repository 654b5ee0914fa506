package counter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// updateSlot opens, flushes or freezes a slot. All of them set what does not depend on what is there, so they are
// repeated; but opening a slot is not repeated after its answer was lost, because it asks for the old item.
func (s *store) updateSlot(ctx context.Context, key string, r request) answer {
	slotKey, err := s.slotKey(key, r.id)
	if err != nil {
		return failure(err)
	}
	x := newExpression()
	now := x.number(time.Now().UnixMilli())
	set := func(a amount, seq int64) string {
		return fmt.Sprintf("SET %s = %s, %s = %s, %s = %s, %s = %s, %s = %s",
			x.name(attrUp), x.number(a.up), x.name(attrDown), x.number(a.down), x.name(attrAdds), x.number(a.adds),
			x.name(attrSeq), x.number(seq), x.name(attrAt), now)
	}
	returned := types.ReturnValueNone
	switch r.operation {
	case openSlot:
		x.update = set(amount{}, 0)
		x.condition = fmt.Sprintf("attribute_not_exists(%s)", x.name(s.options.PartitionKey))
		returned = types.ReturnValueAllOld
	case flushSlot:
		x.update = set(r.total, r.seq)
		x.condition = fmt.Sprintf("%s < %s AND attribute_not_exists(%s)",
			x.name(attrSeq), x.number(r.seq), x.name(attrFrozen))
	case freezeSlot:
		frozen := x.name(attrFrozen)
		x.update = fmt.Sprintf("SET %s = if_not_exists(%s, %s)", frozen, frozen, now)
		x.condition = fmt.Sprintf("attribute_exists(%s)", x.name(attrSeq))
		returned = types.ReturnValueAllNew
	}
	attributes, err := s.items.Update(ctx, slotKey, r.operation != openSlot, x.apply(returned))
	a, stored := judge(err)
	switch {
	case r.operation == openSlot:
		return a
	case err == nil:
		stored = attributes
	}
	return s.answerWithSlot(a, stored)
}

func (s *store) deleteSlot(ctx context.Context, key string, id slotID) answer {
	slotKey, err := s.slotKey(key, id)
	if err != nil {
		return failure(err)
	}
	err = s.items.Delete(ctx, slotKey, func(in *dynamodb.DeleteItemInput) {
		in.ConditionExpression = aws.String("attribute_exists(#frozen)")
		in.ExpressionAttributeNames = map[string]string{"#frozen": attrFrozen}
		in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	})
	return s.answerWithSlot(judge(err))
}

// updateBase changes the base. What adds to it is not repeated after a lost answer: the machines know how to go on.
func (s *store) updateBase(ctx context.Context, key string, r request) answer {
	x := newExpression()
	switch r.operation {
	case raiseBase:
		level, width := x.name(attrLevel), x.name(attrWidth)
		toLevel, toWidth := x.number(int64(r.level)), x.number(int64(r.width))
		x.update = fmt.Sprintf("SET %s = %s, %s = %s", level, toLevel, width, toWidth)
		x.condition = atMost(level, toLevel) + " AND " + atMost(width, toWidth)
	case includeIDs:
		included := x.name(attrIncluded)
		x.update = fmt.Sprintf("ADD %s, %s %s", x.sum(r.sum), included, x.value(names(r.ids)))
		x.condition = x.version(r.version)
		for _, id := range r.ids {
			x.condition += fmt.Sprintf(" AND NOT contains(%s, %s)", included, x.value(text(string(id))))
		}
	case unlistIDs:
		x.update = fmt.Sprintf("DELETE %s %s ADD %s %s",
			x.name(attrIncluded), x.value(names(r.ids)), x.name(attrVersion), x.number(1))
	case resetBase:
		x.update = fmt.Sprintf("ADD %s, %s %s SET %s = %s",
			x.sum(r.sum), x.name(attrVersion), x.number(1), x.name(attrReset), x.value(text(r.token)))
		x.condition = x.version(r.version)
	case importBase:
		imports := x.name(attrImports)
		x.update = fmt.Sprintf("SET %s = %s, %s = %s",
			x.name(attrImported), x.value(number(r.imported)), imports, x.number(r.imports+1))
		x.condition = fmt.Sprintf("attribute_not_exists(%s)", imports)
		if r.imports > 0 {
			x.condition = fmt.Sprintf("%s = %s", imports, x.number(r.imports))
		}
	}
	_, err := s.items.Update(ctx, s.baseKey(key), r.operation == raiseBase || r.operation == importBase, x.apply(types.ReturnValueNone))
	a, stored := judge(err)
	if a.outcome != refused {
		return a
	}
	if a.base, err = decodeBase(stored); err != nil {
		return failure(err)
	}
	return a
}

// atMost is the condition that an attribute is not there, or not greater than a value.
func atMost(name, value string) string {
	return fmt.Sprintf("(attribute_not_exists(%[1]s) OR %[1]s <= %[2]s)", name, value)
}

// answerWithSlot adds the slot that came with an answer, if one did.
func (s *store) answerWithSlot(a answer, stored heatsink.Item) answer {
	if len(stored) == 0 {
		return a
	}
	slot, err := s.decodeSlot(stored)
	if err != nil {
		return failure(err)
	}
	a.slot = &slot
	return a
}

// judge says what the error of a write means, and returns the item that stood against it.
func judge(err error) (answer, heatsink.Item) {
	lost := errors.As(err, new(*heatsink.UnknownOutcomeError))
	if condition, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return answer{outcome: refused, lost: lost}, condition.Item
	}
	switch {
	case err == nil:
		return answer{}, nil
	case lost:
		return answer{outcome: unknown, err: err}, nil
	}
	return failure(err), nil
}

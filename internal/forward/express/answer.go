package express

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// Answer returns what became of the request. returned is the Item of a GetItemOutput, or the Attributes of another output. An error that
// does not say that the condition failed is returned as it is: then nothing is known here of what became of the request.
func (r Request) Answer(returned Item, err error) (forward.Answer[Item], error) {
	if err != nil {
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok {
			return forward.Answer[Item]{}, err
		}
		slot, err := r.table.Slot(failed.Item)
		return forward.Answer[Item]{Slot: slot}, err
	}
	a := forward.Answer[Item]{Done: true}
	switch r.act {
	case forward.Read:
		a.Slot, err = r.table.Slot(returned)
		if a.Slot.Content != nil {
			for _, name := range r.project {
				delete(a.Slot.Content, name)
			}
		}
	case forward.Freeze, forward.FreezeBack:
		a.Slot, err = r.table.Slot(returned)
		if err == nil && a.Slot.State != forward.Frozen && a.Slot.State != forward.Leaving {
			err = fmt.Errorf("%v in table %q: the answer has an item that is %v, not the one that was marked: check what answers for DynamoDB",
				r.act, r.table.name, a.Slot.State)
		}
	}
	return a, err
}

// Reason is Answer for a request that was part of a transaction, by the reason for which that was cancelled. A part that is not the
// reason is Done, although the transaction is not: it would have been. Other reasons than a failed condition are errors.
func (r Request) Reason(reason types.CancellationReason) (forward.Answer[Item], error) {
	switch code := aws.ToString(reason.Code); code {
	case "", "None":
		return forward.Answer[Item]{Done: true}, nil
	case "ConditionalCheckFailed":
		slot, err := r.table.Slot(reason.Item)
		return forward.Answer[Item]{Slot: slot}, err
	default:
		return forward.Answer[Item]{}, fmt.Errorf("%v in table %q: transaction cancelled: %s: %s", r.act, r.table.name, code, aws.ToString(reason.Message))
	}
}

// Returned returns what the user gets of the Attributes that a write has returned. A dead item was no item, and marks are not shown.
func (r Request) Returned(attributes Item) Item {
	if attributes[dead] != nil {
		return nil
	}
	return unmarked(attributes)
}

// Part returns the request as an action of a transaction. ok is false for a read.
func (r Request) Part() (part types.TransactWriteItem, ok bool) {
	switch {
	case r.Put != nil:
		part.Put = &types.Put{
			TableName: r.Put.TableName, Item: r.Put.Item, ConditionExpression: r.Put.ConditionExpression,
			ExpressionAttributeNames: r.Put.ExpressionAttributeNames, ExpressionAttributeValues: r.Put.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	case r.Update != nil:
		part.Update = &types.Update{
			TableName: r.Update.TableName, Key: r.Update.Key, UpdateExpression: r.Update.UpdateExpression,
			ConditionExpression:      r.Update.ConditionExpression,
			ExpressionAttributeNames: r.Update.ExpressionAttributeNames, ExpressionAttributeValues: r.Update.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	case r.Delete != nil:
		part.Delete = &types.Delete{
			TableName: r.Delete.TableName, Key: r.Delete.Key, ConditionExpression: r.Delete.ConditionExpression,
			ExpressionAttributeNames: r.Delete.ExpressionAttributeNames, ExpressionAttributeValues: r.Delete.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: allOld,
		}
	case r.Check != nil:
		part.ConditionCheck = r.Check
	default:
		return part, false
	}
	return part, true
}

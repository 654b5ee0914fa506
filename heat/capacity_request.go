package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// askForCapacity returns an input that asks for the consumed capacity, by table and index. It is a copy, as the caller's
// input is the caller's, and is only made where the caller does not ask already.
func askForCapacity(input any) (_ any, asked bool) {
	const indexes = types.ReturnConsumedCapacityIndexes
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.GetItemInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.QueryInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.QueryInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.ScanInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.ScanInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.PutItemInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.PutItemInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.UpdateItemInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.UpdateItemInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.DeleteItemInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.DeleteItemInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.BatchGetItemInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.BatchGetItemInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.BatchWriteItemInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.BatchWriteItemInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.TransactGetItemsInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.TransactGetItemsInput) { c.ReturnConsumedCapacity = indexes })
	case *dynamodb.TransactWriteItemsInput:
		return asking(in, in.ReturnConsumedCapacity, func(c *dynamodb.TransactWriteItemsInput) { c.ReturnConsumedCapacity = indexes })
	}
	return input, false
}

func asking[T any](input *T, has types.ReturnConsumedCapacity, ask func(*T)) (any, bool) {
	if input == nil || has != "" && has != types.ReturnConsumedCapacityNone {
		return input, false
	}
	changed := *input
	ask(&changed)
	return &changed, true
}

// hideCapacity takes out of an answer what the caller did not ask for.
func hideCapacity(output any) {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.QueryOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.ScanOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.PutItemOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.UpdateItemOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.DeleteItemOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.BatchGetItemOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.BatchWriteItemOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.TransactGetItemsOutput:
		out.ConsumedCapacity = nil
	case *dynamodb.TransactWriteItemsOutput:
		out.ConsumedCapacity = nil
	}
}

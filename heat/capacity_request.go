package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// asks is how much of the consumed capacity the caller of an operation asks for.
type asks int

const (
	asksAll   asks = iota // by table and index, or of an operation that has none
	asksTotal             // the sum
	asksNone
)

// askForCapacity returns an input that asks for the consumed capacity by table and index, and what the caller asks for.
// It is a copy, as the caller's input is the caller's, and is only made where something is missing.
func askForCapacity(input any) (any, asks) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return asking(in, func(c *dynamodb.GetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.QueryInput:
		return asking(in, func(c *dynamodb.QueryInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.ScanInput:
		return asking(in, func(c *dynamodb.ScanInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.PutItemInput:
		return asking(in, func(c *dynamodb.PutItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.UpdateItemInput:
		return asking(in, func(c *dynamodb.UpdateItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.DeleteItemInput:
		return asking(in, func(c *dynamodb.DeleteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchGetItemInput:
		return asking(in, func(c *dynamodb.BatchGetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchWriteItemInput:
		return asking(in, func(c *dynamodb.BatchWriteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.TransactGetItemsInput:
		return asking(in, func(c *dynamodb.TransactGetItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	case *dynamodb.TransactWriteItemsInput:
		return asking(in, func(c *dynamodb.TransactWriteItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	}
	return input, asksAll
}

func asking[T any](input *T, capacity func(*T) *types.ReturnConsumedCapacity) (any, asks) {
	if input == nil {
		return input, asksAll
	}
	caller := asksNone
	switch *capacity(input) {
	case types.ReturnConsumedCapacityIndexes:
		return input, asksAll
	case types.ReturnConsumedCapacityTotal:
		caller = asksTotal
	case "", types.ReturnConsumedCapacityNone:
	default:
		return input, asksAll // DynamoDB will refuse it in its own words
	}
	changed := *input
	*capacity(&changed) = types.ReturnConsumedCapacityIndexes
	return &changed, caller
}

// hideCapacity takes out of an answer what the caller did not ask for.
func hideCapacity(output any, caller asks) {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		out.ConsumedCapacity = caller.one(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.BatchWriteItemOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.TransactGetItemsOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		out.ConsumedCapacity = caller.all(out.ConsumedCapacity)
	}
}

func (a asks) one(c *types.ConsumedCapacity) *types.ConsumedCapacity {
	if c == nil || a == asksNone {
		return nil
	}
	c.Table, c.GlobalSecondaryIndexes, c.LocalSecondaryIndexes = nil, nil, nil
	return c
}

func (a asks) all(list []types.ConsumedCapacity) []types.ConsumedCapacity {
	if a == asksNone {
		return nil
	}
	for i := range list {
		a.one(&list[i])
	}
	return list
}

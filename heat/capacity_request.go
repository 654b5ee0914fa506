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

// The answers that tell apart what tables and indexes consumed, and those that need not, as there is one of them only. They
// are shorter. A write is never of this kind: its table may have got an index since it was looked up.
const (
	apart = types.ReturnConsumedCapacityIndexes
	whole = types.ReturnConsumedCapacityTotal
)

// askForCapacity returns an input that asks for the consumed capacity, and what the caller asks for. It is a copy, as the
// caller's input is the caller's, and is only made where something is missing.
func askForCapacity(input any) (any, asks) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return asking(in, whole, func(c *dynamodb.GetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.QueryInput:
		return asking(in, ofIndex(in.IndexName), func(c *dynamodb.QueryInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.ScanInput:
		return asking(in, ofIndex(in.IndexName), func(c *dynamodb.ScanInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.PutItemInput:
		return asking(in, apart, func(c *dynamodb.PutItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.UpdateItemInput:
		return asking(in, apart, func(c *dynamodb.UpdateItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.DeleteItemInput:
		return asking(in, apart, func(c *dynamodb.DeleteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchGetItemInput:
		return asking(in, whole, func(c *dynamodb.BatchGetItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.BatchWriteItemInput:
		return asking(in, apart, func(c *dynamodb.BatchWriteItemInput) *types.ReturnConsumedCapacity { return &c.ReturnConsumedCapacity })
	case *dynamodb.TransactGetItemsInput:
		return asking(in, whole, func(c *dynamodb.TransactGetItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	case *dynamodb.TransactWriteItemsInput:
		return asking(in, apart, func(c *dynamodb.TransactWriteItemsInput) *types.ReturnConsumedCapacity {
			return &c.ReturnConsumedCapacity
		})
	}
	return input, asksAll
}

func ofIndex(name *string) types.ReturnConsumedCapacity {
	if name == nil {
		return whole
	}
	return apart // the index may be an unknown local one
}

func asking[T any](input *T, needed types.ReturnConsumedCapacity, capacity func(*T) *types.ReturnConsumedCapacity) (any, asks) {
	if input == nil {
		return input, asksAll
	}
	caller := asksNone
	switch *capacity(input) {
	case types.ReturnConsumedCapacityTotal:
		if needed == whole {
			return input, asksAll
		}
		caller = asksTotal
	case "", types.ReturnConsumedCapacityNone:
	default: // apart, or something that DynamoDB will refuse in its own words
		return input, asksAll
	}
	changed := *input
	*capacity(&changed) = needed
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

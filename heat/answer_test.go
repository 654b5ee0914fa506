package heat_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// answerUnits has an answer say that so many units were consumed, whatever the server says.
func answerUnits(units float64) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		// Behind the recorder, which is further out.
		return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("oddUnits", func(
			ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler,
		) (middleware.SerializeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleSerialize(ctx, in)
			if put, ok := out.Result.(*dynamodb.PutItemOutput); ok {
				table := in.Parameters.(*dynamodb.PutItemInput).TableName
				put.ConsumedCapacity = &types.ConsumedCapacity{TableName: table, CapacityUnits: &units}
			}
			return out, metadata, err
		}), middleware.Before)
	}
}

// answerError has a transaction of writes fail.
func answerError(err error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("failure", func(
			ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler,
		) (middleware.SerializeOutput, middleware.Metadata, error) {
			if _, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok {
				return middleware.SerializeOutput{}, middleware.Metadata{}, err
			}
			return next.HandleSerialize(ctx, in)
		}), middleware.Before)
	}
}

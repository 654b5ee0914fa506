package move

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tally is a client that counts what writes consume in indexes.
type tally struct {
	Client
	add func(units float64)
}

// ask makes a write report the capacity of indexes, if it reports any.
func ask(report *types.ReturnConsumedCapacity) {
	if *report == types.ReturnConsumedCapacityTotal {
		*report = types.ReturnConsumedCapacityIndexes
	}
}

func (t *tally) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	ask(&in.ReturnConsumedCapacity)
	out, err := t.Client.PutItem(ctx, in, with...)
	if err == nil {
		t.add(indexCapacity(out.ConsumedCapacity))
	}
	return out, err
}

func (t *tally) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	ask(&in.ReturnConsumedCapacity)
	out, err := t.Client.UpdateItem(ctx, in, with...)
	if err == nil {
		t.add(indexCapacity(out.ConsumedCapacity))
	}
	return out, err
}

func (t *tally) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, with ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	ask(&in.ReturnConsumedCapacity)
	out, err := t.Client.DeleteItem(ctx, in, with...)
	if err == nil {
		t.add(indexCapacity(out.ConsumedCapacity))
	}
	return out, err
}

package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// answerTime is how long a request may take, unless Options.Collection.Retry.Timeout says it.
const answerTime = 30 * time.Second

// timed is a client whose requests end if they are not answered, so that one of them cannot stop a move.
type timed struct {
	Client
	longest time.Duration
}

type settings = []func(*dynamodb.Options)

// within sends a request, and gives it up after the longest time.
func within[I, O any](ctx context.Context, t timed, send func(context.Context, I, ...func(*dynamodb.Options)) (O, error), in I, with settings) (O, error) {
	limited, cancel := context.WithTimeout(ctx, t.longest)
	defer cancel()
	out, err := send(limited, in, with...)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v: %w", t.longest, err)
	}
	return out, err
}

func (t timed) GetItem(ctx context.Context, in *dynamodb.GetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return within(ctx, t, t.Client.GetItem, in, with)
}

func (t timed) PutItem(ctx context.Context, in *dynamodb.PutItemInput, with ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return within(ctx, t, t.Client.PutItem, in, with)
}

func (t timed) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return within(ctx, t, t.Client.UpdateItem, in, with)
}

func (t timed) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, with ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return within(ctx, t, t.Client.DeleteItem, in, with)
}

func (t timed) Scan(ctx context.Context, in *dynamodb.ScanInput, with ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return within(ctx, t, t.Client.Scan, in, with)
}

func (t timed) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, with ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return within(ctx, t, t.Client.DescribeTable, in, with)
}

func (t timed) DescribeContinuousBackups(ctx context.Context, in *dynamodb.DescribeContinuousBackupsInput, with ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	return within(ctx, t, t.Client.DescribeContinuousBackups, in, with)
}

func (t timed) Query(ctx context.Context, in *dynamodb.QueryInput, with ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return within(ctx, t, t.Client.Query, in, with)
}

func (t timed) DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, with ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return within(ctx, t, t.Client.DescribeTimeToLive, in, with)
}

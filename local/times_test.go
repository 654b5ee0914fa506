package local_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Times that cannot be used are refused, all of them at once.
func TestTimesAreChecked(t *testing.T) {
	for value, want := range map[time.Duration]string{
		-1:                       "is -1ns: give a positive time, or zero for the default",
		365*24*time.Hour + 1:     "is 8760h0m0.000000001s: give a time of at most 8760h0m0s",
		time.Duration(1<<63 - 1): "give a time of at most 8760h0m0s",
	} {
		_, err := local.New(local.Options{TTLInterval: value, StatusDelay: value, ShardDuration: value, IteratorLife: value, TokenLife: value})
		for _, name := range []string{"TTLInterval", "StatusDelay", "ShardDuration", "IteratorLife", "TokenLife"} {
			if err == nil || !strings.Contains(err.Error(), "option "+name+" is ") || strings.Count(err.Error(), want) != 5 {
				t.Errorf("%v: got %v, want that %s %s", value, err, name, want)
			}
		}
	}
}

// Shards that begin in one millisecond have no order.
func TestShardDurationIsChecked(t *testing.T) {
	const want = "heatsink: option ShardDuration is 9ms: give a time of at least 10ms"
	if _, err := local.New(local.Options{ShardDuration: 9 * time.Millisecond}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A transaction holds its table, so that it may not last for long.
func TestTransactionTimeIsChecked(t *testing.T) {
	for value, want := range map[time.Duration]string{
		-1:              "option TransactionTime is -1ns: give a positive time, or zero for the default",
		time.Minute + 1: "option TransactionTime is 1m0.000000001s: give a time of at most 1m0s",
	} {
		if _, err := local.New(local.Options{TransactionTime: value}); err == nil || err.Error() != "heatsink: "+want {
			t.Errorf("%v: got %v, want %s", value, err, want)
		}
	}
}

// While a transaction holds its items, who wants to write one of them gets a TransactionConflict, and readers see what was there
// before. A client that gives up does not undo it, and learns how it ended by its token.
func TestTransactionTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := open(t, local.Options{TransactionTime: 20 * time.Millisecond})
		must[*dynamodb.CreateTableOutput](t)(db.Client().CreateTable(ctx, onDemand("tab", nil, "id S")))
		once := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}}
		add := func(ctx context.Context, token string) error {
			_, err := once.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				ClientRequestToken: &token,
				TransactItems: []types.TransactWriteItem{{Update: &types.Update{
					TableName: aws.String("tab"), Key: item, UpdateExpression: aws.String("ADD n :one"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
				}}},
			})
			return err
		}
		count := func() string {
			got := must[*dynamodb.GetItemOutput](t)(once.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: item}))
			n, ok := got.Item["n"].(*types.AttributeValueMemberN)
			if !ok {
				return "none"
			}
			return n.Value
		}

		done := make(chan error, 1)
		go func() { done <- add(ctx, "first") }()
		time.Sleep(19 * time.Millisecond)
		var conflict *types.TransactionConflictException
		if _, err := once.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item}); !errors.As(err, &conflict) {
			t.Errorf("got %v from a put, want a TransactionConflictException", err)
		}
		var cancelled *types.TransactionCanceledException
		if err := add(ctx, "second"); !errors.As(err, &cancelled) || aws.ToString(cancelled.CancellationReasons[0].Code) != "TransactionConflict" {
			t.Errorf("got %v from another transaction, want a TransactionConflict", err)
		}
		if got := count(); got != "none" {
			t.Errorf("got %s before the transaction is over, want none", got)
		}
		if err := <-done; err != nil || count() != "1" {
			t.Errorf("got %v, and %s after the transaction, want 1", err, count())
		}

		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		if err := add(short, "third"); !errors.Is(err, context.DeadlineExceeded) || count() != "2" {
			t.Errorf("got %v, and %s, want no answer, and 2", err, count())
		}
		if err := add(ctx, "third"); err != nil || count() != "2" {
			t.Errorf("got %v, and %s from the same token, want 2 still", err, count())
		}
	})
}

// Iterators, tokens and shards last as long as the options say, by default as
// long as on DynamoDB.
func TestTimes(t *testing.T) {
	for name, c := range map[string]struct {
		options                local.Options
		iterator, token, shard time.Duration
	}{
		"default": {local.Options{}, 15 * time.Minute, 10 * time.Minute, 4 * time.Hour},
		"short":   {local.Options{IteratorLife: time.Second, TokenLife: 2 * time.Second, ShardDuration: 3 * time.Second}, time.Second, 2 * time.Second, 3 * time.Second},
		"long":    {local.Options{IteratorLife: 30 * time.Hour, TokenLife: 20 * time.Hour, ShardDuration: 10 * time.Hour}, 30 * time.Hour, 20 * time.Hour, 10 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			for what, lasts := range map[string]struct {
				check func(*testing.T, *local.DB) func() bool // begins it, and tells whether it is still the same
				time  time.Duration
			}{
				"iterator": {iteratorWorks, c.iterator},
				"token":    {tokenIsKnown, c.token},
				"shard":    {shardIsOpen, c.shard},
			} {
				bubble.Test(t, func(t *testing.T) {
					db := open(t, c.options)
					must[*dynamodb.CreateTableOutput](t)(db.Client().CreateTable(context.Background(), onDemand("tab", withStream, "id S")))
					still := lasts.check(t, db)
					time.Sleep(lasts.time - time.Millisecond)
					if !still() {
						t.Errorf("the %s is over before %v", what, lasts.time)
					}
					time.Sleep(2 * time.Millisecond)
					synctest.Wait()
					if still() {
						t.Errorf("the %s is not over after %v", what, lasts.time)
					}
				})
			}
		})
	}
}

// shards returns the stream of the table and its shards.
func shards(t *testing.T, db *local.DB) (arn *string, all []streamtypes.Shard) {
	t.Helper()
	ctx := context.Background()
	table := must[*dynamodb.DescribeTableOutput](t)(db.Client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab")}))
	arn = table.Table.LatestStreamArn
	stream := must[*dynamodbstreams.DescribeStreamOutput](t)(db.StreamsClient().DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn}))
	return arn, stream.StreamDescription.Shards
}

func iteratorWorks(t *testing.T, db *local.DB) func() bool {
	ctx, streams := context.Background(), db.StreamsClient()
	arn, all := shards(t, db)
	at := must[*dynamodbstreams.GetShardIteratorOutput](t)(streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: all[0].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	}))
	return func() bool {
		_, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: at.ShardIterator})
		if expired := (*streamtypes.ExpiredIteratorException)(nil); err != nil && !errors.As(err, &expired) {
			t.Error(err)
		}
		return err == nil
	}
}

func tokenIsKnown(t *testing.T, db *local.DB) func() bool {
	writes := 0
	write := func(writes int) error {
		_, err := db.Client().TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("token"),
			TransactItems: []types.TransactWriteItem{{Put: &types.Put{
				TableName: aws.String("tab"), Item: with(key("a"), "n", text(fmt.Sprint(writes))),
			}}},
		})
		return err
	}
	if err := write(writes); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		writes++
		err := write(writes) // another request with the token of the first
		if other := (*types.IdempotentParameterMismatchException)(nil); err != nil && !errors.As(err, &other) {
			t.Error(err)
		}
		return err != nil
	}
}

func shardIsOpen(t *testing.T, db *local.DB) func() bool {
	return func() bool {
		_, all := shards(t, db)
		return len(all) == 1
	}
}

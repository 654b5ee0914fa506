package heat_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// Of every operation a caller sees the consumed capacity that an unrecorded client shows, whatever the recorder asks for.
func TestCapacityIsSeenAsWithoutARecorder(t *testing.T) {
	order := with(key("a", "1"), item{"status": text("OPEN")})
	one, orders := key("a", "1"), aws.String("orders")
	type asks = types.ReturnConsumedCapacity
	calls := []struct {
		operation string
		capacity  func(context.Context, *dynamodb.Client, asks) (any, error)
	}{
		{"PutItem", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: orders, Item: order, ReturnConsumedCapacity: a})
			return out.ConsumedCapacity, err
		}},
		{"UpdateItem", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: orders, Key: one, ReturnConsumedCapacity: a,
				UpdateExpression: aws.String("SET n = :n"), ExpressionAttributeValues: item{":n": number(1)},
			})
			return out.ConsumedCapacity, err
		}},
		{"GetItem", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: orders, Key: one, ReturnConsumedCapacity: a})
			return out.ConsumedCapacity, err
		}},
		{"Query", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.Query(ctx, &dynamodb.QueryInput{
				TableName: orders, IndexName: aws.String("byStatus"), ReturnConsumedCapacity: a, KeyConditionExpression: aws.String("#s = :s"),
				ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: item{":s": text("OPEN")},
			})
			return out.ConsumedCapacity, err
		}},
		{"Scan", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: orders, IndexName: aws.String("byStatus"), ReturnConsumedCapacity: a})
			return out.ConsumedCapacity, err
		}},
		{"BatchGetItem", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"orders": {Keys: []map[string]types.AttributeValue{one}}}, ReturnConsumedCapacity: a,
			})
			return out.ConsumedCapacity, err
		}},
		{"BatchWriteItem", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{"orders": {{PutRequest: &types.PutRequest{Item: order}}}}, ReturnConsumedCapacity: a,
			})
			return out.ConsumedCapacity, err
		}},
		{"TransactGetItems", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
				TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: orders, Key: one}}}, ReturnConsumedCapacity: a,
			})
			return out.ConsumedCapacity, err
		}},
		{"TransactWriteItems", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: orders, Item: order}}}, ReturnConsumedCapacity: a,
			})
			return out.ConsumedCapacity, err
		}},
		{"DeleteItem", func(ctx context.Context, c *dynamodb.Client, a asks) (any, error) {
			out, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: orders, Key: one, ReturnConsumedCapacity: a})
			return out.ConsumedCapacity, err
		}},
	}
	open := func(options ...func(*dynamodb.Options)) *dynamodb.Client {
		db := local.Start(t)
		create(t, db.Client(), "orders", []string{"pk", "sk"}, "byStatus:status")
		return db.Client(options...)
	}
	plain, recorded := open(), open(newRecorder(t, heat.Options{}).Option)
	for _, a := range []asks{"", types.ReturnConsumedCapacityNone, types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityIndexes} {
		for _, call := range calls {
			want, err := call.capacity(t.Context(), plain, a)
			if err != nil {
				t.Fatalf("%s: %v", call.operation, err)
			}
			got, err := call.capacity(t.Context(), recorded, a)
			if err != nil {
				t.Fatalf("%s, recorded: %v", call.operation, err)
			}
			if indented(got) != indented(want) {
				t.Errorf("%s with %q: got %s\nwant %s", call.operation, a, indented(got), indented(want))
			}
		}
	}
}

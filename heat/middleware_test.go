package heat_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
)

// Whatever the first call of a table is, the recorder looks the table up, and knows its key and its capacity from then on.
func TestFirstCallsLookTablesUp(t *testing.T) {
	name, one := aws.String("views"), key("a", "1")
	for operation, call := range map[string]func(context.Context, *dynamodb.Client) error{
		"GetItem": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: name, Key: one})
			return err
		},
		"Query": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.Query(ctx, &dynamodb.QueryInput{
				TableName: name, KeyConditionExpression: aws.String("pk = :p AND sk = :s"), ExpressionAttributeValues: item{":p": text("a"), ":s": text("1")},
			})
			return err
		},
		"Scan": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: name})
			return err
		},
		"PutItem": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: one})
			return err
		},
		"UpdateItem": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name, Key: one})
			return err
		},
		"DeleteItem": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: one})
			return err
		},
		"BatchGetItem": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*name: {Keys: []item{one}}}})
			return err
		},
		"BatchWriteItem": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*name: {{PutRequest: &types.PutRequest{Item: one}}}}})
			return err
		},
		"TransactGetItems": func(ctx context.Context, c *dynamodb.Client) error {
			_, err := c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: name, Key: one}}}})
			return err
		},
		"TransactWriteItems, Put": transactOne(types.TransactWriteItem{Put: &types.Put{TableName: name, Item: one}}),
		"TransactWriteItems, Update": transactOne(types.TransactWriteItem{Update: &types.Update{
			TableName: name, Key: one, UpdateExpression: aws.String("SET n = :n"), ExpressionAttributeValues: item{":n": text("1")},
		}}),
		"TransactWriteItems, Delete": transactOne(types.TransactWriteItem{Delete: &types.Delete{TableName: name, Key: one}}),
		"TransactWriteItems, ConditionCheck": transactOne(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: name, Key: one, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}}),
	} {
		recorder := newRecorder(t, heat.Options{})
		if err := call(t.Context(), start(t, nil).Client(recorder.Option)); err != nil {
			t.Errorf("%s: %v", operation, err)
			continue
		}
		if r := resource(t, recorder.Report(), "views"); !slices.Equal(r.Key, []string{"pk"}) || r.Capacity == nil || r.Reads.Requests+r.Writes.Requests != 1 {
			t.Errorf("%s: got %+v", operation, r)
		}
	}
}

func transactOne(action types.TransactWriteItem) func(context.Context, *dynamodb.Client) error {
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{action}})
		return err
	}
}

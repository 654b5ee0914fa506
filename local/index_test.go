package local_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// An index is added to a table in use as a program does it with the SDK: it waits
// until the table and the index are ACTIVE.
func TestAddIndexWithTheSDK(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{StatusDelay: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		client, table := db.Client(), aws.String("orders")
		if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: table, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := dynamodb.NewTableExistsWaiter(client).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: table}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 10*time.Second {
			t.Errorf("the table was there after %v, want ten seconds at least", took)
		}
		for i := range 30 {
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: map[string]types.AttributeValue{
				"id": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}, "state": &types.AttributeValueMemberS{Value: "open"},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		out, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
			TableName:            table,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("state"), AttributeType: types.ScalarAttributeTypeS}},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: aws.String("byState"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("state"), KeyType: types.KeyTypeHash}},
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x := out.TableDescription.GlobalSecondaryIndexes[0]; x.IndexStatus != types.IndexStatusCreating || x.Backfilling == nil || *x.Backfilling {
			t.Errorf("got %s, backfilling %v", x.IndexStatus, x.Backfilling)
		}
		query := func() (int32, error) {
			out, err := client.Query(t.Context(), &dynamodb.QueryInput{
				TableName: table, IndexName: aws.String("byState"), KeyConditionExpression: aws.String("#s = :s"),
				ExpressionAttributeNames:  map[string]string{"#s": "state"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: "open"}},
			})
			if err != nil {
				return 0, err
			}
			return out.Count, nil
		}
		if _, err := query(); err == nil || !strings.Contains(err.Error(), "Cannot read from backfilling global secondary index: byState") {
			t.Errorf("got %v", err)
		}
		for {
			d, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: table})
			if err != nil {
				t.Fatal(err)
			}
			if x := d.Table.GlobalSecondaryIndexes[0]; d.Table.TableStatus == types.TableStatusActive && x.IndexStatus == types.IndexStatusActive {
				if x.Backfilling != nil {
					t.Errorf("an ACTIVE index says that backfilling is %t", *x.Backfilling)
				}
				break
			}
			time.Sleep(time.Second)
		}
		if n, err := query(); err != nil || n != 30 {
			t.Errorf("got %d items, %v; want 30", n, err)
		}
	})
}

package docs

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// nothing is the setup of a page that begins with an empty server, or needs none.
func nothing(*testing.T, *dynamodb.Client) {}

// order is an item of the pages.
type order struct {
	Status string `dynamodbav:"status"`
	ID     string `dynamodbav:"id"`
}

// ordersTable creates the table of the pages, with an index and a stream.
func ordersTable(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	key := func(partition, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &partition, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange}}
	}
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest, KeySchema: key("status", "id"),
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			{IndexName: aws.String("byStatus"), KeySchema: key("id", "status"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}},
		},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	}); err != nil {
		t.Fatal(err)
	}
}

// grownOrders is a collection with a key that has grown, as docs/adaptive.md speaks of.
func grownOrders(t *testing.T, client *dynamodb.Client) {
	ordersTable(t, client)
	orders, err := heatsink.Open[order](client, heatsink.Options{Table: "orders", PartitionKey: "status", SortKey: "id", Adaptive: &heatsink.Adaptive{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = orders.Ledgers().Grow(t.Context(), "OPEN", time.Time{}, 4, "a test")
	for i := range 20 {
		_, failed := orders.Put(t.Context(), order{"OPEN", fmt.Sprint(i)})
		err = errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shardedOrders is a collection with four shards.
func shardedOrders(t *testing.T, client *dynamodb.Client) {
	ordersTable(t, client)
	orders, err := heatsink.Open[order](client, heatsink.Options{Table: "orders", PartitionKey: "status", SortKey: "id", Layout: layout.Layout{Shards: 4}})
	for i := range 40 {
		if err == nil {
			_, err = orders.Put(t.Context(), order{"OPEN", fmt.Sprint(i)})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// strayOrders is a recorded collection with four shards, into which a program with more shards has put two items that its readers miss.
func strayOrders(t *testing.T, client *dynamodb.Client) {
	ordersTable(t, client)
	orders, err := heatsink.Open[order](client, heatsink.Options{
		Table: "orders", PartitionKey: "status", SortKey: "id", Recorded: true, Layout: layout.Layout{Shards: 4},
	})
	for i := range 10 {
		if err == nil {
			_, err = orders.Put(t.Context(), order{"OPEN", fmt.Sprint(i)})
		}
	}
	for shard := 6; shard < 8 && err == nil; shard++ {
		_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: map[string]types.AttributeValue{
			"status": &types.AttributeValueMemberS{Value: fmt.Sprintf("NEW#SHARD_%d", shard)}, "id": &types.AttributeValueMemberS{Value: "1"},
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

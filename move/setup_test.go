package move_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

type order struct {
	ID      string `dynamodbav:"id"`
	Status  string `dynamodbav:"status,omitempty"`
	Created string `dynamodbav:"created"`
	Text    string `dynamodbav:"text,omitempty"`
}

var (
	sixteen = layout.Layout{Shards: 16, Strategy: layout.Calculated}
	created = heatsink.EventTime{Attribute: "created"}
)

// collection returns the options of the orders, listed by their status.
func collection(now layout.Layout, before ...layout.Layout) heatsink.Options {
	o := heatsink.Options{
		Table: "orders", PartitionKey: "id",
		Index:  heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "created"},
		Layout: now,
	}
	for _, l := range before {
		if l.Bucket == layout.NoBucket {
			o.Older = append(o.Older, l)
		}
	}
	if now.Bucket != layout.NoBucket {
		o.EventTime = created
	}
	return o
}

// createOrders creates the table, with an index by status and one by status and shard.
func createOrders(ctx context.Context, client *dynamodb.Client, edit ...func(*dynamodb.CreateTableInput)) error {
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("id", "S"), attribute("status", "S"), attribute("created", "S")},
		KeySchema:            []types.KeySchemaElement{key("id", types.KeyTypeHash)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{key("status", types.KeyTypeHash), key("created", types.KeyTypeRange)},
		}},
	}
	for _, edit := range edit {
		edit(in)
	}
	_, err := client.CreateTable(ctx, in)
	return err
}

func key(name string, kind types.KeyType) types.KeySchemaElement {
	return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
}

// start starts an engine with the table.
func start(t testing.TB, edit ...func(*dynamodb.CreateTableInput)) *local.DB {
	t.Helper()
	db := local.Start(t)
	if err := createOrders(t.Context(), db.Client(), edit...); err != nil {
		t.Fatal(err)
	}
	return db
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func created0(i int) string {
	return time.Date(2026, 11, 1+i%5, 0, 0, i%60, 0, time.UTC).Format(time.RFC3339)
}

// put writes an item as it is.
func put(t testing.TB, client *dynamodb.Client, id, status string, more ...func(heatsink.Item)) {
	t.Helper()
	item := heatsink.Item{"id": text(id), "status": text(status), "created": text("2026-11-01T00:00:00Z")}
	for _, edit := range more {
		edit(item)
	}
	if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: item}); err != nil {
		t.Fatal(err)
	}
}

// fill writes n orders with the given layout, of two statuses.
func fill(t testing.TB, client *dynamodb.Client, with heatsink.Options, n int, size int) {
	t.Helper()
	c := open(t, client, with)
	var all []order
	for i := range n {
		all = append(all, order{fmt.Sprintf("o%05d", i), []string{"OPEN", "CLOSED"}[i%2], created0(i), string(make([]byte, size))})
	}
	if err := c.BatchPut(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, client heatsink.Client, with heatsink.Options) *heatsink.Collection[order] {
	t.Helper()
	c, err := heatsink.Open[order](client, with)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mover(t testing.TB, client move.Client, o move.Options) *move.Mover {
	t.Helper()
	m, err := move.New(client, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stored returns the statuses of all items as they are stored, by id.
func stored(t testing.TB, client *dynamodb.Client) map[string]string {
	t.Helper()
	all := map[string]string{}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String("orders"), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			id := item["id"].(*types.AttributeValueMemberS).Value
			if status, ok := item["status"].(*types.AttributeValueMemberS); ok {
				all[id] = status.Value
			} else if !layout.IsControl(id) {
				all[id] = ""
			}
		}
	}
	return all
}

// list returns the ids of a status, as the collection lists them.
func list(t testing.TB, c *heatsink.Collection[order], q heatsink.Query) map[string]int {
	t.Helper()
	ids := map[string]int{}
	for o, err := range c.Query(context.Background(), q) {
		if err != nil {
			t.Fatal(err)
		}
		ids[o.ID]++
	}
	return ids
}

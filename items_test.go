package heatsink

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/attribute/attributetest"
	"github.com/heatsink-go/heatsink/local"
)

// sv, nv and ov make attribute values and items: ov("pk", "a", "n", 1).
var (
	sv = attributetest.Text
	nv = attributetest.Int
	ov = attributetest.Item
)

// makeTable creates an on-demand table of string keys, pk and sk.
func makeTable(t testing.TB, client *dynamodb.Client, table string, edits ...func(*dynamodb.CreateTableInput)) {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
	}
	for _, edit := range edits {
		edit(in)
	}
	if _, err := client.CreateTable(context.Background(), in); err != nil {
		t.Fatal(err)
	}
}

// byIndex makes the table one of ids, listed by an index on pk and sk, and on the number shard if second.
func byIndex(second bool) func(*dynamodb.CreateTableInput) {
	return func(in *dynamodb.CreateTableInput) {
		index := types.GlobalSecondaryIndex{
			IndexName: aws.String("listing"), KeySchema: in.KeySchema,
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}
		if second {
			shard := types.KeySchemaElement{AttributeName: aws.String("shard"), KeyType: types.KeyTypeHash}
			index.KeySchema = slices.Insert(slices.Clone(in.KeySchema), 1, shard)
			in.AttributeDefinitions = append(in.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: aws.String("shard"), AttributeType: types.ScalarAttributeTypeN})
		}
		in.KeySchema = []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}}
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS})
		in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{index}
	}
}

// startWith starts an engine with options and ends it with the test.
func startWith(t testing.TB, options local.Options) *local.DB {
	t.Helper()
	db, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// openItems opens a collection of raw items on table items, keys pk and sk.
func openItems(t testing.TB, client Client, options Options) *Collection[Item] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "items")
	listed, table := &options.SortKey, "pk"
	if options.Index.Name != "" { // as byIndex makes it
		options.Index.PartitionKey = cmp.Or(options.Index.PartitionKey, "pk")
		listed, table = &options.Index.SortKey, "id"
	}
	options.PartitionKey = cmp.Or(options.PartitionKey, table)
	if *listed = cmp.Or(*listed, "sk"); *listed == "-" {
		*listed = ""
	}
	c, err := Open[Item](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// coreOf returns the core of a collection that is never asked to send anything.
func coreOf(t testing.TB, options Options) *core {
	t.Helper()
	return openItems(t, &dynamodb.Client{}, options).core
}

// everyItem returns all items of a table as they are stored.
func everyItem(t testing.TB, client *dynamodb.Client, table string) []Item {
	t.Helper()
	var items []Item
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, out.Items...)
	}
	return items
}

// attrText returns an attribute's text, of a string or number.
func attrText(item Item, name string) string {
	switch v := item[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return fmt.Sprint(item[name])
}

// wantItem fails unless two items are the same.
func wantItem(t testing.TB, what string, got, want Item) {
	t.Helper()
	if !attribute.Same(got, want) {
		t.Errorf("%s: got %s, want %s", what, showItem(got), showItem(want))
	}
}

func showItem(item Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		parts = append(parts, name+":"+attrText(item, name))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// createOrders creates a table with the keys pk and sk.
func createOrders(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

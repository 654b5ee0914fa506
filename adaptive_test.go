package heatsink

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

func createOrders(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAdaptiveFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := local.Start(t)
		createOrders(t, db.Client())
		open := func() *Collection[Item] {
			c, err := Open[Item](db.Client(), Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Adaptive: &Adaptive{}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		a, b := open(), open()
		ctx := t.Context()
		put := func(c *Collection[Item], n int) Written[Item] {
			w, err := c.Put(ctx, Item{"pk": &types.AttributeValueMemberS{Value: "k"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%04d", n)}})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		for i := range 10 {
			put(a, i)
		}
		l, err := a.Ledgers().Grow(ctx, "k", time.Time{}, 8, "a test")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", l)
		for i := range 100 {
			put(a, 10+i)
		}
		for i := range 10 {
			put(b, 110+i)
		}
		n := 0
		for _, err := range b.Query(ctx, Query{Key: "k", Consistent: true}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 120 {
			t.Errorf("got %d items, want 120", n)
		}
		if got, err := b.Count(ctx, Query{Key: "k", Consistent: true}); got != 120 || err != nil {
			t.Error(got, err)
		}
		out, err := db.Client().Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders"), FilterExpression: aws.String("begins_with(pk, :p)"), ExpressionAttributeValues: Item{":p": &types.AttributeValueMemberS{Value: "_hs#"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			t.Log(item["pk"].(*types.AttributeValueMemberS).Value, len(item))
		}
	})
}

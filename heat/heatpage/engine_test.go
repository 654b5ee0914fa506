package heatpage_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// A round of an engine has its partitions, those of indexes too, and which of them has a key. A table that is gone, and a key
// that was cut, have none, and do not keep the others from being shown.
func TestOfEngine(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		recorder, err := heat.NewRecorder(heat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		source := heatpage.OfEngine(recorder, db)
		if r, err := source(t.Context()); err != nil || len(r.Partitions) != 0 {
			t.Fatalf("before any call: got %+v, %v", r, err)
		}
		client := db.Client(recorder.Option)
		createListed(t, client, "orders")
		if err := db.CreateTable(t.Context(), "gone", "id"); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("x", 1000)
		for _, id := range []string{"o1", "o2", long} {
			put(t, client, "orders", item("id", id, "status", "OPEN"))
		}
		put(t, client, "gone", item("id", "o1"))
		if _, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("gone")}); err != nil {
			t.Fatal(err)
		}

		r, err := source(t.Context())
		if err != nil || len(r.Partitions) != 2 || len(r.Partitions[0].Partitions) != 4 || r.Partitions[1].Index != "byStatus" {
			t.Fatalf("got partitions %+v, %v, want 4 of the table and 4 of the index", r.Partitions, err)
		}
		if homes := r.Homes["orders"]; len(homes) != 2 || len(homes["o1"]) != 1 || len(homes["o2"]) != 1 {
			t.Errorf("got homes %v, want one for o1 and one for o2", homes)
		}
		open := r.Homes["orders/byStatus"]["OPEN"]
		if len(open) != 1 {
			t.Fatalf("got homes %v of OPEN, want one", open)
		}
		for _, p := range r.Partitions[1].Partitions {
			units := 0.0
			for _, s := range p.Seconds {
				units += s.WriteUnits
			}
			if (units > 0) != (p.ID == open[0]) {
				t.Errorf("partition %d of the index served %v units, and OPEN is in %d", p.ID, units, open[0])
			}
		}

		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := source(t.Context()); err == nil {
			t.Error("an engine that has ended has rounds")
		}
	})
}

func item(pairs ...string) map[string]types.AttributeValue {
	of := make(map[string]types.AttributeValue)
	for i := 0; i < len(pairs); i += 2 {
		of[pairs[i]] = &types.AttributeValueMemberS{Value: pairs[i+1]}
	}
	return of
}

func put(t *testing.T, client *dynamodb.Client, table string, item map[string]types.AttributeValue) {
	t.Helper()
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item}); err != nil {
		t.Fatal(err)
	}
}

// createListed creates a table whose items an index lists by status.
func createListed(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byStatus"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

package move_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// Items that are all under one partition key of the table are forecast, whatever the description counts.
func TestForecastOfASkewedTable(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("n"), AttributeType: "N"})
		in.KeySchema = append(in.KeySchema, key("n", types.KeyTypeRange))
	}).Client()
	for i := 0; i < 12000; i += 25 {
		var writes []types.WriteRequest
		for j := range 25 {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: heatsink.Item{
				"id": text("one"), "n": number(fmt.Sprint(i + j)), "status": text("OPEN"), "created": text("2026"), "text": text(strings.Repeat("x", 300)),
			}}})
		}
		if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": writes}}); err != nil {
			t.Fatal(err)
		}
	}
	o := move.Options{Collection: collection(sixteen, layout.Layout{}), RCU: 1e6}
	o.Collection.SortKey = "n"
	for _, table := range []described{{client, func(*types.TableDescription) {}}, {client, func(d *types.TableDescription) { d.ItemCount = aws.Int64(0) }}} {
		f, err := mover(t, table, o).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Items < 5000 || f.Items > 13000 || f.Moves != f.Items || f.WriteUnits != 3*float64(f.Moves) || len(f.Notes) == 0 && !f.Exact {
			t.Errorf("%+v", f)
		}
	}
}

// Items under some partition keys of the table are forecast by what the description counts, whichever of the keys a sample meets.
func TestForecastOfSomeKeys(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("n"), AttributeType: "N"})
		in.KeySchema = append(in.KeySchema, key("n", types.KeyTypeRange))
	}).Client()
	const items = 20_000
	for i := 0; i < items; i += 25 {
		var writes []types.WriteRequest
		for j := i; j < i+25; j++ {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: heatsink.Item{
				"id": text(fmt.Sprint("key", j%10)), "n": number(fmt.Sprint(j)), "status": text("OPEN"), "created": text("2026"),
			}}})
		}
		if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": writes}}); err != nil {
			t.Fatal(err)
		}
	}
	o := move.Options{Collection: collection(sixteen, layout.Layout{}), RCU: 1e6}
	o.Collection.SortKey = "n"
	for range 8 { // samples
		f, err := mover(t, client, o).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Items != items || f.Moves != items || f.WriteUnits != 3*items {
			t.Errorf("forecast %+v, want %d items", f, items)
		}
	}
}

// The forecast names other indexes whose entries change as well.
func TestForecastNamesOtherIndexes(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) {
		for name, keys := range map[string][]types.KeySchemaElement{
			"byStatusAndID": {key("status", types.KeyTypeHash), key("id", types.KeyTypeRange)}, "byTime": {key("created", types.KeyTypeHash)},
		} {
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: aws.String(name), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}, KeySchema: keys,
			})
		}
	}).Client()
	put(t, client, "a", "OPEN")
	f, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})}).Plan(t.Context())
	if err != nil || len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "byStatusAndID") {
		t.Errorf("%q, %v", f.Notes, err)
	}
}

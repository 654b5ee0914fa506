package move_test

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// Orders are listed by their status, and most are OPEN: one hot key of the index. They are moved to 16 shards.
func Example() {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx, client := context.Background(), db.Client()
	if err := createOrders(ctx, client); err != nil {
		log.Fatal(err)
	}
	for i := range 100 { // as programs without heatsink have written them
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{
			"id": text(fmt.Sprint("order-", i)), "status": text("OPEN"), "created": text("2026-11-16T10:00:00Z"),
		}})
		if err != nil {
			log.Fatal(err)
		}
	}

	orders := heatsink.Options{
		Table: "orders", PartitionKey: "id",
		Index:  heatsink.Index{Name: "byStatus", PartitionKey: "status", SortKey: "created"},
		Layout: layout.Layout{Shards: 16, Strategy: layout.Calculated},
		Older:  []layout.Layout{{}},
	}
	mover, err := move.New(client, move.Options{Collection: orders})
	if err != nil {
		log.Fatal(err)
	}
	forecast, err := mover.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d items to move, %.0f write units\n", forecast.Moves, forecast.Items, forecast.WriteUnits)
	result, err := mover.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d moved, %.0f write units\n", result.Moved, result.WriteUnits)
	report, err := mover.Verify(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d right, %d damaged\n", report.Right, report.Damaged())

	orders.Older = nil // listings read the 16 shards alone
	c, err := heatsink.Open[heatsink.Item](client, orders)
	if err != nil {
		log.Fatal(err)
	}
	n, err := c.Count(ctx, heatsink.Query{Key: "OPEN"})
	fmt.Println(n, "listed", err)
	// Output:
	// 100 of 100 items to move, 300 write units
	// 100 moved, 300 write units
	// 100 right, 0 damaged
	// 100 listed <nil>
}

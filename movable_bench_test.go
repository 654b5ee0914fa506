package heatsink

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// BenchmarkMovable compares operations of a settled movable collection with those of a fixed layout, on an engine that takes next to
// no time itself.
func BenchmarkMovable(b *testing.B) {
	for _, movable := range []bool{false, true} {
		db := local.Start(b)
		if err := db.CreateTable(context.Background(), "items", "pk", "sk"); err != nil {
			b.Fatal(err)
		}
		c, err := Open[Item](db.Client(), Options{
			Table: "items", PartitionKey: "pk", SortKey: "sk", Movable: movable, Layout: layout.Layout{Strategy: layout.Calculated, Shards: 16},
		})
		if err != nil {
			b.Fatal(err)
		}
		name := map[bool]string{false: "fixed", true: "movable"}[movable]
		ctx := context.Background()
		item := func(i int) Item { return ov("pk", "k", "sk", fmt.Sprint(i%1000), "v", "some text of an item") }
		for i := range 1000 {
			if _, err := c.Put(ctx, item(i)); err != nil {
				b.Fatal(err)
			}
		}
		for operation, do := range map[string]func(i int) error{
			"put": func(i int) error { _, err := c.Put(ctx, item(i)); return err },
			"get": func(i int) error { _, err := c.Get(ctx, item(i)); return err },
			"create": func(i int) error {
				_, _ = c.Put(ctx, item(i), func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(pk)") })
				return nil
			},
			"update": func(i int) error {
				_, err := c.Update(ctx, item(i), func(in *dynamodb.UpdateItemInput) {
					in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET v = :v"), ov(":v", "another text of an item")
				})
				return err
			},
		} {
			b.Run(operation+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := do(i); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

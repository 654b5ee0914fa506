package heatsink_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// BenchmarkPut compares a collection's Put with the SDK's PutItem on the same engine, by turns, so that both meet the same
// machine. ratio is the collection's throughput in parts of the SDK's.
func BenchmarkPut(b *testing.B) {
	ctx := context.Background()
	client, options := benchTable(b)
	item := heatsink.Item{
		"pk": &types.AttributeValueMemberS{Value: "PAGE_VIEWS"},
		"sk": &types.AttributeValueMemberS{Value: "2026-06-22T12:00:00Z#user-12345"},
		"a":  &types.AttributeValueMemberS{Value: "some text that is neither long nor short"},
		"n":  &types.AttributeValueMemberN{Value: "42"},
	}
	for name, spread := range map[string]layout.Layout{
		"random":     {Shards: 10},
		"calculated": {Shards: 10, Strategy: layout.Calculated},
		"unsharded":  {},
	} {
		b.Run(name, func(b *testing.B) {
			options.Layout = spread
			c, err := heatsink.Open[heatsink.Item](client, options)
			if err != nil {
				b.Fatal(err)
			}
			bare := make([]heatsink.Item, 10) // what somebody would write who does it by hand
			for i := range bare {
				bare[i] = maps.Clone(item)
				bare[i]["pk"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("PAGE_VIEWS#SHARD_%d", i)}
			}
			var ours, theirs time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("views"), Item: bare[i%10]}); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if _, err := c.Put(ctx, item); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(middle)
				theirs += middle.Sub(start)
			}
			b.ReportMetric(float64(theirs)/float64(ours), "ratio")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/put")
			b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N), "ns/bare-put")
		})
	}
}

// benchTable creates a table on an engine of its own.
func benchTable(b *testing.B) (*dynamodb.Client, heatsink.Options) {
	b.Helper()
	db := local.Start(b)
	if err := db.CreateTable(context.Background(), "views", "pk", "sk"); err != nil {
		b.Fatal(err)
	}
	return db.Client(), heatsink.Options{Table: "views", PartitionKey: "pk", SortKey: "sk"}
}

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

// BenchmarkLibraryAlone is what operations cost beside DynamoDB: the client answers at once.
func BenchmarkLibraryAlone(b *testing.B) {
	ctx := context.Background()
	item := heatsink.Item{
		"pk": &types.AttributeValueMemberS{Value: "PAGE_VIEWS"},
		"sk": &types.AttributeValueMemberS{Value: "2026-06-22T12:00:00Z#user-12345"},
		"n":  &types.AttributeValueMemberN{Value: "42"},
	}
	batch := make([]heatsink.Item, 25)
	for i := range batch {
		batch[i] = maps.Clone(item)
		batch[i]["sk"] = &types.AttributeValueMemberN{Value: fmt.Sprint(i)}
	}
	increment := func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET n = :n")
		in.ExpressionAttributeValues = heatsink.Item{":n": item["n"]}
	}
	type collection = heatsink.Collection[heatsink.Item]
	for _, c := range []struct {
		name    string
		options heatsink.Options
		do      func(*collection) error
	}{
		{"put", heatsink.Options{}, func(c *collection) error { _, err := c.Put(ctx, item); return err }},
		{"put with version", heatsink.Options{Version: "v", TTL: "ttl"}, func(c *collection) error { _, err := c.Put(ctx, item); return err }},
		{"update", heatsink.Options{}, func(c *collection) error { _, err := c.Update(ctx, item, increment); return err }},
		{"delete", heatsink.Options{}, func(c *collection) error { _, err := c.Delete(ctx, item); return err }},
		{"get", heatsink.Options{}, func(c *collection) error { _, err := c.Get(ctx, item); return err }},
		{"get with older", heatsink.Options{Older: []layout.Layout{{}}}, func(c *collection) error { _, err := c.Get(ctx, item); return err }},
		{"batch put", heatsink.Options{}, func(c *collection) error { return c.BatchPut(ctx, batch) }},
		{"transact put", heatsink.Options{}, func(c *collection) error { _, err := c.TransactPut(ctx, item); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.options.Table, c.options.PartitionKey, c.options.SortKey = "views", "pk", "sk"
			c.options.Layout = layout.Layout{Shards: 10, Strategy: layout.Calculated}
			items, err := heatsink.Open[heatsink.Item](instant{item: item}, c.options)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := c.do(items); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPutAlone is what a Put of one of many keys costs beside DynamoDB, with and without ledgers. The client answers at once, so
// that the keys are hot: cold ones cost less.
func BenchmarkPutAlone(b *testing.B) {
	ctx := context.Background()
	items := make([]heatsink.Item, 10_000)
	for i := range items {
		items[i] = heatsink.Item{
			"pk": &types.AttributeValueMemberS{Value: fmt.Sprintf("PAGE#%05d", i)},
			"sk": &types.AttributeValueMemberS{Value: "2026-06-22T12:00:00Z#user-12345"},
		}
	}
	for name, adaptive := range map[string]*heatsink.Adaptive{"fixed": nil, "adaptive": {}} {
		b.Run(name, func(b *testing.B) {
			c, err := heatsink.Open[heatsink.Item](instant{}, heatsink.Options{Table: "views", PartitionKey: "pk", SortKey: "sk", Adaptive: adaptive})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := c.Put(ctx, items[i%len(items)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// instant is a client whose writes succeed and whose GetItem has an item, without anything behind it.
type instant struct {
	heatsink.Client
	item heatsink.Item
}

func (instant) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return &dynamodb.PutItemOutput{}, nil
}

func (c instant) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{Item: maps.Clone(c.item)}, nil
}

func (instant) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, nil
}

func (instant) DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return &dynamodb.DeleteItemOutput{}, nil
}

func (instant) BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return &dynamodb.BatchWriteItemOutput{}, nil
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

package replica_test

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/replica"
)

// post is what the items of these tests hold.
type post struct {
	Title string
	Likes int
}

// setup returns a client with faults on an engine that has the table of options.
func setup(t testing.TB, options replica.Options) *faulty.Client {
	t.Helper()
	client := faulty.On(t, local.Start(t).Client(), nil)
	options.Table = cmp.Or(options.Table, "posts")
	if err := replica.Setup(context.Background(), client.Direct, options); err != nil {
		t.Fatal(err)
	}
	return client
}

// openOn returns a store on a table that is there.
func openOn(t testing.TB, client replica.Client, options replica.Options) *replica.Store[post] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "posts")
	posts, err := replica.Open[post](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return posts
}

// put stores a post, and fails the test if it cannot.
func put(t testing.TB, posts *replica.Store[post], id, title string, options ...replica.WriteOption) replica.Version {
	t.Helper()
	version, err := posts.Put(context.Background(), id, post{Title: title}, options...)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// title returns the title that Get finds, or its error.
func title(posts *replica.Store[post], id string, options ...replica.ReadOption) string {
	item, err := posts.Get(context.Background(), id, options...)
	if err != nil {
		return err.Error()
	}
	return item.Data.Title
}

// fatal is what is needed of a *testing.T or a *rapid.T.
type fatal interface {
	Helper()
	Fatal(...any)
}

// stored returns the item under a key, nil if there is none.
func stored(t fatal, client *dynamodb.Client, key string) heatsink.Item {
	t.Helper()
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: aws.String("posts"), Key: heatsink.Item{"id": text(key)}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// versionOf returns the version that is stored under a key, 0 if there is none.
func versionOf(t fatal, client *dynamodb.Client, key string) replica.Version {
	t.Helper()
	n, ok := stored(t, client, key)["version"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return replica.Version(v)
}

// store writes an item as somebody else might.
func store(t testing.TB, client *dynamodb.Client, item heatsink.Item) {
	t.Helper()
	if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("posts"), Item: item}); err != nil {
		t.Fatal(err)
	}
}

// drop deletes an item as somebody else might.
func drop(t fatal, client *dynamodb.Client, key string) {
	_, err := client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
		TableName: aws.String("posts"), Key: heatsink.Item{"id": text(key)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copyKey is the key of a copy.
func copyKey(id string, copy int) string { return fmt.Sprintf("%s#SHARD_%d", id, copy) }

// on restricts faults to requests for some keys.
func on(fault faulty.Fault, operation string, keys ...string) faulty.Decide {
	return func(r faulty.Request) faulty.Fault {
		for _, key := range keys {
			if r.Operation == operation && r.Key("id") == key {
				return fault
			}
		}
		return faulty.None
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// metered returns what an operation costs.
func metered(op func(ctx context.Context)) heatsink.Cost {
	var meter heatsink.Meter
	op(heatsink.WithMeter(context.Background(), &meter))
	return meter.Cost()
}

func units(c heatsink.Cost) string {
	return fmt.Sprintf("%d requests, %v read units, %v write units", c.Requests, c.ReadUnits, c.WriteUnits)
}

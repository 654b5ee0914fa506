package direct

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// open returns a table on an engine of its own, and the client that it sends with.
func open(t *testing.T, retry heatsink.Retry) (*Table, *faulty.Client) {
	t.Helper()
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	client := faulty.On(t, db.Client(), faulty.Always(faulty.None))
	table, err := Open(client, Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Retry: retry})
	if err != nil {
		t.Fatal(err)
	}
	return table, client
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func item(pk, sk string) heatsink.Item { return heatsink.Item{"pk": text(pk), "sk": text(sk)} }

// add adds 1 to the number n of an item.
func add(in *dynamodb.UpdateItemInput) {
	in.UpdateExpression = aws.String("ADD n :one")
	in.ExpressionAttributeValues = heatsink.Item{":one": &types.AttributeValueMemberN{Value: "1"}}
	in.ReturnValues = types.ReturnValueAllNew
}

// of asks for all items of a partition key.
func of(pk string) func(*dynamodb.QueryInput) {
	return func(in *dynamodb.QueryInput) {
		in.KeyConditionExpression = aws.String("pk = :pk")
		in.ExpressionAttributeValues = heatsink.Item{":pk": text(pk)}
	}
}

// Every operation does what its name says, and is metered: requests, retries, throttles, and what the engine charges.
func TestOperations(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		table, client := open(t, heatsink.Retry{})
		var meter heatsink.Meter
		ctx := heatsink.WithMeter(context.Background(), &meter)
		before := heatsink.Cost{}
		cost := func(what string, want heatsink.Cost) {
			t.Helper()
			now := meter.Cost()
			if got := now; got != before.Plus(want) {
				t.Errorf("%s: got %+v after %+v, want %+v more", what, got, before, want)
			}
			before = now
		}
		client.Decide(faulty.Script(faulty.Throttled, faulty.LostRequest))
		if err := table.Put(ctx, item("a#SHARD_1", "1"), nil); err != nil {
			t.Fatal(err)
		}
		cost("Put, the third time", heatsink.Cost{Requests: 3, Retries: 2, Throttles: 1, WriteUnits: 1})
		n, err := table.Update(ctx, item("a#SHARD_1", "1"), false, add)
		if err != nil || n["n"].(*types.AttributeValueMemberN).Value != "1" {
			t.Fatalf("got %v, %v", n, err)
		}
		cost("Update", heatsink.Cost{Requests: 1, WriteUnits: 1})
		got, err := table.Get(ctx, item("a#SHARD_1", "1"), func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
		if err != nil || len(got) != 3 {
			t.Fatalf("got %v, %v", got, err)
		}
		cost("Get", heatsink.Cost{Requests: 1, Items: 1, ReadUnits: 1})
		if got, err := table.Get(ctx, item("a#SHARD_1", "2"), nil); got != nil || err != nil {
			t.Errorf("what is not there: got %v, %v", got, err)
		}
		cost("Get of nothing", heatsink.Cost{Requests: 1, ReadUnits: 0.5})
		if err := table.Delete(ctx, item("a#SHARD_1", "1"), nil); err != nil {
			t.Fatal(err)
		}
		cost("Delete", heatsink.Cost{Requests: 1, WriteUnits: 1})
		if n, err := table.Count(ctx, "a#SHARD_1", of("a#SHARD_1")); n != 0 || err != nil {
			t.Errorf("%d are left, %v", n, err)
		}
		cost("Count", heatsink.Cost{Requests: 1, ReadUnits: 0.5})
	})
}

// A write that is not repeatable ends with the first lost answer, and says that nobody knows. Errors have the key.
func TestLostAnswers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for _, repeatable := range []bool{true, false} {
			table, client := open(t, heatsink.Retry{})
			client.Decide(faulty.Script(faulty.LostAnswer))
			_, err := table.Update(context.Background(), item("a", "1"), repeatable, add)
			if _, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err); unknown == repeatable || (err == nil) != repeatable {
				t.Errorf("repeatable: %t, got %v", repeatable, err)
			}
			if sent := client.Count("UpdateItem"); sent == 1 == repeatable {
				t.Errorf("repeatable: %t, sent %d times", repeatable, sent)
			}
			failed, ok := errors.AsType[*heatsink.ShardError](err)
			if !repeatable && (!ok || failed.ShardKey != "a" || failed.Operation != "UpdateItem" || failed.Table != "items" ||
				failed.Attempts != 1 || !errors.Is(err, io.ErrUnexpectedEOF)) {
				t.Errorf("got %+v", err)
			}
		}
		table, client := open(t, heatsink.Retry{})
		client.Decide(faulty.Script(faulty.LostAnswer))
		err := table.Put(context.Background(), item("a", "1"), func(in *dynamodb.PutItemInput) {
			in.ConditionExpression = aws.String("attribute_not_exists(pk)")
		})
		if !errors.As(err, new(*heatsink.UnknownOutcomeError)) || !errors.As(err, new(*types.ConditionalCheckFailedException)) {
			t.Errorf("the condition failed because of the lost attempt: got %v", err)
		}
	})
}

// A query goes through all pages, also if some are throttled, and stops where the loop does. A server whose pages have no
// end is an error.
func TestQueryReadsAllPages(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		table, client := open(t, heatsink.Retry{})
		for i := range 10 {
			large := item("a", fmt.Sprint(i))
			large["body"] = text(strings.Repeat("x", 300_000)) // four to a page
			if err := table.Put(t.Context(), large, nil); err != nil {
				t.Fatal(err)
			}
		}
		client.Decide(faulty.Script(faulty.None, faulty.Throttled))
		n := 0
		for item, err := range table.Query(t.Context(), "a", of("a")) {
			if err != nil || item["sk"].(*types.AttributeValueMemberS).Value != fmt.Sprint(n) {
				t.Fatalf("got %v after %d items", err, n)
			}
			n++
		}
		if n != 10 || client.Count("Query") != 4 {
			t.Errorf("got %d items with %d requests, want 10 with 3 and one more", n, client.Count("Query"))
		}
		before := client.Count("Query")
		for range table.Query(t.Context(), "a", of("a")) {
			break
		}
		if sent := client.Count("Query") - before; sent != 1 {
			t.Errorf("%d requests for the first item, want one", sent)
		}
		if n, err := table.Count(t.Context(), "a", of("a")); n != 10 || err != nil {
			t.Errorf("counted %d, %v", n, err)
		}
		client.Decide(faulty.Script(faulty.None, faulty.Denied))
		if n, err := table.Count(t.Context(), "a", of("a")); n != 0 || !errors.As(err, new(*heatsink.ShardError)) {
			t.Errorf("a page is missing: counted %d, %v", n, err)
		}
		stuck, err := Open(endless{client}, table.options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stuck.Count(t.Context(), "a", of("a")); err == nil || !strings.Contains(err.Error(), "ends where it starts") {
			t.Errorf("pages without an end: got %v", err)
		}
	})
}

// A query costs the items that it reads, also those that its filter leaves out.
func TestFilteredItemsCost(t *testing.T) {
	table, _ := open(t, heatsink.Retry{})
	for i := range 10 {
		numbered := item("a", fmt.Sprint(i))
		numbered["body"] = text(fmt.Sprint(i))
		if err := table.Put(t.Context(), numbered, nil); err != nil {
			t.Fatal(err)
		}
	}
	var meter heatsink.Meter
	n, err := table.Count(heatsink.WithMeter(t.Context(), &meter), "a", func(in *dynamodb.QueryInput) {
		of("a")(in)
		in.FilterExpression = aws.String("body = :three")
		in.ExpressionAttributeValues[":three"] = text("3")
	})
	if n != 1 || err != nil || meter.Cost().Items != 10 {
		t.Errorf("counted %d, %v, at %+v, want 1 of 10 items", n, err, meter.Cost())
	}
}

// endless is a client whose pages all end at the same place.
type endless struct{ *faulty.Client }

func (e endless) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{LastEvaluatedKey: item("a", "1")}, nil
}

func TestOpenRefuses(t *testing.T) {
	_, client := open(t, heatsink.Retry{})
	for name, err := range map[string]error{
		"no client":         second(Open(nil, Options{Table: "items", PartitionKey: "pk"})),
		"negative attempts": second(Open(client, Options{Table: "items", PartitionKey: "pk", Retry: heatsink.Retry{Attempts: -1}})),
		"no budget":         second(Open(client, Options{Table: "items", PartitionKey: "pk", Retry: heatsink.Retry{Budget: math.NaN()}})),
	} {
		if !errors.Is(err, heatsink.ErrOptions) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A read of an item that several keys have tries another key when one is throttled, and says which it tried last.
func TestGetAny(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		table, client := open(t, heatsink.Retry{})
		if err := table.Put(t.Context(), item("b", "1"), nil); err != nil {
			t.Fatal(err)
		}
		keys := []string{"a", "b", "c"}
		next := func() func() heatsink.Item {
			n := -1
			return func() heatsink.Item { n++; return item(keys[min(n, 2)], "1") }
		}
		client.Decide(faulty.Script(faulty.Throttled))
		got, err := table.GetAny(t.Context(), next(), nil)
		if err != nil || table.name(got) != "b" {
			t.Errorf("got %v, %v, want the second key's item", got, err)
		}
		if asked := client.Keys("GetItem", "pk"); !slices.Equal(asked, []string{"a", "b"}) {
			t.Errorf("asked for %q, want a, then b", asked)
		}
		client.Decide(faulty.Script(faulty.Throttled, faulty.Denied))
		_, err = table.GetAny(t.Context(), next(), nil)
		if failed, ok := errors.AsType[*heatsink.ShardError](err); !ok || failed.ShardKey != "b" || failed.Attempts != 2 {
			t.Errorf("got %v, want an error of the key b", err)
		}
	})
}

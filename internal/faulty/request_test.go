package faulty_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/faulty"
)

// Requests are remembered as they were sent, in order, with their keys.
func TestRequests(t *testing.T) {
	ctx, client := t.Context(), faulty.On(t, onItems(t), faulty.Script(faulty.None, faulty.Throttled))
	key := item("pk", "b", "sk", "1")
	_ = put(ctx, client, "a", "1")
	_ = put(ctx, client, "b", "1")
	_, _ = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: new("items"), Key: key})
	_, _ = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: new("items"), Key: key})
	_, _ = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: new("items"), Key: key})
	key["pk"] = &types.AttributeValueMemberS{Value: "changed"}
	_, _ = client.Scan(ctx, &dynamodb.ScanInput{TableName: new("items")})
	if got := client.Keys("PutItem", "pk"); !slices.Equal(got, []string{"a", "b"}) || client.Wrong() != 1 {
		t.Errorf("put %q, %d went wrong", got, client.Wrong())
	}
	var got []string
	for _, r := range client.Requests() {
		got = append(got, r.Operation+" "+r.Key("pk"))
		if r.Done == (r.Fault == faulty.Throttled) || r.At.IsZero() || r.Key("no such") != "" {
			t.Errorf("got %+v", r)
		}
	}
	if want := []string{"PutItem a", "PutItem b", "GetItem b", "UpdateItem b", "DeleteItem b", "Scan "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A request is sent again with its context ended, with no fault, and without being counted.
func TestAgain(t *testing.T) {
	client := faulty.On(t, onItems(t), faulty.Always(faulty.LostRequest))
	ctx, cancel := context.WithCancel(t.Context())
	_ = put(ctx, client, "a", "1")
	cancel()
	for range 2 {
		if err := client.Requests()[0].Again(); err != nil {
			t.Error(err)
		}
	}
	if n := len(items(t, client.Direct)); n != 1 || client.Count("PutItem") != 1 {
		t.Errorf("%d items after %d requests", n, client.Count("PutItem"))
	}
}

// A transaction that is delivered twice has the same token, also if the SDK made it, and so happens once.
func TestTransactionsAgain(t *testing.T) {
	client := faulty.On(t, onItems(t), faulty.Script(faulty.LostAnswer))
	_, _ = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
		Update: &types.Update{
			TableName: new("items"), Key: item("pk", "a", "sk", "1"), UpdateExpression: new("ADD n :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
		},
	}}})
	if err := client.Requests()[0].Again(); err != nil {
		t.Error(err)
	}
	if got := items(t, client.Direct); len(got) != 1 || got[0]["n"].(*types.AttributeValueMemberN).Value != "1" {
		t.Errorf("got %v, want it to be counted once", got)
	}
}

package heatsink

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// The parts work in a transaction, and no edit can lead them astray.
func TestTransact(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}})
	for _, id := range []string{"update", "delete", "check"} {
		if _, err := orders.Put(ctx, ov("pk", "a", "sk", id, "n", 1)); err != nil {
			t.Fatal(err)
		}
	}
	var parts []types.TransactWriteItem
	add := func(part types.TransactWriteItem, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	nowhere := aws.String("nowhere")
	given := ov("pk", "a", "sk", "put", "n", 1)
	add(orders.TransactPut(ctx, given, func(p *types.Put) {
		p.TableName, p.Item["pk"] = nowhere, sv("b")
		p.ConditionExpression = aws.String("attribute_not_exists(sk)")
	}))
	add(orders.TransactUpdate(ctx, ov("pk", "a", "sk", "update"), func(u *types.Update) {
		u.TableName, u.Key = nowhere, nil
		u.UpdateExpression, u.ExpressionAttributeValues = aws.String("ADD n :n"), ov(":n", 1)
	}))
	add(orders.TransactDelete(ctx, ov("pk", "a", "sk", "delete"), func(d *types.Delete) { d.TableName, d.Key = nowhere, nil }))
	add(orders.TransactCheck(ctx, ov("pk", "a", "sk", "check"), func(c *types.ConditionCheck) {
		c.TableName, c.Key = nowhere, nil
		c.ConditionExpression = aws.String("attribute_exists(sk)")
	}))
	if _, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: parts}); err != nil {
		t.Fatal(err)
	}
	wantItem(t, "the caller's item", given, ov("pk", "a", "sk", "put", "n", 1))
	for id, n := range map[string]int{"put": 1, "update": 2, "check": 1} {
		got, err := orders.Get(ctx, ov("pk", "a", "sk", id))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		wantItem(t, id, got, ov("pk", "a", "sk", id, "n", n))
	}
	if _, err := orders.Get(ctx, ov("pk", "a", "sk", "delete")); err != ErrNotFound {
		t.Errorf("deleted: got %v, want ErrNotFound", err)
	}
}

func TestTransactScattered(t *testing.T) {
	ctx, like := t.Context(), ov("pk", "a", "sk", "1")
	for _, c := range []struct {
		name    string
		options Options
		want    error
	}{
		{"random", Options{Layout: layout.Layout{Shards: 2}}, ErrScattered},
		{"calculated, once unsharded", Options{Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}, Older: []layout.Layout{{}}}, ErrScattered},
		{"calculated", Options{Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}}, nil},
		{"one shard", Options{Layout: layout.Layout{Shards: 1}}, nil},
		{"not spread", Options{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := openItems(t, &dynamodb.Client{}, c.options)
			_, update := items.TransactUpdate(ctx, like)
			_, del := items.TransactDelete(ctx, like)
			_, check := items.TransactCheck(ctx, like)
			for _, err := range []error{update, del, check} {
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
			if _, err := items.TransactPut(ctx, like); err != nil {
				t.Errorf("put: got %v", err)
			}
		})
	}
	_, err := openItems(t, &dynamodb.Client{}, Options{Layout: layout.Layout{Shards: 2}}).TransactPut(ctx, like, func(p *types.Put) {
		p.ConditionExpression = aws.String("attribute_not_exists(sk)")
	})
	if !errors.Is(err, ErrScattered) {
		t.Errorf("conditional put: got %v, want ErrScattered", err)
	}
}

func TestTransactLists(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated}})
	put, err := users.TransactPut(ctx, ov("id", "u1", "pk", "ACTIVE", "sk", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := users.Put(ctx, ov("id", "u2", "pk", "ACTIVE", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	update, err := users.TransactUpdate(ctx, ov("id", "u2", "pk", "GONE"), func(u *types.Update) {
		u.UpdateExpression, u.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put, update}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Item{ov("id", "u1", "pk", "ACTIVE", "sk", "1"), ov("id", "u2", "pk", "GONE", "sk", "1", "n", 1)} {
		got, err := users.Get(ctx, Item{"id": want["id"]})
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "read", got, want)
	}
}

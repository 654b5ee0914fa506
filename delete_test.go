package heatsink

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

func TestDelete(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		missing error
	}{
		{"not spread", Options{}, nil},
		{"calculated", Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}}, nil},
		{"random", Options{Layout: layout.Layout{Shards: 8}}, ErrNotFound},
		{"random, once unsharded", Options{Layout: layout.Layout{Shards: 8}, Older: []layout.Layout{{}}}, ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, client := t.Context(), onItems(t)
			items := openItems(t, client, c.options)
			item := ov("pk", "a", "sk", "1", "n", 1)
			put, err := items.Put(ctx, item)
			if err != nil {
				t.Fatal(err)
			}
			w, err := items.Delete(ctx, ov("pk", "a", "sk", "1"), func(in *dynamodb.DeleteItemInput) {
				in.ReturnValues = types.ReturnValueAllOld
				in.TableName, in.Key = aws.String("nowhere"), nil
			})
			if err != nil || w.ShardKey != put.ShardKey || w.Shard != put.Shard {
				t.Fatalf("got %+v, %v, want shard %s", w, err, put.ShardKey)
			}
			wantItem(t, "deleted", w.Attributes, item)
			if n := len(everyItem(t, client, "items")); n != 0 {
				t.Errorf("%d items are left", n)
			}
			if _, err := items.Delete(ctx, ov("pk", "a", "sk", "1")); err != c.missing {
				t.Errorf("deleting it again: got %v, want %v", err, c.missing)
			}
		})
	}
}

func TestDeleteFromOlderLayout(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	if _, err := openItems(t, client, Options{}).Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, Older: []layout.Layout{{}}})
	if w, err := items.Delete(ctx, ov("pk", "a", "sk", "1")); err != nil || w.ShardKey != "a" || len(everyItem(t, client, "items")) != 0 {
		t.Errorf("got %+v, %v, want the unsharded item to be gone", w, err)
	}
}

func TestDeleteByIndex(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated}})
	if _, err := users.Put(ctx, ov("id", "u1", "pk", "ACTIVE", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	w, err := users.Delete(ctx, ov("id", "u1"), func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld })
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "deleted", w.Attributes, ov("id", "u1", "pk", "ACTIVE", "sk", "1"))
}

func TestDeleteAfterLostAnswer(t *testing.T) {
	ifThere := func(in *dynamodb.DeleteItemInput) { in.ConditionExpression = aws.String("attribute_exists(sk)") }
	old := func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld }
	for _, c := range []struct {
		name    string
		edit    func(*dynamodb.DeleteItemInput)
		unknown bool
	}{
		{"plain", func(*dynamodb.DeleteItemInput) {}, false},
		{"condition", ifThere, true}, // fails now because it had succeeded
		{"old item", old, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, client := context.Background(), onItems(t)
				if _, err := openItems(t, client, Options{}).Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
					t.Fatal(err)
				}
				_, err := openItems(t, faulty.On(t, client, faulty.Script(faulty.LostAnswer)), Options{}).Delete(ctx, ov("pk", "a", "sk", "1"), c.edit)
				if (err != nil) != c.unknown || errors.As(err, new(*UnknownOutcomeError)) != c.unknown {
					t.Errorf("got %v, want the outcome to be unknown: %t", err, c.unknown)
				}
			})
		})
	}
}

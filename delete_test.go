package heatsink

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
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
			bubble.Test(t, func(t *testing.T) {
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

// BatchDelete takes a request for 25 items where each is in one place, and says of which it does not know.
func TestBatchDelete(t *testing.T) {
	spread := layout.Layout{Shards: 10, Strategy: layout.Calculated}
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		client := faulty.On(t, engine, nil)
		views := openItems(t, client, Options{Layout: spread})
		if err := views.BatchPut(ctx, numberedItems(60)); err != nil {
			t.Fatal(err)
		}
		client.Decide(faulty.Script(faulty.Partly, faulty.Throttled, faulty.LostAnswer).Of("BatchWriteItem"))
		var meter Meter
		if err := views.BatchDelete(WithMeter(ctx, &meter), append(numberedItems(25), numberedItems(5)...)); err != nil {
			t.Fatal(err)
		}
		if left := len(everyItem(t, engine, "items")); left != 35 || meter.Cost().Requests != 4 || client.Count("DeleteItem") != 0 {
			t.Errorf("%d items left after %+v, want 35 after 4 requests", left, meter.Cost())
		}
		client.Decide(faulty.Always(faulty.LostAnswer))
		err := views.BatchDelete(ctx, numberedItems(26)[25:])
		failed, ok := err.(*BatchError)
		if !ok || failed.Operation != "BatchDelete" || !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		client.Decide(nil)
		likes := numberedItems(60)[26:]
		likes[3]["sk"] = nv(1)
		likes[5] = ov("pk", "VIEWS")
		err = views.BatchDelete(ctx, likes)
		if failed, ok := err.(*BatchError); !ok || len(failed.Failed) != 2 || failed.Failed[0].Position != 3 || failed.Failed[1].Position != 5 {
			t.Errorf("got %v, want 3 and 5 to fail", err)
		}
		if left := len(everyItem(t, engine, "items")); left != 2 {
			t.Errorf("%d items left, want the two whose keys were wrong", left)
		}
		if err := views.BatchDelete(ctx, nil); err != nil {
			t.Errorf("nothing: got %v", err)
		}
	})
}

// Items that have to be looked for fail one by one, and equal keys of a random layout take one copy each.
func TestBatchDeleteOneByOne(t *testing.T) {
	ctx, engine := t.Context(), onItems(t)
	client := faulty.On(t, engine, nil)
	views := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}})
	for _, n := range []string{"#SHARD_0", "#SHARD_2"} {
		load(t, engine, "items", []Item{ov("pk", "VIEWS"+n, "sk", "0000"), ov("pk", "VIEWS"+n, "sk", "0001")})
	}
	like := numberedItems(2)
	client.Decide(func(r faulty.Request) faulty.Fault {
		if in, ok := r.Input.(*dynamodb.DeleteItemInput); ok && attrText(in.Key, "sk") == "0001" {
			return faulty.Denied
		}
		return faulty.None
	})
	err := views.BatchDelete(ctx, []Item{like[0], like[1], like[0], like[0]})
	failed, ok := err.(*BatchError)
	if !ok || len(failed.Failed) != 2 || failed.Failed[0].Position != 1 || failed.Failed[1].Position != 3 || failed.Failed[1].Err != ErrNotFound {
		t.Errorf("got %v, want the second to be denied and the last not to be found", err)
	}
	if left := len(everyItem(t, engine, "items")); left != 2 {
		t.Errorf("%d items left, want two of the second", left)
	}
}

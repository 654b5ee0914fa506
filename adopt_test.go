package heatsink

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// bare is a calculated layout whose shard 0 is the bare key.
var bare = layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}

// adopted starts an engine with n unsharded items of key a and opens a collection on them, with a client that counts.
func adopted(t *testing.T, n int, options Options) (*dynamodb.Client, *faulty.Client, *Collection[Item]) {
	t.Helper()
	client := onItems(t)
	for i := range n {
		load(t, client, "items", []Item{ov("pk", "a", "sk", fmt.Sprint(i), "n", i)})
	}
	counted := faulty.On(t, client, nil)
	return client, counted, openItems(t, counted, options)
}

// What was written before the layout was adopted is found, changed and deleted where it is.
func TestBareZeroFindsUnshardedItems(t *testing.T) {
	ctx := t.Context()
	client, _, items := adopted(t, 20, Options{Layout: bare})
	for i := range 20 {
		like := ov("pk", "a", "sk", fmt.Sprint(i))
		got, err := items.Get(ctx, like)
		if err != nil {
			t.Fatalf("item %d: %v", i, err)
		}
		wantItem(t, "read", got, ov("pk", "a", "sk", fmt.Sprint(i), "n", i))

		_, err = items.Put(ctx, like, func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(sk)") })
		if exists := errors.As(err, new(*types.ConditionalCheckFailedException)); exists != (bare.Shard(fmt.Sprint(i)) == 0) || !exists && !errors.Is(err, ErrScattered) {
			t.Errorf("item %d: conditional put: got %v, want ErrScattered unless its shard is 0", i, err)
		}
		if w, err := items.Update(ctx, like, expression("SET n = :n", ":n", -1)); err != nil || w.ShardKey != "a" {
			t.Errorf("item %d: updated in %q, %v, want the bare key", i, w.ShardKey, err)
		}
	}
	if n := len(everyItem(t, client, "items")); n != 20 {
		t.Errorf("%d items after updates, want 20", n)
	}
	for i := range 20 {
		if w, err := items.Delete(ctx, ov("pk", "a", "sk", fmt.Sprint(i))); err != nil || w.ShardKey != "a" {
			t.Errorf("item %d: deleted in %q, %v, want the bare key", i, w.ShardKey, err)
		}
	}
	if n := len(everyItem(t, client, "items")); n != 0 {
		t.Errorf("%d items are left", n)
	}
}

// An item in its own shard costs one request, and one whose shard is 0 has one home.
func TestBareZeroCost(t *testing.T) {
	ctx := t.Context()
	_, counted, items := adopted(t, 0, Options{Layout: bare})
	for i := range 20 {
		id := fmt.Sprint(i)
		like := ov("pk", "a", "sk", id)
		if _, err := items.Put(ctx, like); err != nil {
			t.Fatal(err)
		}
		if _, err := items.Get(ctx, like); err != nil {
			t.Fatal(err)
		}
		keys, err := items.Locate(ctx, like)
		want := 2
		if bare.Shard(id) == 0 {
			want = 1
		}
		if err != nil || len(keys) != want {
			t.Errorf("item %d may be in %v, %v, want %d keys", i, keys, err, want)
		}
		_, err = items.TransactUpdate(ctx, like)
		if errors.Is(err, ErrScattered) != (want > 1) {
			t.Errorf("item %d has %d homes: in a transaction got %v", i, want, err)
		}
	}
	if gets, batches := counted.Count("GetItem"), counted.Count("BatchGetItem"); gets != 20 || batches != 0 {
		t.Errorf("20 items took %d GetItems and %d BatchGetItems, want 20 and 0", gets, batches)
	}
}

// Delete leaves no copy behind that was hidden by another, whatever hides it.
func TestDeleteEveryCopy(t *testing.T) {
	calculated := layout.Layout{Shards: 8, Strategy: layout.Calculated}
	id := movingID(t, 1, 8)
	for name, c := range map[string]struct {
		options Options
		before  []layout.Layout
	}{
		"bare zero": {Options{Layout: bare}, []layout.Layout{{}}},
		"older":     {Options{Layout: calculated, Older: []layout.Layout{{}, {Shards: 2, Strategy: layout.Calculated, Format: layout.SharpNumber()}}}, []layout.Layout{{}, {Shards: 2, Strategy: layout.Calculated, Format: layout.SharpNumber()}}},
		"widths":    {Options{Layout: calculated, Widths: &growing{width: layout.Width{Write: 8, Read: 8}}}, []layout.Layout{calculated.WithShards(1)}},
		"older bare zero": {
			Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.SharpNumber()}, Older: []layout.Layout{bare}},
			[]layout.Layout{{}, bare},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, client := t.Context(), onItems(t)
			items := openItems(t, client, c.options)
			for n, spread := range append(c.before, c.options.Layout) {
				if _, err := openItems(t, client, Options{Layout: spread}).Put(ctx, ov("pk", "a", "sk", id, "n", n)); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(everyItem(t, client, "items")); n != len(c.before)+1 {
				t.Fatalf("%d copies, want %d", n, len(c.before)+1)
			}
			var meter Meter
			w, err := items.Delete(WithMeter(ctx, &meter), ov("pk", "a", "sk", id), func(in *dynamodb.DeleteItemInput) {
				in.ConditionExpression, in.ExpressionAttributeValues = aws.String("n = :n"), ov(":n", len(c.before))
				in.ReturnValues = types.ReturnValueAllOld
			})
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "deleted", w.Attributes, ov("pk", "a", "sk", id, "n", len(c.before)))
			if left := everyItem(t, client, "items"); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
			if got := meter.Cost().WriteUnits; got != float64(len(c.before)+1) {
				t.Errorf("%v write units, want %d", got, len(c.before)+1)
			}
		})
	}
}

// Wherever a delete stops, what is read is the copy that counts, or nothing.
func TestDeleteStopsHalfway(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		id := movingID(t, 1, 8)
		for stop := range 3 {
			client := onItems(t)
			older := layout.Layout{Shards: 8, Strategy: layout.Calculated, Format: layout.SharpNumber()}
			options := Options{Layout: bare, Older: []layout.Layout{older}, Retry: Retry{Attempts: 1}}
			for n, spread := range []layout.Layout{{}, older, bare} {
				if _, err := openItems(t, client, Options{Layout: spread}).Put(ctx, ov("pk", "a", "sk", id, "n", n)); err != nil {
					t.Fatal(err)
				}
			}
			deletes := 0
			items := openItems(t, faulty.On(t, client, func(r faulty.Request) faulty.Fault {
				if r.Operation == "DeleteItem" {
					if deletes++; deletes > stop {
						return faulty.LostRequest
					}
				}
				return faulty.None
			}), options)
			if _, err := items.Delete(ctx, ov("pk", "a", "sk", id)); err == nil {
				t.Fatal("the delete was to fail")
			}
			got, err := openItems(t, client, options).Get(ctx, ov("pk", "a", "sk", id))
			if err != nil || attrText(got, "n") != "2" {
				t.Errorf("after %d deletes: got %s, %v, want the copy that counted all along", stop, showItem(got), err)
			}
			if left := len(everyItem(t, client, "items")); left != 3-stop {
				t.Errorf("after %d deletes %d copies are left", stop, left)
			}
		}
	})
}

// Items that have the same key and are told apart by what their shard is calculated from are not each other's copies.
func TestDeleteLeavesOtherParts(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Layout: bare, ShardBy: []string{"part"}})
	var own, zero string // one that is in a shard of its own, and one in shard 0, which has the bare key
	for i := 0; own == "" || zero == ""; i++ {
		if id := fmt.Sprint(i); bare.Shard(id) == 0 {
			zero = id
		} else {
			own = id
		}
	}
	for _, part := range []string{own, zero} {
		if _, err := items.Put(ctx, ov("pk", "a", "sk", "1", "part", part)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := items.Delete(ctx, ov("pk", "a", "sk", "1", "part", own)); err != nil {
		t.Fatal(err)
	}
	if got, err := items.Get(ctx, ov("pk", "a", "sk", "1", "part", own)); err != ErrNotFound {
		t.Errorf("got %s, %v, want ErrNotFound: the other part has another id", showItem(got), err)
	}
	if _, err := items.Update(ctx, ov("pk", "a", "sk", "1", "part", own), expression("SET n = :n", ":n", 1)); err != nil {
		t.Fatal(err)
	}
	if got, err := items.Get(ctx, ov("pk", "a", "sk", "1", "part", zero)); err != nil || got["n"] != nil {
		t.Errorf("got %s, %v, want the other part as it was", showItem(got), err)
	}
}

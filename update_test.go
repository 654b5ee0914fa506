package heatsink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

func TestIdempotent(t *testing.T) {
	if !idempotent(&dynamodb.UpdateItemInput{AttributeUpdates: map[string]types.AttributeValueUpdate{"a": {Action: types.AttributeActionPut}}}) ||
		idempotent(&dynamodb.UpdateItemInput{AttributeUpdates: map[string]types.AttributeValueUpdate{"a": {Action: types.AttributeActionAdd}}}) {
		t.Error("of AttributeUpdates, PUT is idempotent and ADD is not")
	}
}

// expression returns an edit that sets an update expression with numbers for its values.
func expression(text string, values ...any) func(*dynamodb.UpdateItemInput) {
	return func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = &text
		if len(values) > 0 {
			in.ExpressionAttributeValues = ov(values...)
		}
	}
}

// 003-10, X03, X23: a counter over ten shards: increments at random add up, and shards nobody wrote to are 0.
func TestCounterOfShards(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	spread := layout.Layout{Shards: 10, Strategy: layout.Calculated, Format: layout.SharpNumber()}
	views := openItems(t, client, Options{Layout: spread, ShardBy: []string{"writer"}})
	const writers, each = 7, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				like := ov("pk", "COUNTER#VIEWS", "sk", "COUNT", "writer", fmt.Sprint("w", w))
				if _, err := views.Update(ctx, like, expression("ADD n :one", ":one", 1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	total, shards := 0, 0
	for shard := range spread.Shards {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String("items"), ConsistentRead: aws.Bool(true),
			Key: ov("pk", fmt.Sprintf("COUNTER#VIEWS#SHARD#%d", shard), "sk", "COUNT"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Item != nil {
			shards++
			n, _ := strconv.Atoi(attrText(out.Item, "n"))
			total += n
		}
	}
	if total != writers*each || shards < 2 || shards > writers {
		t.Errorf("%d shards count %d, want %d in several", shards, total, writers*each)
	}
}

func TestUpdateReturns(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	w, err := orders.Update(ctx, ov("pk", "a", "sk", "1"), expression("SET n = :n", ":n", 5), func(in *dynamodb.UpdateItemInput) {
		in.ReturnValues = types.ReturnValueAllNew
		in.TableName, in.Key = aws.String("nowhere"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "new", w.Attributes, ov("pk", "a", "sk", "1", "n", 5))
	if want := fmt.Sprintf("a#SHARD_%d", w.Shard); w.ShardKey != want {
		t.Errorf("got %s, want %s", w.ShardKey, want)
	}
	got, err := w.Decode()
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "decoded", got, w.Attributes)
}

// An update whose answer was lost is repeated only if it may happen twice.
func TestUpdateAfterLostAnswer(t *testing.T) {
	old := func(in *dynamodb.UpdateItemInput) { in.ReturnValues = types.ReturnValueUpdatedOld }
	ifNew := func(in *dynamodb.UpdateItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(n)") }
	for _, c := range []struct {
		name     string
		edits    []func(*dynamodb.UpdateItemInput)
		fault    faulty.Fault
		unknown  bool
		requests int
		want     string
	}{
		{"set", []func(*dynamodb.UpdateItemInput){expression("SET n = :n", ":n", 1)}, faulty.LostAnswer, false, 2, "1"},
		{"add", []func(*dynamodb.UpdateItemInput){expression("ADD n :n", ":n", 1)}, faulty.LostAnswer, true, 1, "1"},
		{"add that never arrived", []func(*dynamodb.UpdateItemInput){expression("ADD n :n", ":n", 1)}, faulty.Unreached, false, 2, "1"},
		{"add that was throttled", []func(*dynamodb.UpdateItemInput){expression("ADD n :n", ":n", 1)}, faulty.Throttled, false, 2, "1"},
		{"set and old values", []func(*dynamodb.UpdateItemInput){expression("SET n = :n", ":n", 1), old}, faulty.BrokeDown, true, 1, "1"},
		{"set if new", []func(*dynamodb.UpdateItemInput){expression("SET n = :n", ":n", 1), ifNew}, faulty.LostAnswer, true, 2, "1"},
		{"set if new that was lost", []func(*dynamodb.UpdateItemInput){expression("SET n = :n", ":n", 1), ifNew}, faulty.LostRequest, false, 2, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := onItems(t)
				faults := faulty.On(t, client, faulty.Script(c.fault))
				orders := openItems(t, faults, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
				_, err := orders.Update(context.Background(), ov("pk", "a", "sk", "1"), c.edits...)
				if (err != nil) != c.unknown || errors.As(err, new(*UnknownOutcomeError)) != c.unknown || faults.Count("UpdateItem") != c.requests {
					t.Errorf("got %v after %d requests, want the outcome to be unknown: %t, after %d", err, faults.Count("UpdateItem"), c.unknown, c.requests)
				}
				if err != nil && !errors.As(err, new(*ShardError)) {
					t.Errorf("got %T, want a ShardError", err)
				}
				if got := attrText(everyItem(t, client, "items")[0], "n"); got != c.want {
					t.Errorf("n is %s, want %s", got, c.want)
				}
			})
		})
	}
}

// Of a random layout an item is looked for, changed where it is, and never created.
func TestUpdateRandom(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	counting := faulty.On(t, client, nil)
	views := openItems(t, counting, Options{Layout: layout.Layout{Shards: 250}})
	w, err := views.Put(ctx, ov("pk", "a", "sk", "1", "n", 1))
	if err != nil {
		t.Fatal(err)
	}
	u, err := views.Update(ctx, ov("pk", "a", "sk", "1"), expression("ADD n :one", ":one", 1), func(in *dynamodb.UpdateItemInput) {
		in.ConditionExpression = aws.String("n < :two OR n > :two")
		in.ExpressionAttributeValues[":two"] = nv(2)
	})
	if err != nil || u.ShardKey != w.ShardKey || u.Shard != w.Shard || counting.Count("BatchGetItem") != 3 {
		t.Errorf("got %+v, %v after %d reads, want shard %d after 3", u, err, counting.Count("BatchGetItem"), w.Shard)
	}
	_, err = views.Update(ctx, ov("pk", "a", "sk", "1"), expression("ADD n :one", ":one", 1), func(in *dynamodb.UpdateItemInput) {
		in.ConditionExpression = aws.String("n < :one")
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok || failed.Item != nil {
		t.Errorf("got %v, want the caller's condition to fail", err)
	}
	if _, err := views.Update(ctx, ov("pk", "a", "sk", "2"), expression("ADD n :one", ":one", 1)); err != ErrNotFound {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	// Deleted between the look and the update, it is not created again.
	vanishing := openItems(t, &deleting{Client: client, t: t}, Options{Layout: layout.Layout{Shards: 4}})
	if _, err := vanishing.Put(ctx, ov("pk", "b", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	if _, err := vanishing.Update(ctx, ov("pk", "b", "sk", "1"), expression("SET n = :one", ":one", 1)); err != ErrNotFound {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	watched := &consistent{Client: client}
	if _, err := openItems(t, watched, Options{Layout: layout.Layout{Shards: 4}}).Update(ctx, ov("pk", "a", "sk", "2")); err != ErrNotFound || !watched.was {
		t.Errorf("got %v, looked for with consistent reads: %t", err, watched.was)
	}
	items := everyItem(t, client, "items")
	if len(items) != 1 || attrText(items[0], "n") != "2" {
		t.Errorf("got %d items, %v, want one with n = 2", len(items), items)
	}
}

// If the answer was lost before the item vanished, the update may have happened: that it is not found is no answer.
func TestUpdateRandomAfterLostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		if _, err := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}}).Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
			t.Fatal(err)
		}
		requests := 0
		faults := faulty.On(t, client, faulty.Decide(func(r faulty.Request) faulty.Fault {
			if requests++; requests == 1 {
				return faulty.LostRequest
			}
			key := r.Input.(*dynamodb.UpdateItemInput).Key
			if _, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: key}); err != nil {
				t.Error(err)
			}
			return faulty.None
		}).Of("UpdateItem"))
		_, err := openItems(t, faults, Options{Layout: layout.Layout{Shards: 4}}).Update(ctx, ov("pk", "a", "sk", "1"), expression("SET n = :n", ":n", 1))
		if !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
	})
}

// consistent is a client that finds out whether batches are read consistently.
type consistent struct {
	Client
	was bool
}

func (c *consistent) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	c.was = aws.ToBool(in.RequestItems["items"].ConsistentRead)
	return c.Client.BatchGetItem(ctx, in, opts...)
}

// deleting is a client that deletes an item just before it is updated.
type deleting struct {
	Client
	t *testing.T
}

func (d *deleting) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if _, err := d.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: in.TableName, Key: in.Key}); err != nil {
		d.t.Error(err)
	}
	return d.Client.UpdateItem(ctx, in, opts...)
}

// While a calculated layout grows, an item is changed where it was put, and a new one created where it belongs now.
func TestUpdateGrown(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	widths := &growing{width: layout.Width{Write: 1, Read: 1}}
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 1, Strategy: layout.Calculated}, Widths: widths})
	for i := range 20 {
		if _, err := orders.Put(ctx, ov("pk", "a", "sk", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	widths.set(layout.Width{Write: 8, Read: 8})
	for i := range 40 {
		w, err := orders.Update(ctx, ov("pk", "a", "sk", fmt.Sprint(i)), expression("SET n = :n", ":n", i))
		if err != nil {
			t.Fatal(err)
		}
		want := layout.Layout{Shards: 8, Strategy: layout.Calculated}.Shard(fmt.Sprint(i))
		if i < 20 {
			want = 0
		}
		if w.Shard != want {
			t.Errorf("item %d was updated in shard %d, want %d", i, w.Shard, want)
		}
	}
	if n := len(everyItem(t, client, "items")); n != 40 {
		t.Errorf("got %d items, want 40", n)
	}
}

// 003-11: an update keeps an item listed where it belongs, whatever the expression, or leaves the listing alone.
func TestUpdateListsInIndex(t *testing.T) {
	for _, number := range []bool{false, true} {
		t.Run(fmt.Sprintf("number %t", number), func(t *testing.T) {
			ctx, client := t.Context(), onItems(t, byIndex(number))
			options := Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated, Format: layout.SharpNumber()}}
			if number {
				options.Index.ShardAttribute = "shard"
			}
			users := openItems(t, client, options)
			if _, err := users.Put(ctx, ov("id", "u7", "pk", "STATUS#ACTIVE", "sk", "2026", "n", 1)); err != nil {
				t.Fatal(err)
			}
			shard := options.Layout.Shard("u7")
			check := func(what, status string, n int) {
				t.Helper()
				want := ov("id", "u7", "pk", fmt.Sprintf("%s#SHARD#%d", status, shard), "sk", "2026", "n", n)
				if number {
					want = ov("id", "u7", "pk", status, "sk", "2026", "n", n, "shard", shard)
				}
				wantItem(t, what, everyItem(t, client, "items")[0], want)
			}
			if _, err := users.Update(ctx, ov("id", "u7"), expression("SET n = :n", ":n", 2)); err != nil {
				t.Fatal(err)
			}
			check("no key", "STATUS#ACTIVE", 2)
			like := ov("id", "u7", "pk", "STATUS#GONE")
			w, err := users.Update(ctx, like, expression("ADD n :n", ":n", 1), func(in *dynamodb.UpdateItemInput) { in.ReturnValues = types.ReturnValueAllNew })
			if err != nil {
				t.Fatal(err)
			}
			check("add", "STATUS#GONE", 3)
			wantItem(t, "returned", w.Attributes, ov("id", "u7", "pk", "STATUS#GONE", "sk", "2026", "n", 3))
			values := ov(":n", 4)
			if _, err := users.Update(ctx, ov("id", "u7", "pk", "STATUS#BACK"), func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET #n = :n"), values
				in.ExpressionAttributeNames = map[string]string{"#n": "n"}
			}); err != nil {
				t.Fatal(err)
			}
			check("set", "STATUS#BACK", 4)
			wantItem(t, "the caller's values", values, ov(":n", 4))
			if _, err := users.Update(ctx, ov("id", "u7", "pk", "STATUS#ALONE")); err != nil {
				t.Fatal(err)
			}
			check("no expression", "STATUS#ALONE", 4)
			for _, edit := range []func(*dynamodb.UpdateItemInput){
				func(in *dynamodb.UpdateItemInput) { in.ExpressionAttributeNames = map[string]string{"#hs_x": "n"} },
				func(in *dynamodb.UpdateItemInput) { in.ExpressionAttributeValues = ov(":hs_x", 1) },
			} {
				if _, err := users.Update(ctx, like, edit); err == nil {
					t.Error("a placeholder of heatsink's own was accepted")
				}
			}
		})
	}
}

// A struct whose logical key was not set leaves the listing as it is.
func TestUpdateEmptyIndexKey(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated}})
	if _, err := users.Put(ctx, ov("id", "u1", "pk", "ACTIVE", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	for n, key := range []types.AttributeValue{sv(""), &types.AttributeValueMemberNULL{Value: true}} {
		like := ov("id", "u1", "pk", key, "sk", "")
		if _, err := users.Update(ctx, like, expression("SET n = :n", ":n", n)); err != nil {
			t.Fatal(err)
		}
		if part, err := users.TransactUpdate(ctx, like); err != nil || part.Update.UpdateExpression != nil {
			t.Errorf("in a transaction: got %+v, %v, want no listing", part.Update, err)
		}
		got, err := users.Get(ctx, like)
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "read", got, ov("id", "u1", "pk", "ACTIVE", "sk", "1", "n", n))
	}
}

// What heatsink has to add to an update of a random layout can only be said in expressions.
func TestUpdateRandomRefusesOldParameters(t *testing.T) {
	ctx, views := t.Context(), openItems(t, onItems(t), Options{Layout: layout.Layout{Shards: 4}})
	if _, err := views.Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	_, err := views.Update(ctx, ov("pk", "a", "sk", "1"), func(in *dynamodb.UpdateItemInput) {
		in.AttributeUpdates = map[string]types.AttributeValueUpdate{"n": {Value: nv(1)}}
	})
	if !errors.Is(err, ErrScattered) {
		t.Errorf("got %v, want ErrScattered", err)
	}
}

// The engine has no AttributeUpdates, so this looks at the request.
func TestUpdateListsWithAttributeUpdates(t *testing.T) {
	given := map[string]types.AttributeValueUpdate{"n": {Value: nv(5)}}
	in := &dynamodb.UpdateItemInput{AttributeUpdates: given}
	if err := setListing(in, ov("pk", "a#SHARD_1")); err != nil {
		t.Fatal(err)
	}
	added := in.AttributeUpdates["pk"]
	if len(given) != 1 || len(in.AttributeUpdates) != 2 || in.UpdateExpression != nil || added.Action != types.AttributeActionPut {
		t.Errorf("got %+v, want another AttributeUpdate and the caller's untouched", in)
	}
}

// 003-11: what Put and Update have listed, the gather over the index returns, all of it.
func TestIndexReturnsAll(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated, Format: layout.SharpNumber()}})
	for i := range 60 {
		status := []string{"ACTIVE", "GONE"}[i%2]
		if _, err := users.Put(ctx, ov("id", fmt.Sprint("u", i), "pk", status, "sk", fmt.Sprintf("%03d", i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < 20; i += 2 { // ten come back
		if _, err := users.Update(ctx, ov("id", fmt.Sprint("u", i), "pk", "ACTIVE")); err != nil {
			t.Fatal(err)
		}
	}
	n, last := 0, ""
	for user, err := range users.Query(ctx, Query{Key: "ACTIVE"}) {
		if err != nil {
			t.Fatal(err)
		}
		if sk := attrText(user, "sk"); attrText(user, "pk") != "ACTIVE" || sk <= last {
			t.Errorf("got %s after %s", showItem(user), last)
		}
		last = attrText(user, "sk")
		n++
	}
	if n != 40 {
		t.Errorf("got %d active users, want 40", n)
	}
}

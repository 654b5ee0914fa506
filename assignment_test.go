package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
)

// An update that changes what the item's place is worked out from is refused, unless item and place agree afterwards.
func TestUpdateKeepsPlace(t *testing.T) {
	byUser := Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"user"}}
	olderByUser := Options{Older: []layout.Layout{byUser.Layout}, ShardBy: []string{"user"}}
	byDay := Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "seen"}}
	index := Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated, Bucket: layout.Day}, ShardBy: []string{"user"}, EventTime: EventTime{Attribute: "seen"}}
	number := Options{Index: Index{Name: "listing", ShardAttribute: "shard"}, Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}}
	morning, evening, tomorrow := "2026-06-22T08:00:00Z", "2026-06-22T20:00:00Z", "2026-06-23T08:00:00Z"
	like := ov("pk", "k", "sk", "1", "id", "i1", "user", "u1", "seen", morning)
	unlisted := ov("id", "i1")
	for _, c := range []struct {
		name       string
		options    Options
		like       Item
		expression string
		names      map[string]string
		values     Item
		refused    string // the attribute, "": it is accepted
	}{
		{"another user", byUser, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u2"), "user"},
		{"the same user", byUser, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u1"), ""},
		{"the same user if new", byUser, like, "SET #u = if_not_exists(#u, :v)", map[string]string{"#u": "user"}, ov(":v", "u1"), ""},
		{"another user if new", byUser, like, "SET #u = if_not_exists(#u, :v)", map[string]string{"#u": "user"}, ov(":v", "u2"), "user"},
		{"user from another attribute", byUser, like, "SET #u = sk", map[string]string{"#u": "user"}, nil, "user"},
		{"no user", byUser, like, "REMOVE #u SET n = :v", map[string]string{"#u": "user"}, ov(":v", 1), "user"},
		{"added user", byUser, like, "SET n = :v ADD #u :v", map[string]string{"#u": "user"}, ov(":v", 1), "user"},
		{"inside the user", byUser, like, "SET n = :v, #u.first = :v", map[string]string{"#u": "user"}, ov(":v", 1), "user"},
		{"something else", byUser, like, "SET n = :v", nil, ov(":v", "u2"), ""},
		{"user of an older layout", olderByUser, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u2"), "user"},
		{"user of a random layout", Options{Layout: layout.Layout{Shards: 8}, ShardBy: []string{"user"}}, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u2"), ""},
		{"user of one shard", Options{Layout: layout.Layout{Shards: 1, Strategy: layout.Calculated}, ShardBy: []string{"user"}}, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u2"), ""},
		{"user of widths", Options{Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 1, Read: 4}, ShardBy: []string{"user"}}, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u2"), "user"},

		{"another day", byDay, like, "SET seen = :v", nil, ov(":v", tomorrow), "seen"},
		{"later that day", byDay, like, "SET seen = :v", nil, ov(":v", evening), ""},
		{"no time", byDay, like, "REMOVE seen", nil, nil, "seen"},
		{"a text that is no time", byDay, like, "SET seen = :v", nil, ov(":v", "soon"), "seen"},
		{"another day without buckets", Options{EventTime: EventTime{Attribute: "seen"}}, like, "SET seen = :v", nil, ov(":v", tomorrow), ""},

		{"index: another key", index, like, "SET pk = :v", nil, ov(":v", "other"), "pk"},
		{"index: another key, unlisted", index, unlisted, "SET pk = :v", nil, ov(":v", "other"), "pk"},
		{"index: off the list", index, unlisted, "REMOVE pk, seen", nil, nil, ""},
		{"index: off the list although like is on it", index, like, "REMOVE pk", nil, nil, "pk"},
		{"index: another day", index, like, "SET seen = :v", nil, ov(":v", tomorrow), "seen"},
		{"index: the same time", index, like, "SET seen = :v", nil, ov(":v", morning), ""},
		{"index: a time, unlisted", index, unlisted, "SET seen = :v", nil, ov(":v", morning), "seen"},
		{"index: the same time if new", index, like, "SET seen = if_not_exists(seen, :v)", nil, ov(":v", morning), "seen"},
		{"index: another user", index, like, "SET #u = :v", map[string]string{"#u": "user"}, ov(":v", "u2"), "user"},
		{"index: no sort key", index, like, "REMOVE sk", nil, nil, "sk"},
		{"index: another sort key", index, like, "SET sk = :v", nil, ov(":v", "2"), ""},
		{"index: shard", number, like, "SET #s = :v", map[string]string{"#s": "shard"}, ov(":v", 3), "shard"},
		{"index: no shard", number, unlisted, "REMOVE #s", map[string]string{"#s": "shard"}, nil, "shard"},
		{"index: neither shard nor key", number, unlisted, "REMOVE #s, pk", map[string]string{"#s": "shard"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var edits []func(*dynamodb.CreateTableInput)
			if c.options.Index.Name != "" {
				edits = append(edits, byIndex(c.options.Index.ShardAttribute != ""))
			}
			ctx, client := t.Context(), onItems(t, edits...)
			items := openItems(t, client, c.options)
			if _, err := items.Put(ctx, like); err != nil {
				t.Fatal(err)
			}
			before := everyItem(t, client, "items")
			_, err := items.Update(ctx, c.like, func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = &c.expression, c.names, c.values
			})
			_, part := items.TransactUpdate(ctx, c.like, func(u *types.Update) {
				u.UpdateExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues = &c.expression, c.names, c.values
			})
			if c.refused == "" {
				if err != nil || part != nil && !errors.Is(part, ErrScattered) {
					t.Errorf("got %v and in a transaction %v, want no error", err, part)
				}
				return
			}
			if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), fmt.Sprintf("%q", c.refused)) || !strings.Contains(err.Error(), "like") {
				t.Errorf("got %v, want an ErrItem that names %s and says what to do", err, c.refused)
			}
			if !errors.Is(part, ErrItem) && !errors.Is(part, ErrScattered) {
				t.Errorf("in a transaction: got %v", part)
			}
			after := everyItem(t, client, "items")
			wantItem(t, "stored", after[0], before[0])
		})
	}
}

// AttributeUpdates, which are an older way to say it, are no way around.
func TestLegacyUpdateKeepsPlace(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"user"}})
	like := ov("pk", "k", "sk", "1", "user", "u1")
	if _, err := items.Put(ctx, like); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		types.AttributeValueUpdate
		ok bool
	}{
		"put":          {types.AttributeValueUpdate{Action: types.AttributeActionPut, Value: sv("u2")}, false},
		"by default":   {types.AttributeValueUpdate{Value: sv("u2")}, false},
		"put the same": {types.AttributeValueUpdate{Action: types.AttributeActionPut, Value: sv("u1")}, true},
		"remove":       {types.AttributeValueUpdate{Action: types.AttributeActionDelete}, false},
		"delete":       {types.AttributeValueUpdate{Action: types.AttributeActionDelete, Value: &types.AttributeValueMemberSS{Value: []string{"x"}}}, false},
		"add":          {types.AttributeValueUpdate{Action: types.AttributeActionAdd, Value: nv(1)}, false},
	} {
		_, err := items.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
			in.AttributeUpdates = map[string]types.AttributeValueUpdate{"user": c.AttributeValueUpdate, "n": {Value: nv(1)}}
		})
		if errors.Is(err, ErrItem) == c.ok {
			t.Errorf("%s: got %v, want it to be accepted: %t", name, err, c.ok)
		}
	}
}

// An update of a listed item lists it in the bucket of like, and gives it like's time: it never says another one than its bucket.
func TestUpdateListsTime(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	items := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: layout.Day}, EventTime: EventTime{Attribute: "seen"}})
	if _, err := items.Put(ctx, ov("id", "i", "pk", "k", "sk", "1", "seen", "2026-02-27T08:00:00Z")); err != nil {
		t.Fatal(err)
	}
	if _, err := items.Update(ctx, ov("id", "i", "pk", "k", "seen", "2026-02-28T08:00:00Z"), expression("SET n = :n", ":n", 1)); err != nil {
		t.Fatal(err)
	}
	for day, want := range []int{0, 1} {
		from := firstDay.AddDate(0, 0, day)
		got, err := all(ctx, items, Query{Key: "k", From: from.Add(time.Hour), To: from.Add(23 * time.Hour)}, "id")
		if err != nil || len(got) != want {
			t.Errorf("day %d: got %v, %v, want %d items", day, got, err, want)
		}
	}
}

// Whatever update is accepted, by heatsink and by DynamoDB: afterwards the item is found by what it says of itself, by Get and
// by Query.
func TestUpdatedItemsAreFound(t *testing.T) {
	shapes := map[string]Options{
		"calculated": {Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"user"}},
		"growing":    {Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 4, Read: 8}, ShardBy: []string{"user"}},
		"bare":       {Layout: bare, ShardBy: []string{"user"}},
		"by day":     {Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Bucket: layout.Day}, EventTime: EventTime{Attribute: "seen"}},
		"random":     {Layout: layout.Layout{Shards: 4, Bucket: layout.Day}, EventTime: EventTime{Attribute: "seen"}},
		"index":      {Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated, Bucket: layout.Day}, ShardBy: []string{"user"}, EventTime: EventTime{Attribute: "seen"}},
		"number":     {Index: Index{Name: "listing", ShardAttribute: "shard"}, Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"user"}},
	}
	accepted, tried := 0, 0
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(name, func(t *testing.T) {
			options := shapes[name]
			var edits []func(*dynamodb.CreateTableInput)
			if options.Index.Name != "" {
				edits = append(edits, byIndex(options.Index.ShardAttribute != ""))
			}
			ctx, client := context.Background(), onItems(t, edits...)
			items := openItems(t, client, options)
			run := 0
			rapid.Check(t, func(t *rapid.T) {
				run++
				like := ov("pk", fmt.Sprint("k", run), "sk", "1", "id", fmt.Sprint("i", run), "user", "u1", "seen", "2026-02-27T08:00:00Z")
				if _, err := items.Put(ctx, like); err != nil {
					t.Fatal(err)
				}
				if options.Index.Name != "" && rapid.Bool().Draw(t, "unlisted") {
					delete(like, "pk")
				} else if rapid.IntRange(0, 3).Draw(t, "other time") == 0 && options.Index.Name != "" {
					like["seen"] = sv("2026-02-28T08:00:00Z")
				}
				expression := drawExpression(t)
				tried++
				_, err := items.Update(ctx, like, func(in *dynamodb.UpdateItemInput) {
					in.UpdateExpression = &expression
					in.ExpressionAttributeNames = map[string]string{}
					for alias, name := range map[string]string{"#u": "user", "#a": "seen", "#p": "pk", "#s": "shard", "#k": "sk", "#n": "n"} {
						if strings.Contains(expression, alias) {
							in.ExpressionAttributeNames[alias] = name
						}
					}
					if len(in.ExpressionAttributeNames) == 0 {
						in.ExpressionAttributeNames = nil
					}
					for name, v := range ov(":u1", "u1", ":u2", "u2", ":t1", "2026-02-27T08:00:00Z", ":t2", "2026-02-27T09:00:00Z", ":t3", "2026-02-28T08:00:00Z", ":n", 1) {
						if strings.Contains(expression, name) {
							if in.ExpressionAttributeValues == nil {
								in.ExpressionAttributeValues = Item{}
							}
							in.ExpressionAttributeValues[name] = v
						}
					}
				})
				if err != nil {
					return
				}
				accepted++
				isFound(t, ctx, client, items, run)
			})
		})
	}
	t.Logf("%d of %d updates were accepted", accepted, tried)
	if accepted*10 < tried {
		t.Errorf("only %d of %d updates were accepted: the test says little", accepted, tried)
	}
}

// found fails unless the item of a run is found by what is stored.
func isFound(t *rapid.T, ctx context.Context, client *dynamodb.Client, items *Collection[Item], run int) {
	o := items.core.options
	scan, err := client.Scan(ctx, &dynamodb.ScanInput{
		TableName: aws.String("items"), ConsistentRead: aws.Bool(true),
		FilterExpression: aws.String("id = :id"), ExpressionAttributeValues: ov(":id", fmt.Sprint("i", run)),
	})
	if err != nil || len(scan.Items) != 1 {
		t.Fatalf("%d items, %v, want 1", len(scan.Items), err)
	}
	self, place, err := items.Decode(scan.Items[0])
	if err != nil {
		t.Fatalf("decode %s: %v", showItem(scan.Items[0]), err)
	}
	if _, err := items.Get(ctx, self); err != nil {
		t.Fatalf("get %s, stored as %s: %v", showItem(self), showItem(scan.Items[0]), err)
	}
	if o.Index.Name != "" && self["pk"] == nil {
		return // taken off the list
	}
	q := Query{Key: place.Key}
	if o.Layout.Bucket != layout.NoBucket {
		at, err := o.EventTime.placed().Of(self)
		if err != nil {
			t.Fatal(err)
		}
		q.From, q.To = at, at.Add(time.Second)
	}
	for range items.Query(ctx, q) {
		return
	}
	t.Fatalf("a query does not list %s, stored as %s", showItem(self), showItem(scan.Items[0]))
}

// drawExpression draws an update expression that DynamoDB may accept.
func drawExpression(t *rapid.T) string {
	path := rapid.SampledFrom([]string{"#u", "#a", "seen", "#p", "pk", "#s", "#k", "sk", "#n", "n", "n", "n", "m", "x.y", "l[0]"})
	path = rapid.OneOf(path, rapid.Just("n"), rapid.SampledFrom([]string{"n", "m", "#n"}))
	value := rapid.SampledFrom([]string{":u1", ":u2", ":t1", ":t2", ":t3", ":n", "(:u1)", "#u", "sk"})
	pair := rapid.SampledFrom([]string{"#u = :u1", "#a = :t1", "seen = :t2", "#u = if_not_exists(#u, :u1)", "seen = if_not_exists(#a, :t1)", "n = if_not_exists(n, :n) + :n"})
	var clauses []string
	for _, clause := range rapid.Permutation([]string{"SET", "REMOVE", "ADD", "DELETE"}).Draw(t, "order")[:rapid.IntRange(1, 2).Draw(t, "clauses")] {
		var parts []string
		for range rapid.IntRange(1, 2).Draw(t, "parts") {
			p := path.Draw(t, "path")
			switch {
			case clause == "SET" && rapid.Bool().Draw(t, "likely"):
				p = pair.Draw(t, "pair")
			case clause == "SET":
				p += " = " + value.Draw(t, "value")
			case clause == "ADD" || clause == "DELETE":
				p += " :n"
			}
			parts = append(parts, p)
		}
		clauses = append(clauses, clause+" "+strings.Join(parts, ", "))
	}
	return strings.Join(clauses, " ")
}

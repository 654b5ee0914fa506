package heatsink

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// beyond returns an id that a layout of 16 has in a shard which one of 4 does not have, and that shard.
func beyond(t *testing.T) (id string, shard int) {
	t.Helper()
	for i := range 1000 {
		id = fmt.Sprint("u", i)
		if shard = (layout.Layout{Shards: 16, Strategy: layout.Calculated}).Shard(id); shard >= 4 {
			return id, shard
		}
	}
	t.Fatal("no id is beyond")
	return "", 0
}

// An item in a shard that the collection does not read is returned, together with an error that says so.
func TestDecodeTooNarrow(t *testing.T) {
	day := EventTime{Attribute: "at"}
	for _, c := range []struct {
		name    string
		options Options
		stored  Item
		place   layout.Place
		wide    bool // enough
	}{
		{"shard beyond", Options{Layout: layout.Layout{Shards: 4}}, ov("pk", "a#SHARD_9", "sk", "1"), layout.Place{Key: "a", Shard: 9}, false},
		{"last shard", Options{Layout: layout.Layout{Shards: 4}}, ov("pk", "a#SHARD_3", "sk", "1"), layout.Place{Key: "a", Shard: 3}, true},
		{"one shard", Options{Layout: layout.Layout{Shards: 1}}, ov("pk", "a#SHARD_1", "sk", "1"), layout.Place{Key: "a", Shard: 1}, false},
		{"not spread yet", Options{}, ov("pk", "a#SHARD_1", "sk", "1"), layout.Place{Key: "a", Shard: 1}, false},
		{"width", Options{Widths: layout.Width{Write: 1, Read: 4}}, ov("pk", "a#SHARD_3", "sk", "1"), layout.Place{Key: "a", Shard: 3}, true},
		{"beyond the width", Options{Widths: layout.Width{Write: 1, Read: 4}}, ov("pk", "a#SHARD_4", "sk", "1"), layout.Place{Key: "a", Shard: 4}, false},
		{
			"width of another key",
			Options{Widths: layout.WidthTable{Default: layout.Width{Write: 1, Read: 1}, Keys: map[string]layout.Width{"b": {Write: 8, Read: 8}}}},
			ov("pk", "a#SHARD_4", "sk", "1"),
			layout.Place{Key: "a", Shard: 4},
			false,
		},
		{
			"bucket",
			Options{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}, EventTime: day},
			ov("pk", "a#2026-02-27#SHARD_4", "sk", "1"),
			layout.Place{Key: "a", Shard: 4, Bucket: firstDay},
			false,
		},
		{"older is wider", Options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{{Shards: 8}}}, ov("pk", "a#SHARD_5", "sk", "1"), layout.Place{Key: "a", Shard: 5}, true},
		{"older is not", Options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{{Shards: 8, Format: layout.SharpNumber()}}}, ov("pk", "a#SHARD#8", "sk", "1"), layout.Place{Key: "a", Shard: 8}, false},
		{
			"number",
			Options{Index: Index{Name: "listing", ShardAttribute: "shard"}, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}},
			ov("pk", "a", "sk", "1", "id", "u", "shard", 4),
			layout.Place{Key: "a", Shard: 4},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			item, place, err := openItems(t, &dynamodb.Client{}, c.options).Decode(c.stored)
			if errors.Is(err, ErrTooNarrow) == c.wide || c.wide && err != nil {
				t.Errorf("got %v, want it to be wide enough: %t", err, c.wide)
			}
			if !c.wide && (!strings.Contains(err.Error(), fmt.Sprintf("%q", attrText(c.stored, "pk"))) || !strings.Contains(err.Error(), fmt.Sprintf("to %d or more", place.Shard+1))) {
				t.Errorf("%v: it does not name the stored key and the remedy", err)
			}
			if attrText(item, "pk") != "a" || place != c.place {
				t.Errorf("got %s at %+v, want key a at %+v", showItem(item), place, c.place)
			}
		})
	}
}

// A reader that is too narrow for an index learns it from Get, with the item, and from what its writes return, in the log.
func TestGetTooNarrow(t *testing.T) {
	for _, number := range []bool{false, true} {
		t.Run(fmt.Sprintf("number %t", number), func(t *testing.T) {
			ctx, client := t.Context(), onItems(t, byIndex(number))
			options := Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 16, Strategy: layout.Calculated}}
			if number {
				options.Index.ShardAttribute = "shard"
			}
			id, shard := beyond(t)
			if _, err := openItems(t, client, options).Put(ctx, ov("id", id, "pk", "ACTIVE", "sk", "1", "n", 1)); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			options.Layout.Shards, options.Logger = 4, slog.New(slog.NewTextHandler(&log, nil))
			users := openItems(t, client, options)
			check := func(got Item, err error, want Item) {
				t.Helper()
				if !errors.Is(err, ErrTooNarrow) || !strings.Contains(err.Error(), fmt.Sprintf("shard %d of key %q", shard, "ACTIVE")) {
					t.Errorf("got %v, want ErrTooNarrow for shard %d", err, shard)
				}
				wantItem(t, "read", got, want)
			}
			got, err := users.Get(ctx, ov("id", id))
			check(got, err, ov("id", id, "pk", "ACTIVE", "sk", "1", "n", 1))
			got, err = users.Get(ctx, ov("id", id), func(in *dynamodb.GetItemInput) { in.ProjectionExpression = aws.String("n") })
			check(got, err, ov("n", 1))
			type user struct {
				ID string `dynamodbav:"id"`
				N  int    `dynamodbav:"n,omitempty"`
			}
			if u, err := As[user](users).Get(ctx, user{ID: id}); !errors.Is(err, ErrTooNarrow) || u != (user{id, 1}) {
				t.Errorf("got %+v, %v, want the user and ErrTooNarrow", u, err)
			}
			if log.Len() > 0 {
				t.Errorf("reading logs %s", &log)
			}

			w, err := users.Update(ctx, ov("id", id), expression("SET n = :n", ":n", 2), func(in *dynamodb.UpdateItemInput) { in.ReturnValues = types.ReturnValueAllNew })
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "returned", w.Attributes, ov("id", id, "pk", "ACTIVE", "sk", "1", "n", 2))
			if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), fmt.Sprintf("shard %d of key", shard)) {
				t.Errorf("the log says %q, want a warning", &log)
			}
			log.Reset()
			if _, err := users.Put(ctx, ov("id", id, "pk", "ACTIVE", "sk", "1"), func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld }); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), "level=WARN") {
				t.Errorf("the log says %q, want a warning of what was replaced", &log)
			}
			log.Reset()
			if _, err := users.Get(ctx, ov("id", id)); err != nil || log.Len() > 0 { // it is listed anew
				t.Errorf("got %v, logged %s", err, &log)
			}
		})
	}
}

// A key that an older layout refuses cannot be read, so it is not written either.
func TestOlderRefusesKey(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Older: []layout.Layout{{Shards: 4, Format: layout.PlainNumber()}}})
	item := ov("pk", "USER#123", "sk", "1")
	_, put := items.Put(ctx, item)
	_, part := items.TransactPut(ctx, item)
	batch := items.BatchPut(ctx, []Item{item})
	_, get := items.Get(ctx, item)
	for _, err := range []error{put, part, batch, get} {
		if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), "USER#123") {
			t.Errorf("got %v, want an ErrItem that names the key", err)
		}
	}
	if !strings.Contains(put.Error(), "Older[0]") {
		t.Errorf("%v: it does not say which layout", put)
	}
	if n := len(everyItem(t, client, "items")); n != 0 {
		t.Errorf("%d items were written", n)
	}
}

// An index does not list an item that lacks its sort key, so such an item is refused, unless it is to be off the list.
func TestPutNeedsWhatListingNeeds(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	item := ov("id", "u1", "pk", "ACTIVE")
	_, put := users.Put(ctx, item)
	_, part := users.TransactPut(ctx, item)
	batch := users.BatchPut(ctx, []Item{item})
	for _, err := range []error{put, part, batch} {
		if !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"sk"`) {
			t.Errorf("got %v, want an ErrItem that names the sort key", err)
		}
	}
	if _, err := users.Put(ctx, ov("id", "u1")); err != nil {
		t.Errorf("off the list: got %v", err)
	}
}

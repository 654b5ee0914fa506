package heatsink

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// visit has no tags of the SDK's own, and a time that is stored as a number.
type visit struct {
	Page string    `json:"pk"`
	ID   string    `json:"sk"`
	At   time.Time `json:"at"`
}

// jsonTags returns options by which structs are stored under their JSON names, with times in seconds.
func jsonTags(spread layout.Layout) Options {
	return Options{
		Layout: spread,
		Encode: func(o *attributevalue.EncoderOptions) {
			o.TagKey = "json"
			o.EncodeTime = func(t time.Time) (types.AttributeValue, error) {
				return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}, nil
			}
		},
		Decode: func(o *attributevalue.DecoderOptions) {
			o.TagKey = "json"
			o.DecodeTime.N = func(s string) (time.Time, error) {
				seconds, err := strconv.ParseInt(s, 10, 64)
				return time.Unix(seconds, 0).UTC(), err
			}
		},
	}
}

// Every operation encodes and decodes as the options say: without them, neither the key nor the time would be found.
func TestEncodingOptions(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	visits := As[visit](openItems(t, client, jsonTags(layout.Layout{Shards: 4, Strategy: layout.Calculated})))
	want := visit{Page: "home", ID: "1", At: time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)}
	key := visit{Page: "home", ID: "1"}
	check := func(what string, got visit, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", what, got, err, want)
		}
	}
	if _, err := visits.Put(ctx, want); err != nil {
		t.Fatal(err)
	}
	stored := everyItem(t, client, "items")
	if len(stored) != 1 || attrText(stored[0], "at") != "1782090000" {
		t.Fatalf("got %v, want one item with its time in seconds", stored)
	}
	got, err := visits.Get(ctx, key)
	check("Get", got, err)
	got, err = visits.GetMerged(ctx, key)
	check("GetMerged", got, err)
	got, _, err = visits.Decode(stored[0])
	check("Decode", got, err)
	page, err := visits.Page(ctx, Query{Key: "home", Limit: 5}, "")
	if len(page.Items) != 1 {
		t.Fatalf("Page: got %v, %v", page, err)
	}
	check("Page", page.Items[0], err)
	for got, err := range visits.Query(ctx, Query{Key: "home"}) {
		check("Query", got, err)
	}
	got, err = Fold(ctx, visits, Query{Key: "home"}, func() visit { return visit{} }, func(_, v visit) visit { return v }, func(a, b visit) visit {
		if a == (visit{}) {
			return b
		}
		return a
	})
	check("Fold", got, err)
	done, err := visits.Update(ctx, key, func(in *dynamodb.UpdateItemInput) {
		expression("SET n = :n", ":n", 1)(in)
		in.ReturnValues = types.ReturnValueAllNew
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err = done.Decode()
	check("Update", got, err)
	part, err := visits.TransactPut(ctx, want)
	if err != nil || attrText(part.Put.Item, "at") != "1782090000" {
		t.Errorf("TransactPut: got %v, %v", part.Put, err)
	}
	if keys, err := visits.Locate(ctx, key); err != nil || len(keys) != 1 {
		t.Errorf("Locate: got %v, %v", keys, err)
	}
	done, err = visits.Delete(ctx, key, func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld })
	if err != nil {
		t.Fatal(err)
	}
	got, err = done.Decode()
	check("Delete", got, err)
	if err := visits.BatchPut(ctx, []visit{want}); err != nil {
		t.Fatal(err)
	}
	many, err := visits.BatchGet(ctx, []visit{key})
	check("BatchGet", many[0], err)
	if err := visits.BatchDelete(context.WithoutCancel(ctx), []visit{key}); err != nil {
		t.Fatal(err)
	}
	if left := everyItem(t, client, "items"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

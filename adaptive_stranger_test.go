package heatsink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// A process that does not know the ledger, and cannot read it, does not know where an item may be. It never says that there is
// none.
func TestItemsOfAnUnreadableLedger(t *testing.T) {
	for name, o := range map[string]Options{"random": adaptive(), "calculated": adaptive(calculated)} {
		t.Run(name, func(t *testing.T) {
			client := faulty.On(t, onItems(t), nil)
			o.Retry = Retry{Base: time.Microsecond}
			known := openItems(t, client, o)
			widen(t, known, "k", 8)
			putSome(t, known, "k", 0, 40)
			x := &lossy{client: client}
			for sk := range 40 {
				item := ov("pk", "k", "sk", fmt.Sprintf("%04d", sk))
				if there, err := known.Locate(t.Context(), item); err != nil || attrText(there[0], "pk") == "k" && name != "random" {
					continue // shard 0 is known to everybody
				}
				stranger := openItems(t, client, o)
				if _, err := stranger.Count(t.Context(), Query{Key: "another", Consistent: true}); err != nil {
					t.Fatal(err)
				}
				x.denyLedger()
				_, get := stranger.Get(t.Context(), item, strongly)
				_, merged := stranger.GetMerged(t.Context(), item, strongly)
				_, batch := stranger.BatchGet(t.Context(), []Item{item})
				_, update := stranger.Update(t.Context(), item, func(in *dynamodb.UpdateItemInput) {
					in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", 1)
				})
				_, del := stranger.Delete(t.Context(), item)
				client.Decide(nil)
				for what, err := range map[string]error{"Get": get, "GetMerged": merged, "BatchGet": batch, "Update": update, "Delete": del} {
					if errors.Is(err, ErrNotFound) || err != nil && !errors.Is(err, ErrLedger) {
						t.Errorf("%s of %04d: got %v, want the item or ErrLedger", what, sk, err)
					}
				}
				if del == nil { // it was in a shard that is known to everybody
					continue
				}
				if _, err := known.Get(t.Context(), item, strongly); err != nil {
					t.Errorf("%04d is gone after a Delete that failed: %v", sk, err)
				}
			}
		})
	}
}

// denyLedger makes ledgers unreadable.
func (x *lossy) denyLedger() {
	x.client.Decide(func(r faulty.Request) faulty.Fault {
		if r.Operation == "GetItem" && strings.HasPrefix(r.Key("pk"), "_hs#L#") {
			return faulty.Denied
		}
		return faulty.None
	})
}

// A strong GetMerged finds the parts of an item in shards that the process does not know of.
func TestGetMergedReadsTheLedger(t *testing.T) {
	client := onItems(t)
	known, stranger := openItems(t, client, adaptive()), openItems(t, client, adaptive())
	if _, err := stranger.Count(t.Context(), Query{Key: "k"}); err != nil { // it takes the key for a narrow one
		t.Fatal(err)
	}
	widen(t, known, "k", 8)
	for _, sk := range putSome(t, known, "k", 0, 40) {
		if _, err := stranger.GetMerged(t.Context(), ov("pk", "k", "sk", sk), strongly); err != nil {
			t.Errorf("%s: %v", sk, err)
		}
	}
}

// A later page of another process returns what is left, and nothing twice. If the ledger shows fewer shards than the first page
// has read, it was lost.
func TestPageOfAStranger(t *testing.T) {
	for _, consistent := range []bool{false, true} {
		x := newLossy(t)
		q := Query{Key: "k", Consistent: consistent, Limit: 30}
		first, err := x.known.Page(t.Context(), q, "")
		if err != nil {
			t.Fatal(err)
		}
		q.Limit = 100
		stranger, unread := x.stranger(t), x.stranger(t)
		rest, err := stranger.Page(t.Context(), q, first.Next)
		var got []string
		for _, item := range slices.Concat(first.Items, rest.Items) {
			got = append(got, attrText(item, "sk"))
		}
		if err != nil || !slices.Equal(got, x.sorts) {
			t.Errorf("consistent %v: got %d items, %v, want each of %d once", consistent, len(got), err, len(x.sorts))
		}
		x.drop(t)
		if page, err := unread.Page(t.Context(), q, first.Next); !errors.Is(err, ErrLedgerLost) {
			t.Errorf("consistent %v, without the ledger: got %d items, %v, want ErrLedgerLost", consistent, len(page.Items), err)
		}
	}
}

// A sample is drawn from all shards, and so is a plan made, also by a process that does not know the ledger yet.
func TestSampleAndPlanOfAStranger(t *testing.T) {
	x := newLossy(t)
	stranger := x.stranger(t)
	before := x.client.Count("Query")
	if _, err := sortsOf(stranger, Query{Key: "k", Sample: 4}); err != nil {
		t.Fatal(err)
	}
	if n := x.client.Count("Query") - before; n != 4 {
		t.Errorf("a sample of 4 shards took %d requests", n)
	}
	if plan, err := x.stranger(t).Plan(t.Context(), Query{Key: "k"}); err != nil || plan.Shards != 8 {
		t.Errorf("plan: got %+v, %v, want 8 shards", plan, err)
	}
	unknowing := x.stranger(t)
	x.denyLedger()
	if plan, err := unknowing.Plan(t.Context(), Query{Key: "k"}); !errors.Is(err, ErrLedger) {
		t.Errorf("plan without a ledger: got %+v, %v, want ErrLedger", plan, err)
	}
}

// Shards that an older layout and the key itself have in common are read once, also if only the ledger tells of them.
func TestStrangerReadsOlderShardsOnce(t *testing.T) {
	client := onItems(t)
	fixed := layout.Layout{Shards: 4}
	want := putSome(t, openItems(t, client, Options{Layout: fixed}), "k", 0, 40)
	open := func() *Collection[Item] {
		return openItems(t, client, adaptive(func(o *Options) { o.Layout.Format, o.Older = fixed.Format, []layout.Layout{fixed} }))
	}
	known := open()
	widen(t, known, "k", 8)
	want = append(want, putSome(t, known, "k", 40, 120)...)
	for _, q := range []Query{{Key: "k", Consistent: true}, {Key: "k"}, {Key: "k", Consistent: true, Limit: 1000}} {
		if got, err := sortsOf(open(), q); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: got %d items, %v, want each of %d once", q, len(got), err, len(want))
		}
	}
	if n, err := open().Count(t.Context(), Query{Key: "k", Consistent: true}); err != nil || n != len(want) {
		t.Errorf("count: got %d, %v, want %d", n, err, len(want))
	}
}

// Any item of a strong read may show that the ledger was lost: one before others on its page, and one in a shard that only the
// ledger tells of.
func TestAnyItemTellsOfLoss(t *testing.T) {
	for _, shard := range []int{0, 1} {
		client := onItems(t)
		known := openItems(t, client, adaptive())
		widen(t, known, "k", 2)
		keys := map[int]string{}
		for i := range 40 {
			done, err := known.Put(t.Context(), ov("pk", "k", "sk", fmt.Sprint("m", i)))
			if err != nil {
				t.Fatal(err)
			}
			keys[done.Shard] = done.ShardKey
		}
		if got, err := sortsOf(openItems(t, client, adaptive()), Query{Key: "k", Consistent: true}); err != nil || len(got) != 40 {
			t.Fatalf("got %d items, %v", len(got), err)
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: ov("pk", keys[shard], "sk", "a", "_hs_g", 9)}); err != nil {
			t.Fatal(err)
		}
		if got, err := sortsOf(openItems(t, client, adaptive()), Query{Key: "k", Consistent: true}); !errors.Is(err, ErrLedgerLost) {
			t.Errorf("shard %d has an item of generation 9: got %d items, %v, want ErrLedgerLost", shard, len(got), err)
		}
	}
}

// What a caller has read from the table itself may carry a stamp. It is not stored again: the writer did not know that generation.
func TestStampOfTheCallerIsNotStored(t *testing.T) {
	client := onItems(t)
	c := openItems(t, client, adaptive())
	if _, err := c.Put(t.Context(), ov("pk", "k", "sk", "1", "_hs_g", 9)); err != nil {
		t.Fatal(err)
	}
	if err := c.BatchPut(t.Context(), []Item{ov("pk", "k", "sk", "2", "_hs_g", 9)}); err != nil {
		t.Fatal(err)
	}
	for _, item := range everyItem(t, client, "items") {
		if attrText(item, "pk") == "k" && item["_hs_g"] != nil {
			t.Errorf("stored: %s, want no stamp", showItem(item))
		}
	}
}

// Adaptive.Keep is how long a read that is not strong goes on with what the process knows.
func TestKeepIsObeyed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := onItems(t)
		known := openItems(t, client, adaptive())
		keep := func(o *Options) { o.Adaptive.Keep = 2 * time.Second }
		early, late := openItems(t, client, adaptive(keep)), openItems(t, client, adaptive(keep)) // what one reads tells it of the growth
		for _, reader := range []*Collection[Item]{early, late} {
			if _, err := sortsOf(reader, Query{Key: "k"}); err != nil {
				t.Fatal(err)
			}
		}
		widen(t, known, "k", 8)
		want := putSome(t, known, "k", 0, 40)
		time.Sleep(time.Second)
		if got, err := sortsOf(early, Query{Key: "k"}); err != nil || len(got) == len(want) {
			t.Errorf("after a second: got %d items, %v, want those of the shard that is known", len(got), err)
		}
		time.Sleep(2 * time.Second)
		if got, err := sortsOf(late, Query{Key: "k"}); err != nil || !slices.Equal(got, want) {
			t.Errorf("after three seconds: got %d items, %v, want %d", len(got), err, len(want))
		}
	})
}

// Decode says that a control item is no item of the collection.
func TestDecodeOfControlItems(t *testing.T) {
	client := onItems(t)
	c := openItems(t, client, adaptive())
	widen(t, c, "k", 4)
	for _, item := range everyItem(t, client, "items") {
		if got, _, err := c.Decode(item); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %s, %v, want ErrNotFound", attrText(item, "pk"), showItem(got), err)
		}
	}
}

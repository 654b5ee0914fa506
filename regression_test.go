package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What reviews of the gather found, so that it stays found.

// bg is not t.Context, which ends before a bubble does and would hide goroutines that are left.
var bg = context.Background()

// A page does not go on behind its range because all that is there is filtered out.
func TestFilteredPagesStayInRange(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items", byIndex(false))
	c := openItems(t, client, Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated}})
	var items []Item
	for i := range 4000 {
		items = append(items, ov("id", fmt.Sprint(i), "pk", "k", "sk", fmt.Sprintf("%06d", i), "f", "no"))
	}
	for i := range 20 {
		items = append(items, ov("id", fmt.Sprint("y", i), "pk", "k", "sk", fmt.Sprintf("%06d", 2000+i), "f", "yes"))
	}
	if err := c.BatchPut(bg, items); err != nil {
		t.Fatal(err)
	}
	for _, reverse := range []bool{false, true} {
		q := Query{
			Key: "k", Limit: 15, Reverse: reverse, Sort: Between("002000", "002019"),
			Filter: "f = :y", Values: ov(":y", "yes"),
		}
		var meter Meter
		ctx := WithMeter(bg, &meter)
		first, err := c.Page(ctx, q, "")
		if err != nil {
			t.Fatal(err)
		}
		second, err := c.Page(ctx, q, first.Next)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(first.Items) + len(second.Items); n != 20 || second.Next != "" {
			t.Errorf("reverse %v: got %d items", reverse, n)
		}
		if read := meter.Cost().Items; read > 1000 { // two shards' pages, not all that is behind
			t.Errorf("reverse %v: read %d items for a range of 40", reverse, read)
		}
	}
}

// Waiting for one's turn is not part of an attempt's time.
func TestTimeoutDoesNotRunWhileQueueing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		makeTable(t, client, "items")
		slow := &watched{Client: client, delay: after(10 * time.Millisecond)}
		c := openItems(t, slow, Options{Layout: layout.Layout{Shards: 400}, MaxConcurrency: 4, Retry: Retry{Timeout: 50 * time.Millisecond}})
		var meter Meter
		if _, err := all(WithMeter(bg, &meter), c, Query{Key: "k"}, "sk"); err != nil {
			t.Fatal(err)
		}
		if cost := meter.Cost(); cost.Requests != 400 || cost.Retries != 0 {
			t.Errorf("got %+v, want one request a shard", cost)
		}
	})
}

// throttling returns a client that throttles one shard and takes its time for the others.
func throttling(client Client, shardKey string) *watched {
	return &watched{
		Client: client,
		delay: func(key string, _ int) time.Duration {
			if key == shardKey {
				return 0
			}
			return time.Second
		},
		fail: func(key string, _ int) error {
			if key == shardKey {
				return errThrottled
			}
			return nil
		},
	}
}

// A partial count whose context ends says so, and not that a shard is missing.
func TestPartialCountCancelled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		makeTable(t, client, "items")
		c := openItems(t, throttling(client, "k#SHARD_1"), Options{Layout: layout.Layout{Shards: 4}, Retry: Retry{Attempts: 1}})
		ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
		defer cancel()
		if _, err := c.Count(ctx, Query{Key: "k", Partial: true}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v", err)
		}
	})
}

// A partial fold forgives shards that are missing, not items that it cannot read. What the caller's function does, it does
// to the caller.
func TestPartialFoldTellsOfOtherErrors(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		makeTable(t, client, "items")
		load(t, client, "items", []Item{ov("pk", "k#SHARD_0", "sk", "a", "n", "no number")})
		type row struct {
			N int `dynamodbav:"n"`
		}
		rows := As[row](openItems(t, throttling(client, "k#SHARD_1"), Options{Layout: layout.Layout{Shards: 4}, Retry: Retry{Attempts: 1}}))
		count := func(n int, _ row) int { return n + 1 }
		sum := func(a, b int) int { return a + b }
		_, err := Fold(bg, rows, Query{Key: "k", Partial: true}, func() int { return 0 }, count, sum)
		if failed, ok := errors.AsType[*DecodeError](err); !ok || attrText(failed.Item, "n") != "no number" {
			t.Errorf("got error %v", err)
		}

		items := As[Item](rows)
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("recovered %v", p)
			}
		}()
		_, _ = Fold(bg, items, Query{Key: "k", Partial: true}, func() int { return 0 }, func(int, Item) int { panic("mine") }, sum)
	})
}

// The error of a bucketed read counts the shards of all buckets.
func TestGatherErrorCountsBuckets(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	broken := &watched{Client: client, fail: func(key string, _ int) error {
		if key == "k#2024-01-01#SHARD_1" || key == "k#2024-01-03#SHARD_0" {
			return errThrottled
		}
		return nil
	}}
	c := openItems(t, broken, Options{
		Layout: layout.Layout{Shards: 2, Bucket: layout.Day}, EventTime: EventTime{Attribute: "sk"}, Retry: Retry{Attempts: 1},
	})
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	q := Query{Key: "k", From: from, To: from.AddDate(0, 0, 20), Partial: true}
	_, query := all(bg, c, q, "sk")
	_, count := c.Count(bg, q)
	for _, err := range []error{query, count} {
		failed, ok := errors.AsType[*GatherError](err)
		if !ok || failed.Of != 40 || len(failed.Shards) != 2 {
			t.Fatalf("got error %v", err)
		}
	}
	failed, _ := errors.AsType[*GatherError](query)
	keys := []string{failed.Shards[0].ShardKey, failed.Shards[1].ShardKey}
	if want := []string{"k#2024-01-01#SHARD_1", "k#2024-01-03#SHARD_0"}; !slices.Equal(keys, want) {
		t.Errorf("got %v, want %v", keys, want)
	}
}

// Without buckets, an item without a time is at no time.
func TestItemsWithoutATime(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	c := openItems(t, client, Options{Layout: layout.Layout{Shards: 2}, EventTime: EventTime{Attribute: "at"}})
	for _, item := range []Item{ov("pk", "k", "sk", "a"), ov("pk", "k", "sk", "b", "at", "2024-01-01T00:30:00Z")} {
		if _, err := c.Put(bg, item); err != nil {
			t.Fatal(err)
		}
	}
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	q := Query{Key: "k", From: from, To: from.Add(time.Hour)}
	if got, err := all(bg, c, q, "sk"); err != nil || !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if n, err := c.Count(bg, q); err != nil || n != 1 {
		t.Errorf("counted %d, %v", n, err)
	}
}

// A token is of no use to a collection that reads other older layouts, or in another order.
func TestTokenKnowsOlderLayouts(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	a, b := layout.Layout{Shards: 2, Format: layout.SharpNumber()}, layout.Layout{Shards: 2, Format: layout.DotFromOne()}
	load(t, client, "items", []Item{
		ov("pk", "k#SHARD_0", "sk", "x"), ov("pk", "k#SHARD#0", "sk", "x"), ov("pk", "k#SHARD#1", "sk", "x"),
		ov("pk", "k.1", "sk", "x"), ov("pk", "k.2", "sk", "x"),
	})
	page, err := openItems(t, client, Options{Layout: layout.Layout{Shards: 2}, Older: []layout.Layout{a, b}}).Page(bg, Query{Key: "k", Limit: 3}, "")
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	for _, older := range [][]layout.Layout{{b, a}, {a}, nil} {
		c := openItems(t, client, Options{Layout: layout.Layout{Shards: 2}, Older: older})
		if _, err := c.Page(bg, Query{Key: "k", Limit: 30}, page.Next); !errors.Is(err, ErrToken) {
			t.Errorf("older layouts %v: got error %v", older, err)
		}
	}
}

// endless is a client whose pages end where they start.
type endless struct{ Client }

func (endless) Query(ctx context.Context, _ *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{
		Count: 1, ScannedCount: 1,
		Items:            []Item{ov("pk", "k#SHARD_0", "sk", "a")},
		LastEvaluatedKey: ov("pk", "k#SHARD_0", "sk", "a"),
	}, ctx.Err()
}

func TestPagesWithoutProgressEnd(t *testing.T) {
	c := openItems(t, endless{}, Options{Layout: layout.Layout{Shards: 1}})
	if _, err := all(bg, c, Query{Key: "k"}, "sk"); err == nil {
		t.Error("a query of it ended well")
	}
	if _, err := c.Count(bg, Query{Key: "k"}); err == nil {
		t.Error("a count of it ended well")
	}
}

// Buckets that hold much are not read far ahead.
func TestFullBucketsAreNotReadFarAhead(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	const perDay = 300
	var items []Item
	for d := range 12 {
		for i := range perDay {
			at := from.AddDate(0, 0, d).Add(time.Duration(i) * time.Second)
			items = append(items, ov("pk", "k#"+at.Format(time.DateOnly), "sk", at.Format(time.RFC3339)))
		}
	}
	load(t, client, "items", items)
	w := &watched{Client: client}
	c := openItems(t, w, Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "sk"}, ReadMemory: 64 << 10})
	n := 0
	for _, err := range c.Query(bg, Query{Key: "k", From: from, To: from.AddDate(0, 0, 12)}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 4*perDay+1 {
			break
		}
	}
	if read := len(w.shards); read > 7 {
		t.Errorf("in the fifth bucket, %d were read", read)
	}
}

// A sort key that was forgotten shows as soon as a shard has two items, instead of as missing pages.
func TestForgottenSortKey(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	for i := range 10 {
		load(t, client, "items", []Item{ov("pk", "a", "sk", fmt.Sprint(i))})
	}
	items, err := Open[Item](client, Options{Table: "items", PartitionKey: "pk"})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 3, 100} {
		if page, err := items.Page(ctx, Query{Key: "a", Limit: limit}, ""); !errors.Is(err, ErrOptions) {
			t.Errorf("pages of %d: got %d items, %v, want ErrOptions", limit, len(page.Items), err)
		}
	}
	if n, err := items.Count(ctx, Query{Key: "a"}); !errors.Is(err, ErrOptions) {
		t.Errorf("count: got %d, %v, want ErrOptions", n, err)
	}
	if _, err := all(ctx, items, Query{Key: "a"}, "sk"); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "SortKey") {
		t.Errorf("query: got %v, want ErrOptions", err)
	}
}

// What is refused for its requests says how many they are, so that the limit can be raised to that.
func TestRefusalTellsAllRequests(t *testing.T) {
	client := onItems(t)
	logs := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}})
	q := Query{Key: "a", From: firstDay, To: firstDay.AddDate(0, 0, 91), MaxRequests: 10}
	if _, err := logs.Count(t.Context(), q); !errors.Is(err, ErrTooManyRequests) || !strings.Contains(err.Error(), "364") {
		t.Errorf("got %v, want 364 requests", err)
	}
	q.MaxRequests = 364
	if _, err := logs.Count(t.Context(), q); err != nil {
		t.Errorf("with as many: got %v", err)
	}
}

// A version is heatsink's to change, and the error says so.
func TestUpdateOfTheVersion(t *testing.T) {
	items := openItems(t, onItems(t), Options{Version: "v", TTL: "ttl"})
	if _, err := items.Put(t.Context(), ov("pk", "a", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"SET v = :n", "REMOVE v", "ADD v :n"} {
		if _, err := items.Update(t.Context(), ov("pk", "a", "sk", "1"), expression(text, ":n", 1)); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), "Options.Version") {
			t.Errorf("%s: got %v, want ErrItem", text, err)
		}
	}
}

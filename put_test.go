package heatsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// onItems starts an engine with a table of items.
func onItems(t testing.TB, edits ...func(*dynamodb.CreateTableInput)) *dynamodb.Client {
	t.Helper()
	client := local.Start(t).Client()
	makeTable(t, client, "items", edits...)
	return client
}

// 000-06, 004-05: a thousand puts are a thousand items, about a hundred in each of ten shards.
func TestPutSpreads(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	users := openItems(t, client, Options{Layout: layout.Layout{Shards: 10, Format: layout.PlainNumber()}, Rand: rand.NewPCG(5, 6)})
	for i := range 1000 {
		item := ov("pk", "user-12345", "sk", fmt.Sprintf("2026-06-22T01:00:00Z#%d", i))
		before := maps.Clone(item)
		w, err := users.Put(ctx, item)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("user-12345#%d", w.Shard); w.ShardKey != want || w.Shard < 0 || w.Shard > 9 {
			t.Fatalf("got shard %d with key %q, want %q", w.Shard, w.ShardKey, want)
		}
		wantItem(t, "the caller's item", item, before)
	}
	counts := map[string]int{}
	for _, item := range everyItem(t, client, "items") {
		counts[attrText(item, "pk")]++
	}
	if e := layout.NewEvenness(slices.Collect(maps.Values(counts))); len(counts) != 10 || e.Total != 1000 || e.Min < 60 || e.Max > 140 {
		t.Errorf("got %v, want a thousand items over ten shards", counts)
	}
}

// 004-09: the same id is always in the same shard.
func TestPutCalculated(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	spread := layout.Layout{Shards: 10, Strategy: layout.Calculated}
	orders := openItems(t, client, Options{Layout: spread})
	for i := range 100 {
		id := fmt.Sprintf("order-%d", i%20)
		w, err := orders.Put(ctx, ov("pk", "2014-07-09", "sk", id, "n", i))
		if err != nil {
			t.Fatal(err)
		}
		if want := spread.Shard(id); w.Shard != want {
			t.Errorf("%s is in shard %d, want %d", id, w.Shard, want)
		}
	}
	if n := len(everyItem(t, client, "items")); n != 20 {
		t.Errorf("20 ids are %d items", n)
	}
}

func TestPutInBuckets(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	logs := openItems(t, client, Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "sk"}})
	w, err := logs.Put(ctx, ov("pk", "OPS", "sk", "2026-06-22T23:30:00-02:00#7"))
	if err != nil || w.ShardKey != "OPS#2026-06-23" {
		t.Errorf("got %q, %v, want the UTC day of the event", w.ShardKey, err)
	}
}

// 000-10, 000-21: items get a time to live unless they have one.
func TestPutStampsTTL(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		limits := openItems(t, client, Options{Layout: layout.Layout{Shards: 10}, TTL: "ttl", TTLAfter: 24 * time.Hour})
		given := ov("pk", "RATE_LIMIT#k1", "sk", "a")
		if _, err := limits.Put(ctx, given); err != nil {
			t.Fatal(err)
		}
		if _, err := limits.Put(ctx, ov("pk", "RATE_LIMIT#k1", "sk", "b", "ttl", 4102444800)); err != nil {
			t.Fatal(err)
		}
		if err := limits.BatchPut(ctx, []Item{ov("pk", "RATE_LIMIT#k1", "sk", "c")}); err != nil {
			t.Fatal(err)
		}
		if given["ttl"] != nil {
			t.Error("the caller's item was changed")
		}
		day := fmt.Sprint(time.Now().Add(24 * time.Hour).Unix())
		want := map[string]string{"a": day, "b": "4102444800", "c": day}
		for _, item := range everyItem(t, client, "items") {
			if got := attrText(item, "ttl"); got != want[attrText(item, "sk")] {
				t.Errorf("%s has ttl %s, want %s", attrText(item, "sk"), got, want[attrText(item, "sk")])
			}
		}
	})
}

// An edit can say anything but where the item goes.
func TestPutEditCannotRedirect(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	makeTable(t, client, "other")
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	shared := ov("pk", "elsewhere", "sk", "2", "more", 1)
	w, err := orders.Put(ctx, ov("pk", "a", "sk", "1", "n", 1), func(in *dynamodb.PutItemInput) {
		in.TableName = aws.String("other")
		in.Item = shared
	})
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "the edit's map", shared, ov("pk", "elsewhere", "sk", "2", "more", 1))
	items := everyItem(t, client, "items")
	if len(items) != 1 {
		t.Fatalf("%d items are in the table, want 1", len(items))
	}
	wantItem(t, "stored", items[0], ov("pk", w.ShardKey, "sk", "1", "more", 1))
}

func TestPutReturnsOldItemAndConditions(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	first, second := ov("pk", "a", "sk", "1", "n", 1), ov("pk", "a", "sk", "1", "n", 2)
	if _, err := orders.Put(ctx, first); err != nil {
		t.Fatal(err)
	}
	w, err := orders.Put(ctx, second, func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld })
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "old item", w.Attributes, first)

	for _, ask := range []bool{false, true} {
		_, err = orders.Put(ctx, first, func(in *dynamodb.PutItemInput) {
			in.ConditionExpression = aws.String("attribute_not_exists(sk)")
			if ask {
				in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
			}
		})
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok || errors.As(err, new(*UnknownOutcomeError)) {
			t.Fatalf("got %v, want a failed condition", err)
		}
		want := Item(nil)
		if ask {
			want = second
		}
		wantItem(t, fmt.Sprintf("item in the error, asked for: %t", ask), failed.Item, want)
	}
}

// A condition that would see one of several places is refused, and nothing sent; also in a transaction.
func TestPutRefusesScatteredConditions(t *testing.T) {
	ifNew := func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(sk)") }
	calculated := layout.Layout{Shards: 4, Strategy: layout.Calculated}
	moves := ov("pk", "a", "sk", movingID(t, 1, 4))
	for _, c := range []struct {
		name    string
		options Options
		want    error
	}{
		{"random", Options{Layout: layout.Layout{Shards: 4}}, ErrScattered},
		{"random and growing", Options{Widths: &growing{width: layout.Width{Write: 1, Read: 2}}}, ErrScattered},
		{"one shard", Options{Layout: layout.Layout{Shards: 1}}, nil},
		{"one shard, once unsharded", Options{Layout: layout.Layout{Shards: 1}, Older: []layout.Layout{{}}}, ErrScattered},
		{"calculated", Options{Layout: calculated}, nil},
		{"calculated, once unsharded", Options{Layout: calculated, Older: []layout.Layout{{}}}, ErrScattered},
		{"calculated and grown", Options{Layout: calculated, Widths: &growing{width: layout.Width{Write: 4, Read: 4}}}, ErrScattered},
		{"calculated and about to grow", Options{Layout: calculated, Widths: &growing{width: layout.Width{Write: 1, Read: 4}}}, ErrScattered},
		{"calculated and not grown yet", Options{Layout: calculated, Widths: &growing{width: layout.Width{Write: 1, Read: 1}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := faulty.On(t, onItems(t), nil)
			items := openItems(t, client, c.options)
			_, err := items.Put(t.Context(), moves, ifNew)
			if !errors.Is(err, c.want) || err != nil && client.Count("PutItem") > 0 {
				t.Errorf("got %v after %d requests, want %v", err, client.Count("PutItem"), c.want)
			}
			_, err = items.TransactPut(t.Context(), moves, func(p *types.Put) { p.ConditionExpression = aws.String("attribute_not_exists(sk)") })
			if !errors.Is(err, c.want) {
				t.Errorf("in a transaction: got %v, want %v", err, c.want)
			}
			if _, err := items.Put(t.Context(), moves); err != nil {
				t.Errorf("without a condition: got %v", err)
			}
		})
	}

	// An index's items are in one place of the table, wherever they are listed.
	users := openItems(t, onItems(t, byIndex(false)), Options{
		Index: Index{Name: "listing"}, Layout: calculated, Widths: &growing{width: layout.Width{Write: 4, Read: 4}},
	})
	if _, err := users.Put(t.Context(), ov("id", "u1", "pk", "ACTIVE", "sk", "1"), ifNew); err != nil {
		t.Errorf("with an index: got %v", err)
	}
}

// movingID returns an id whose shard is another at another width.
func movingID(t *testing.T, from, to int) string {
	t.Helper()
	for i := range 1000 {
		id := fmt.Sprint(i)
		if (layout.Layout{Shards: from, Strategy: layout.Calculated}).Shard(id) != (layout.Layout{Shards: to, Strategy: layout.Calculated}).Shard(id) {
			return id
		}
	}
	t.Fatal("no id moves")
	return ""
}

// A throttled write goes elsewhere, each time to a shard that was not tried; a calculated one cannot.
func TestThrottledPutGoesElsewhere(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		faults := faulty.On(t, client, faulty.Script(faulty.Throttled, faulty.Unreached, faulty.Throttled))
		w, err := openItems(t, faults, Options{Layout: layout.Layout{Shards: 4}}).Put(ctx, ov("pk", "a", "sk", "1"))
		if err != nil {
			t.Fatal(err)
		}
		tried := faults.Keys("PutItem", "pk")
		if keys := slices.Compact(slices.Sorted(slices.Values(tried))); len(keys) != 4 || tried[3] != w.ShardKey {
			t.Errorf("tried %q and ended in %s, want four different ones", tried, w.ShardKey)
		}
		faults = faulty.On(t, client, faulty.Script(faulty.Throttled, faulty.Throttled))
		if _, err := openItems(t, faults, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}}).Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
			t.Fatal(err)
		}
		if keys := slices.Compact(faults.Keys("PutItem", "pk")); len(keys) != 1 {
			t.Errorf("a calculated put tried %q, want the same three times", keys)
		}
	})
}

// After a lost answer the shard is pinned for ever, also if it is throttled then.
func TestLostAnswerPinsTheShard(t *testing.T) {
	for _, lost := range []faulty.Fault{faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown} {
		bubble.Test(t, func(t *testing.T) {
			ctx, client := context.Background(), onItems(t)
			faults := faulty.On(t, client, faulty.Script(faulty.Throttled, lost, faulty.Throttled, faulty.Throttled))
			w, err := openItems(t, faults, Options{Layout: layout.Layout{Shards: 16}}).Put(ctx, ov("pk", "a", "sk", "1"))
			if err != nil {
				t.Fatal(err)
			}
			p := faults.Keys("PutItem", "pk")
			if len(p) != 5 || p[0] == p[1] || p[1] != p[2] || p[2] != p[3] || p[3] != p[4] || p[4] != w.ShardKey {
				t.Errorf("%s: tried %q, want another after the throttle and then always the same", lost, p)
			}
			if n := len(everyItem(t, client, "items")); n != 1 {
				t.Errorf("%s: %d items are there, want 1", lost, n)
			}
		})
	}
}

// A put that may have happened and cannot be confirmed says so; one that cannot have happened does not.
func TestPutUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		name    string
		faults  []faulty.Fault
		unknown bool
	}{
		{"throttled", []faulty.Fault{faulty.Throttled, faulty.Throttled, faulty.Throttled}, false},
		{"never sent", []faulty.Fault{faulty.Unreached, faulty.Unreached, faulty.Unreached}, false},
		{"lost", []faulty.Fault{faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer}, true},
		{"lost, then throttled", []faulty.Fault{faulty.Throttled, faulty.LostAnswer, faulty.Throttled}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				faults := faulty.On(t, onItems(t), faulty.Script(c.faults...))
				_, err := openItems(t, faults, Options{Layout: layout.Layout{Shards: 4}, Retry: Retry{Attempts: 3}}).Put(context.Background(), ov("pk", "a", "sk", "1"))
				failed, ok := errors.AsType[*ShardError](err)
				last := faults.Keys("PutItem", "pk")[2]
				if !ok || failed.Attempts != 3 || failed.ShardKey != last || errors.As(err, new(*UnknownOutcomeError)) != c.unknown {
					t.Errorf("got %v, want a ShardError of %s and the outcome to be unknown: %t", err, last, c.unknown)
				}
			})
		})
	}
}

// The caller's context ends a put at once: unknown if a request was under way, not if it was only waited for.
func TestPutContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := onItems(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		items := openItems(t, faulty.On(t, client, faulty.Always(faulty.Throttled)), Options{Retry: Retry{Base: time.Hour, Max: time.Hour}})
		_, err := items.Put(ctx, ov("pk", "a", "sk", "1"))
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*types.ProvisionedThroughputExceededException)) || errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("waiting: got %v, want the deadline and the throttle", err)
		}

		ctx, cancel = context.WithCancel(context.Background())
		faults := faulty.On(t, client, func(faulty.Request) faulty.Fault { cancel(); return faulty.LostAnswer })
		_, err = openItems(t, faults, Options{}).Put(ctx, ov("pk", "a", "sk", "1"))
		if !errors.Is(err, context.Canceled) || !errors.As(err, new(*UnknownOutcomeError)) || faults.Count("PutItem") != 1 {
			t.Errorf("under way: got %v after %d requests, want an unknown outcome after one", err, faults.Count("PutItem"))
		}
	})
}

// A condition that fails after a lost answer may have failed because of the own item, because of an equal one of somebody
// else, or because of another: nobody knows.
func TestConditionalPutAfterLostAnswer(t *testing.T) {
	ifNew := func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(sk)") }
	item := ov("pk", "a", "sk", "1", "n", &types.AttributeValueMemberN{Value: "1.0"}, "set", &types.AttributeValueMemberSS{Value: []string{"b", "a"}})
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		orders := openItems(t, faulty.On(t, client, faulty.Script(faulty.LostAnswer)), Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
		if _, err := orders.Put(ctx, item, ifNew); !errors.As(err, new(*UnknownOutcomeError)) || len(everyItem(t, client, "items")) != 1 {
			t.Errorf("got %v and %d items, want an unknown outcome and one item", err, len(everyItem(t, client, "items")))
		}
	})
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		spread := layout.Layout{Shards: 4, Strategy: layout.Calculated}
		if _, err := openItems(t, client, Options{Layout: spread}).Put(ctx, ov("pk", "a", "sk", "1", "n", 2)); err != nil {
			t.Fatal(err)
		}
		_, err := openItems(t, faulty.On(t, client, faulty.Script(faulty.LostRequest)), Options{Layout: spread}).Put(ctx, item, ifNew)
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok || failed.Item != nil || !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want an unknown outcome and a failed condition without an item", err)
		}
	})
	// The item was written, and changed by somebody else before the repetition.
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		requests := 0
		faults := faulty.On(t, client, func(faulty.Request) faulty.Fault {
			if requests++; requests == 1 {
				return faulty.LostAnswer
			}
			if _, err := openItems(t, client, Options{}).Update(ctx, ov("pk", "a", "sk", "1"), expression("ADD hits :one", ":one", 1)); err != nil {
				t.Error(err)
			}
			return faulty.None
		})
		if _, err := openItems(t, faults, Options{}).Put(ctx, item, ifNew); requests != 2 || !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v after %d requests, want an unknown outcome after two", err, requests)
		}
	})
	// Only the first attempt knows the old item, so there is no second.
	bubble.Test(t, func(t *testing.T) {
		faults := faulty.On(t, onItems(t), faulty.Script(faulty.LostAnswer))
		_, err := openItems(t, faults, Options{}).Put(context.Background(), item, func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld })
		if !errors.As(err, new(*UnknownOutcomeError)) || faults.Count("PutItem") != 1 {
			t.Errorf("got %v after %d requests, want an unknown outcome after one", err, faults.Count("PutItem"))
		}
	})
}

// Nothing is written twice: whatever goes wrong, an acknowledged item is there exactly once over all shards, an item that
// was refused for certain is not there, and any other at most once.
func TestNothingIsWrittenTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// rapid wants to be asked, and told, outside of the bubble.
		faults := rapid.SliceOfN(rapid.SampledFrom([]faulty.Fault{faulty.None, faulty.None, faulty.Throttled, faulty.Throttled, faulty.Unreached, faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown, faulty.Partly}), 0, 60).Draw(rt, "faults")
		puts, batch := rapid.IntRange(0, 12).Draw(rt, "puts"), rapid.IntRange(0, 40).Draw(rt, "batch")
		options := Options{
			Layout: layout.Layout{Shards: rapid.IntRange(1, 8).Draw(rt, "shards"), Strategy: rapid.SampledFrom([]layout.Strategy{layout.Random, layout.Random, layout.Calculated}).Draw(rt, "strategy")},
			Rand:   rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1),
			Retry:  Retry{Attempts: rapid.IntRange(1, 4).Draw(rt, "attempts"), Budget: 10, Burst: 1000},
		}
		var problem string
		bubble.Test(t, func(t *testing.T) {
			client := onItems(t)
			outcome := putAll(openItems(t, faulty.On(t, client, faulty.Script(faults...)), options), puts, batch)
			copies := map[string]int{}
			for _, item := range everyItem(t, client, "items") {
				copies[attrText(item, "sk")]++
			}
			for id, err := range outcome {
				switch n := copies[id]; {
				case n > 1:
					problem = fmt.Sprintf("%s is there %d times, after %v", id, n, err)
				case err == nil && n != 1:
					problem = id + " was acknowledged and is not there"
				case err != nil && n != 0 && !errors.As(err, new(*UnknownOutcomeError)):
					problem = fmt.Sprintf("%s is there, but the error denies it: %v", id, err)
				}
			}
		})
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

// putAll puts items one by one, some of them only if they are new, and then a batch. It returns what became of each.
func putAll(views *Collection[Item], puts, batch int) map[string]error {
	ctx, outcome := context.Background(), map[string]error{}
	for i := range puts {
		id := fmt.Sprint("p", i)
		_, outcome[id] = views.Put(ctx, ov("pk", "VIEWS", "sk", id), func(in *dynamodb.PutItemInput) {
			if views.core.options.Layout.Strategy == layout.Calculated && i%2 == 0 {
				in.ConditionExpression = aws.String("attribute_not_exists(sk)")
			}
		})
	}
	var items []Item
	for i := range batch {
		id := fmt.Sprint("b", i)
		items = append(items, ov("pk", "VIEWS", "sk", id))
		outcome[id] = nil
	}
	if failed, ok := views.BatchPut(ctx, items).(*BatchError); ok {
		for _, f := range failed.Failed {
			outcome[fmt.Sprint("b", f.Position)] = f.Err
		}
	}
	return outcome
}

// 003-11 is about such collections: items under a key of their own, listed under a sharded one.
func TestPutListsInIndex(t *testing.T) {
	for _, number := range []bool{false, true} {
		t.Run(fmt.Sprintf("number %t", number), func(t *testing.T) {
			ctx, client := t.Context(), onItems(t, byIndex(number))
			options := Options{
				Index:  Index{Name: "listing"},
				Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated, Format: layout.SharpNumber()},
			}
			if number {
				options.Index.ShardAttribute = "shard"
			}
			users := openItems(t, client, options)
			given := ov("id", "u7", "pk", "STATUS#ACTIVE", "sk", "2026")
			w, err := users.Put(ctx, given)
			if err != nil {
				t.Fatal(err)
			}
			shard := options.Layout.Shard("u7")
			want := ov("id", "u7", "pk", fmt.Sprintf("STATUS#ACTIVE#SHARD#%d", shard), "sk", "2026")
			if number {
				want = ov("id", "u7", "pk", "STATUS#ACTIVE", "sk", "2026", "shard", shard)
			}
			wantItem(t, "stored", everyItem(t, client, "items")[0], want)
			if w.ShardKey != attrText(want, "pk") || w.Shard != shard {
				t.Errorf("got %+v, want shard %d of %s", w, shard, attrText(want, "pk"))
			}
			got, err := users.Get(ctx, ov("id", "u7"))
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "read", got, given)

			// Without the index's key an item is in the table only.
			if w, err := users.Put(ctx, ov("id", "u8", "sk", "2026")); err != nil || w.ShardKey != "" {
				t.Errorf("not listed: got %+v, %v", w, err)
			}
			got, err = users.Get(ctx, ov("id", "u8"))
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "not listed", got, ov("id", "u8", "sk", "2026"))
		})
	}
}

func TestPutCost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := onItems(t)
		var meter Meter
		ctx := WithMeter(context.Background(), &meter)
		items := openItems(t, faulty.On(t, client, faulty.Script(faulty.Throttled, faulty.LostAnswer)), Options{Layout: layout.Layout{Shards: 4}})
		if _, err := items.Put(ctx, ov("pk", "a", "sk", "1", "fill", strings.Repeat("x", 2000))); err != nil {
			t.Fatal(err)
		}
		if got, want := meter.Cost(), (Cost{Requests: 3, Retries: 2, Throttles: 1, WriteUnits: 2}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

func TestRetriesAreLogged(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log strings.Builder
		items := openItems(t, faulty.On(t, onItems(t), faulty.Script(faulty.Throttled)), Options{
			Layout: layout.Layout{Shards: 1}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		if _, err := items.Put(context.Background(), ov("pk", "a", "sk", "1")); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"level=DEBUG", "table=items", "operation=PutItem", "shard=a#SHARD_0", "too fast"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %s: %s", part, log.String())
			}
		}
	})
}

// 003-11: a struct whose logical key was not set is not listed, and leaves nothing in the table that DynamoDB would refuse.
func TestPutEmptyIndexKey(t *testing.T) {
	type user struct {
		ID     string  `dynamodbav:"id"`
		Status string  `dynamodbav:"pk"`
		Since  *string `dynamodbav:"sk"`
	}
	null := &types.AttributeValueMemberNULL{Value: true}
	for _, number := range []bool{false, true} {
		ctx, client := t.Context(), onItems(t, byIndex(number))
		options := Options{Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 5, Strategy: layout.Calculated}}
		if number {
			options.Index.ShardAttribute = "shard"
		}
		users := openItems(t, client, options)
		if _, err := As[user](users).Put(ctx, user{ID: "u1"}); err != nil {
			t.Fatal(err)
		}
		if _, err := users.Put(ctx, ov("id", "u2", "pk", null, "sk", "2026")); err != nil {
			t.Fatal(err)
		}
		if err := users.BatchPut(ctx, []Item{ov("id", "u3", "pk", "", "sk", "")}); err != nil {
			t.Fatal(err)
		}
		want := map[string]Item{"u1": ov("id", "u1"), "u2": ov("id", "u2", "sk", "2026"), "u3": ov("id", "u3")}
		for _, item := range everyItem(t, client, "items") {
			wantItem(t, "stored", item, want[attrText(item, "id")])
		}
	}
}

// An item is placed as the edits left it, so that it is found by the attributes that it has.
func TestPutEditIsPlaced(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		was, is Item
	}{
		{
			"id",
			Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"user"}},
			ov("user", "ann"), ov("user", "bob"),
		},
		{
			"time",
			Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}},
			ov("at", "2026-01-01T00:00:00Z"), ov("at", "2026-01-02T00:00:00Z"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, client := t.Context(), onItems(t)
			items := openItems(t, client, c.options)
			given, want := ov("pk", "a", "sk", "1"), ov("pk", "a", "sk", "1")
			maps.Copy(given, c.was)
			maps.Copy(want, c.is)
			before := maps.Clone(given)
			if _, err := items.Put(ctx, given, func(in *dynamodb.PutItemInput) { maps.Copy(in.Item, c.is) }); err != nil {
				t.Fatal(err)
			}
			wantItem(t, "the caller's item", given, before)
			got, err := items.Get(ctx, want)
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "read", got, want)

			part, err := items.TransactPut(ctx, given, func(p *types.Put) { maps.Copy(p.Item, c.is) })
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "in a transaction", part.Put.Item, everyItem(t, client, "items")[0])
			_, err = items.Put(ctx, given, func(in *dynamodb.PutItemInput) { in.Item = nil })
			if !errors.Is(err, ErrItem) {
				t.Errorf("without what the place is worked out from: got %v, want ErrItem", err)
			}
		})
	}
}

package heatsink

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
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
)

// ifNew is the condition that there is no item yet.
func ifNew(in *dynamodb.PutItemInput) {
	in.ConditionExpression = aws.String("attribute_not_exists(sk)")
}

// setN is an update of n.
func setN(n int) func(*dynamodb.UpdateItemInput) { return expression("SET n = :n", ":n", n) }

// An attempt that arrives after its repetition, and after a later write that was acknowledged, undoes that write. With a
// version it does not.
func TestLateAttempts(t *testing.T) {
	like := ov("pk", "a", "sk", "1")
	put := func(n int) func(*Collection[Item]) error {
		return func(c *Collection[Item]) error {
			_, err := c.Put(context.Background(), ov("pk", "a", "sk", "1", "n", n))
			return err
		}
	}
	update := func(n int) func(*Collection[Item]) error {
		return func(c *Collection[Item]) error {
			_, err := c.Update(context.Background(), like, setN(n))
			return err
		}
	}
	remove := func(c *Collection[Item]) error {
		_, err := c.Delete(context.Background(), like)
		return err
	}
	for _, c := range []struct {
		name         string
		first, later func(*Collection[Item]) error
		want         string // what is left, "" for no item
	}{
		{"put, put", put(1), put(2), "2"},
		{"put, update", put(1), update(2), "2"},
		{"put, delete", put(1), remove, ""},
		{"update, put", update(1), put(2), "2"},
		{"update, update", update(1), update(2), "2"},
		{"update, delete", update(1), remove, ""},
		{"delete, put", remove, put(2), "2"},
	} {
		for _, spread := range []layout.Layout{{}, {Shards: 4, Strategy: layout.Calculated}, {Shards: 4}} {
			if spread.Shards > 0 && spread.Strategy == layout.Random && strings.Contains(c.name, "put") {
				continue // a random put appends
			}
			for _, version := range []string{"", "v"} {
				t.Run(fmt.Sprintf("%s, %s, version %q", c.name, spread, version), func(t *testing.T) {
					bubble.Test(t, func(t *testing.T) {
						ctx, client := context.Background(), onItems(t)
						options := Options{Layout: spread, Version: version, TTL: "ttl", Retry: Retry{Timeout: time.Second}}
						direct := openItems(t, client, options)
						if err := put(0)(direct); err != nil {
							t.Fatal(err)
						}
						late := true
						faults := faulty.On(t, client, func(r faulty.Request) faulty.Fault {
							if !late || strings.Contains(r.Operation, "Get") {
								return faulty.None
							}
							late = false
							return faulty.Late
						})
						faults.Delay(faulty.Exactly(time.Minute).Of(faulty.Late))
						time.Sleep(time.Millisecond)
						if err := c.first(openItems(t, faults, options)); err != nil {
							t.Fatal(err)
						}
						time.Sleep(time.Millisecond)
						if err := c.later(direct); err != nil {
							t.Fatal(err)
						}
						faults.Wait()
						got, err := direct.Get(ctx, like, func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
						if err != nil && !errors.Is(err, ErrNotFound) {
							t.Fatal(err)
						}
						left := ""
						if err == nil {
							left = attrText(got, "n")
						}
						if held := left == c.want; version != "" && !held {
							t.Errorf("got %s, want n to be %q: the late attempt has undone what was acknowledged", showItem(got), c.want)
						} else if version == "" && held && spread.Strategy == layout.Calculated && c.name == "put, put" {
							t.Error("without a version nothing was undone: this test shows nothing")
						}
					})
				})
			}
		}
	}
}

// Two processes create the same item, and the answer to one is lost: without a version it cannot know whose the item is.
// With one, exactly one of them has created it.
func TestTwoCreateTheSame(t *testing.T) {
	item := ov("pk", "a", "sk", "1", "n", 1)
	for _, version := range []string{"", "v"} {
		for _, fault := range []faulty.Fault{faulty.LostAnswer, faulty.LostRequest} {
			t.Run(fmt.Sprintf("%v, version %q", fault, version), func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					ctx, client := context.Background(), onItems(t)
					options := Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Version: version, TTL: "ttl"}
					other := openItems(t, client, options)
					var otherErr error
					requests := 0
					faults := faulty.On(t, client, func(faulty.Request) faulty.Fault {
						if requests++; requests == 1 {
							return fault
						}
						_, otherErr = other.Put(ctx, item, ifNew)
						return faulty.None
					})
					_, err := openItems(t, faults, options).Put(ctx, item, ifNew)
					created := 0
					for _, err := range []error{err, otherErr} {
						if err == nil {
							created++
						}
					}
					unknown := errors.As(err, new(*UnknownOutcomeError))
					switch {
					case created > 1:
						t.Error("both are told that they created it")
					case version == "" && !unknown:
						t.Errorf("got %v, want an unknown outcome", err)
					case version != "" && fault == faulty.LostAnswer && (err != nil || otherErr == nil):
						t.Errorf("got %v and %v, want the first to know its own item", err, otherErr)
					case version != "" && fault == faulty.LostRequest && (otherErr != nil || err == nil):
						t.Errorf("got %v and %v, want the other to have created it", err, otherErr)
					}
				})
			})
		}
	}
}

// With a version, what a delete leaves behind is nothing to whoever asks, for every kind of read and condition.
func TestDeletedIsGone(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	for _, spread := range []layout.Layout{{}, {Shards: 4}, {Shards: 4, Strategy: layout.Calculated}} {
		items := openItems(t, client, Options{Layout: spread, Version: "v", TTL: "ttl"})
		key := spread.String()
		if spread.Shards > 0 {
			key = fmt.Sprint("k", spread.Strategy)
		}
		for i := range 10 {
			if _, err := items.Put(ctx, ov("pk", key, "sk", fmt.Sprint(i), "n", i)); err != nil {
				t.Fatal(err)
			}
		}
		like := ov("pk", key, "sk", "3")
		old, err := items.Delete(ctx, like, func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld })
		if err != nil || attrText(old.Attributes, "n") != "3" || attrText(old.Attributes, "pk") != key {
			t.Fatalf("delete: got %s, %v", showItem(old.Attributes), err)
		}
		again, err := items.Delete(ctx, like, func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld })
		if spread.Shards > 0 && spread.Strategy == layout.Random {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("delete again: got %v", err)
			}
		} else if err != nil || again.Attributes != nil {
			t.Errorf("delete again: got %s, %v, want success and no item", showItem(again.Attributes), err)
		}
		if _, err := items.Get(ctx, like); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get: got %v", err)
		}
		if _, err := items.GetMerged(ctx, like); !errors.Is(err, ErrNotFound) {
			t.Errorf("GetMerged: got %v", err)
		}
		if _, err := items.Get(ctx, like, func(in *dynamodb.GetItemInput) { in.ProjectionExpression = aws.String("n") }); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get of n: got %v", err)
		}
		if _, err := items.Update(ctx, like, setN(1)); !errors.Is(err, ErrNotFound) {
			t.Errorf("Update: got %v", err)
		}
		if n, err := items.Count(ctx, Query{Key: key}); n != 9 || err != nil {
			t.Errorf("Count: got %d, %v", n, err)
		}
		if got, err := all(ctx, items, Query{Key: key, Filter: "n < :n", Values: ov(":n", 5)}, "sk"); err != nil || !slices.Equal(got, []string{"0", "1", "2", "4"}) {
			t.Errorf("Query: got %v, %v", got, err)
		}
		for _, stored := range everyItem(t, client, "items") {
			if strings.HasPrefix(attrText(stored, "pk"), key) && attrText(stored, "sk") == "3" {
				if _, _, err := items.Decode(stored); !errors.Is(err, ErrNotFound) {
					t.Errorf("Decode: got %v", err)
				}
			}
		}
		if spread.Shards > 0 && spread.Strategy == layout.Random {
			continue // has no conditional put
		}
		exists := func(in *dynamodb.PutItemInput) {
			in.ConditionExpression = aws.String("attribute_exists(sk)")
			in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		}
		_, err = items.Put(ctx, ov("pk", key, "sk", "3", "n", 33), exists)
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok || failed.Item != nil {
			t.Errorf("Put if there: got %v", err)
		}
		if _, err := items.Put(ctx, ov("pk", key, "sk", "3", "n", 33), ifNew); err != nil {
			t.Errorf("Put if not there: got %v", err)
		}
		if got, err := items.Get(ctx, like); err != nil || attrText(got, "n") != "33" || got["ttl"] != nil {
			t.Errorf("after that: got %s, %v", showItem(got), err)
		}
		if _, err := items.Put(ctx, ov("pk", key, "sk", "3", "n", 34), ifNew); !errors.As(err, new(*types.ConditionalCheckFailedException)) {
			t.Errorf("Put if not there, again: got %v", err)
		}
	}
}

// Tombstones expire after an hour, and DynamoDB removes them.
func TestTombstonesExpire(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		if _, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               aws.String("items"),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
		}); err != nil {
			t.Fatal(err)
		}
		items := openItems(t, client, Options{Version: "v", TTL: "ttl"})
		if _, err := items.Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
			t.Fatal(err)
		}
		if _, err := items.Delete(ctx, ov("pk", "a", "sk", "1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if n := len(everyItem(t, client, "items")); n != 1 {
			t.Errorf("after 59 minutes there are %d items, want the tombstone", n)
		}
		time.Sleep(30 * time.Minute)
		if n := len(everyItem(t, client, "items")); n != 0 {
			t.Errorf("after 89 minutes there are %d items, want none", n)
		}
	})
}

// versionAt returns a version that another writer makes at a time.
func versionAt(at time.Time) string {
	digits := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))
	return digits + digits
}

// A writer whose clock is behind gets a larger version instead of an error, with one request more.
func TestClocksThatAreBehind(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Version: "v", TTL: "ttl"})
	ahead := versionAt(time.Now().Add(time.Hour))
	load(t, client, "items", []Item{ov("pk", "a", "sk", "1", "n", 0, "v", ahead)})
	var meter Meter
	if _, err := items.Put(WithMeter(ctx, &meter), ov("pk", "a", "sk", "1", "n", 1)); err != nil || meter.Cost().Requests != 2 {
		t.Errorf("put: got %v for %+v, want two requests", err, meter.Cost())
	}
	if _, err := items.Update(ctx, ov("pk", "a", "sk", "1"), expression("ADD n :one", ":one", 1)); err != nil {
		t.Errorf("update: got %v", err)
	}
	got, err := items.Get(ctx, ov("pk", "a", "sk", "1"))
	if err != nil || attrText(got, "n") != "2" || attrText(got, "v") <= ahead {
		t.Errorf("got %s, %v, want n to be 2 and the version above %s", showItem(got), err, ahead)
	}
	if _, err := items.Delete(ctx, ov("pk", "a", "sk", "1")); err != nil {
		t.Errorf("delete: got %v", err)
	}
	if _, err := items.Get(ctx, ov("pk", "a", "sk", "1")); !errors.Is(err, ErrNotFound) {
		t.Errorf("after the delete: got %v", err)
	}
}

// An attribute that somebody else keeps is not taken for a version, nor overwritten.
func TestForeignVersion(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Version: "v", TTL: "ttl"})
	load(t, client, "items", []Item{ov("pk", "a", "sk", "1", "v", 7), ov("pk", "a", "sk", "2", "v", "zzz")})
	for _, sk := range []string{"1", "2"} {
		var meter Meter
		if _, err := items.Put(WithMeter(ctx, &meter), ov("pk", "a", "sk", sk)); !errors.Is(err, ErrItem) || errors.As(err, new(*UnknownOutcomeError)) || meter.Cost().Requests != 1 {
			t.Errorf("put %s: got %v after %d requests, want ErrItem", sk, err, meter.Cost().Requests)
		}
		if _, err := items.Update(ctx, ov("pk", "a", "sk", sk), setN(1)); !errors.Is(err, ErrItem) {
			t.Errorf("update %s: got %v, want ErrItem", sk, err)
		}
	}
}

// Through an index, a tombstone is listed nowhere, and an update keeps both listing and version.
func TestVersionByIndex(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{
		Index: Index{Name: "listing"}, Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Version: "v", TTL: "ttl",
	})
	for i := range 5 {
		if _, err := users.Put(ctx, ov("id", fmt.Sprint("u", i), "pk", "ACTIVE", "sk", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := users.Update(ctx, ov("id", "u1", "pk", "BANNED"), setN(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := users.Delete(ctx, ov("id", "u2")); err != nil {
		t.Fatal(err)
	}
	if got, err := all(ctx, users, Query{Key: "ACTIVE"}, "id"); err != nil || !slices.Equal(got, []string{"u0", "u3", "u4"}) {
		t.Errorf("active: got %v, %v", got, err)
	}
	if got, err := all(ctx, users, Query{Key: "BANNED"}, "id"); err != nil || !slices.Equal(got, []string{"u1"}) {
		t.Errorf("banned: got %v, %v", got, err)
	}
	if _, err := users.Get(ctx, ov("id", "u2")); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted: got %v", err)
	}
}

// What versions cannot be kept by is refused.
func TestVersionIsRefused(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	for name, options := range map[string]Options{
		"without TTL":       {Version: "v"},
		"the sort key":      {Version: "sk", TTL: "ttl"},
		"the time to live":  {Version: "ttl", TTL: "ttl"},
		"TTL as sort key":   {Version: "v", TTL: "sk"},
		"the shard is from": {Version: "v", TTL: "ttl", ShardBy: []string{"v"}},
	} {
		options.Table, options.PartitionKey, options.SortKey = "items", "pk", "sk"
		if _, err := Open[Item](client, options); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: got %v, want ErrOptions", name, err)
		}
	}
	items := openItems(t, client, Options{Version: "v", TTL: "ttl"})
	item := ov("pk", "a", "sk", "1")
	for name, do := range map[string]func() error{
		"Expected": func() error {
			_, err := items.Put(ctx, item, func(in *dynamodb.PutItemInput) {
				in.Expected = map[string]types.ExpectedAttributeValue{"n": {Exists: aws.Bool(false)}}
			})
			return err
		},
		"AttributeUpdates": func() error {
			_, err := items.Update(ctx, item, func(in *dynamodb.UpdateItemInput) {
				in.AttributeUpdates = map[string]types.AttributeValueUpdate{"n": {Action: types.AttributeActionDelete}}
			})
			return err
		},
		"Expected of a delete": func() error {
			_, err := items.Delete(ctx, item, func(in *dynamodb.DeleteItemInput) {
				in.Expected = map[string]types.ExpectedAttributeValue{"n": {Exists: aws.Bool(false)}}
			})
			return err
		},
		"TransactPut":    func() error { _, err := items.TransactPut(ctx, item); return err },
		"TransactUpdate": func() error { _, err := items.TransactUpdate(ctx, item); return err },
		"TransactDelete": func() error { _, err := items.TransactDelete(ctx, item); return err },
		"TransactCheck":  func() error { _, err := items.TransactCheck(ctx, item); return err },
	} {
		if err := do(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), `"v"`) {
			t.Errorf("%s: got %v, want ErrOptions", name, err)
		}
	}
	if n := len(everyItem(t, client, "items")); n != 0 {
		t.Errorf("%d items were written", n)
	}
}

// Whatever is lost, late or done twice: an acknowledged write is done once and stays until the next, a write with an unknown
// outcome is done once or not at all, and one that failed is not done.
func TestVersionModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		spread := rapid.SampledFrom([]layout.Layout{{}, {Shards: 4, Strategy: layout.Calculated}}).Draw(rt, "layout")
		steps := rapid.SliceOfN(rapid.IntRange(0, 5), 5, 40).Draw(rt, "steps")
		var fault string
		bubble.Test(t, func(t *testing.T) { fault = versionModel(t, seed, spread, steps) })
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// versionModel returns what was wrong, "" if nothing.
func versionModel(t *testing.T, seed uint64, spread layout.Layout, steps []int) string {
	ctx, client := context.Background(), onItems(t)
	random := rand.New(rand.NewPCG(seed, 1))
	faults := faulty.On(t, client, faulty.Random(random, 50, faulty.Late, faulty.Late, faulty.LostAnswer, faulty.LostRequest, faulty.Throttled, faulty.UnansweredDone))
	faults.Delay(faulty.UpTo(random, time.Minute).Of(faulty.Late))
	options := Options{Layout: spread, Version: "v", TTL: "ttl", Retry: Retry{Timeout: time.Second, Attempts: 4, Burst: 1000}}
	items, direct := openItems(t, faults, options), openItems(t, client, options)
	like := ov("pk", "a", "sk", "1")

	const none = -1
	possible := map[int]bool{none: true} // values of n
	for step, action := range steps {
		var err error
		after := map[int]bool{} // what it makes of each possible value
		change := func(f func(n int) (int, bool)) {
			for n := range possible {
				if to, ok := f(n); ok {
					after[to] = true
				}
			}
		}
		value := 1000 * (step + 1)
		switch action {
		case 0, 1:
			_, err = items.Put(ctx, ov("pk", "a", "sk", "1", "n", value))
			change(func(int) (int, bool) { return value, true })
		case 2:
			_, err = items.Put(ctx, ov("pk", "a", "sk", "1", "n", value), ifNew)
			change(func(n int) (int, bool) { return value, n == none })
		case 3:
			_, err = items.Update(ctx, like, expression("ADD n :one", ":one", 1))
			change(func(n int) (int, bool) { return n + 1, n != none })
		case 4:
			_, err = items.Delete(ctx, like)
			change(func(int) (int, bool) { return none, true })
		case 5:
			time.Sleep(time.Duration(random.Int64N(int64(time.Minute))))
			continue
		}
		switch {
		case err == nil:
			possible = after
		case errors.As(err, new(*UnknownOutcomeError)):
			for n := range after {
				possible[n] = true
			}
		}
		got, err := direct.Get(ctx, like, func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err.Error()
		}
		if n := valueOfN(got); !possible[n] {
			return fmt.Sprintf("after step %d, action %d: n is %d, want one of %v", step, action, n, possible)
		}
	}
	faults.Wait()
	got, err := direct.Get(ctx, like, func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
	if n := valueOfN(got); !possible[n] || err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Sprintf("at the end: n is %d, %v, want one of %v", n, err, possible)
	}
	return ""
}

// valueOfN returns n of an item, -1 if there is no item.
func valueOfN(item Item) int {
	if item == nil {
		return -1
	}
	var n int
	_, _ = fmt.Sscan(attrText(item, "n"), &n)
	return n
}

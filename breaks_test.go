package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// The tests of this file were written for breaks of a line that no other test noticed.

// The copies of an item are deleted from the one that counts least on, so that a delete which stops half way never shows a copy
// that was hidden before.
func TestDeleteOrderOfCopies(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	faults := faulty.On(t, client, faulty.Always(faulty.None))
	items := openItems(t, faults, Options{Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 16, Read: 16}})
	for i := range 100 {
		like := ov("pk", "a", "sk", fmt.Sprint("u", i))
		keys, err := items.Locate(ctx, like)
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) < 3 {
			continue
		}
		load(t, client, "items", keys)
		if _, err := items.Delete(ctx, like); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, key := range slices.Backward(keys) {
			want = append(want, attrText(key, "pk"))
		}
		if got := faults.Keys("DeleteItem", "pk"); !slices.Equal(got, want) {
			t.Errorf("deleted %q, want %q", got, want)
		}
		return
	}
	t.Fatal("no item has three homes")
}

// A limited count of a partial read says which shards it could not reach, as an unlimited read does.
func TestPartialLimitedCountSaysWhatIsMissing(t *testing.T) {
	client := &watched{
		Client: &made{TB: t, keys: func(string) []string { return ranks(3) }},
		fail: func(shardKey string, _ int) error {
			if shardKey == "k#SHARD_1" {
				return errBroken
			}
			return nil
		},
	}
	options := sharded(4)
	options.Retry = Retry{Attempts: 1}
	n, err := collection(t, client, options).Count(t.Context(), Query{Key: "k", Partial: true, Limit: 100})
	failed, ok := errors.AsType[*GatherError](err)
	if n != 9 || !ok || len(failed.Shards) != 1 || failed.Shards[0].ShardKey != "k#SHARD_1" {
		t.Errorf("got %d, %v, want 9 and a GatherError about k#SHARD_1", n, err)
	}
}

// The caller's filter is one condition beside heatsink's own, also if it has an OR.
func TestFilterWithOrLeavesOutExpiredAndDeleted(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Version: "v", TTL: "ttl"})
	past := int(time.Now().Add(-time.Hour).Unix())
	for _, item := range []Item{
		ov("pk", "a", "sk", "1", "n", 1), ov("pk", "a", "sk", "2", "n", 2), ov("pk", "a", "sk", "3", "n", 3),
		ov("pk", "a", "sk", "4", "n", 1, "ttl", past), ov("pk", "a", "sk", "5", "n", 2, "ttl", past), ov("pk", "a", "sk", "6", "n", 1),
	} {
		if _, err := items.Put(ctx, item); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := items.Delete(ctx, ov("pk", "a", "sk", "6")); err != nil {
		t.Fatal(err)
	}
	for _, filter := range []string{"n = :one OR n = :two", "attribute_not_exists(n) OR n < :three"} {
		values := ov(":one", 1, ":two", 2)
		if filter[0] == 'a' {
			values = ov(":three", 3)
		}
		got, err := all(ctx, items, Query{Key: "a", Filter: filter, Values: values}, "sk")
		if err != nil || !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("%s: got %v, %v, want 1 and 2", filter, got, err)
		}
	}
}

// A shard that is not read must not pass for a shard of another key, as an older layout would spell it.
func TestDecodeTooNarrowForOneKeyOnly(t *testing.T) {
	options := Options{Layout: layout.Layout{Shards: 2, Format: layout.SharpNumber()}, Older: []layout.Layout{{Shards: 16, Format: layout.PlainNumber()}}}
	item, place, err := openItems(t, &dynamodb.Client{}, options).Decode(ov("pk", "a#SHARD#9", "sk", "1"))
	if !errors.Is(err, ErrTooNarrow) || place != (layout.Place{Key: "a", Shard: 9}) || attrText(item, "pk") != "a" {
		t.Errorf("got %s at %+v, %v, want ErrTooNarrow", showItem(item), place, err)
	}
}

// A delete that finds its own tombstone has succeeded, with a condition as well.
func TestVersionedDeleteAfterLostAnswer(t *testing.T) {
	for _, condition := range []*string{nil, aws.String("attribute_exists(sk)")} {
		synctest.Test(t, func(t *testing.T) {
			ctx, client := context.Background(), onItems(t)
			options := Options{Version: "v", TTL: "ttl"}
			if _, err := openItems(t, client, options).Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // versions of one nanosecond are in any order
			items := openItems(t, faulty.On(t, client, faulty.Script(faulty.LostAnswer)), options)
			if _, err := items.Delete(ctx, ov("pk", "a", "sk", "1"), func(in *dynamodb.DeleteItemInput) { in.ConditionExpression = condition }); err != nil {
				t.Errorf("got %v, want it to know its own tombstone", err)
			}
		})
	}
}

// An update whose answer was lost, and whose item somebody has deleted since, may have happened.
func TestVersionedUpdateOfWhatIsDeletedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		options := Options{Version: "v", TTL: "ttl"}
		other := openItems(t, client, options)
		like := ov("pk", "a", "sk", "1")
		if _, err := other.Put(ctx, like); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		requests := 0
		items := openItems(t, faulty.On(t, client, func(faulty.Request) faulty.Fault {
			if requests++; requests == 1 {
				return faulty.LostAnswer
			}
			if _, err := other.Delete(ctx, like); err != nil {
				t.Error(err)
			}
			return faulty.None
		}), options)
		if _, err := items.Update(ctx, like, setN(1)); !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
	})
}

// What may be another item, because it lacks the attribute that tells, is not deleted along with the item.
func TestDeleteLeavesWhatMayBeAnother(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, ShardBy: []string{"id"}, Older: []layout.Layout{{}}})
	like := ov("pk", "a", "sk", "1", "id", "x")
	if _, err := items.Put(ctx, like); err != nil {
		t.Fatal(err)
	}
	load(t, client, "items", []Item{ov("pk", "a", "sk", "1", "n", 7)})
	if _, err := items.Delete(ctx, like); err != nil {
		t.Fatal(err)
	}
	if left := everyItem(t, client, "items"); len(left) != 1 || attrText(left[0], "n") != "7" {
		t.Errorf("got %v, want the item without an id to be left", left)
	}
}

// turning is a client whose answers to batches are, one after another: lost, rejected, throttled, and then what they are.
type turning struct {
	Client
	n int
}

func (c *turning) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	c.n++
	switch c.n {
	case 1:
		if _, err := c.Client.BatchWriteItem(ctx, in, opts...); err != nil {
			return nil, err
		}
		return nil, errors.New("connection reset by peer")
	case 2:
		return nil, &smithy.GenericAPIError{Code: "ValidationException", Fault: smithy.FaultClient}
	case 3, 4, 5:
		return nil, errThrottled
	}
	return c.Client.BatchWriteItem(ctx, in, opts...)
}

// A batch that may have been written and is rejected then is not sent elsewhere in halves: it would be there twice.
func TestBatchPutRejectedAfterLostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		err := openItems(t, &turning{Client: engine}, Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(20))
		if !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		if n := len(everyItem(t, engine, "items")); n != 20 {
			t.Errorf("got %d items, want 20", n)
		}
	})
}

// A key that a table no longer names falls back to the default, which must not write where the key was not read.
func TestLiveWidthsOfAKeyThatIsNoLongerNamed(t *testing.T) {
	var live layout.LiveWidths
	if err := live.Replace(layout.WidthTable{Default: layout.Width{Write: 8, Read: 8}, Keys: map[string]layout.Width{"small": {Write: 1, Read: 2}}}); err != nil {
		t.Fatal(err)
	}
	err := live.Replace(layout.WidthTable{Default: layout.Width{Write: 8, Read: 8}})
	if !errors.Is(err, layout.ErrWidth) || !strings.Contains(err.Error(), `"small"`) {
		t.Errorf("got %v, want ErrWidth that names the key", err)
	}
	if w, err := live.Width(t.Context(), "small", time.Time{}); err != nil || w != (layout.Width{Write: 1, Read: 2}) {
		t.Errorf("got %v, %v, want the width of before", w, err)
	}
}

// A condition in the old style is one as well: it would see one shard of many.
func TestPutRefusesScatteredExpected(t *testing.T) {
	client := onItems(t)
	_, err := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}}).Put(t.Context(), ov("pk", "a", "sk", "1"), func(in *dynamodb.PutItemInput) {
		in.Expected = map[string]types.ExpectedAttributeValue{"sk": {Exists: aws.Bool(false)}}
	})
	if n := len(everyItem(t, client, "items")); !errors.Is(err, ErrScattered) || n != 0 {
		t.Errorf("got %v and %d items, want ErrScattered", err, n)
	}
}

// With a version, too, an update that is to return what only its first attempt sees is not repeated after a lost answer.
func TestVersionedUpdateThatReturnsValues(t *testing.T) {
	for _, values := range []types.ReturnValue{types.ReturnValueAllOld, types.ReturnValueUpdatedOld, types.ReturnValueUpdatedNew} {
		synctest.Test(t, func(t *testing.T) {
			ctx, client := context.Background(), onItems(t)
			options := Options{Version: "v", TTL: "ttl"}
			if _, err := openItems(t, client, options).Put(ctx, ov("pk", "a", "sk", "1", "n", 1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // versions of one nanosecond are in any order
			items := openItems(t, faulty.On(t, client, faulty.Script(faulty.LostAnswer)), options)
			w, err := items.Update(ctx, ov("pk", "a", "sk", "1"), setN(2), func(in *dynamodb.UpdateItemInput) { in.ReturnValues = values })
			if !errors.As(err, new(*UnknownOutcomeError)) {
				t.Errorf("%s: got %s, %v, want an unknown outcome", values, showItem(w.Attributes), err)
			}
		})
	}
}

// raving is a client that does what the first batch says, and then says an item was left unprocessed that it was never sent.
type raving struct {
	Client
	stranger types.WriteRequest
	n        int
}

func (c *raving) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	out, err := c.Client.BatchWriteItem(ctx, in, opts...)
	if c.n++; c.n == 1 && err == nil {
		out.UnprocessedItems = map[string][]types.WriteRequest{"items": {c.stranger}}
	}
	return out, err
}

// An answer that names a stranger says nothing about any item: all are sent again, to the shards where they may be already.
func TestBatchPutStrangersPinTheShards(t *testing.T) {
	for name, stranger := range map[string]types.WriteRequest{
		"stranger": {PutRequest: &types.PutRequest{Item: ov("pk", "who", "sk", "?")}},
		"no key":   {PutRequest: &types.PutRequest{Item: ov("sk", "?")}},
		"delete":   {DeleteRequest: &types.DeleteRequest{Key: ov("pk", "who", "sk", "?")}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, engine := context.Background(), onItems(t)
			if err := openItems(t, &raving{Client: engine, stranger: stranger}, Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(20)); err != nil {
				t.Fatal(err)
			}
			if n := len(everyItem(t, engine, "items")); n != 20 {
				t.Errorf("%s: got %d items, want 20", name, n)
			}
		})
	}
}

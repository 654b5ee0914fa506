package heatsink

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/bubble"
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
		bubble.Test(t, func(t *testing.T) {
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
	bubble.Test(t, func(t *testing.T) {
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

// A batch that may have been written and is rejected then is sent again in halves, to the same shards: anywhere else it would
// be there twice.
func TestBatchPutRejectedAfterLostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		err := openItems(t, &turning{Client: engine}, Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(20))
		if err != nil {
			t.Errorf("got %v, want all of them written", err)
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
		bubble.Test(t, func(t *testing.T) {
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
		bubble.Test(t, func(t *testing.T) {
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

// A delete whose condition fails leaves the copy that counts, which is not deleted along with the hidden ones.
func TestVersionedDeleteWithFailingConditionKeepsTheItem(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{
		Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 1, Read: 4}, Version: "v", TTL: "ttl",
	})
	like := ov("pk", "a", "sk", movingID(t, 1, 4))
	if _, err := items.Put(ctx, like); err != nil {
		t.Fatal(err)
	}
	_, err := items.Delete(ctx, like, func(in *dynamodb.DeleteItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(sk)")
	})
	if !errors.As(err, new(*types.ConditionalCheckFailedException)) {
		t.Errorf("delete: got %v, want the condition to fail", err)
	}
	if _, err := items.Get(ctx, like, strongly); err != nil {
		t.Errorf("get: got %v, want the item", err)
	}
}

// The caller's condition is one beside heatsink's own, also if it has an OR that holds without an item.
func TestUpdateWithOrCreatesNothing(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	views := openItems(t, &deleting{Client: client, t: t}, Options{Layout: layout.Layout{Shards: 4}})
	if _, err := views.Put(ctx, ov("pk", "a", "sk", "1")); err != nil {
		t.Fatal(err)
	}
	_, err := views.Update(ctx, ov("pk", "a", "sk", "1"), setN(1), func(in *dynamodb.UpdateItemInput) {
		in.ConditionExpression = aws.String("attribute_not_exists(x) OR n = :n")
	})
	if left := everyItem(t, client, "items"); err != ErrNotFound || len(left) != 0 {
		t.Errorf("got %v and %v, want ErrNotFound and no item", err, left)
	}
}

// Another part with the same key is another item, also if it is newer and whatever the caller asks to see.
func TestGetTellsPartsApart(t *testing.T) {
	ctx, part := t.Context(), movingID(t, 1, 4)
	onlyN := func(in *dynamodb.GetItemInput) { in.ProjectionExpression = aws.String("n") }
	for _, version := range []string{"", "v"} {
		client := onItems(t)
		options := Options{
			Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 4, Read: 4}, ShardBy: []string{"part"}, Version: version,
		}
		if version != "" {
			options.TTL = "ttl"
		}
		items := openItems(t, client, options)
		like, other := ov("pk", "a", "sk", "1", "part", part), ov("pk", "a#SHARD_0", "sk", "1", "part", "other", "n", 2)
		if version != "" {
			other[version] = sv(versionAt(time.Now().Add(time.Hour)))
		}
		load(t, client, "items", []Item{other})
		for _, edits := range [][]func(*dynamodb.GetItemInput){{strongly}, {strongly, onlyN}} {
			if got, err := items.Get(ctx, like, edits...); err != ErrNotFound {
				t.Errorf("version %q, %d edits: got %s, %v, want ErrNotFound", version, len(edits), showItem(got), err)
			}
		}
		if _, err := items.Put(ctx, ov("pk", "a", "sk", "1", "part", part, "n", 1)); err != nil {
			t.Fatal(err)
		}
		if got, err := items.Get(ctx, like, strongly); err != nil || attrText(got, "n") != "1" {
			t.Errorf("version %q: got %s, %v, want the own part", version, showItem(got), err)
		}
		got, err := items.Get(ctx, like, strongly, onlyN)
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "n of the own part", got, ov("n", 1))
	}
}

// What has expired or was deleted is no part of the whole, even in the shard whose attributes stand.
func TestGetMergedLeavesOutExpired(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	now := time.Now()
	past, future := int(now.Add(-time.Hour).Unix()), int(now.Add(time.Hour).Unix())
	load(t, client, "items", []Item{
		ov("pk", "expired#SHARD_0", "sk", "1", "ttl", past, "n", 0, "v", versionAt(now)), ov("pk", "expired#SHARD_1", "sk", "1", "n", 1),
		ov("pk", "deleted#SHARD_0", "sk", "1", "ttl", future, "v", versionAt(now)+"!deleted"), ov("pk", "deleted#SHARD_1", "sk", "1", "n", 1),
	})
	views := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}, Version: "v", TTL: "ttl"})
	for _, key := range []string{"expired", "deleted"} {
		got, err := views.GetMerged(ctx, ov("pk", key, "sk", "1"), strongly)
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
		wantItem(t, key, got, ov("pk", key, "sk", "1", "n", 1))
	}
}

// A put that returns what it replaced returns no tombstone.
func TestPutOverTombstoneReplacesNothing(t *testing.T) {
	ctx, items := t.Context(), openItems(t, onItems(t), Options{Version: "v", TTL: "ttl"})
	item := ov("pk", "a", "sk", "1")
	if _, err := items.Put(ctx, item); err != nil {
		t.Fatal(err)
	}
	if _, err := items.Delete(ctx, item); err != nil {
		t.Fatal(err)
	}
	w, err := items.Put(ctx, item, func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld })
	if err != nil || w.Attributes != nil {
		t.Errorf("got %s, %v, want no old item", showItem(w.Attributes), err)
	}
}

// A delete that has to look for its item costs one read of all homes and one tombstone, and the meter has both.
func TestMeterOfVersionedDelete(t *testing.T) {
	ctx, client := t.Context(), &billed{Client: onItems(t)}
	items := openItems(t, client, Options{
		Layout: layout.Layout{Strategy: layout.Calculated}, Widths: layout.Width{Write: 1, Read: 4}, Version: "v", TTL: "ttl",
	})
	like := ov("pk", "a", "sk", movingID(t, 1, 4))
	if _, err := items.Put(ctx, like); err != nil {
		t.Fatal(err)
	}
	client.reads, client.writes, client.units = 0, 0, Cost{}
	var meter Meter
	if _, err := items.Delete(WithMeter(ctx, &meter), like); err != nil {
		t.Fatal(err)
	}
	if client.reads != 1 || client.writes != 1 {
		t.Errorf("%d BatchGetItems and %d PutItems, want one each", client.reads, client.writes)
	}
	got := meter.Cost()
	if got.ReadUnits == 0 || got.WriteUnits == 0 || got.ReadUnits != client.units.ReadUnits || got.WriteUnits != client.units.WriteUnits {
		t.Errorf("got %+v, want what the answers say: %+v", got, client.units)
	}
}

// billed is a client that adds up what the answers to batched reads and to puts say they consumed.
type billed struct {
	Client
	reads, writes int
	units         Cost
}

func (b *billed) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := b.Client.BatchGetItem(ctx, in, opts...)
	b.reads++
	if err == nil {
		for _, consumed := range out.ConsumedCapacity {
			b.units.ReadUnits += aws.ToFloat64(consumed.CapacityUnits)
		}
	}
	return out, err
}

func (b *billed) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	out, err := b.Client.PutItem(ctx, in, opts...)
	b.writes++
	if err == nil && out.ConsumedCapacity != nil {
		b.units.WriteUnits += aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}

// A request that the client's middleware has kept stays what it was when it was sent, however the put goes on.
func TestRecordedPutsDoNotChange(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		fault   faulty.Fault
	}{
		"moved to another shard": {Options{Layout: layout.Layout{Shards: 4}}, faulty.Throttled},
		"with a larger version":  {Options{Version: "v", TTL: "ttl"}, faulty.None},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := onItems(t)
				load(t, client, "items", []Item{ov("pk", "a", "sk", "1", "v", versionAt(time.Now().Add(time.Hour)))})
				kept := &keeping{Client: faulty.On(t, client, faulty.Script(c.fault))}
				if _, err := openItems(t, kept, c.options).Put(context.Background(), ov("pk", "a", "sk", "1")); err != nil {
					t.Fatal(err)
				}
				sent := kept.Requests() // copies
				if len(sent) != 2 || len(kept.puts) != 2 {
					t.Fatalf("%d requests, want two", len(sent))
				}
				for i, r := range sent {
					if !reflect.DeepEqual(r.Input, kept.puts[i]) {
						t.Errorf("put %d of %s has become one of %s", i, showItem(r.Input.(*dynamodb.PutItemInput).Item), showItem(kept.puts[i].Item))
					}
				}
			})
		})
	}
}

// keeping is a client that keeps the puts it is given, not copies of them.
type keeping struct {
	*faulty.Client
	puts []*dynamodb.PutItemInput
}

func (k *keeping) PutItem(ctx context.Context, in *dynamodb.PutItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	k.puts = append(k.puts, in)
	return k.Client.PutItem(ctx, in, opts...)
}

package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// numberedItems returns n items of one key.
func numberedItems(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i] = ov("pk", "VIEWS", "sk", fmt.Sprintf("%04d", i))
	}
	return items
}

func TestBatchPut(t *testing.T) {
	engine := onItems(t)
	client := faulty.On(t, engine, nil)
	for _, spread := range []layout.Layout{{Shards: 10}, {Shards: 10, Strategy: layout.Calculated, Format: layout.SharpNumber()}} {
		var meter Meter
		views := openItems(t, client, Options{Layout: spread})
		if err := views.BatchPut(WithMeter(t.Context(), &meter), numberedItems(260)); err != nil {
			t.Fatal(err)
		}
		if want := (Cost{Requests: 11, WriteUnits: 260}); meter.Cost() != want {
			t.Errorf("got %+v, want %+v", meter.Cost(), want)
		}
		for _, i := range []int{0, 77, 259} {
			item := numberedItems(260)[i]
			got, err := views.Get(t.Context(), item)
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "read", got, item)
		}
	}
	if n := len(everyItem(t, engine, "items")); n != 520 {
		t.Errorf("got %d items, want 520", n)
	}
	if err := openItems(t, client, Options{}).BatchPut(t.Context(), nil); err != nil {
		t.Errorf("nothing: got %v", err)
	}
}

// Of items with the same key the last one stands, wherever it is put, and is written once.
func TestBatchPutDuplicates(t *testing.T) {
	engine := onItems(t)
	for _, spread := range []layout.Layout{{Shards: 10}, {Shards: 10, Strategy: layout.Calculated, Format: layout.SharpNumber()}} {
		var meter Meter
		err := openItems(t, engine, Options{Layout: spread}).BatchPut(WithMeter(t.Context(), &meter), []Item{
			ov("pk", "a", "sk", "1", "n", 1), ov("pk", "a", "sk", "2", "n", 2), ov("pk", "a", "sk", "1", "n", 3), ov("pk", "a", "sk", "1", "n", 4),
		})
		if err != nil || meter.Cost().WriteUnits != 2 {
			t.Errorf("got %v for %v units, want 2 items written", err, meter.Cost().WriteUnits)
		}
	}
	for _, item := range everyItem(t, engine, "items") {
		if want := map[string]string{"1": "4", "2": "2"}[attrText(item, "sk")]; attrText(item, "n") != want {
			t.Errorf("got %s, want n to be %s", showItem(item), want)
		}
	}
	// The same key at another time is another item; 1 and 1.0 are the same sort key.
	byDay := coreOf(t, Options{Layout: layout.Layout{Bucket: layout.Day}, EventTime: EventTime{Attribute: "at"}})
	number := func(n, at string) Item { return ov("pk", "a", "sk", &types.AttributeValueMemberN{Value: n}, "at", at) }
	items := []Item{number("1", "2026-01-01T00:00:00Z"), number("1", "2026-01-02T00:00:00Z"), number("1.0", "2026-01-01T05:00:00Z")}
	b := &batch{schema: byDay.schema, placer: byDay.writer.placer, watcher: byDay.writer.watcher}
	b.place(t.Context(), len(items), func(i int) (Item, error) { return items[i], nil })
	if len(b.items) != 2 || b.items[0].position != 1 || b.items[1].position != 2 {
		t.Errorf("got %d items, want the second and the third", len(b.items))
	}
}

// Through an index it is the table's key that counts, whatever the logical key and the bucket.
func TestBatchPutDuplicatesByIndex(t *testing.T) {
	ctx, client := t.Context(), onItems(t, byIndex(false))
	users := openItems(t, client, Options{
		Index:  Index{Name: "listing"},
		Layout: layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: layout.Day}, EventTime: EventTime{Attribute: "sk"},
	})
	err := users.BatchPut(ctx, []Item{
		ov("id", "u1", "pk", "ACTIVE", "sk", "2026-01-01T00:00:00Z"),
		ov("id", "u1", "pk", "ACTIVE", "sk", "2026-01-02T00:00:00Z"),
		ov("id", "u1", "pk", "GONE", "sk", "2026-01-03T00:00:00Z"),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := users.Get(ctx, ov("id", "u1"))
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "read", got, ov("id", "u1", "pk", "GONE", "sk", "2026-01-03T00:00:00Z"))
}

// A key of another type is another key, although its bytes are the same: it is refused alone, and replaces nothing.
func TestBatchPutKeysOfOtherTypes(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	err := items.BatchPut(ctx, []Item{ov("pk", "a", "sk", "1"), ov("pk", "a", "sk", &types.AttributeValueMemberB{Value: []byte("1")})})
	failed, ok := errors.AsType[*BatchError](err)
	if !ok || len(failed.Failed) != 1 || failed.Failed[0].Position != 1 {
		t.Errorf("got %v, want the second item to be refused", err)
	}
	if _, err := items.Get(ctx, ov("pk", "a", "sk", "1")); err != nil {
		t.Errorf("the first item: got %v, want it to be written", err)
	}
}

// What is left unprocessed is sent again, elsewhere if any shard will do; what is never written is named, and why.
func TestBatchPutUnprocessed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		if err := openItems(t, faulty.On(t, engine, faulty.Script(faulty.Partly, faulty.Throttled, faulty.Partly)), Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(25)); err != nil {
			t.Fatal(err)
		}
		if n := len(everyItem(t, engine, "items")); n != 25 {
			t.Errorf("got %d items, want 25", n)
		}
	})
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		client := faulty.On(t, engine, faulty.Script(faulty.Partly, faulty.Throttled))
		items := numberedItems(24)
		items[3] = items[20] // the first of two with the same key is not written, and not missed
		err := openItems(t, client, Options{Layout: layout.Layout{Shards: 10}, Retry: Retry{Attempts: 2}}).BatchPut(ctx, items)
		failed, ok := err.(*BatchError)
		if !ok || failed.Of != 24 {
			t.Fatalf("got %v, want a BatchError of 24 items", err)
		}
		missing := map[string]bool{}
		last := -1
		for _, f := range failed.Failed {
			shard, ok := errors.AsType[*ShardError](f.Err)
			if !ok || shard.Operation != "BatchWriteItem" || shard.ShardKey == "" || shard.Attempts != 2 || !errors.As(f.Err, new(*types.ProvisionedThroughputExceededException)) || f.Position <= last {
				t.Errorf("got %d: %v, want a throttled BatchWriteItem, in order", f.Position, f.Err)
			}
			last = f.Position
			missing[attrText(items[f.Position], "sk")] = true
		}
		written := everyItem(t, engine, "items")
		for _, item := range written {
			if missing[attrText(item, "sk")] {
				t.Errorf("%s was written, but is said not to be", showItem(item))
			}
		}
		if len(written)+len(missing) != 23 || len(missing) == 0 {
			t.Errorf("%d written and %d missing, want 23 together", len(written), len(missing))
		}
	})
}

// After a lost answer the items of that request are only sent to the shards they may be in.
func TestBatchPutPinned(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		if err := openItems(t, faulty.On(t, engine, faulty.Script(faulty.LostAnswer, faulty.Throttled, faulty.Partly, faulty.Partly)), Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(25)); err != nil {
			t.Fatal(err)
		}
		if n := len(everyItem(t, engine, "items")); n != 25 {
			t.Errorf("got %d items, want 25", n)
		}
		err := openItems(t, faulty.On(t, engine, faulty.Always(faulty.LostAnswer)), Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(1))
		if !errors.As(err, new(*BatchError)) || !errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want an unknown outcome", err)
		}
	})
}

// lying is a client that does nothing the first time, and says an item was left unprocessed that it was never sent.
type lying struct {
	Client
	lied bool
}

func (l *lying) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	if l.lied {
		return l.Client.BatchWriteItem(ctx, in, opts...)
	}
	l.lied = true
	stranger := types.WriteRequest{PutRequest: &types.PutRequest{Item: ov("pk", "who", "sk", "?")}}
	return &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{"items": {stranger}}}, nil
}

func TestBatchPutDoesNotTrustStrangers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		if err := openItems(t, &lying{Client: engine}, Options{Layout: layout.Layout{Shards: 10}}).BatchPut(ctx, numberedItems(5)); err != nil {
			t.Fatal(err)
		}
		if n := len(everyItem(t, engine, "items")); n != 5 {
			t.Errorf("got %d items, want 5", n)
		}
	})
}

func TestBatchPutContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		engine := onItems(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		views := openItems(t, faulty.On(t, engine, faulty.Always(faulty.Throttled)), Options{Layout: layout.Layout{Shards: 10}, Retry: Retry{Base: time.Hour, Max: time.Hour}})
		err := views.BatchPut(ctx, numberedItems(400)) // more batches than run at a time
		failed, ok := err.(*BatchError)
		if !ok || len(failed.Failed) != 400 || !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*UnknownOutcomeError)) {
			t.Errorf("got %v, want all of 400 to be out of time", err)
		}
	})
}

func TestInParallel(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var busy, most, calls atomic.Int64
		start := time.Now()
		inParallel(3*maxBatches, func(int) {
			most.Store(max(most.Load(), busy.Add(1)))
			time.Sleep(time.Second)
			busy.Add(-1)
			calls.Add(1)
		})
		if most.Load() > maxBatches || calls.Load() != 3*maxBatches || time.Since(start) != 3*time.Second {
			t.Errorf("%d calls took %s, %d at a time; want %d in 3 s", calls.Load(), time.Since(start), most.Load(), 3*maxBatches)
		}
	})
}

// Four thousand items on partitions that throttle: all of them get there in the end, each once.
func TestBatchPutOnHotPartitions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db := startWith(t, local.Options{Physics: &local.Physics{PartitionWrites: 200, OnDemandPartitions: 4, NoSplits: true}})
		client := db.Client()
		makeTable(t, client, "items")
		views := openItems(t, client, Options{Layout: layout.Layout{Shards: 10}, Retry: Retry{Attempts: 30, Budget: 30}})
		var meter Meter
		start := time.Now()
		if err := views.BatchPut(WithMeter(ctx, &meter), numberedItems(4_000)); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, item := range everyItem(t, client, "items") {
			seen[attrText(item, "sk")] = true
		}
		if items := everyItem(t, client, "items"); len(items) != 4_000 || len(seen) != 4_000 {
			t.Errorf("got %d items of %d keys, want 4,000", len(items), len(seen))
		}
		t.Logf("4,000 items on 4 × 200 units/s took %s and %+v", time.Since(start).Round(time.Millisecond), meter.Cost())
		if meter.Cost().Throttles == 0 {
			t.Error("nothing was throttled: the test tests nothing")
		}
	})
}

// One item that cannot be written fails alone: 24 others of its batch are written, and those of other batches.
func TestBatchPutFailsAlone(t *testing.T) {
	for name, bad := range map[string]Item{
		"too large":       ov("pk", "VIEWS", "sk", "bad", "blob", strings.Repeat("x", 401<<10)),
		"without a key":   ov("sk", "bad"),
		"with a long key": ov("pk", "VIEWS", "sk", strings.Repeat("x", 1025)),
		"with no number":  ov("pk", "VIEWS", "sk", "bad", "n", &types.AttributeValueMemberN{Value: "x"}),
		"an empty set":    ov("pk", "VIEWS", "sk", "bad", "set", &types.AttributeValueMemberSS{}),
	} {
		for _, version := range []string{"", "v"} {
			for _, at := range []int{0, 7, 24, 30} {
				t.Run(fmt.Sprintf("%s at %d, version %q", name, at, version), func(t *testing.T) {
					client := onItems(t)
					options := Options{Layout: layout.Layout{Shards: 4}, Version: version}
					if version != "" {
						options.TTL = "ttl"
					}
					err := openItems(t, client, options).BatchPut(t.Context(), slices.Insert(numberedItems(60), at, bad))
					failed, ok := errors.AsType[*BatchError](err)
					if !ok || failed.Of != 61 || len(failed.Failed) != 1 || failed.Failed[0].Position != at {
						t.Fatalf("got %v, want one failure, at %d", err, at)
					}
					if got := len(everyItem(t, client, "items")); got != 60 {
						t.Errorf("%d of 60 good items were written", got)
					}
				})
			}
		}
	}
}

// An item whose type cannot be encoded fails alone, too.
func TestBatchPutOfWhatCannotBeEncoded(t *testing.T) {
	client := onItems(t)
	type record struct {
		PK string `dynamodbav:"pk"`
		SK string `dynamodbav:"sk"`
		X  any    `dynamodbav:"x"`
	}
	items, err := Open[record](client, Options{Table: "items", PartitionKey: "pk", SortKey: "sk"})
	if err != nil {
		t.Fatal(err)
	}
	err = items.BatchPut(t.Context(), []record{{"a", "1", nil}, {"a", "2", func() {}}, {"a", "3", badMarshaler{}}})
	failed, ok := errors.AsType[*BatchError](err)
	if !ok || len(failed.Failed) != 1 || failed.Failed[0].Position != 2 || !errors.Is(err, ErrItem) {
		t.Errorf("got %v, want a failure at 2", err)
	}
	if got := len(everyItem(t, client, "items")); got != 2 {
		t.Errorf("got %d items, want the two others", got)
	}
}

// badMarshaler refuses to be encoded.
type badMarshaler struct{}

func (badMarshaler) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) {
	return nil, errors.New("not today")
}

// Items with one logical key that a calculated layout puts in several shards are several items, or the parts of one: a batch
// stores as many as single puts do.
func TestBatchPutKeepsWhatSinglePutsKeep(t *testing.T) {
	for name, shape := range map[string]struct {
		sortKey string
		options Options
	}{
		"parts of one item": {"", Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"part"}, OnePerShard: true}},
		"items beside":      {"sk", Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, ShardBy: []string{"part"}}},
	} {
		t.Run(name, func(t *testing.T) {
			stored := map[bool]int{}
			for _, batched := range []bool{false, true} {
				db := local.Start(t)
				keys := slices.DeleteFunc([]string{"pk", shape.sortKey}, func(name string) bool { return name == "" })
				if err := db.CreateTable(t.Context(), "items", keys...); err != nil {
					t.Fatal(err)
				}
				o := shape.options
				o.Table, o.PartitionKey, o.SortKey = "items", "pk", shape.sortKey
				items, err := Open[Item](db.Client(), o)
				if err != nil {
					t.Fatal(err)
				}
				var all []Item
				for i := range 8 {
					item := ov("pk", "doc", "part", fmt.Sprint("p", i), "n", i)
					if shape.sortKey != "" {
						item["sk"] = text("same")
					}
					all = append(all, item)
					if !batched {
						if _, err := items.Put(t.Context(), item); err != nil {
							t.Fatal(err)
						}
					}
				}
				if batched {
					if err := items.BatchPut(t.Context(), all); err != nil {
						t.Fatal(err)
					}
				}
				stored[batched] = len(everyItem(t, db.Client(), "items"))
			}
			if stored[true] != stored[false] || stored[true] < 2 {
				t.Errorf("a batch stores %d items, single puts store %d, want the same, and several", stored[true], stored[false])
			}
		})
	}
}

// An item that another of the batch replaces has that one's fate.
func TestBatchPutTellsOfEveryItemThatIsNotStored(t *testing.T) {
	client := local.Start(t).Client()
	makeTable(t, client, "items")
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	err := items.BatchPut(t.Context(), []Item{
		ov("pk", "k", "sk", "s", "n", 1), ov("pk", "k", "sk", "other"), ov("pk", "k", "sk", "s", "big", strings.Repeat("x", 500<<10)),
	})
	failed, ok := errors.AsType[*BatchError](err)
	if !ok || len(failed.Failed) != 2 || failed.Failed[0].Position != 0 || failed.Failed[1].Position != 2 {
		t.Errorf("got %v, want positions 0 and 2", err)
	}
	if n := len(everyItem(t, client, "items")); n != 1 {
		t.Errorf("got %d items, want the other one", n)
	}
}

// One bad item does not fail its whole request, also if a response was lost before.
func TestBatchPutFindsTheBadItemAfterALostResponse(t *testing.T) {
	engine := local.Start(t).Client()
	makeTable(t, engine, "items")
	client := faulty.On(t, engine, faulty.Script(faulty.LostRequest))
	items := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}, Retry: Retry{Base: time.Microsecond, Max: time.Microsecond}})
	all := numberedItems(25)
	all[7]["big"] = text(strings.Repeat("x", 500<<10))
	failed, ok := errors.AsType[*BatchError](items.BatchPut(t.Context(), all))
	if !ok || len(failed.Failed) != 1 || failed.Failed[0].Position != 7 {
		t.Errorf("got %v, want position 7 alone", failed)
	}
	if n := len(everyItem(t, engine, "items")); n != 24 {
		t.Errorf("got %d items, want 24, each once", n)
	}
}

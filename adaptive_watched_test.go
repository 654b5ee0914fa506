package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// keysOnly makes the index of byIndex hold little of an item.
func keysOnly(in *dynamodb.CreateTableInput) {
	in.GlobalSecondaryIndexes[0].Projection.ProjectionType = types.ProjectionTypeKeysOnly
}

// heatOf returns the write units that were reported of a key of the collection listing.
func heatOf(t *testing.T, client *dynamodb.Client, key string) float64 {
	t.Helper()
	for _, item := range everyItem(t, client, "items") {
		if attrText(item, "id") != "_hs#H#listing##"+key {
			continue
		}
		units, err := strconv.ParseFloat(attrText(item, "_hs_w"), 64)
		if err != nil {
			t.Fatalf("the heat is %s: %v", showItem(item), err)
		}
		return units
	}
	return 0
}

// A key of an index gets the units that the index consumes, however much the table does. That holds whatever the caller asks to
// be told of the consumption.
func TestUnitsOfAnIndex(t *testing.T) {
	body := strings.Repeat("x", 40*1024-200)
	for name, c := range map[string]struct {
		meter bool
		ask   types.ReturnConsumedCapacity
	}{
		"nothing is asked": {}, "a meter": {meter: true}, "the total": {ask: types.ReturnConsumedCapacityTotal}, "indexes": {ask: types.ReturnConsumedCapacityIndexes},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := onItems(t, byIndex(false), keysOnly)
				var made decided
				var m Meter
				col := openItems(t, client, Options{
					Index: Index{Name: "listing"}, Layout: layout.Layout{Strategy: layout.Calculated}, Adaptive: &Adaptive{Decided: made.take},
				})
				ctx := t.Context()
				if c.meter {
					ctx = WithMeter(ctx, &m)
				}
				const puts = 600
				for i := range puts { // 2,000 units a second of the table, and 50 of the index
					if _, err := col.Put(ctx, ov("id", fmt.Sprint("i", i), "pk", "k", "sk", fmt.Sprint(i), "b", body), func(in *dynamodb.PutItemInput) {
						in.ReturnConsumedCapacity = c.ask
					}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Millisecond)
				}
				if got := made.reasons("k"); len(got) > 0 {
					t.Errorf("decided %v, want nothing: the index is cold", got)
				}
				if units := heatOf(t, client, "k"); units < puts/2 || units > 2*puts {
					t.Errorf("%v units were reported, want about one for each of %d puts", units, puts)
				}
				if c.meter && m.Cost().WriteUnits < 40*puts {
					t.Errorf("the meter has %v write units, want those of the table as well", m.Cost().WriteUnits)
				}
			})
		})
	}
}

// Updates through an index make its key grow. Those that change nothing in the index do not, and neither do those of items that
// the update does not list.
func TestUpdatesOfAnIndexAreWatched(t *testing.T) {
	body := strings.Repeat("x", 40*1024-300)
	for name, c := range map[string]struct {
		like  func(id, i int) Item
		small bool // the index has keys only
		grows bool
	}{
		"listed":                  {like: func(id, i int) Item { return ov("id", fmt.Sprint(id), "pk", "k", "sk", "1") }, grows: true},
		"listed, and not changed": {like: func(id, i int) Item { return ov("id", fmt.Sprint(id), "pk", "k", "sk", "1") }, small: true},
		"by id alone":             {like: func(id, i int) Item { return ov("id", fmt.Sprint(id)) }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				edits := []func(*dynamodb.CreateTableInput){byIndex(false)}
				if c.small {
					edits = append(edits, keysOnly)
				}
				client := onItems(t, edits...)
				var made decided
				col := openItems(t, client, Options{
					Index: Index{Name: "listing"}, Layout: layout.Layout{Strategy: layout.Calculated}, Adaptive: &Adaptive{Decided: made.take},
				})
				for id := range 10 {
					if _, err := col.Put(t.Context(), ov("id", fmt.Sprint(id), "pk", "k", "sk", "1", "b", body)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Minute)
				before := heatOf(t, client, "k")
				for i := range 20 * 50 { // 2,000 units a second of the table
					if _, err := col.Update(t.Context(), c.like(i%10, i), func(in *dynamodb.UpdateItemInput) {
						in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", i)
					}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Millisecond)
				}
				if got := made.reasons("k"); slices.Contains(got, "grow") != c.grows {
					t.Errorf("decided %v, want growth: %v", got, c.grows)
				}
				if units := heatOf(t, client, "k") - before; !c.grows && units > 0 {
					t.Errorf("%v units were reported, want none", units)
				}
			})
		})
	}
}

// Of items of a batch with the same key the last counts, also if the key grows while they are placed. The same key in another
// time bucket is another item.
func TestBatchOfTheSameKey(t *testing.T) {
	for name, o := range map[string]Options{"random": adaptive(), "calculated": adaptive(calculated)} {
		t.Run(name, func(t *testing.T) {
			client := onItems(t)
			c := openItems(t, client, o)
			err := batchPut(t.Context(), c.core.writer, 2, func(i int) (Item, error) {
				if i == 1 {
					widen(t, c, "k", 64)
				}
				return ov("pk", "k", "sk", "b", "n", i), nil // its shard of 64 is not 0
			})
			if err != nil {
				t.Fatal(err)
			}
			stored := slices.DeleteFunc(everyItem(t, client, "items"), func(i Item) bool { return layout.IsControl(attrText(i, "pk")) })
			if len(stored) != 1 || attrText(stored[0], "n") != "1" {
				t.Errorf("stored %d items, of which the first is %s, want the last alone", len(stored), showItem(stored[0]))
			}

			days := o
			days.Name, days.Layout.Bucket, days.EventTime = "days", layout.Day, EventTime{Attribute: "at", Unit: UnixSeconds}
			d := openItems(t, client, days)
			var items []Item
			for day := range 3 {
				items = append(items, ov("pk", "d", "sk", "1", "at", int(baseTime.AddDate(0, 0, day).Unix())))
			}
			if err := d.BatchPut(t.Context(), items); err != nil {
				t.Fatal(err)
			}
			if n, err := d.Count(t.Context(), Query{Key: "d", From: baseTime, To: baseTime.AddDate(0, 0, 3)}); n != 3 || err != nil {
				t.Errorf("got %d items, %v, want one for each day", n, err)
			}
		})
	}
}

// The rest of a batch goes where its keys have grown, unless an answer was lost. Items that must not be sent any more get an
// error, which says whether they may have been written. The others are written.
func TestRestOfABatch(t *testing.T) {
	for name, c := range map[string]struct {
		script []faulty.Fault
		lost   bool
	}{
		"throttled": {[]faulty.Fault{faulty.Throttled}, false}, "an answer was lost": {[]faulty.Fault{faulty.LostAnswer, faulty.Throttled}, true},
	} {
		t.Run(name, func(t *testing.T) {
			client := faulty.On(t, onItems(t), nil)
			quick := func(o *Options) { o.Retry.Base = time.Microsecond }
			col, other := openItems(t, client, adaptive(calculated, quick)), openItems(t, client.Direct, adaptive(calculated))
			for _, key := range []string{"k", "newer"} {
				putSome(t, col, key, 0, 1)
				widen(t, other, key, 64)
			}
			if _, err := client.Direct.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("items"), Key: ov("pk", "_hs#L#table##newer", "sk", "-"), UpdateExpression: aws.String("SET #v = :v"),
				ExpressionAttributeNames: map[string]string{"#v": "_hs_v"}, ExpressionAttributeValues: ov(":v", 9),
			}); err != nil {
				t.Fatal(err)
			}
			client.Decide(faulty.Script(c.script...).Of("BatchWriteItem"))
			err := col.BatchPut(t.Context(), []Item{ov("pk", "k", "sk", "b"), ov("pk", "newer", "sk", "b")})
			failed, ok := errors.AsType[*BatchError](err)
			if !ok || len(failed.Failed) != 1 || failed.Failed[0].Position != 1 || !errors.Is(failed.Failed[0].Err, ErrNewer) {
				t.Fatalf("got %v, want ErrNewer for the second item alone", err)
			}
			if _, unknown := errors.AsType[*UnknownOutcomeError](err); unknown != c.lost {
				t.Errorf("got %v, want an unknown outcome: %v", err, c.lost)
			}
			keys := storedKeys(t, client.Direct, "items")
			grown := 0
			for key, n := range keys {
				if strings.HasPrefix(key, "k#SHARD_") {
					grown += n
				}
			}
			if want := map[bool]int{false: 1, true: 0}[c.lost]; grown != want || keys["k"] != 2-want {
				t.Errorf("stored %v, want the item in a shard of growth: %v", keys, !c.lost)
			}
		})
	}
}

// The parts of a fold are merged in the order of the buckets, also those of shards that only a ledger tells of.
func TestFoldMergesBucketsInOrder(t *testing.T) {
	client := onItems(t)
	days := adaptive(func(o *Options) {
		o.Layout.Bucket, o.EventTime = layout.Day, EventTime{Attribute: "at", Unit: UnixSeconds}
	})
	writer := openItems(t, client, days)
	var want []int
	for day := range 3 {
		at := baseTime.AddDate(0, 0, day)
		for i := range 40 { // the first are in the bare key
			if i == 5 {
				if _, err := writer.Ledgers().Grow(t.Context(), "k", at, 4, "a test"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := writer.Put(t.Context(), ov("pk", "k", "sk", fmt.Sprintf("%d-%02d", day, i), "at", int(at.Unix()))); err != nil {
				t.Fatal(err)
			}
			want = append(want, day)
		}
	}
	for _, reverse := range []bool{false, true} {
		got, err := Fold(t.Context(), openItems(t, client, days), Query{Key: "k", From: baseTime, To: baseTime.AddDate(0, 0, 3), Consistent: true, Reverse: reverse},
			func() []int { return nil },
			func(all []int, i Item) []int { return append(all, int(attrText(i, "sk")[0]-'0')) },
			func(a, b []int) []int { return append(a, b...) })
		if reverse {
			slices.Reverse(want)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("reverse %v: the items are of the days %v, %v, want %v", reverse, got, err, want)
		}
	}
}

// shardDown is a client of which some queries fail, and all reads of ledgers if that is wanted.
type shardDown struct {
	*faulty.Client
	down    func(shardKey string) bool
	ledgers bool
}

func (c *shardDown) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	for _, v := range in.ExpressionAttributeValues {
		if key, ok := v.(*types.AttributeValueMemberS); ok && c.down(key.Value) {
			return nil, faulty.BrokeDown.Err()
		}
	}
	return c.Client.Query(ctx, in, opts...)
}

func (c *shardDown) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if c.ledgers && strings.HasPrefix(attrText(in.Key, "pk"), "_hs#L#") {
		return nil, faulty.BrokeDown.Err()
	}
	return c.Client.GetItem(ctx, in, opts...)
}

// A count of what can be read has the shards that only the ledger tells of, also if one that was known is missing. It says
// which are missing, and that more may be if the ledger is.
func TestPartialCountOfAKeyThatHasGrown(t *testing.T) {
	direct := onItems(t)
	writer := openItems(t, direct, adaptive())
	putSome(t, writer, "k", 0, 3)
	widen(t, writer, "k", 8)
	putSome(t, writer, "k", 3, 80)
	stored := storedKeys(t, direct, "items")
	open := func(down ...string) (*Collection[Item], *shardDown) {
		client := &shardDown{Client: faulty.On(t, direct, nil), down: func(key string) bool { return slices.Contains(down, key) }}
		return openItems(t, client, adaptive(func(o *Options) { o.Retry = Retry{Attempts: 2, Base: time.Microsecond} })), client
	}
	strong := Query{Key: "k", Consistent: true, Partial: true}

	for _, down := range [][]string{{"k"}, {"k#SHARD_3"}, {"k", "k#SHARD_3", "k#SHARD_6"}} {
		want := 80
		for _, key := range down {
			want -= stored[key]
		}
		c, _ := open(down...)
		n, err := c.Count(t.Context(), strong)
		failed, ok := errors.AsType[*GatherError](err)
		if !ok {
			t.Fatalf("%v: got %v, want a GatherError", down, err)
		}
		var missing []string
		for _, s := range failed.Shards {
			missing = append(missing, s.ShardKey)
		}
		if n != want || failed.Of != 8 || !slices.Equal(missing, down) {
			t.Errorf("%v: got %d items without %v of %d, want %d without these of 8", down, n, missing, failed.Of, want)
		}
		whole := strong
		whole.Partial = false
		c, _ = open(down...)
		if _, err := c.Count(t.Context(), whole); !errors.As(err, &failed) || failed.Of != 8 {
			t.Errorf("%v: got %v, want a GatherError of 8 shards", down, err)
		}
	}

	c, client := open("k")
	if _, err := sortsOf(c, Query{Key: "other", Consistent: true}); err != nil { // reads the charter
		t.Fatal(err)
	}
	client.ledgers = true
	_, err := c.Count(t.Context(), strong)
	if _, ok := errors.AsType[*GatherError](err); !ok || !errors.Is(err, ErrLedger) {
		t.Errorf("without the ledger: got %v, want a GatherError and ErrLedger", err)
	}
}

// slowLedger is a client that takes a while to notice that nobody wants a ledger any more.
type slowLedger struct {
	*faulty.Client
	begun, ended atomic.Int32
}

func (c *slowLedger) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if !strings.HasPrefix(attrText(in.Key, "pk"), "_hs#L#") {
		time.Sleep(time.Millisecond) // so that the ledger is asked for meanwhile
		return c.Client.GetItem(ctx, in, opts...)
	}
	c.begun.Add(1)
	defer c.ended.Add(1)
	<-ctx.Done()
	time.Sleep(time.Second)
	return nil, ctx.Err()
}

// A Get that has found its item ends the read of the ledger, and waits until that has ended.
func TestGetLeavesNothingBehind(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &slowLedger{Client: faulty.On(t, onItems(t), nil)}
		c := openItems(t, client, adaptive(calculated))
		putSome(t, c, "k", 0, 1)
		begin := time.Now()
		if _, err := c.Get(t.Context(), ov("pk", "k", "sk", "0000"), strongly); err != nil {
			t.Fatal(err)
		}
		if begun, ended := client.begun.Load(), client.ended.Load(); begun != 1 || ended != 1 {
			t.Errorf("%d reads of the ledger have begun, and %d have ended, want one that has", begun, ended)
		}
		if took := time.Since(begin); took != time.Second+time.Millisecond {
			t.Errorf("it took %v, want a second: the read of the ledger is not to be waited for any longer", took)
		}
	})
}

package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func openOrders(t *testing.T, client Client, edit ...func(*Options)) *Collection[Item] {
	t.Helper()
	o := Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Adaptive: &Adaptive{}}
	for _, edit := range edit {
		edit(&o)
	}
	c, err := Open[Item](client, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func putOrder(t *testing.T, c *Collection[Item], key, sort string, size int) {
	t.Helper()
	_, err := c.Put(t.Context(), Item{
		"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: sort},
		"body": &types.AttributeValueMemberS{Value: strings.Repeat("x", size)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// charterItem returns the charter as it is stored, nil if there is none.
func charterItem(t *testing.T, client *dynamodb.Client) Item {
	t.Helper()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: Item{
		"pk": &types.AttributeValueMemberS{Value: "_hs#C#table"}, "sk": &types.AttributeValueMemberS{Value: "-"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// A process that has read the charter a moment ago grows no key any more once another has frozen the collection.
func TestFreezeAllHoldsAtOnceInAllProcesses(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	ctx := t.Context()
	a, b := openOrders(t, db.Client()).Ledgers(), openOrders(t, db.Client()).Ledgers()
	if _, err := b.Grow(ctx, "k", time.Time{}, 4, "before"); err != nil {
		t.Fatal(err)
	}
	if err := a.FreezeAll(ctx, "incident 7"); err != nil {
		t.Fatal(err)
	}
	_, err := b.Grow(ctx, "k", time.Time{}, 8, "too late")
	if !errors.Is(err, ErrFrozen) || !strings.Contains(err.Error(), `collection "table" of table orders is frozen at `) || !strings.Contains(err.Error(), "incident 7") {
		t.Errorf("got %v", err)
	}
	if l, err := b.Grow(ctx, "k", time.Time{}, 4, "as it is"); err != nil || l.Width.Write != 4 || l.Generation != 1 {
		t.Errorf("a width that the key has: got %+v, %v", l, err)
	}
	if _, err := b.Grow(ctx, "new", time.Time{}, 2, "a key without a ledger"); !errors.Is(err, ErrFrozen) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Freeze(ctx, "k", time.Time{}, "by itself"); err != nil {
		t.Errorf("freezing one key: %v", err)
	}
	if _, err := b.Thaw(ctx, "k", time.Time{}, "by itself"); err != nil {
		t.Errorf("thawing one key: %v", err)
	}
	if err := a.ThawAll(ctx); err != nil {
		t.Fatal(err)
	}
	if l, err := b.Grow(ctx, "k", time.Time{}, 8, "after"); err != nil || l.Width.Write != 8 {
		t.Errorf("got %+v, %v", l, err)
	}
	if got := charterItem(t, db.Client()); got["_hs_z"] != nil || got["_hs_z_why"] != nil {
		t.Errorf("got %v", got)
	}
}

// The law decides as ever, and what it decides is told and not done. It is done soon after the thaw.
func TestFreezeAllHoldsTheLaw(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		createOrders(t, db.Client())
		var mu sync.Mutex
		var reasons []string
		var text string
		c := openOrders(t, db.Client(), func(o *Options) {
			o.Adaptive.Decided = func(_ context.Context, d Decision) {
				mu.Lock()
				defer mu.Unlock()
				reasons = append(reasons, d.Reason)
				if d.Reason == "frozen" {
					text = d.Text
				}
			}
		})
		other := openOrders(t, db.Client()).Ledgers()
		n := 0
		load := func(seconds int) {
			for range seconds * 5 { // 1,000 write units a second
				putOrder(t, c, "k", fmt.Sprintf("%06d", n), 200_000)
				n++
				time.Sleep(200 * time.Millisecond)
			}
		}
		width := func() int {
			l, err := other.Show(t.Context(), "k", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			return l.Width.Write
		}
		putOrder(t, c, "k", "first", 1) // it has read the charter
		if err := other.FreezeAll(t.Context(), "incident 7"); err != nil {
			t.Fatal(err)
		}
		load(20)
		if got := width(); got != 1 || !slices.Equal(reasons, []string{"frozen"}) || !strings.Contains(text, "incident 7") {
			t.Errorf("frozen: %d shards, %q, %q", got, reasons, text)
		}
		if err := other.ThawAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		load(20)
		if got := width(); got < 2 || !slices.Contains(reasons, "grow") {
			t.Errorf("thawed: %d shards, %q", got, reasons)
		}
	})
}

// before calls f before the first request that stores a charter.
type before struct {
	*dynamodb.Client
	once sync.Once
	f    func()
}

func (b *before) PutItem(ctx context.Context, in *dynamodb.PutItemInput, edit ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if key, ok := in.Item["pk"].(*types.AttributeValueMemberS); ok && strings.HasPrefix(key.Value, "_hs#C#") {
		b.once.Do(b.f)
	}
	return b.Client.PutItem(ctx, in, edit...)
}

// Who replaces the charter keeps the freeze, also one that is stored while it does so.
func TestReplacingTheCharterKeepsTheFreeze(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		t.Run(fmt.Sprintf("meanwhile %v", meanwhile), func(t *testing.T) {
			db := local.Start(t)
			createOrders(t, db.Client())
			operator := openOrders(t, db.Client()).Ledgers()
			freeze := func() {
				if err := operator.FreezeAll(t.Context(), "incident 7"); err != nil {
					t.Error(err)
				}
			}
			client := &before{Client: db.Client(), f: func() {}}
			if meanwhile {
				if err := operator.ThawAll(t.Context()); err != nil { // which stores the charter
					t.Fatal(err)
				}
				client.f = freeze
			} else {
				freeze()
			}
			other := openOrders(t, client, func(o *Options) { o.Older = []layout.Layout{{Shards: 4}} })
			if err := other.Ledgers().Rewrite(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := charterItem(t, db.Client())
			list, _ := got["_hs_older"].(*types.AttributeValueMemberS)
			if list == nil || !strings.Contains(list.Value, "random 4") || got["_hs_z"] == nil {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A damaged charter is replaced, and its freeze is kept. One of a newer version is left alone.
func TestRewriteOfWhatItDoesNotUnderstand(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	ledgers := openOrders(t, db.Client()).Ledgers()
	if err := ledgers.FreezeAll(t.Context(), "incident 7"); err != nil {
		t.Fatal(err)
	}
	set := func(name string, v types.AttributeValue) {
		_, err := db.Client().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String("orders"), UpdateExpression: aws.String("SET #n = :v"), ExpressionAttributeNames: map[string]string{"#n": name},
			ExpressionAttributeValues: Item{":v": v},
			Key:                       Item{"pk": &types.AttributeValueMemberS{Value: "_hs#C#table"}, "sk": &types.AttributeValueMemberS{Value: "-"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	set("_hs_widths", &types.AttributeValueMemberS{Value: "by the moon"})
	if err := ledgers.Rewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := charterItem(t, db.Client()); got["_hs_widths"].(*types.AttributeValueMemberS).Value != "adaptive" || got["_hs_z"] == nil {
		t.Errorf("got %v", got)
	}
	set("_hs_v", &types.AttributeValueMemberN{Value: "2"})
	if err := ledgers.Rewrite(t.Context()); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
	if got := charterItem(t, db.Client()); got["_hs_v"].(*types.AttributeValueMemberN).Value != "2" {
		t.Errorf("got %v", got)
	}
}

// A time bucket of a frozen collection begins as wide as the load before it needed, but no wider than the bucket before was.
func TestFrozenBucketsBeginNoWider(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		createOrders(t, db.Client())
		c := openOrders(t, db.Client(), func(o *Options) {
			o.Layout.Bucket, o.EventTime.Attribute = layout.Hour, "at"
		})
		start := time.Now().UTC().Truncate(time.Hour)
		put := func(at time.Time, n int) {
			_, err := c.Put(t.Context(), Item{
				"pk": &types.AttributeValueMemberS{Value: "k"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%06d", n)},
				"at": &types.AttributeValueMemberS{Value: at.Format(time.RFC3339)}, "body": &types.AttributeValueMemberS{Value: strings.Repeat("x", 200_000)},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		put(start, 0)
		if _, err := c.Ledgers().Grow(t.Context(), "k", start, 2, "by hand"); err != nil {
			t.Fatal(err)
		}
		if err := c.Ledgers().FreezeAll(t.Context(), "incident 7"); err != nil {
			t.Fatal(err)
		}
		for i := range 160 { // 16 seconds with 2,000 write units each, which need 8 shards
			put(start, i+1)
			time.Sleep(100 * time.Millisecond)
		}
		put(start.Add(time.Hour), 1)
		l, err := c.Ledgers().Show(t.Context(), "k", start.Add(time.Hour))
		if err != nil || l.Width.Write != 2 {
			t.Errorf("got %+v, %v, want 2 shards", l, err)
		}
		if l, err = c.Ledgers().Show(t.Context(), "k", start); err != nil || l.Width.Write != 2 {
			t.Errorf("got %+v, %v, want 2 shards", l, err)
		}
	})
}

func TestGrowByHandHasABound(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	if l, err := openOrders(t, db.Client()).Ledgers().Grow(t.Context(), "k", time.Time{}, 1025, "a typing error"); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "a key has 1 to 1024 shards") {
		t.Errorf("got %+v, %v", l, err)
	}
}

// A repaired ledger covers the width that is given, because a process that knew it may write to shards that have no item yet.
func TestRepairCoversTheWidthThatIsGiven(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	c := openOrders(t, db.Client())
	if _, err := c.Ledgers().Grow(t.Context(), "k", time.Time{}, 16, "by hand"); err != nil {
		t.Fatal(err)
	}
	largest := 0
	for i := range 3 {
		w, err := c.Put(t.Context(), Item{"pk": &types.AttributeValueMemberS{Value: "k"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, w.Shard)
	}
	if _, err := db.Client().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("orders"), Key: Item{
		"pk": &types.AttributeValueMemberS{Value: "_hs#L#table##k"}, "sk": &types.AttributeValueMemberS{Value: "-"},
	}}); err != nil {
		t.Fatal(err)
	}
	ledgers := openOrders(t, db.Client()).Ledgers()
	if got, generation, err := ledgers.Probe(t.Context(), "k", time.Time{}, 0); got != largest || generation != 1 || err != nil {
		t.Errorf("probe: got %d, %d, %v, want %d, 1", got, generation, err, largest)
	}
	if got, generation, err := ledgers.Probe(t.Context(), "none", time.Time{}, 0); got != -1 || generation != 0 || err != nil {
		t.Errorf("probe of nothing: got %d, %d, %v", got, generation, err)
	}
	if _, _, err := ledgers.Probe(t.Context(), "k", time.Time{}, -1); !errors.Is(err, ErrOptions) {
		t.Errorf("got %v", err)
	}
	if l, err := ledgers.Repair(t.Context(), "k", time.Time{}, 32, "lost"); err != nil || l.Width.Read != 32 || l.Generation != 2 {
		t.Errorf("got %+v, %v", l, err)
	}
}

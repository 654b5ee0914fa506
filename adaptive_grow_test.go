package heatsink

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// Items that were there before heatsink are found, while processes that know nothing of each other write, read and grow the
// key. Every strong read has each item that was acknowledged before it began, once and in order. So has a read of all pages.
func TestGrowsWhileRunning(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		createOrders(t, db.Client())
		ctx := t.Context()
		text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
		acked := newAcknowledged()
		for i := range 20 { // by the SDK alone
			id := fmt.Sprintf("%04d-before", i)
			if _, err := db.Client().PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String("orders"), Item: Item{"pk": text("k"), "sk": text(id)},
			}); err != nil {
				t.Fatal(err)
			}
			acked.add(id)
		}
		processes := make([]*Collection[Item], 5)
		for i := range processes {
			var err error
			if processes[i], err = Open[Item](db.Client(), Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Adaptive: &Adaptive{}}); err != nil {
				t.Fatal(err)
			}
		}
		var running sync.WaitGroup
		for p, c := range processes {
			running.Go(func() { // each writes for 20 seconds of items, and reads all of them now and then
				for i := range 100 {
					id := fmt.Sprintf("%04d-%d", i, p)
					if _, err := c.Put(ctx, Item{"pk": text("k"), "sk": text(id)}); err != nil {
						t.Error(err)
						return
					}
					acked.add(id)
					time.Sleep(200 * time.Millisecond)
					if i%10 == p {
						acked.check(t, c)
					}
				}
			})
		}
		for i, width := range []int{2, 4, 16} {
			time.Sleep(5 * time.Second)
			if _, err := processes[i].Ledgers().Grow(ctx, "k", time.Time{}, width, "a test"); err != nil {
				t.Error(err)
			}
		}
		running.Wait()
		if len(acked.ids) != 520 {
			t.Errorf("%d items were acknowledged, want 520", len(acked.ids))
		}
		for _, c := range processes {
			acked.check(t, c)
		}
		if l, err := processes[4].Ledgers().Show(ctx, "k", time.Time{}); l.Width.Read != 16 || err != nil {
			t.Errorf("got %+v, %v, want 16 shards", l, err)
		}
	})
}

// acknowledged are the sort keys of acknowledged items.
type acknowledged struct {
	mu  sync.Mutex
	ids map[string]bool
}

func newAcknowledged() *acknowledged { return &acknowledged{ids: map[string]bool{}} }

func (a *acknowledged) add(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids[id] = true
}

// check reads everything with strong consistency, as a whole and in pages.
func (a *acknowledged) check(t *testing.T, c *Collection[Item]) {
	a.mu.Lock()
	want := maps.Clone(a.ids)
	a.mu.Unlock()
	all := Query{Key: "k", Consistent: true}
	var ids []string
	for item, err := range c.Query(t.Context(), all) {
		if err != nil {
			t.Error(err)
			return
		}
		ids = append(ids, item["sk"].(*types.AttributeValueMemberS).Value)
	}
	compareIDs(t, "Query", ids, want)

	ids, all.Limit = nil, 50
	for next, more := "", true; more; {
		page, err := c.Page(t.Context(), all, next)
		if err != nil {
			t.Error(err)
			return
		}
		for _, item := range page.Items {
			ids = append(ids, item["sk"].(*types.AttributeValueMemberS).Value)
		}
		next, more = page.Next, page.Next != ""
	}
	compareIDs(t, "Page", ids, want)
}

// compareIDs checks that ids has all that are wanted, and each once, in order.
func compareIDs(t *testing.T, read string, ids []string, want map[string]bool) {
	missing := maps.Clone(want)
	for _, id := range ids {
		delete(missing, id)
	}
	if len(missing) > 0 {
		t.Errorf("%s misses %d of %d acknowledged items, such as %v", read, len(missing), len(want), slices.Sorted(maps.Keys(missing))[0])
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("%s returned items twice or out of order: %v", read, ids)
	}
}

// A ledger in the partition that its key makes hot is throttled, too. Its write is repeated until it is stored.
func TestGrowsThroughThrottles(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, onItems(t), nil)
		c := openItems(t, client, Options{Adaptive: &Adaptive{}})
		if _, err := c.Ledgers().Grow(t.Context(), "before", time.Time{}, 2, ""); err != nil { // it writes the charter
			t.Fatal(err)
		}
		client.Decide(faulty.Script(slices.Repeat([]faulty.Fault{faulty.Throttled}, 15)...).Of("PutItem"))
		_, err := c.Ledgers().Grow(t.Context(), "k", time.Time{}, 4, "")
		if err != nil {
			t.Error(err)
		}
	})
}

package counter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

func TestIdleCountersAreGivenUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{}), open(t, client, Options{})
		for i := range 20 {
			mustAdd(t, c, fmt.Sprint("counter-", i), int64(i))
		}
		time.Sleep(10 * time.Minute)
		c.mu.Lock()
		if len(c.entries) != 0 || c.recent.Len() != 0 || c.leaving != 0 {
			t.Errorf("%d counters are kept, %d are leaving", len(c.entries), c.leaving)
		}
		c.mu.Unlock()
		for i := range 20 {
			view, err := other.Inspect(t.Context(), fmt.Sprint("counter-", i))
			if err != nil || view.Total != int64(i) || view.Base != int64(i) {
				t.Errorf("counter %d: got %+v, %v", i, view, err)
			}
		}
		mustAdd(t, c, "counter-7", 1)
		isTotal(t, other, "counter-7", 8)
	})
}

// A process that adds to more counters than it keeps gives up those that were not used for longest.
func TestMemoryIsBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{MaxCounters: 10})
		most := 0
		for i := range 100 {
			mustAdd(t, c, fmt.Sprint("counter-", i%50), 1)
			c.mu.Lock()
			most = max(most, len(c.entries))
			c.mu.Unlock()
		}
		if most > 10 {
			t.Errorf("%d counters were kept, want 10 at most", most)
		}
		for i := range 50 {
			isTotal(t, c, fmt.Sprint("counter-", i), 2)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.views) > 10 {
			t.Errorf("%d bases are remembered, want 10 at most", len(c.views))
		}
	})
}

// If all counters that are kept have Adds under way, another one waits, or is refused if it cannot.
func TestNoRoom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{MaxCounters: 2})
		client.Decide(faulty.Always(faulty.Throttled))
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() { mustAdd(t, c, fmt.Sprint("counter-", i), 1) })
		}
		synctest.Wait()
		if err := c.AddAsync("another", 1); !errors.Is(err, ErrBusy) || errors.Is(err, ErrUncertain) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Add(ctx, "another", 1); !errors.Is(err, ErrBusy) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUncertain) {
			t.Errorf("got %v", err)
		}
		all.Go(func() { mustAdd(t, c, "another", 1) })
		synctest.Wait()
		client.Decide(nil)
		all.Wait()
		for _, key := range []string{"counter-0", "counter-1", "another"} {
			isTotal(t, c, key, 1)
		}
	})
}

// Processes look after the counters that they add to: whatever dies is folded, and removed a day later.
func TestFoldsHappenByThemselves(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		for i := range 30 {
			dying := open(t, client, Options{})
			mustAdd(t, dying, "VIEWS", int64(i)+1)
			crash(dying)
		}
		c := open(t, client, Options{})
		slots := func() (living, folded int) {
			t.Helper()
			view, err := c.Inspect(t.Context(), "VIEWS")
			if err != nil {
				t.Fatal(err)
			}
			for _, shard := range view.Shards {
				for _, s := range shard.Slots {
					if s.Folded {
						folded++
					} else {
						living++
					}
				}
			}
			return living, folded
		}
		sum := int64(30 * 31 / 2)
		live := func(d time.Duration) {
			t.Helper()
			for range d / (4 * time.Minute) {
				mustAdd(t, c, "VIEWS", 1)
				time.Sleep(4 * time.Minute)
				sum++
			}
			isTotal(t, c, "VIEWS", sum)
		}
		mustAdd(t, c, "VIEWS", 0)
		if living, folded := slots(); living != 30 || folded != 0 {
			t.Fatalf("at first: %d living, %d folded", living, folded)
		}
		live(2 * time.Hour)
		if living, folded := slots(); living != 1 || folded != 30 {
			t.Errorf("after two hours: %d living, %d folded, want 1 and 30", living, folded)
		}
		live(25 * time.Hour)
		if living, folded := slots(); living != 1 || folded != 0 {
			t.Errorf("after a day: %d living, %d folded, want 1 and 0", living, folded)
		}
	})
}

// Where slots are folded by the hundred, the base does not grow for a day.
func TestCrowdOfFoldedSlots(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		for range 100 {
			brief := open(t, client, Options{})
			mustAdd(t, brief, "VIEWS", 1)
			if err := brief.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		folds(t, c, "VIEWS", Folded{Slots: 100})
		time.Sleep(minRetention - time.Minute)
		folds(t, c, "VIEWS", Folded{Slots: 100})
		time.Sleep(time.Minute + time.Second)
		folds(t, c, "VIEWS", Folded{Slots: 100, Removed: 100})
		isTotal(t, c, "VIEWS", 100)
	})
}

// Clocks that are wrong cost a slot, and never a count.
func TestFoldWithWrongClocks(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"ahead": 1000 * time.Hour, "behind": -1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				c, other := open(t, client, Options{FoldEvery: -1}), open(t, client, Options{FoldEvery: -1})
				mustAdd(t, c, "VIEWS", 1)
				setClock(t, client, c, "VIEWS", attrAt, time.Now().Add(wrong))
				folds(t, other, "VIEWS", Folded{Slots: 1, Folded: 1})
				mustAdd(t, c, "VIEWS", 1)
				isTotal(t, other, "VIEWS", 2)
			})
		})
	}
}

// setClock changes a time in the slot that a counter has now.
func setClock(t *testing.T, client *faulty.Client, c *Counter, key, attribute string, at time.Time) {
	t.Helper()
	slotKey, err := c.store.slotKey(key, c.ownSlot(key))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Direct.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("counters"), Key: slotKey,
		UpdateExpression:          aws.String("SET #a = :at"),
		ExpressionAttributeNames:  map[string]string{"#a": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":at": number(wideOf(at.UnixMilli()))},
	}); err != nil {
		t.Fatal(err)
	}
}

// A fold or a sweep that stops halfway is finished by the next.
func TestFoldUnderFaults(t *testing.T) {
	for _, f := range []faulty.Fault{faulty.LostAnswer, faulty.LostRequest, faulty.Throttled, faulty.Denied} {
		for operation, most := range map[string]int{"UpdateItem": 4, "DeleteItem": 2} {
			for after := range most {
				bubble.Test(t, func(t *testing.T) {
					client := aTable(t)
					for range 3 {
						dying := open(t, client, Options{})
						mustAdd(t, dying, "VIEWS", 1)
						crash(dying)
					}
					c := open(t, client, Options{FoldEvery: -1})
					faults := append(make([]faulty.Fault, after), f, f, f, f, f, f, f)
					for range 2 {
						time.Sleep(25 * time.Hour)
						client.Decide(faulty.Script(faults...).Of(operation))
						_, _ = c.Fold(t.Context(), "VIEWS")
						client.Decide(nil)
						isTotal(t, c, "VIEWS", 3)
						if _, err := c.Fold(t.Context(), "VIEWS"); err != nil {
							t.Fatal(err)
						}
						isTotal(t, c, "VIEWS", 3)
					}
					view, err := c.Inspect(t.Context(), "VIEWS")
					if err != nil || view.Base != 3 || view.Folded != 0 {
						t.Errorf("%s, %s after %d: got %+v, %v, want everything in the base", operation, f, after, view, err)
					}
				})
			}
		}
	}
}

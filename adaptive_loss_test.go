package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

const ledgerOfK = "_hs#L#table##k"

// lossy is a key of 8 shards with items, and a process that knows its ledger.
type lossy struct {
	client *faulty.Client
	known  *Collection[Item]
	log    logText
	sorts  []string
}

func newLossy(t *testing.T) *lossy {
	t.Helper()
	x := &lossy{client: faulty.On(t, onItems(t), nil)}
	x.known = openItems(t, x.client, Options{Adaptive: &Adaptive{}, Logger: x.log.logger(), Retry: Retry{Base: time.Microsecond}})
	x.sorts = putSome(t, x.known, "k", 0, 10)
	widen(t, x.known, "k", 2)
	x.sorts = append(x.sorts, putSome(t, x.known, "k", 10, 20)...)
	widen(t, x.known, "k", 8)
	x.sorts = append(x.sorts, putSome(t, x.known, "k", 20, 100)...)
	return x
}

// stranger is a process that knows nothing but the charter.
func (x *lossy) stranger(t *testing.T) *Collection[Item] {
	t.Helper()
	c := openItems(t, x.client, Options{Adaptive: &Adaptive{}, Retry: Retry{Base: time.Microsecond}})
	if _, err := c.Count(context.Background(), Query{Key: "another", Consistent: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

// ledgerItem returns what is stored.
func (x *lossy) ledgerItem(t *testing.T) Item {
	t.Helper()
	out, err := x.client.Direct.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: ov("pk", ledgerOfK, "sk", "-")})
	if err != nil || out.Item == nil {
		t.Fatal(out, err)
	}
	return out.Item
}

func (x *lossy) replace(t *testing.T, item Item) {
	t.Helper()
	if _, err := x.client.Direct.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
		t.Fatal(err)
	}
}

func (x *lossy) drop(t *testing.T) {
	t.Helper()
	if _, err := x.client.Direct.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: ov("pk", ledgerOfK, "sk", "-")}); err != nil {
		t.Fatal(err)
	}
}

// exact returns the errors of all reads that must be exact.
func exact(c *Collection[Item]) map[string]error {
	ctx, q := context.Background(), Query{Key: "k", Consistent: true}
	_, query := sortsOf(c, q)
	_, page := c.Page(ctx, Query{Key: "k", Consistent: true, Limit: 50}, "")
	_, fold := Fold(ctx, c, q, func() int { return 0 }, func(n int, _ Item) int { return n + 1 }, func(a, b int) int { return a + b })
	return map[string]error{"query": query, "page": page, "fold": fold}
}

// A ledger that was deleted, replaced or cannot be read: reads that must be exact say so and what to do, all others and writes go
// on with what the process knows, and once it is put right everything is as before.
func TestLedgerFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(*testing.T, *lossy)
		heal func(*testing.T, *lossy)
		lost bool     // its stamps and what others know speak of a loss
		says []string // in the error
	}{
		"deleted": {
			fail: func(t *testing.T, x *lossy) { x.drop(t) }, lost: true, says: []string{"lost", `"k"`, "repair"},
		},
		"restored from a backup": {
			fail: func(t *testing.T, x *lossy) {
				old := x.ledgerItem(t)
				old["_hs_g"], old["_hs_R"], old["_hs_W"], old["_hs_hist"] = number("1"), number("2"), number("2"), text("0:1/1")
				x.replace(t, old)
			}, lost: true, says: []string{"lost", `"k"`, "repair"},
		},
		"garbage": {
			fail: func(t *testing.T, x *lossy) { x.replace(t, ov("pk", ledgerOfK, "sk", "-", "note", "oops")) },
			heal: func(t *testing.T, x *lossy) { x.drop(t) },
			says: []string{`"k"`, "invalid ledger"},
		},
		"of another layout": {
			fail: func(t *testing.T, x *lossy) {
				item := x.ledgerItem(t)
				item["_hs_s"] = text("calculated")
				x.replace(t, item)
			},
			heal: func(t *testing.T, x *lossy) { x.drop(t) },
			says: []string{"calculated", "same layout"},
		},
		"denied": {
			fail: func(_ *testing.T, x *lossy) {
				x.client.Decide(func(r faulty.Request) faulty.Fault {
					if r.Operation == "GetItem" && strings.HasPrefix(r.Key("pk"), "_hs#") {
						return faulty.Denied
					}
					return faulty.None
				})
			},
			heal: func(_ *testing.T, x *lossy) { x.client.Decide(nil) },
			says: []string{"AccessDenied", ledgerOfK},
		},
		"throttled": {
			fail: func(_ *testing.T, x *lossy) {
				x.client.Decide(func(r faulty.Request) faulty.Fault {
					if r.Operation == "GetItem" && strings.HasPrefix(r.Key("pk"), "_hs#") {
						return faulty.ThrottledOnDemand
					}
					return faulty.None
				})
			},
			heal: func(_ *testing.T, x *lossy) { x.client.Decide(nil) },
			says: []string{"too fast", ledgerOfK},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := newLossy(t)
				stranger := x.stranger(t)
				c.fail(t, x)
				for who, process := range map[string]*Collection[Item]{"who knows it": x.known, "a stranger": stranger} {
					for what, err := range exact(process) {
						if !errors.Is(err, ErrLedger) || errors.Is(err, ErrLedgerLost) != c.lost {
							t.Errorf("%s, %s: got %v, want ErrLedger, and that it is lost: %v", who, what, err, c.lost)
						}
						for _, want := range c.says {
							if !strings.Contains(fmt.Sprint(err), want) {
								t.Errorf("%s, %s: the error does not say %q: %v", who, what, want, err)
							}
						}
					}
				}
				if _, err := x.known.Count(t.Context(), Query{Key: "k", Consistent: true}); !errors.Is(err, ErrLedger) {
					t.Errorf("count: got %v, want ErrLedger", err)
				}
				time.Sleep(time.Minute) // what is known is old
				if got, err := sortsOf(x.known, Query{Key: "k"}); err != nil || !slices.Equal(got, x.sorts) {
					t.Errorf("eventual: got %d items, %v, want all that the process knows of", len(got), err)
				}
				if !c.lost && !strings.Contains(x.log.String(), "older ledger") {
					t.Errorf("logged %q, want a warning", x.log.String())
				}
				x.sorts = append(x.sorts, putSome(t, x.known, "k", 100, 120)...)
				if done, err := stranger.Put(t.Context(), ov("pk", "k", "sk", "0120")); err != nil || done.Shard > 1 {
					t.Errorf("a stranger's put: got shard %d, %v, want one that it knows of", done.Shard, err)
				}
				x.sorts = append(x.sorts, "0120")
				if c.heal != nil {
					c.heal(t, x)
				}
				ledger, err := x.stranger(t).Ledgers().Repair(t.Context(), "k", time.Time{}, 16, "a test of loss")
				if err != nil || ledger.Width.Read < 8 || ledger.Generation < 2 {
					t.Fatalf("repaired: %+v, %v, want 8 shards and a later generation", ledger, err)
				}
				for who, process := range map[string]*Collection[Item]{"who knew it": x.known, "the stranger": stranger, "another": x.stranger(t)} {
					if got, err := sortsOf(process, Query{Key: "k", Consistent: true}); err != nil || !slices.Equal(got, x.sorts) {
						t.Errorf("%s, after the repair: got %d items, %v, want %d", who, len(got), err, len(x.sorts))
					}
				}
				widen(t, stranger, "k", 32) // and it grows again
			})
		})
	}
}

// An eventual read cannot know at once that a ledger was lost. The items that it reads tell, and the next one warns.
func TestLossIsNoticedByEventualReads(t *testing.T) {
	x := newLossy(t)
	x.sorts = append(x.sorts, putSome(t, x.known, "k", 100, 200)...) // some of them in shard 0, with a stamp
	x.drop(t)
	var log logText
	c := openItems(t, x.client, Options{Adaptive: &Adaptive{}, Logger: log.logger()})
	for range 2 {
		if _, err := sortsOf(c, Query{Key: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(log.String(), "ledger lost") {
		t.Errorf("logged %q, want that the ledger is lost", log.String())
	}
}

// The charter of a collection that is lost is written anew by whoever comes first.
func TestCharterLost(t *testing.T) {
	x := newLossy(t)
	if _, err := x.client.Direct.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: ov("pk", "_hs#C#table", "sk", "-")}); err != nil {
		t.Fatal(err)
	}
	if got, err := sortsOf(x.stranger(t), Query{Key: "k", Consistent: true}); err != nil || len(got) != 100 {
		t.Errorf("got %d items, %v", len(got), err)
	}
	if storedKeys(t, x.client.Direct, "items")["_hs#C#table"] != 1 {
		t.Error("there is no charter")
	}
}

// A repair that cannot see everything writes nothing.
func TestRepairThatFails(t *testing.T) {
	x := newLossy(t)
	x.drop(t)
	x.client.Decide(faulty.Always(faulty.Denied).Of("Query"))
	if _, err := x.stranger2(t).Ledgers().Repair(t.Context(), "k", time.Time{}, 16, ""); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("got %v, want the reason", err)
	}
	x.client.Decide(nil)
	if storedKeys(t, x.client.Direct, "items")[ledgerOfK] != 0 {
		t.Error("a ledger was written")
	}
	for _, width := range []int{-1, layout.MaxShards + 1} {
		if _, err := x.known.Ledgers().Repair(t.Context(), "k", time.Time{}, width, ""); err == nil || !strings.Contains(err.Error(), fmt.Sprint(width)) {
			t.Errorf("width %d: got %v, want an error about it", width, err)
		}
	}
}

// stranger2 is a process that has sent nothing yet.
func (x *lossy) stranger2(t *testing.T) *Collection[Item] {
	return openItems(t, x.client, Options{Adaptive: &Adaptive{}, Retry: Retry{Base: time.Microsecond}})
}

// A table with items that were never spread is opened with Adaptive: all is found, nothing moves, and then it grows. So it is with
// a layout that had one shard, under the bare key.
func TestAdaptiveAdoption(t *testing.T) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		client := onItems(t)
		plain := openItems(t, client, Options{})
		want := putSome(t, plain, "k", 0, 50)
		before := everyItem(t, client, "items")
		c := openItems(t, client, Options{Adaptive: &Adaptive{}, Layout: layout.Layout{Strategy: strategy}})
		check := func(what string, q Query) {
			t.Helper()
			if got, err := sortsOf(c, q); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %v, %v, want %v", strategy, what, got, err, want)
			}
		}
		check("strong", Query{Key: "k", Consistent: true})
		check("eventual", Query{Key: "k"})
		if _, err := c.Get(t.Context(), ov("pk", "k", "sk", "0007"), strongly); err != nil {
			t.Error(err)
		}
		if after := everyItem(t, client, "items"); len(after) != len(before)+1 { // the charter
			t.Errorf("%s: %d items after %d", strategy, len(after), len(before))
		}
		want = append(want, putSome(t, c, "k", 50, 60)...)
		if n := storedKeys(t, client, "items")["k"]; n != 60 {
			t.Errorf("%s: %d items have the bare key, want all 60", strategy, n)
		}
		if plainly, err := sortsOf(plain, Query{Key: "k"}); err != nil || len(plainly) != 60 { // processes of before read on
			t.Errorf("%s: a process without heatsink's shards reads %d items, %v", strategy, len(plainly), err)
		}
		token, err := c.Page(t.Context(), Query{Key: "k", Limit: 30}, "")
		if err != nil {
			t.Fatal(err)
		}
		widen(t, c, "k", 8)
		want = append(want, putSome(t, c, "k", 60, 120)...)
		check("grown", Query{Key: "k", Consistent: true})
		rest, err := c.Page(t.Context(), Query{Key: "k", Limit: 200}, token.Next)
		if err != nil || len(rest.Items) != 90 {
			t.Errorf("%s: the rest of a page of before has %d items, %v, want 90", strategy, len(rest.Items), err)
		}
		for _, sk := range []string{"0007", "0055", "0110"} {
			if _, err := c.Get(t.Context(), ov("pk", "k", "sk", sk), strongly); err != nil {
				t.Errorf("%s: get %s: %v", strategy, sk, err)
			}
		}
		if n := storedKeys(t, client, "items")["k"]; n < 60 || n == 120 {
			t.Errorf("%s: %d items have the bare key, want the 60 of before and some of the others", strategy, n)
		}
	}
}

// A static layout that is recorded keeps out a process with another, in whatever it does first.
func TestRecordedLayouts(t *testing.T) {
	recorded := func(shards int, older ...layout.Layout) Options {
		return Options{Recorded: true, Layout: layout.Layout{Shards: shards}, Older: older}
	}
	client := faulty.On(t, onItems(t), nil)
	four := openItems(t, client, recorded(4))
	putSome(t, four, "k", 0, 10)
	item := ov("pk", "k", "sk", "0001")
	ctx := t.Context()
	for what, use := range map[string]func(*Collection[Item]) error{
		"Put":         func(c *Collection[Item]) error { _, err := c.Put(ctx, item); return err },
		"BatchPut":    func(c *Collection[Item]) error { return c.BatchPut(ctx, []Item{item}) },
		"TransactPut": func(c *Collection[Item]) error { _, err := c.TransactPut(ctx, item); return err },
		"Get":         func(c *Collection[Item]) error { _, err := c.Get(ctx, item); return err },
		"BatchGet":    func(c *Collection[Item]) error { _, err := c.BatchGet(ctx, []Item{item}); return err },
		"GetMerged":   func(c *Collection[Item]) error { _, err := c.GetMerged(ctx, item); return err },
		"Update": func(c *Collection[Item]) error {
			_, err := c.Update(ctx, item, func(in *dynamodb.UpdateItemInput) { in.UpdateExpression = aws.String("REMOVE n") })
			return err
		},
		"Delete":       func(c *Collection[Item]) error { _, err := c.Delete(ctx, item); return err },
		"BatchDelete":  func(c *Collection[Item]) error { return c.BatchDelete(ctx, []Item{item}) },
		"Query":        func(c *Collection[Item]) error { _, err := sortsOf(c, Query{Key: "k"}); return err },
		"Page":         func(c *Collection[Item]) error { _, err := c.Page(ctx, Query{Key: "k", Limit: 1}, ""); return err },
		"Count":        func(c *Collection[Item]) error { _, err := c.Count(ctx, Query{Key: "k"}); return err },
		"Distribution": func(c *Collection[Item]) error { _, err := c.Distribution(ctx, Query{Key: "k"}); return err },
	} {
		err := use(openItems(t, client, recorded(16)))
		if !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), "16") || !strings.Contains(err.Error(), "4") {
			t.Errorf("%s with 16 shards: got %v, want ErrCharter with both numbers", what, err)
		}
		if err := use(openItems(t, client, Options{Adaptive: &Adaptive{}})); !errors.Is(err, ErrCharter) {
			t.Errorf("%s with Adaptive: got %v, want ErrCharter", what, err)
		}
	}
	if got, err := sortsOf(four, Query{Key: "k", Consistent: true}); err != nil || len(got) != 10 {
		t.Errorf("got %v, %v, want the 10 items as they were", got, err)
	}
	// The way to 16 shards: all processes read the four, and then the charter is rewritten.
	sixteen := openItems(t, client, recorded(16, layout.Layout{Shards: 4}))
	if _, err := sortsOf(sixteen, Query{Key: "k"}); !errors.Is(err, ErrCharter) {
		t.Errorf("got %v, want ErrCharter before the charter was rewritten", err)
	}
	if err := sixteen.Ledgers().Rewrite(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := sortsOf(sixteen, Query{Key: "k", Consistent: true}); err != nil || len(got) != 10 {
		t.Errorf("got %v, %v, want all 10", got, err)
	}
	more := openItems(t, client, recorded(16, layout.Layout{Shards: 4}, layout.Layout{}))
	if _, err := sortsOf(more, Query{Key: "k"}); err != nil {
		t.Errorf("a process that reads more: got %v", err)
	}
	if err := openItems(t, client, Options{}).Ledgers().Rewrite(ctx); !errors.Is(err, ErrOptions) {
		t.Errorf("a charter of a collection without: got %v, want ErrOptions", err)
	}
}

// What does not send requests does not send any because of a charter either.
func TestRecordedSendsNothingByItself(t *testing.T) {
	for name, o := range map[string]Options{"recorded": {Recorded: true, Layout: layout.Layout{Shards: 4}}, "adaptive": {Adaptive: &Adaptive{}}} {
		client := faulty.On(t, onItems(t), faulty.Always(faulty.Denied))
		c := openItems(t, client, o)
		if _, _, err := c.Decode(Item{"pk": text("k#SHARD_1"), "sk": &types.AttributeValueMemberS{Value: "1"}}); err != nil {
			t.Errorf("%s: decode: %v", name, err)
		}
		if n := len(client.Requests()); n > 0 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

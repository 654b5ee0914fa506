package heatsink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// adaptive are the options of a collection with Adaptive.
func adaptive(edits ...func(*Options)) Options {
	o := Options{Adaptive: &Adaptive{}}
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

func calculated(o *Options) { o.Layout.Strategy = layout.Calculated }

// widen makes a key wider.
func widen(t testing.TB, c *Collection[Item], key string, width int) Ledger {
	t.Helper()
	l, err := c.Ledgers().Grow(context.Background(), key, time.Time{}, width, "a test")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// putSome puts items with the sort keys from..to-1, and returns them.
func putSome(t testing.TB, c *Collection[Item], key string, from, to int) (sorts []string) {
	t.Helper()
	for i := from; i < to; i++ {
		sorts = append(sorts, fmt.Sprintf("%04d", i))
		if _, err := c.Put(context.Background(), ov("pk", key, "sk", sorts[len(sorts)-1])); err != nil {
			t.Fatal(err)
		}
	}
	return sorts
}

// sortsOf returns the sort keys that a query returns.
func sortsOf(c *Collection[Item], q Query) (sorts []string, err error) {
	for item, err := range c.Query(context.Background(), q) {
		if err != nil {
			return sorts, err
		}
		sorts = append(sorts, attrText(item, "sk"))
	}
	return sorts, nil
}

// storedKeys returns the partition keys of a table with how many items each has.
func storedKeys(t testing.TB, client *dynamodb.Client, table string) map[string]int {
	t.Helper()
	keys := map[string]int{}
	for _, item := range everyItem(t, client, table) {
		keys[attrText(item, "pk")]++
	}
	return keys
}

// A key begins with one shard, the bare key, grows, and is read as one. The read of the ledger takes no time of its own, unless
// the key has grown since.
func TestAdaptiveReadTakesNoLonger(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, onItems(t), nil)
		a, b := openItems(t, client.Direct, adaptive()), openItems(t, client, adaptive())
		want := putSome(t, a, "k", 0, 10)
		if _, err := sortsOf(b, Query{Key: "other", Consistent: true}); err != nil { // reads the charter
			t.Fatal(err)
		}
		client.Delay(faulty.Exactly(time.Second))
		read := func(what string, q Query, took time.Duration) {
			t.Helper()
			begin := time.Now()
			got, err := sortsOf(b, q)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
			}
			if time.Since(begin) != took {
				t.Errorf("%s: it took %v, want %v", what, time.Since(begin), took)
			}
		}
		read("strong, of a key that has not grown", Query{Key: "k", Consistent: true}, time.Second)
		widen(t, a, "k", 8)
		want = append(want, putSome(t, a, "k", 10, 60)...)
		read("strong, of a key that has grown", Query{Key: "k", Consistent: true}, 2*time.Second)
		read("strong, again", Query{Key: "k", Consistent: true}, time.Second)
		read("causal", Query{Key: "k", AtLeast: 1}, time.Second)
		read("eventual", Query{Key: "k"}, time.Second)
	})
}

// Get, Update and Delete find an item wherever it was put, also in shards that this process has never heard of.
func TestAdaptiveItemsByKey(t *testing.T) {
	for name, o := range map[string]Options{"random": adaptive(), "calculated": adaptive(calculated)} {
		t.Run(name, func(t *testing.T) {
			client := onItems(t)
			a := openItems(t, client, o)
			putSome(t, a, "k", 0, 3)
			widen(t, a, "k", 16)
			sorts := append([]string{"0000", "0001", "0002"}, putSome(t, a, "k", 3, 30)...)
			stranger := func() *Collection[Item] { return openItems(t, client, o) }
			for _, sk := range sorts {
				like := ov("pk", "k", "sk", sk)
				if _, err := stranger().Get(t.Context(), like, strongly); err != nil {
					t.Errorf("get %s: %v", sk, err)
				}
				if _, err := stranger().Update(t.Context(), like, func(in *dynamodb.UpdateItemInput) {
					in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", 1)
				}); err != nil {
					t.Errorf("update %s: %v", sk, err)
				}
			}
			if _, err := stranger().Update(t.Context(), ov("pk", "k", "sk", "absent"), func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n"), ov(":n", 1)
			}); !errors.Is(err, ErrNotFound) {
				t.Errorf("update of what is not there: got %v, want ErrNotFound", err)
			}
			got, err := stranger().BatchGet(t.Context(), []Item{ov("pk", "k", "sk", sorts[0]), ov("pk", "k", "sk", sorts[29])})
			if err != nil || attrText(got[1], "n") != "1" {
				t.Errorf("batch get: got %v, %v", got, err)
			}
			if _, err := stranger().Delete(t.Context(), ov("pk", "k", "sk", sorts[29])); err != nil {
				t.Error(err)
			}
			likes := []Item{}
			for _, sk := range sorts[:29] {
				likes = append(likes, ov("pk", "k", "sk", sk))
			}
			if err := stranger().BatchDelete(t.Context(), likes); err != nil {
				t.Error(err)
			}
			if left, err := sortsOf(a, Query{Key: "k", Consistent: true}); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v, want nothing", left, err)
			}
		})
	}
}

// What would have to know all places of an item is refused. A put in a transaction does not, and works.
func TestAdaptiveRefusesWhatItCannotDo(t *testing.T) {
	for name, o := range map[string]Options{"random": adaptive(), "calculated": adaptive(calculated)} {
		t.Run(name, func(t *testing.T) {
			client := onItems(t)
			c := openItems(t, client, o)
			item := ov("pk", "k", "sk", "1")
			_, put := c.Put(t.Context(), item, ifNew)
			_, update := c.TransactUpdate(t.Context(), item, func(in *types.Update) { in.UpdateExpression = aws.String("SET n = n") })
			_, del := c.TransactDelete(t.Context(), item)
			_, check := c.TransactCheck(t.Context(), item, func(in *types.ConditionCheck) { in.ConditionExpression = aws.String("attribute_exists(pk)") })
			_, conditional := c.TransactPut(t.Context(), item, func(in *types.Put) { in.ConditionExpression = aws.String("attribute_not_exists(pk)") })
			for what, err := range map[string]error{
				"Put with a condition": put, "TransactUpdate": update, "TransactDelete": del, "TransactCheck": check, "TransactPut with a condition": conditional,
			} {
				if !errors.Is(err, ErrScattered) || !strings.Contains(err.Error(), "grown") {
					t.Errorf("%s: got %v, want ErrScattered and why", what, err)
				}
			}
			widen(t, c, "k", 4)
			part, err := c.TransactPut(t.Context(), item)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{part}}); err != nil {
				t.Fatal(err)
			}
			if got, err := openItems(t, client, o).Get(t.Context(), item, strongly); err != nil || attrText(got, "sk") != "1" {
				t.Errorf("got %s, %v, want what the transaction has put", showItem(got), err)
			}
		})
	}
}

// Keys of control items are not for data, in any operation.
func TestControlKeysAreRefused(t *testing.T) {
	client := onItems(t)
	c := openItems(t, client, adaptive())
	widen(t, c, "k", 4)
	before := everyItem(t, client, "items")
	item := ov("pk", "_hs#L#table##k", "sk", "-")
	_, put := c.Put(t.Context(), item)
	_, get := c.Get(t.Context(), item)
	_, update := c.Update(t.Context(), item, func(in *dynamodb.UpdateItemInput) { in.UpdateExpression = aws.String("REMOVE n") })
	_, del := c.Delete(t.Context(), item)
	_, part := c.TransactPut(t.Context(), item)
	_, query := sortsOf(c, Query{Key: "_hs#L#table##k"})
	_, grow := c.Ledgers().Grow(t.Context(), "_hs#L#table##k", time.Time{}, 2, "")
	for what, err := range map[string]error{
		"Put": put, "BatchPut": c.BatchPut(t.Context(), []Item{item}), "Get": get, "Update": update, "Delete": del,
		"BatchDelete": c.BatchDelete(t.Context(), []Item{item}), "TransactPut": part, "Query": query, "Grow": grow,
	} {
		if err == nil || !strings.Contains(err.Error(), "control item") {
			t.Errorf("%s: got %v, want it to be refused as the key of a control item", what, err)
		}
	}
	if after := everyItem(t, client, "items"); len(after) != len(before) {
		t.Errorf("%d items are stored, want the %d of before", len(after), len(before))
	}
}

// Options that contradict Adaptive are refused, with what to do.
func TestAdaptiveOptions(t *testing.T) {
	for want, edit := range map[string]func(*Options){
		"leave Widths out":         func(o *Options) { o.Widths = layout.Width{Write: 2, Read: 2} },
		"leave Shards out":         func(o *Options) { o.Layout.Shards = 4 },
		"while its key grows":      func(o *Options) { o.OnePerShard = true },
		"needs a SortKey":          func(o *Options) { o.SortKey = "-" },
		"with an Index":            func(o *Options) { o.Version, o.TTL = "v", "ttl" },
		"Adaptive.Keep is -1ns":    func(o *Options) { o.Adaptive.Keep = -1 },
		"WarmPrice is -1":          func(o *Options) { o.Adaptive.WarmPrice = -1 },
		"MaxWidth 2000":            func(o *Options) { o.Adaptive.MaxWidth = 2000 },
		"MaxWidth is -1":           func(o *Options) { o.Adaptive.MaxWidth = -1 },
		"PerMinute is -1":          func(o *Options) { o.Adaptive.PerMinute = -1 },
		"Target is -1":             func(o *Options) { o.Adaptive.Target = -1 },
		"powers of two":            func(o *Options) { o.Layout.Strategy, o.Adaptive.MaxWidth = layout.Calculated, 100 },
		"begins with _hs_":         func(o *Options) { o.TTL = "_hs_ttl" },
		"the name of a collection": func(o *Options) { o.Name = "a#b" },
	} {
		o := Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Adaptive: &Adaptive{}}
		if edit(&o); o.SortKey == "-" {
			o.SortKey = ""
		}
		if _, err := Open[Item](&dynamodb.Client{}, o); !errors.Is(err, ErrOptions) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want ErrOptions with %q", err, want)
		}
	}
	for want, o := range map[string]Options{"leave them out": {Name: "orders"}, "neither Adaptive nor Movable nor Recorded": {ControlTable: "control"}} {
		o.Table, o.PartitionKey, o.SortKey = "items", "pk", "sk"
		if _, err := Open[Item](&dynamodb.Client{}, o); !errors.Is(err, ErrOptions) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want ErrOptions with %q", err, want)
		}
	}
	_, err := openItems(t, &dynamodb.Client{}, Options{}).Ledgers().Show(t.Context(), "k", time.Time{})
	if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "Adaptive") {
		t.Errorf("ledgers of a collection without: got %v", err)
	}
	for _, q := range []Query{{Key: "k", AtLeast: -1}, {Key: "k", AtLeast: 1}} {
		if _, err := sortsOf(openItems(t, &dynamodb.Client{}, Options{}), q); !errors.Is(err, ErrQuery) {
			t.Errorf("AtLeast %d without Adaptive: got %v, want ErrQuery", q.AtLeast, err)
		}
	}
}

// A width that cannot be is the caller's mistake, and no fault of the ledger.
func TestGrowToAWidthThatCannotBe(t *testing.T) {
	client := onItems(t)
	for _, width := range []int{-8, 0, layout.MaxShards + 1} {
		_, err := openItems(t, client, adaptive()).Ledgers().Grow(t.Context(), "k", time.Time{}, width, "")
		if err == nil || errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), fmt.Sprint(width)) {
			t.Errorf("width %d: got %v, want an error about it", width, err)
		}
	}
	if _, err := openItems(t, client, adaptive(calculated)).Ledgers().Grow(t.Context(), "k", time.Time{}, 6, ""); !errors.Is(err, ErrOptions) {
		t.Errorf("6 shards of a Calculated layout: got %v, want ErrOptions", err)
	}
	if keys := storedKeys(t, client, "items"); keys["_hs#L#table##k"] > 0 {
		t.Error("a ledger was written")
	}
}

// Items carry the generation that their writer knew, and nobody gets to see it.
func TestStampsAreHidden(t *testing.T) {
	client := onItems(t)
	c := openItems(t, client, adaptive())
	item := ov("pk", "k", "sk", "1")
	if done, err := c.Put(t.Context(), item); err != nil || done.Generation != 0 {
		t.Fatalf("got %+v, %v, want generation 0", done, err)
	}
	if raw := everyItem(t, client, "items"); slices.ContainsFunc(raw, func(i Item) bool { return attrText(i, "pk") == "k" && i["_hs_g"] != nil }) {
		t.Error("an item of a key that has not grown carries a stamp")
	}
	widen(t, c, "k", 4)
	done, err := c.Put(t.Context(), ov("pk", "k", "sk", "2"))
	if err != nil || done.Generation != 1 {
		t.Fatalf("got %+v, %v, want generation 1", done, err)
	}
	for _, raw := range everyItem(t, client, "items") {
		if layout.IsControl(attrText(raw, "pk")) || attrText(raw, "sk") != "2" {
			continue
		}
		if attrText(raw, "_hs_g") != "1" {
			t.Errorf("stored: %s, want the stamp 1", showItem(raw))
		}
		got, place, err := c.Decode(raw)
		wantItem(t, "decoded", got, ov("pk", "k", "sk", "2"))
		if err != nil || place.Key != "k" || place.Shard != done.Shard {
			t.Errorf("decoded: %+v, %v, want shard %d", place, err, done.Shard)
		}
	}
	got, err := c.Get(t.Context(), ov("pk", "k", "sk", "2"))
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "got", got, ov("pk", "k", "sk", "2"))
	if _, err := c.Put(t.Context(), got); err != nil { // what was read can be put
		t.Fatal(err)
	}
	deleted, err := c.Delete(t.Context(), ov("pk", "k", "sk", "1"), func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld })
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "deleted", deleted.Attributes, ov("pk", "k", "sk", "1"))
	updated, err := c.Update(t.Context(), ov("pk", "k", "sk", "2"), func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeValues, in.ReturnValues = aws.String("SET n = :n"), ov(":n", 1), types.ReturnValueAllNew
	})
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "updated", updated.Attributes, ov("pk", "k", "sk", "2", "n", 1))
	if _, err := c.Update(t.Context(), ov("pk", "k", "sk", "2"), func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeNames = aws.String("REMOVE #s"), map[string]string{"#s": "_hs_g"}
	}); !errors.Is(err, ErrItem) {
		t.Errorf("an update of the stamp: got %v, want ErrItem", err)
	}
}

// A write that learns that the ledger is of a newer version ends: nobody here knows the rules any more. If an attempt may have
// happened, the outcome is unknown.
func TestWriteMeetsANewerVersion(t *testing.T) {
	for name, script := range map[string][]faulty.Fault{"refused": {faulty.Throttled}, "lost": {faulty.LostAnswer, faulty.Throttled}} {
		t.Run(name, func(t *testing.T) {
			client := faulty.On(t, onItems(t), nil)
			c := openItems(t, client, adaptive(func(o *Options) { o.Retry.Base = time.Microsecond }))
			putSome(t, c, "k", 0, 1)
			widen(t, openItems(t, client.Direct, adaptive()), "k", 4)
			if _, err := client.Direct.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("items"), Key: ov("pk", "_hs#L#table##k", "sk", "-"), UpdateExpression: aws.String("SET #v = :v"),
				ExpressionAttributeNames: map[string]string{"#v": "_hs_v"}, ExpressionAttributeValues: ov(":v", 9),
			}); err != nil {
				t.Fatal(err)
			}
			client.Decide(faulty.Script(script...).Of("PutItem"))
			_, err := c.Put(t.Context(), ov("pk", "k", "sk", "x"))
			_, unknown := errors.AsType[*UnknownOutcomeError](err)
			if !errors.Is(err, ErrNewer) || unknown != (name == "lost") {
				t.Errorf("got %v, want ErrNewer, and an unknown outcome only if an answer was lost", err)
			}
			if err := c.BatchPut(t.Context(), []Item{ov("pk", "k", "sk", "y")}); !errors.Is(err, ErrNewer) {
				t.Errorf("a batch: got %v, want ErrNewer", err)
			}
		})
	}
}

// A put that is throttled goes where the key has grown meanwhile. One whose answer was lost stays.
func TestAdaptivePutAfterAThrottle(t *testing.T) {
	for fault, moves := range map[faulty.Fault]bool{faulty.Throttled: true, faulty.LostAnswer: false} {
		client := faulty.On(t, onItems(t), nil)
		c := openItems(t, client, adaptive(calculated, func(o *Options) { o.Retry.Base = time.Microsecond }))
		putSome(t, c, "k", 0, 1)
		widen(t, openItems(t, client.Direct, adaptive(calculated)), "k", 64)
		sk := "b" // whose shard of 64 is not 0
		client.Decide(faulty.Script(fault, faulty.Throttled).Of("PutItem"))
		done, err := c.Put(t.Context(), ov("pk", "k", "sk", sk))
		if err != nil {
			t.Fatal(err)
		}
		if (done.Shard != 0) != moves || (done.Generation == 1) != moves {
			t.Errorf("%s: it is in shard %d at generation %d, want it to move: %v", fault, done.Shard, done.Generation, moves)
		}
		if n := storedKeys(t, client.Direct, "items"); n["k"]+n[done.ShardKey] != map[bool]int{true: 2, false: 4}[moves] {
			t.Errorf("%s: stored %v", fault, n)
		}
	}
}

// Ledgers shows, freezes, thaws and lists.
func TestLedgers(t *testing.T) {
	client := onItems(t)
	c, other := openItems(t, client, adaptive()), openItems(t, client, adaptive())
	ctx := t.Context()
	if l, err := c.Ledgers().Show(ctx, "k", time.Time{}); err != nil || l.Width != (layout.Width{Write: 1, Read: 1}) || l.Generation != 0 || !l.At.IsZero() {
		t.Errorf("a key that has not grown: got %+v, %v", l, err)
	}
	begin := time.Now().Add(-time.Second)
	widen(t, c, "k", 4)
	if _, err := other.Ledgers().Freeze(ctx, "k", time.Time{}, strings.Repeat("a long reason ", 100)); err != nil {
		t.Fatal(err)
	}
	l, err := c.Ledgers().Show(ctx, "k", time.Time{})
	if err != nil || l.Key != "k" || l.Width.Read != 4 || l.Generation != 2 || !l.Frozen || !slices.Equal(l.History, []layout.Width{{Write: 1, Read: 1}}) || !strings.HasPrefix(l.Why, "a long reason") || l.By == "" || l.At.Before(begin) {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := c.Ledgers().Grow(ctx, "k", time.Time{}, 8, ""); !errors.Is(err, ErrFrozen) {
		t.Errorf("got %v, want ErrFrozen", err)
	}
	if _, err := other.Ledgers().Thaw(ctx, "k", time.Time{}, ""); err != nil {
		t.Fatal(err)
	}
	for range 20 { // which push no width out
		if _, err := other.Ledgers().Freeze(ctx, "k", time.Time{}, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Ledgers().Thaw(ctx, "k", time.Time{}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if l := widen(t, c, "k", 8); l.Width.Read != 8 || l.Frozen || !slices.Equal(l.History, []layout.Width{{Write: 1, Read: 1}, {Write: 4, Read: 4}}) {
		t.Errorf("got %+v", l)
	}
	widen(t, c, "k#2", 2)
	found := map[string]int{}
	for l, err := range other.Ledgers().All(ctx, client) {
		if err != nil {
			t.Error(err)
		}
		found[l.Key] = l.Width.Read
	}
	if !maps.Equal(found, map[string]int{"k": 8, "k#2": 2}) {
		t.Errorf("listed %v", found)
	}
	if _, err := c.Ledgers().Show(ctx, "", time.Time{}); !errors.Is(err, ErrItem) {
		t.Errorf("an empty key: got %v, want ErrItem", err)
	}
}

// The caller's own scan leaves control items out.
func TestControlFilter(t *testing.T) {
	client := onItems(t)
	c := openItems(t, client, adaptive())
	putSome(t, c, "k", 0, 3)
	widen(t, c, "k", 4)
	expression, names, values := ControlFilter("pk")
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("items"), FilterExpression: &expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil || len(out.Items) != 3 || out.ScannedCount != 5 {
		t.Errorf("got %d of %d items, %v, want 3 of 5", len(out.Items), out.ScannedCount, err)
	}
}

// A control table is created once, and one of another shape is refused.
func TestSetupControlTable(t *testing.T) {
	db := local.Start(t)
	for range 2 {
		if err := SetupControlTable(t.Context(), db.Client(), "control"); err != nil {
			t.Error(err)
		}
	}
	if err := db.CreateTable(t.Context(), "wrong", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	if err := SetupControlTable(t.Context(), db.Client(), "wrong"); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "wrong") {
		t.Errorf("got %v, want ErrOptions", err)
	}
	if err := db.CreateTable(t.Context(), "number", "pk:N"); err != nil {
		t.Fatal(err)
	}
	if err := SetupControlTable(t.Context(), db.Client(), "number"); !errors.Is(err, ErrOptions) {
		t.Errorf("a number for a key: got %v, want ErrOptions", err)
	}
}

// logText is a logger's output, safe for concurrent use.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logText) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

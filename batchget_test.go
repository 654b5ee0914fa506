package heatsink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// BatchGet takes as many requests as there are hundreds of keys, and one unit for two items.
func TestBatchGetCost(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	for name, c := range map[string]struct {
		options Options
		want    Cost
	}{
		"calculated": {Options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}}, Cost{Requests: 3, ReadUnits: 125, Items: 250}},
		"random":     {Options{Layout: layout.Layout{Shards: 4, Format: layout.SharpNumber()}}, Cost{Requests: 10, ReadUnits: 500, Items: 250}},
	} {
		views := openItems(t, client, c.options)
		if err := views.BatchPut(ctx, numberedItems(250)); err != nil {
			t.Fatal(err)
		}
		var meter Meter
		got, err := views.BatchGet(WithMeter(ctx, &meter), append(numberedItems(250), numberedItems(20)...))
		if err != nil || len(got) != 270 {
			t.Fatalf("%s: got %d items, %v", name, len(got), err)
		}
		for i, item := range got {
			wantItem(t, fmt.Sprint(name, " ", i), item, numberedItems(250)[i%250])
		}
		if cost := meter.Cost(); cost != c.want {
			t.Errorf("%s: got %+v, want %+v", name, cost, c.want)
		}
	}
	if got, err := openItems(t, client, Options{}).BatchGet(ctx, nil); err != nil || len(got) != 0 {
		t.Errorf("nothing: got %v, %v", got, err)
	}
}

// Where items are likely to be is read first, so that old places cost nothing as long as no item is there.
func TestBatchGetReadsOldPlacesLast(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	views := openItems(t, client, Options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}, Older: []layout.Layout{{}}})
	if err := views.BatchPut(ctx, numberedItems(50)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		likes int
		want  Cost
	}{{50, Cost{Requests: 1, ReadUnits: 25, Items: 50}}, {60, Cost{Requests: 2, ReadUnits: 35, Items: 50}}} {
		var meter Meter
		_, err := views.BatchGet(WithMeter(ctx, &meter), numberedItems(c.likes))
		if errors.Is(err, ErrNotFound) != (c.likes > 50) || meter.Cost() != c.want {
			t.Errorf("%d: got %+v, %v, want %+v", c.likes, meter.Cost(), err, c.want)
		}
	}
}

// What is left unprocessed is asked for again. What was never read is named, and why; what was read is there.
func TestBatchGetUnprocessed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		spread := layout.Layout{Shards: 10, Strategy: layout.Calculated}
		if err := openItems(t, engine, Options{Layout: spread}).BatchPut(ctx, numberedItems(80)); err != nil {
			t.Fatal(err)
		}
		client := faulty.On(t, engine, faulty.Script(faulty.Partly, faulty.Throttled, faulty.LostAnswer, faulty.Partly))
		got, err := openItems(t, client, Options{Layout: spread}).BatchGet(ctx, numberedItems(80))
		if err != nil || client.Count("BatchGetItem") != 5 {
			t.Fatalf("got %v after %d requests, want 5", err, client.Count("BatchGetItem"))
		}
		for i, item := range got {
			wantItem(t, fmt.Sprint(i), item, numberedItems(80)[i])
		}
		client.Decide(faulty.Script(faulty.Partly, faulty.Throttled))
		likes := append(numberedItems(80), ov("pk", "VIEWS", "sk", "none"))
		got, err = openItems(t, client, Options{Layout: spread, Retry: Retry{Attempts: 2}}).BatchGet(ctx, likes)
		failed, ok := err.(*BatchError)
		if !ok || failed.Operation != "BatchGet" || failed.Of != 81 || len(failed.Failed) != 41 {
			t.Fatalf("got %v, want 41 of 81 to fail", err)
		}
		unread := map[int]bool{}
		for _, f := range failed.Failed {
			unread[f.Position] = true
			shard, ok := errors.AsType[*ShardError](f.Err)
			home, _ := openItems(t, engine, Options{Layout: spread}).Locate(ctx, likes[f.Position])
			if !ok || shard.Operation != "BatchGetItem" || shard.Attempts != 2 || shard.ShardKey != attrText(home[0], "pk") ||
				!errors.As(f.Err, new(*types.ProvisionedThroughputExceededException)) {
				t.Errorf("got %v at %d, want a throttled BatchGetItem for %s", f.Err, f.Position, showItem(home[0]))
			}
		}
		for i, item := range got {
			if (item == nil) != unread[i] {
				t.Errorf("at %d there is %v, though it was read: %v", i, item, !unread[i])
			}
		}
	})
}

// A request that fails takes only its own items with it.
func TestBatchGetFailsInPart(t *testing.T) {
	ctx, engine := t.Context(), onItems(t)
	options := Options{Layout: layout.Layout{Shards: 10, Strategy: layout.Calculated}}
	if err := openItems(t, engine, options).BatchPut(ctx, numberedItems(150)); err != nil {
		t.Fatal(err)
	}
	client := faulty.On(t, engine, func(r faulty.Request) faulty.Fault {
		if in, ok := r.Input.(*dynamodb.BatchGetItemInput); ok && len(in.RequestItems["items"].Keys) == 50 {
			return faulty.Denied
		}
		return faulty.None
	})
	got, err := openItems(t, client, options).BatchGet(ctx, numberedItems(150))
	failed, ok := err.(*BatchError)
	if !ok || len(failed.Failed) != 50 || failed.Failed[0].Position != 100 {
		t.Fatalf("got %v, want the last 50 to fail", err)
	}
	for i, item := range got {
		if (item != nil) != (i < 100) {
			t.Errorf("at %d: got %v", i, item)
		}
	}
}

// A key that cannot be one fails alone, whoever finds that out.
func TestBatchGetFailsAlone(t *testing.T) {
	ctx, engine := t.Context(), onItems(t)
	for _, options := range []Options{{Layout: layout.Layout{Shards: 4}}, {Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Format: layout.SharpNumber()}}} {
		views := openItems(t, engine, options)
		if err := views.BatchPut(ctx, numberedItems(40)); err != nil {
			t.Fatal(err)
		}
		likes := numberedItems(40)
		likes[7]["sk"] = nv(7)
		likes[20] = ov("pk", "VIEWS")
		likes[33]["sk"] = &types.AttributeValueMemberN{Value: "x"}
		likes[34]["sk"] = sv(strings.Repeat("x", 1025))
		got, err := views.BatchGet(ctx, likes)
		failed, ok := err.(*BatchError)
		if !ok || len(failed.Failed) != 4 {
			t.Fatalf("got %v, want 4 to fail", err)
		}
		for i, want := range []int{7, 20, 33, 34} {
			f := failed.Failed[i]
			if f.Position != want || errors.Is(f.Err, ErrNotFound) || errors.Is(f.Err, ErrItem) != (want == 20 || want == 33) {
				t.Errorf("got %v at %d, want one at %d", f.Err, f.Position, want)
			}
		}
		for i, item := range got {
			if bad := i == 7 || i == 20 || i == 33 || i == 34; bad != (item == nil) {
				t.Errorf("at %d: got %v", i, item)
			}
		}
	}
}

// An item that does not decode is a zero T with a DecodeError, beside the others.
func TestBatchGetOfWhatDoesNotDecode(t *testing.T) {
	ctx := t.Context()
	type record struct {
		PK string `dynamodbav:"pk"`
		SK string `dynamodbav:"sk"`
		N  int    `dynamodbav:"n"`
	}
	items := openItems(t, onItems(t), Options{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}})
	if err := items.BatchPut(ctx, []Item{ov("pk", "a", "sk", "1", "n", "x"), ov("pk", "a", "sk", "2", "n", 2)}); err != nil {
		t.Fatal(err)
	}
	got, err := As[record](items).BatchGet(ctx, []record{{PK: "a", SK: "1"}, {PK: "a", SK: "2"}, {PK: "a", SK: "3"}})
	failed, ok := err.(*BatchError)
	if !ok || len(failed.Failed) != 2 || !errors.As(failed.Failed[0].Err, new(*DecodeError)) || failed.Failed[1].Err != ErrNotFound {
		t.Errorf("got %v, want a DecodeError and ErrNotFound", err)
	}
	if got[0] != (record{}) || got[1] != (record{"a", "2", 2}) || got[2] != (record{}) {
		t.Errorf("got %+v", got)
	}
}

// stranger is a client that says once that a key was left unread that nobody asked for, and reads nothing.
type stranger struct {
	Client
	lied bool
}

func (s *stranger) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if s.lied {
		return s.Client.BatchGetItem(ctx, in, opts...)
	}
	s.lied = true
	left := types.KeysAndAttributes{Keys: []map[string]types.AttributeValue{ov("pk", "who", "sk", "?")}}
	return &dynamodb.BatchGetItemOutput{UnprocessedKeys: map[string]types.KeysAndAttributes{"items": left}}, nil
}

func TestBatchGetDoesNotTrustStrangers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		options := Options{Layout: layout.Layout{Shards: 3}}
		if err := openItems(t, engine, options).BatchPut(ctx, numberedItems(5)); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"BatchGet": second(openItems(t, &stranger{Client: engine}, options).BatchGet(ctx, numberedItems(5))),
			"Get":      second(openItems(t, &stranger{Client: engine}, options).Get(ctx, numberedItems(5)[3])),
		} {
			if err != nil {
				t.Errorf("%s: got %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A BatchGet ends with its context, and every item says so.
func TestBatchGetContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		client := faulty.On(t, onItems(t), faulty.Always(faulty.Unanswered))
		start := time.Now()
		_, err := openItems(t, client, Options{Layout: layout.Layout{Shards: 10}}).BatchGet(ctx, numberedItems(200))
		failed, ok := err.(*BatchError)
		if !ok || len(failed.Failed) != 200 || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %s, want all of 200 to be out of time after 1s", err, time.Since(start))
		}
	})
}

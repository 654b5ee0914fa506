package heatsink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// 002-04, 004-09: put, then get by key, one request each, and what is read is what was put.
func TestGetCalculated(t *testing.T) {
	client := faulty.On(t, onItems(t), nil)
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 200, Strategy: layout.Calculated, Format: layout.DotFromOne()}})
	var meter Meter
	ctx := WithMeter(t.Context(), &meter)
	item := ov("pk", "2014-07-09", "sk", "order-1", "n", 1)
	if _, err := orders.Put(ctx, item); err != nil {
		t.Fatal(err)
	}
	got, err := orders.Get(ctx, ov("pk", "2014-07-09", "sk", "order-1"), func(in *dynamodb.GetItemInput) {
		in.ConsistentRead = aws.Bool(true)
		in.TableName, in.Key = aws.String("nowhere"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "read", got, item)
	if want := (Cost{Requests: 2, Items: 1, ReadUnits: 1, WriteUnits: 1}); meter.Cost() != want || client.Count("GetItem") != 1 {
		t.Errorf("got %+v, want %+v", meter.Cost(), want)
	}
	if _, err := orders.Get(ctx, ov("pk", "2014-07-09", "sk", "order-2")); err != ErrNotFound {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

// 004-23: 20 shard keys are one BatchGetItem of full keys, 250 are three, and what is left unprocessed is asked for again.
func TestGetRandom(t *testing.T) {
	for _, c := range []struct {
		shards, requests int
		faults           []faulty.Fault
	}{
		{1, 0, nil},
		{20, 1, nil},
		{20, 4, []faulty.Fault{faulty.Partly, faulty.Partly, faulty.Throttled}},
		{250, 3, nil},
	} {
		bubble.Test(t, func(t *testing.T) {
			ctx, engine := context.Background(), onItems(t)
			if _, err := openItems(t, engine, Options{Layout: layout.Layout{Shards: c.shards}}).Put(ctx, ov("pk", "a", "sk", "1", "n", 1)); err != nil {
				t.Fatal(err)
			}
			client := faulty.On(t, engine, faulty.Script(c.faults...))
			views := openItems(t, client, Options{Layout: layout.Layout{Shards: c.shards}})
			var meter Meter
			got, err := views.Get(WithMeter(ctx, &meter), ov("pk", "a", "sk", "1"))
			if err != nil {
				t.Fatal(err)
			}
			wantItem(t, "read", got, ov("pk", "a", "sk", "1", "n", 1))
			cost := meter.Cost()
			if n := client.Count("BatchGetItem"); n != c.requests || cost.Requests != max(n, 1) || cost.Throttles != len(c.faults) || cost.ReadUnits != 0.5*float64(c.shards) {
				t.Errorf("%d shards: %d requests cost %+v, want %d", c.shards, n, cost, c.requests)
			}
			if _, err := views.Get(ctx, ov("pk", "a", "sk", "2")); err != ErrNotFound {
				t.Errorf("got %v, want ErrNotFound", err)
			}
		})
	}
}

// The lowest shard wins, and items that have expired are not there.
func TestGetLowestAliveShard(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, client := context.Background(), onItems(t)
		views := openItems(t, client, Options{Layout: layout.Layout{Shards: 4}, TTL: "ttl"})
		past, future := int(time.Now().Unix()), int(time.Now().Unix())+1
		for shard, ttl := range map[int]int{1: past, 2: future, 3: future} {
			item := ov("pk", fmt.Sprintf("a#SHARD_%d", shard), "sk", "1", "n", shard, "ttl", ttl)
			if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := views.Get(ctx, ov("pk", "a", "sk", "1"))
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "read", got, ov("pk", "a", "sk", "1", "n", 2, "ttl", future))

		// A projection without the key and the time to live changes nothing but what is returned.
		got, err = views.Get(ctx, ov("pk", "a", "sk", "1"), func(in *dynamodb.GetItemInput) {
			in.ProjectionExpression, in.ExpressionAttributeNames = aws.String("#n"), map[string]string{"#n": "n"}
		})
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "projected", got, ov("n", 2))
		got, err = views.Get(ctx, ov("pk", "a", "sk", "1"), func(in *dynamodb.GetItemInput) {
			in.ProjectionExpression, in.ExpressionAttributeNames = aws.String("n, #p"), map[string]string{"#p": "pk"}
		})
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "projected with the key", got, ov("n", 2, "pk", "a"))

		time.Sleep(2 * time.Second)
		if _, err := views.Get(ctx, ov("pk", "a", "sk", "1")); err != ErrNotFound {
			t.Errorf("a second later: got %v, want ErrNotFound", err)
		}
	})
}

// While a calculated layout grows, the likeliest shard is read first and the others in one request.
func TestGetGrown(t *testing.T) {
	ctx, engine := t.Context(), onItems(t)
	widths := &growing{width: layout.Width{Write: 1, Read: 1}}
	client := faulty.On(t, engine, nil)
	orders := openItems(t, client, Options{Layout: layout.Layout{Shards: 1, Strategy: layout.Calculated}, Widths: widths})
	for n := 1; n <= 16; n *= 2 {
		widths.set(layout.Width{Write: n, Read: n})
		if _, err := orders.Put(ctx, ov("pk", "a", "sk", fmt.Sprint("put at ", n))); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 16; n *= 2 {
		item := ov("pk", "a", "sk", fmt.Sprint("put at ", n))
		got, err := orders.Get(ctx, item)
		if err != nil {
			t.Fatalf("put at width %d: %v", n, err)
		}
		wantItem(t, "read", got, item)
	}
	if gets, batches := client.Count("GetItem"), client.Count("BatchGetItem"); gets != 5 || batches > 4 {
		t.Errorf("five items took %d GetItems and %d BatchGetItems, want 5 and 4 at most", gets, batches)
	}
}

// 004-16: a profile in three parts is three reads, merged into one item, and its cost is that of three.
func TestGetMerged(t *testing.T) {
	ctx, client := t.Context(), onItems(t)
	for shard, part := range []Item{ov("name", "Ann", "n", 0), ov("photo", "…", "n", 1), ov("settings", "dark")} {
		part["pk"], part["sk"] = sv(fmt.Sprintf("user#%d", shard)), sv("PROFILE")
		if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("items"), Item: part}); err != nil {
			t.Fatal(err)
		}
	}
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		profiles := openItems(t, client, Options{Layout: layout.Layout{Shards: 3, Strategy: strategy, Format: layout.PlainNumber()}, ShardBy: []string{"part"}})
		var meter Meter
		got, err := profiles.GetMerged(WithMeter(ctx, &meter), ov("pk", "user", "sk", "PROFILE"), func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
		if err != nil {
			t.Fatal(err)
		}
		wantItem(t, "merged", got, ov("pk", "user", "sk", "PROFILE", "name", "Ann", "photo", "…", "settings", "dark", "n", 0))
		if want := (Cost{Requests: 1, Items: 3, ReadUnits: 3}); meter.Cost() != want {
			t.Errorf("got %+v, want %+v", meter.Cost(), want)
		}
		if _, err := profiles.GetMerged(ctx, ov("pk", "user", "sk", "OTHER")); err != ErrNotFound {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}
}

// What cannot be read is an error that names the shard, also if only one batch of many fails; nothing is left running.
func TestGetFails(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, engine := context.Background(), onItems(t)
		n := 0
		client := faulty.On(t, engine, func(faulty.Request) faulty.Fault {
			if n++; n >= 3 {
				return faulty.Throttled
			}
			return faulty.None
		})
		views := openItems(t, client, Options{Layout: layout.Layout{Shards: 1000}})
		_, err := views.Get(ctx, ov("pk", "a", "sk", "1"))
		failed, ok := errors.AsType[*ShardError](err)
		if !ok || failed.Operation != "BatchGetItem" || failed.Table != "items" || failed.Attempts < 1 || failed.ShardKey == "" ||
			!errors.As(err, new(*types.ProvisionedThroughputExceededException)) {
			t.Errorf("got %v, want a throttled BatchGetItem", err)
		}
		_, err = openItems(t, faulty.On(t, engine, faulty.Always(faulty.Partly)), Options{Layout: layout.Layout{Shards: 90}, Retry: Retry{Attempts: 3}}).Get(ctx, ov("pk", "a", "sk", "1"))
		failed, ok = errors.AsType[*ShardError](err)
		if !ok || failed.Attempts != 3 || !errors.As(err, new(*dispatch.UnprocessedError)) {
			t.Errorf("got %v, want keys left unprocessed", err)
		}

		// One batch that cannot be read ends the others, which would wait for hours.
		faults := []faulty.Fault{faulty.Throttled, faulty.Throttled, faulty.Denied}
		start := time.Now()
		_, err = openItems(t, faulty.On(t, engine, faulty.Script(faults...)), Options{Layout: layout.Layout{Shards: 300}, Retry: Retry{Base: time.Hour, Max: time.Hour}}).Get(ctx, ov("pk", "a", "sk", "1"))
		if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "AccessDeniedException" || time.Since(start) != 0 {
			t.Errorf("got %v after %s, want access denied at once", err, time.Since(start))
		}
	})
}

// vague is a client that leaves keys of a table unprocessed, but none in particular.
type vague struct{ Client }

func (v vague) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := v.Client.BatchGetItem(ctx, in, opts...)
	if err == nil {
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{"items": {}}
	}
	return out, err
}

func TestGetNothingUnprocessed(t *testing.T) {
	views := openItems(t, vague{onItems(t)}, Options{Layout: layout.Layout{Shards: 4}})
	item := ov("pk", "a", "sk", "1")
	if _, err := views.Get(t.Context(), item); err != ErrNotFound {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := views.Put(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	got, err := views.Get(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, "read", got, item)
}

// MaxConcurrency holds for Get, whose batches count as reads.
func TestGetKeepsToMaxConcurrency(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := context.Background()
		client := faulty.On(t, onItems(t), nil)
		client.Delay(faulty.Exactly(time.Second))
		views := openItems(t, client, Options{Layout: layout.Layout{Shards: 800}, MaxConcurrency: 2})
		start := time.Now()
		if _, err := views.Get(ctx, ov("pk", "a", "sk", "1")); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("8 batches of a second, two at a time, took %s", took)
		}
		var all sync.WaitGroup
		start = time.Now()
		one := openItems(t, client, Options{Layout: layout.Layout{Shards: 8, Strategy: layout.Calculated}, MaxConcurrency: 5})
		for i := range 20 {
			all.Go(func() { _, _ = one.Get(ctx, ov("pk", "a", "sk", fmt.Sprint(i))) })
		}
		all.Wait()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("20 gets of a second, five at a time, took %s", took)
		}
	})
}

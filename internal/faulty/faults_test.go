package faulty_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// item makes an item of strings: item("pk", "a", "sk", "1").
func item(pairs ...string) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{}
	for pair := range slices.Chunk(pairs, 2) {
		item[pair[0]] = &types.AttributeValueMemberS{Value: pair[1]}
	}
	return item
}

// onItems returns a client on an engine with a table of items.
func onItems(t testing.TB) *dynamodb.Client {
	t.Helper()
	db := local.Start(t)
	if err := db.CreateTable(context.Background(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	return db.Client()
}

func put(ctx context.Context, client *faulty.Client, pk, sk string) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: new("items"), Item: item("pk", pk, "sk", sk)})
	return err
}

// items returns what is in the table.
func items(t testing.TB, client *dynamodb.Client) []map[string]types.AttributeValue {
	t.Helper()
	out, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: new("items"), ConsistentRead: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// Half of a delay is on the way to DynamoDB, and half on the way back.
func TestDelay(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, onItems(t), nil)
		client.Delay(faulty.Exactly(10 * time.Second))
		begun := time.Now()
		arrived := time.AfterFunc(4900*time.Millisecond, func() {
			if n := len(items(t, client.Direct)); n != 0 {
				t.Errorf("%d items before half of the time", n)
			}
		})
		defer arrived.Stop()
		time.AfterFunc(5100*time.Millisecond, func() {
			if n := len(items(t, client.Direct)); n != 1 {
				t.Errorf("%d items after half of the time", n)
			}
		})
		if err := put(context.Background(), client, "a", "1"); err != nil || time.Since(begun) != 10*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		for wait, there := range map[time.Duration]int{time.Second: 1, 7 * time.Second: 2} { // before and after it arrives
			begun := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			defer cancel()
			err := put(ctx, client, "b", fmt.Sprint(there))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != wait {
				t.Errorf("got %v after %v, want the end of the context after %v", err, time.Since(begun), wait)
			}
		}
		if n := len(items(t, client.Direct)); n != 2 {
			t.Errorf("%d items in the end, want 2", n)
		}
	})
}

// A late request arrives after its sender has gone on, as it was when it was sent.
func TestLate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, onItems(t), faulty.Script(faulty.Late))
		client.Delay(faulty.Exactly(time.Minute))
		begun := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		in := &dynamodb.PutItemInput{TableName: new("items"), Item: item("pk", "a", "sk", "1")}
		if _, err := client.PutItem(ctx, in); err == nil || time.Since(begun) != 0 {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		in.Item["sk"] = &types.AttributeValueMemberS{Value: "2"}
		cancel()
		time.Sleep(59 * time.Second)
		if n := len(items(t, client.Direct)); n != 0 || client.Requests()[0].Done {
			t.Errorf("%d items before it arrives", n)
		}
		client.Wait()
		if took := time.Since(begun); took != time.Minute || !client.Requests()[0].Done {
			t.Errorf("it arrived after %v", took)
		}
		if got := items(t, client.Direct); len(got) != 1 || got[0]["sk"].(*types.AttributeValueMemberS).Value != "1" {
			t.Errorf("got %v, want what was sent", got)
		}
	})
}

// The end of the test waits for what is late: the engine is still open, and no goroutine is left in the bubble.
func TestTheEndWaitsForWhatIsLate(t *testing.T) {
	var client *faulty.Client
	bubble.Test(t, func(t *testing.T) {
		client = faulty.On(t, onItems(t), faulty.Always(faulty.Late))
		client.Delay(faulty.Exactly(time.Hour))
		for i := range 3 {
			_ = put(t.Context(), client, "a", fmt.Sprint(i))
		}
	})
	for _, r := range client.Requests() {
		if !r.Done {
			t.Errorf("%s was not done", r.Key("sk"))
		}
	}
}

// What is decided changes while requests are under way, by whoever.
func TestManyAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, onItems(t), nil)
		random := rand.New(rand.NewPCG(1, 2))
		client.Delay(faulty.UpTo(random, time.Second))
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := range 25 {
					client.Decide(faulty.Random(random, 50, faulty.Throttled, faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown, faulty.Late))
					_ = put(context.Background(), client, fmt.Sprint(worker), fmt.Sprint(i))
					client.Keys("PutItem", "pk")
				}
				client.Wait()
			})
		}
		all.Wait()
		client.Wait()
		done, wrong := 0, 0
		for _, r := range client.Requests() {
			if r.Done {
				done++
			}
			if r.Fault != faulty.None {
				wrong++
			}
		}
		if n := len(items(t, client.Direct)); n != done || client.Count("PutItem") != 200 || client.Wrong() != wrong || wrong < 50 {
			t.Errorf("%d items, but %d of %d are done, and %d of %d went wrong", n, done, client.Count("PutItem"), wrong, client.Wrong())
		}
	})
}

// Faults on faults: the inner ones see what the outer ones let through.
func TestFaultsOnFaults(t *testing.T) {
	inner := faulty.On(t, onItems(t), nil)
	outer := faulty.On(t, inner.Client, faulty.Script(faulty.LostRequest, faulty.LostAnswer))
	for range 3 {
		_ = put(t.Context(), outer, "a", "1")
	}
	if outer.Count("PutItem") != 3 || inner.Count("PutItem") != 2 || outer.Wrong() != 2 || inner.Wrong() != 0 {
		t.Errorf("%d requests, %d of them passed on", outer.Count("PutItem"), inner.Count("PutItem"))
	}
}

// What the SDK refuses to send is no request.
func TestInvalidRequestsAreNotSent(t *testing.T) {
	client := faulty.On(t, onItems(t), faulty.Always(faulty.Denied))
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{}); code(err) != "" || err == nil || len(client.Requests()) != 0 {
		t.Errorf("got %v after %d requests", err, len(client.Requests()))
	}
}

// A nil Decide and a nil Delay are none.
func TestNothingGoesWrong(t *testing.T) {
	client := faulty.On(t, onItems(t), faulty.Always(faulty.Denied))
	client.Delay(faulty.Exactly(24 * time.Hour))
	client.Decide(nil)
	client.Delay(nil)
	if err := put(t.Context(), client, "a", "1"); err != nil {
		t.Error(err)
	}
	client.Wait()
}

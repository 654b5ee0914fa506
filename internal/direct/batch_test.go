package direct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// Sixty items are there after three requests, after those for what was left unprocessed, and after lost answers.
func TestPutAll(t *testing.T) {
	for name, faults := range map[string][]faulty.Fault{
		"at once":    nil,
		"by halves":  {faulty.Partly, faulty.Partly, faulty.Partly, faulty.Partly},
		"throttled":  {faulty.Throttled, faulty.Throttled},
		"lost":       {faulty.LostAnswer, faulty.LostRequest},
		"both":       {faulty.Partly, faulty.LostAnswer, faulty.Partly},
		"all gone":   {faulty.Unreached},
		"conflicted": {faulty.BrokeDown},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				table, client := open(t, heatsink.Retry{})
				items := make([]heatsink.Item, 60)
				for i := range items {
					items[i] = item("a", fmt.Sprintf("%02d", i))
				}
				client.Decide(faulty.Script(faults...))
				var meter heatsink.Meter
				ctx := heatsink.WithMeter(context.Background(), &meter)
				if err := errors.Join(table.PutAll(ctx, items)...); err != nil {
					t.Fatal(err)
				}
				if sent := client.Count("BatchWriteItem"); sent != 3+len(faults) {
					t.Errorf("%d requests, want %d", sent, 3+len(faults))
				}
				if done := itemsDone(client); (name == "at once" || name == "by halves") && done != len(items) {
					t.Errorf("%d items were written, want each of %d once", done, len(items))
				}
				if n, err := table.Count(t.Context(), "a", of("a")); n != len(items) || err != nil {
					t.Errorf("%d of %d are there, %v", n, len(items), err)
				}
				if cost := meter.Cost(); len(faults) == 0 && (cost != heatsink.Cost{Requests: 3, WriteUnits: 60}) {
					t.Errorf("got %+v", cost)
				}
			})
		})
	}
}

// Of a batch with items that DynamoDB rejects, those fail and the others are written. What never gets through has its error,
// by its own key, and what may be there is told apart.
func TestPutAllFailsByItem(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		table, client := open(t, heatsink.Retry{})
		items := make([]heatsink.Item, 30)
		for i := range items {
			items[i] = item(fmt.Sprint("a", i), "1")
		}
		delete(items[7], "sk")
		delete(items[26], "sk")
		for i, err := range table.PutAll(t.Context(), items) {
			bad := i == 7 || i == 26
			if failed, ok := errors.AsType[*heatsink.ShardError](err); ok != bad || bad && failed.ShardKey != fmt.Sprint("a", i) {
				t.Errorf("item %d: got %v", i, err)
			}
			if errors.As(err, new(*heatsink.UnknownOutcomeError)) {
				t.Errorf("item %d was rejected for certain: got %v", i, err)
			}
		}
		items = items[8:20]
		for fault, unknown := range map[faulty.Fault]bool{faulty.Throttled: false, faulty.LostAnswer: true} {
			client.Decide(faulty.Always(fault))
			for i, err := range table.PutAll(t.Context(), items) {
				if err == nil || errors.As(err, new(*heatsink.UnknownOutcomeError)) != unknown {
					t.Errorf("%v, item %d: got %v", fault, i, err)
				}
			}
		}
	})
}

// itemsDone returns how many items batches have written, counting an item again if it was sent again.
func itemsDone(client *faulty.Client) (n int) {
	for _, r := range client.Requests() {
		if in, ok := r.Input.(*dynamodb.BatchWriteItemInput); ok && r.Done {
			sent := len(in.RequestItems["items"])
			if r.Fault == faulty.Partly {
				sent /= 2
			}
			n += sent
		}
	}
	return n
}

// lying is a client that does nothing the first time, and says that something was left unprocessed that it was never sent.
type lying struct {
	*faulty.Client
	stranger *types.WriteRequest
}

func (l *lying) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	if l.stranger == nil {
		return l.Client.BatchWriteItem(ctx, in, opts...)
	}
	left := []types.WriteRequest{*l.stranger}
	l.stranger = nil
	return &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{"items": left}}, nil
}

func TestPutAllDoesNotTrustStrangers(t *testing.T) {
	for name, stranger := range map[string]types.WriteRequest{
		"another item": {PutRequest: &types.PutRequest{Item: item("who", "?")}},
		"a deletion":   {DeleteRequest: &types.DeleteRequest{Key: item("a", "1")}},
	} {
		for _, throttled := range []bool{false, true} { // after the lie
			bubble.Test(t, func(t *testing.T) {
				honest, client := open(t, heatsink.Retry{})
				if throttled {
					client.Decide(faulty.Always(faulty.Throttled).Of("BatchWriteItem"))
				}
				table, err := Open(&lying{client, &stranger}, honest.options)
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range table.PutAll(t.Context(), []heatsink.Item{item("a", "1"), item("a", "2")}) {
					if errors.As(err, new(*heatsink.UnknownOutcomeError)) != throttled || !throttled && err != nil {
						t.Errorf("%s, then throttled %t: got %v", name, throttled, err)
					}
				}
				if n, err := honest.Count(t.Context(), "a", of("a")); err != nil || !throttled && n != 2 {
					t.Errorf("%s: %d of 2 are there, %v", name, n, err)
				}
			})
		}
	}
}

// What a lost answer was about stays unknown, whatever the later answers say about the other attempts.
func TestPutAllUnknownAfterLostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		table, client := open(t, heatsink.Retry{})
		first := faulty.Script(faulty.LostAnswer, faulty.Partly)
		client.Decide(func(r faulty.Request) faulty.Fault { return cmp.Or(first(r), faulty.Throttled) })
		for i, err := range table.PutAll(t.Context(), []heatsink.Item{item("a", "0"), item("a", "1"), item("a", "2"), item("a", "3")}) {
			if errors.As(err, new(*heatsink.UnknownOutcomeError)) != (i >= 2) || i < 2 && err != nil {
				t.Errorf("half is written for certain, then throttled: item %d: got %v", i, err)
			}
		}
		client.Decide(faulty.Script(faulty.LostAnswer))
		for i, err := range table.PutAll(t.Context(), []heatsink.Item{item("b", "0"), {"pk": text("b")}}) {
			if !errors.As(err, new(*heatsink.UnknownOutcomeError)) {
				t.Errorf("rejected after a lost answer: item %d: got %v", i, err)
			}
		}
	})
}

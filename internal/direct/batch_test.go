package direct

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/heatsink-go/heatsink"
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
			synctest.Test(t, func(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
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

package counter

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// again delivers a copy of every write that was sent so far, in their order, as a network does that was stuck.
func again(t *testing.T, client *faulty.Client, sent []faulty.Request) {
	t.Helper()
	for _, r := range sent {
		switch in := r.Input.(type) {
		case *dynamodb.UpdateItemInput:
			_, _ = client.Direct.UpdateItem(t.Context(), in) // most are refused
		case *dynamodb.DeleteItemInput:
			_, _ = client.Direct.DeleteItem(t.Context(), in)
		}
	}
}

// Copies of all requests of a process that arrive as late as DynamoDB takes them change nothing, whatever was folded and
// removed meanwhile: with the shortest Retention, and where a crowd of folded slots shortens it.
func TestLateCopiesAreNotCounted(t *testing.T) {
	const late = 30 * time.Minute // after it was signed, by a clock that is 15 minutes ahead
	for name, c := range map[string]struct {
		retention time.Duration
		crowd     int
	}{
		"shortest": {minRetention, 0},
		"crowd":    {0, crowd + 5},
	} {
		for _, fast := range []time.Duration{0, 30 * time.Minute} { // how far ahead the clock of who removes is
			t.Run(name, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					client := aTable(t)
					dying := open(t, client, Options{Retention: c.retention})
					mustAdd(t, dying, "VIEWS", 7)
					sent := client.Requests()
					if err := dying.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					want := int64(7)
					for range c.crowd {
						brief := open(t, client, Options{Retention: c.retention})
						mustAdd(t, brief, "VIEWS", 1)
						if err := brief.Close(t.Context()); err != nil {
							t.Fatal(err)
						}
						want++
					}
					other := open(t, client, Options{Retention: c.retention, FoldEvery: -1})
					for waited := time.Duration(0); waited < late; waited += 5 * time.Minute {
						time.Sleep(5 * time.Minute)
						foldAt(t, other, "VIEWS", time.Now().Add(fast))
						again(t, client, sent)
						isTotal(t, other, "VIEWS", want)
					}
				})
			})
		}
	}
}

// foldAt removes what is old for a process whose clock shows now.
func foldAt(t *testing.T, c *Counter, key string, now time.Time) {
	t.Helper()
	g, err := c.read(t.Context(), c.begin(key), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.sweepSlots(t.Context(), key, c.old(g, now)); err != nil {
		t.Fatal(err)
	}
}

package carry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/local"
)

// After a lost answer a write may have happened. It is repeated only if it may be. It is never called stale, which would say that it
// had no effect.
func TestLostWrites(t *testing.T) {
	for name, c := range map[string]struct {
		repeatable bool
		pause      time.Duration // before the second attempt
		requests   int
		done       bool
	}{
		"not repeatable":                    {false, 0, 1, false},
		"repeatable":                        {true, 0, 2, true},
		"repeatable, and the lease is over": {true, 2 * lease.Term, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := local.Start(t)
				if err := db.CreateTable(t.Context(), "items", "pk", "sk"); err != nil {
					t.Fatal(err)
				}
				client := &losing{Client: db.Client(), pause: c.pause}
				table, err := express.NewTable("items", "pk", "sk")
				if err != nil {
					t.Fatal(err)
				}
				var stamp lease.Stamp
				key := func(pk string) express.Item { return express.Item{"pk": text(pk), "sk": text("id")} }
				if _, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: key("a")}, stamp.Note); err != nil {
					t.Fatal(err)
				}
				held, err := lease.New(&stamp)
				if err != nil {
					t.Fatal(err)
				}
				u, err := table.Update(&dynamodb.UpdateItemInput{Key: key("k"), UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: express.Item{":n": number(1)}})
				if err != nil {
					t.Fatal(err)
				}
				carrier := &Carrier{Client: client, Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil)}
				r, err := carrier.Operate(t.Context(), Place{Homes: express.Homes{Table: table, Old: key("a"), New: key("b")}, Lease: held}, u, forward.OldFirst, c.repeatable)
				if errors.Is(err, ErrStale) || (err == nil) != c.done || c.done && r.Outcome != forward.Done {
					t.Errorf("got %+v, %v, want done to be %v, and never ErrStale", r, err, c.done)
				}
				if client.updates != c.requests {
					t.Errorf("%d requests arrived, want %d", client.updates, c.requests)
				}
			})
		})
	}
}

// losing loses the answer to the first UpdateItem.
type losing struct {
	*dynamodb.Client
	pause   time.Duration
	updates int
}

func (l *losing) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := l.Client.UpdateItem(ctx, in, o...)
	if errors.Is(err, lease.ErrOver) {
		return out, err
	}
	if l.updates++; l.updates > 1 {
		return out, err
	}
	time.Sleep(l.pause)
	return nil, errLost
}

package move_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// writing is a program that changes orders all the time, with the present layout, and what it has written.
type writing struct {
	c      *heatsink.Collection[counted]
	random *rand.Rand
	want   map[string]counted
}

type counted struct {
	ID      string `dynamodbav:"id"`
	Status  string `dynamodbav:"status"`
	Created string `dynamodbav:"created"`
	N       int    `dynamodbav:"n"`
}

// step does one thing to one order.
func (w *writing) step(ctx context.Context) error {
	id := fmt.Sprint("o", w.random.IntN(60))
	before, there := w.want[id]
	switch what := w.random.IntN(10); {
	case what == 0 && there:
		delete(w.want, id)
		_, err := w.c.Delete(ctx, counted{ID: id})
		return err
	case what < 3 || !there:
		now := counted{id, []string{"OPEN", "CLOSED"}[w.random.IntN(2)], "2026-11-01T00:00:00Z", before.N + 1}
		w.want[id] = now
		_, err := w.c.Put(ctx, now)
		return err
	case what < 6: // an update that does not name the status leaves the listing as it is
		before.N++
		w.want[id] = before
		_, err := w.c.Update(ctx, counted{ID: id}, w.add)
		return err
	}
	before.N++
	w.want[id] = before
	_, err := w.c.Update(ctx, counted{ID: id, Status: before.Status}, w.add)
	return err
}

func (w *writing) add(in *dynamodb.UpdateItemInput) {
	in.UpdateExpression = aws.String("ADD n :one")
	in.ExpressionAttributeValues = heatsink.Item{":one": number("1")}
}

// A move may be stopped, killed and started again at any moment, also twice at the same time. Others change the table all the time,
// and requests get lost, late or throttled. It ends with every item once, as its writers left it, in its new place.
func TestMovesThatAreKilledEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		// In a bubble there is no T.Deadline, for which rapid would ask.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			db := local.Start(rt)
			ctx := context.Background()
			if err := createOrders(ctx, db.Client()); err != nil {
				rt.Fatal(err)
			}
			before := []layout.Layout{{}, {Shards: 4, Strategy: layout.Calculated}, {Shards: 8, Strategy: layout.Calculated, Format: layout.SharpNumber()}}
			now := collection(sixteen, before...)
			seed := rapid.Uint64().Draw(rt, "seed")
			random := rand.New(rand.NewPCG(seed, 1))
			w := &writing{random: rand.New(rand.NewPCG(seed, 2)), want: map[string]counted{}}
			for i := range 50 {
				o := counted{fmt.Sprint("o", i), []string{"OPEN", "CLOSED"}[i%2], "2026-11-01T00:00:00Z", i}
				c, err := heatsink.Open[counted](db.Client(), collection(before[random.IntN(len(before))]))
				if err != nil {
					rt.Fatal(err)
				}
				if _, err := c.Put(ctx, o); err != nil {
					rt.Fatal(err)
				}
				w.want[o.ID] = o
			}
			var err error
			if w.c, err = heatsink.Open[counted](db.Client(), now); err != nil {
				rt.Fatal(err)
			}
			writer, stopped := make(chan struct{}), make(chan error, 1)
			go func() {
				defer close(stopped)
				for {
					select {
					case <-writer:
						return
					case <-time.After(time.Duration(1+w.random.IntN(20)) * time.Millisecond):
						if err := w.step(ctx); err != nil {
							stopped <- err
							return
						}
					}
				}
			}()
			options := move.Options{Collection: now, WCU: 300, RCU: 50, Segments: rapid.IntRange(1, 5).Draw(rt, "segments")}
			for range rapid.IntRange(0, 4).Draw(rt, "runs") {
				killed(rt, db.Client(), options, random, rapid.IntRange(1, 120).Draw(rt, "requests"), rapid.Bool().Draw(rt, "gently"), rapid.Bool().Draw(rt, "two"))
			}
			m, err := move.New(db.Client(), options)
			if err != nil {
				rt.Fatal(err)
			}
			result, err := m.Run(ctx)
			if err != nil || result.Late != 0 {
				rt.Fatalf("%+v, %v", result, err)
			}
			report, err := m.Verify(ctx)
			close(writer)
			if err := <-stopped; err != nil {
				rt.Fatal(err)
			}
			if err != nil || report.Damaged() != 0 || report.Narrower != 0 {
				rt.Fatalf("verified %+v, %v", report, err)
			}
			w.check(rt, db.Client())
		})
	})
}

// killed runs a mover or two until so many requests were sent. A gentle end is that of its context.
func killed(rt *rapid.T, client *dynamodb.Client, options move.Options, random *rand.Rand, requests int, gently, two bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	flaky := faulty.Random(random, 20, faulty.Throttled, faulty.LostAnswer, faulty.LostRequest, faulty.Late, faulty.BrokeDown, faulty.Unreached)
	bad := faulty.On(rt, client, func(r faulty.Request) faulty.Fault {
		if requests--; requests < 0 {
			cancel()
			if !gently {
				return faulty.Denied // nothing that it sends arrives any more, the last checkpoint included
			}
		}
		if r.Operation == "DescribeTable" {
			return faulty.None
		}
		return flaky(r)
	})
	bad.Delay(faulty.UpTo(random, time.Second).Of(faulty.Late))
	var movers sync.WaitGroup
	for range 1 + map[bool]int{true: 1}[two] {
		m, err := move.New(bad, options)
		if err != nil {
			rt.Fatal(err)
		}
		movers.Go(func() { _, _ = m.Run(ctx) }) // however it ends
	}
	movers.Wait()
	bad.Wait()
}

// check compares the table with what was written.
func (w *writing) check(rt *rapid.T, client *dynamodb.Client) {
	out, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("orders"), ConsistentRead: aws.Bool(true)})
	if err != nil {
		rt.Fatal(err)
	}
	if len(out.Items) != len(w.want) {
		rt.Fatalf("%d items, want %d", len(out.Items), len(w.want))
	}
	listed := map[string]int{}
	for _, status := range []string{"OPEN", "CLOSED"} {
		c, err := heatsink.Open[counted](client, collection(sixteen)) // without the older layouts
		if err != nil {
			rt.Fatal(err)
		}
		for o, err := range c.Query(context.Background(), heatsink.Query{Key: status}) {
			if err != nil {
				rt.Fatal(err)
			}
			if listed[o.ID]++; o != w.want[o.ID] {
				rt.Fatalf("got %+v, want %+v", o, w.want[o.ID])
			}
		}
	}
	for _, item := range out.Items {
		id := item["id"].(*types.AttributeValueMemberS).Value
		if listed[id] != 1 {
			rt.Fatalf("%s is listed %d times", id, listed[id])
		}
	}
}

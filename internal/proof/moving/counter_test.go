package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/move"
)

// views are the counters of posts, which were an attribute of each post.
func views() counter.Options {
	return counter.Options{
		Table:  "counters",
		Origin: &counter.Origin{Table: table, SortKey: "sk", SortValue: "META", Attribute: "views"},
	}
}

// Counters that are an attribute of an item become counters of package counter. Programs of before add to the attribute until the import
// begins, and programs of now count and read all the time.
func TestCounter(t *testing.T) {
	var r shapeResult
	bubble.Test(t, func(t *testing.T) {
		w := newWorld(t)
		posts := w.fillPosts(*items)
		var now [counterProcesses]*counter.Counter
		for i := range now {
			now[i] = w.openCounters(views())
			p := &viewer{w, posts, now[i], w.client()}
			w.user(counterProcesses, p.act)
		}
		older, stop := make(chan struct{}), &sync.WaitGroup{}
		stop.Go(func() { (&viewer{w, posts, nil, w.client()}).older(older) })
		time.Sleep(*quietly)
		close(older)
		stop.Wait()
		w.stage.Store(moving)
		m := w.importPosts()
		w.stop()
		w.checkPosts(m, posts)
		for _, c := range now {
			if err := c.Close(w.ctx); err != nil {
				w.wrong("close: %v", err)
			}
		}
		r = w.sum()
	})
	writeResult(t, r)
	if !r.Faults.none() || r.Damaged != 0 || r.Left != 0 {
		t.Errorf("faults %+v, %d damaged and %d left", r.Faults, r.Damaged, r.Left)
	}
	if r.Calls < 500 || r.Reads < 200 || r.Moved < int64(*items) {
		t.Errorf("%d calls, %d reads and %d imports: too few to mean anything", r.Calls, r.Reads, r.Moved)
	}
}

func (w *world) openCounters(o counter.Options) *counter.Counter {
	c, err := counter.Open(w.client(), o)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// fillPosts creates posts that were viewed before.
func (w *world) fillPosts(n int) []*tally {
	client := w.db.Client()
	if err := errors.Join(w.db.CreateTable(w.ctx, table, "pk", "sk"), counter.Setup(w.ctx, client, views())); err != nil {
		w.Fatal(err)
	}
	posts := make([]*tally, n)
	var writes []types.WriteRequest
	for i := range posts {
		at := name{fmt.Sprintf("POST#%06d", i), "META"}
		posts[i] = &tally{name: at, started: i + 1, acked: i + 1}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: heatsink.Item{
			"pk": text(at.key), "sk": text(at.id), "views": number(i + 1), "title": text("a title that is part of each post"),
		}}})
		if len(writes) == 25 || i == n-1 {
			if _, err := client.BatchWriteItem(w.ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}}); err != nil {
				w.Fatal(err)
			}
			writes = nil
		}
	}
	w.result.Items = n
	return posts
}

// viewer is a program that counts views.
type viewer struct {
	*world
	posts  []*tally
	c      *counter.Counter
	client *dynamodb.Client
}

// pick returns one of all posts, and one of a few every second time.
func (v *viewer) pick(random *rand.Rand) *tally {
	n := len(v.posts)
	if random.IntN(2) == 0 {
		n = min(max(n/20, 10), 200)
	}
	return v.posts[random.IntN(n)]
}

func (v *viewer) act(random *rand.Rand) {
	if y := v.pick(random); random.IntN(2) == 0 {
		v.readPost(v.c, y)
	} else {
		v.count("add", y, func() error { return v.c.Add(v.ctx, y.key, 1) })
	}
}

// count counts one view.
func (v *viewer) count(what string, y *tally, send func() error) {
	y.start()
	err := v.call(what, send)
	y.mu.Lock()
	defer y.mu.Unlock()
	if err != nil {
		y.unknown++
		v.fail("%s to %q: %v", what, y.key, err)
		return
	}
	y.acked++
}

// readPost compares a counter with what was added.
func (w *world) readPost(c *counter.Counter, y *tally) {
	_, least := y.now()
	var total int64
	err := w.call("total", func() (err error) {
		total, err = c.Total(w.ctx, y.key)
		return err
	})
	if err != nil {
		w.fail("total of %q: %v", y.key, err)
		return
	}
	w.checked()
	most, _ := y.now()
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	switch n := int(total); {
	case n < least:
		w.faults.note(&w.faults.Lost, "%q is %d, want %d to %d", y.key, n, least, most)
	case n > most:
		w.faults.note(&w.faults.Doubled, "%q is %d, want %d to %d", y.key, n, least, most)
	}
}

// older counts as programs did before, until it is told to end.
func (v *viewer) older(end <-chan struct{}) {
	random := rand.New(rand.NewPCG(*seed, 9))
	for {
		select {
		case <-end:
			return
		case <-time.After(time.Duration(random.ExpFloat64() * float64(time.Second) * 5 / *rate)):
		}
		y := v.pick(random)
		v.count("attribute", y, func() error {
			_, err := v.client.UpdateItem(v.ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String(table), Key: like(y.name), UpdateExpression: aws.String("ADD #v :n"),
				ExpressionAttributeNames: map[string]string{"#v": "views"}, ExpressionAttributeValues: heatsink.Item{":n": number(1)},
			})
			return err
		})
	}
}

// importPosts imports all counters, and notes what that took.
func (w *world) importPosts() *move.Counters {
	m, err := move.NewCounters(w.client(), move.CounterOptions{Counter: views(), WCU: *wcu, RCU: *wcu})
	if err != nil {
		w.Fatal(err)
	}
	began := time.Now()
	forecast, err := m.Plan(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	result, err := m.Run(w.ctx)
	if err != nil {
		w.wrong("the import: %v", err)
	}
	w.result.Moved, w.result.Virtual = result.Moved, time.Since(began).Seconds()
	w.result.Reading, w.result.Writing, w.result.Forecast = result.ReadUnits, result.WriteUnits, units{forecast.ReadUnits, forecast.WriteUnits}
	return m
}

// checkPosts compares counters without their origin: those that have changed, and a part of the others. Verify compares all.
func (w *world) checkPosts(m *move.Counters, posts []*tally) {
	report, err := m.Verify(w.ctx)
	if err != nil {
		w.wrong("verify: %v", err)
	}
	w.result.Damaged = report.Damaged() + int64(len(posts)) - report.Right
	alone := views()
	alone.Origin = nil
	c := w.openCounters(alone)
	for i, y := range posts {
		if y.acked != i+1 || i%10 == 0 {
			w.readPost(c, y)
		}
	}
	if err := c.Close(w.ctx); err != nil {
		w.wrong("close: %v", err)
	}
}

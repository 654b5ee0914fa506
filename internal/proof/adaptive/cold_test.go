package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

var cold = flag.Int("cold", 200, "cold keys in TestCold")

// counter counts the requests of one process for cold keys.
type counter struct {
	mu      sync.Mutex
	queries int
	puts    int
	ledgers map[string][]time.Time // reads of the ledger of each key
}

func (c *counter) option(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CountRequests", c.count), middleware.After)
	})
}

func (c *counter) count(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	c.mu.Lock()
	switch request := in.Parameters.(type) {
	case *dynamodb.QueryInput:
		for _, v := range request.ExpressionAttributeValues {
			if strings.HasPrefix(textOf(heatsink.Item{"": v}, ""), coldPrefix) {
				c.queries++
			}
		}
	case *dynamodb.PutItemInput:
		if strings.HasPrefix(textOf(request.Item, "pk"), coldPrefix) {
			c.puts++
		}
	case *dynamodb.GetItemInput:
		if pk := textOf(request.Key, "pk"); layout.IsControl(pk) && strings.Contains(pk, coldPrefix) {
			c.ledgers[pk] = append(c.ledgers[pk], time.Now())
		}
	}
	c.mu.Unlock()
	return next.HandleInitialize(ctx, in)
}

// most returns the largest number of ledger reads of one key within coldKeep, and how many there were.
func (c *counter) most() (most, all int) {
	for _, times := range c.ledgers {
		all += len(times)
		for i, from := range times {
			n := 0
			for _, at := range times[i:] {
				if at.Sub(from) < coldKeep {
					n++
				}
			}
			most = max(most, n)
		}
	}
	return most, all
}

const coldPrefix = "cold-"

// Two processes put and read many cold keys, beside a key that is hot enough to grow.
func TestCold(t *testing.T) {
	var r coldResult
	bubble.Test(t, func(t *testing.T) { r = runCold(t) })
	writeResult(t, r)
	want := coldResult{Keys: *cold, Reads: 8 * *cold, Queries: 8 * *cold, Put: *cold, Puts: *cold}
	got := r
	got.Ledgers, got.Most, got.Others, got.Hot = 0, 0, 0, 0
	if got != want || r.Most > 1 || r.Ledgers == 0 || r.Hot < 2 {
		t.Errorf("got %+v, want %+v, at most one ledger read and a hot key that grew", r, want)
	}
}

func runCold(t *testing.T) (r coldResult) {
	ctx := context.Background()
	db, err := local.New(local.Options{Physics: &local.Physics{OnDemandPartitions: stepPartitions, NoSplits: true, TableWrites: -1, TableReads: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTable(ctx, table, "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	counters := [2]*counter{}
	processes := [2]*heatsink.Collection[heatsink.Item]{}
	for i := range processes {
		counters[i] = &counter{ledgers: map[string][]time.Time{}}
		processes[i], err = heatsink.Open[heatsink.Item](db.Client(counters[i].option), heatsink.Options{Table: table, PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{}})
		if err != nil {
			t.Fatal(err)
		}
	}
	var beside sync.WaitGroup
	ending := make(chan struct{})
	beside.Go(func() { heat(t, processes[0], ending) })

	time.Sleep(20 * time.Second) // until then the hot key throttles whatever shares its partition
	// The cold keys: each is put by one process, and read by both four times in 50 s. Keep ends in between.
	put := func(i int) {
		r.Put++
		if _, err := processes[i%2].Put(ctx, heatsink.Item{"pk": text(coldKey(i)), "sk": text("1"), "body": text("x")}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(i int) {
		for _, c := range processes {
			r.Reads++
			n := 0
			for _, err := range c.Query(ctx, heatsink.Query{Key: coldKey(i)}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != 1 {
				r.Wrong++
			}
		}
	}
	r.Keys = *cold
	began := time.Now()
	for round, do := range []func(int){put, read, read, read, read} {
		time.Sleep(time.Until(began.Add(time.Duration(round) * 13 * time.Second)))
		for i := range *cold {
			do(i)
			if i%100 == 99 {
				time.Sleep(50 * time.Millisecond) // 2,000 keys a second
			}
		}
	}
	close(ending)
	beside.Wait()
	for _, c := range counters {
		most, all := c.most()
		r.Most, r.Ledgers, r.Queries, r.Puts = max(r.Most, most), r.Ledgers+all, r.Queries+c.queries, r.Puts+c.puts
	}
	l, err := processes[0].Ledgers().Show(ctx, "hot", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	r.Hot = l.Width.Read
	countControl(t, db.Client(), &r)
	return r
}

func coldKey(i int) string { return fmt.Sprintf("%s%05d", coldPrefix, i) }

// heat writes 1,500 units a second to one key.
func heat(t *testing.T, c *heatsink.Collection[heatsink.Item], ending chan struct{}) {
	var puts sync.WaitGroup
	defer puts.Wait()
	for n := 0; ; n++ {
		select {
		case <-ending:
			return
		case <-time.After(time.Second / 100):
		}
		puts.Go(func() {
			item := heatsink.Item{"pk": text("hot"), "sk": text(fmt.Sprintf("%08d", n)), "body": text(strings.Repeat("x", 15_000))}
			if _, err := c.Put(context.Background(), item); err != nil && n > 2000 { // it is throttled until it has grown
				t.Errorf("put %d: %v", n, err)
			}
		})
	}
}

// countControl counts the control items of the table.
func countControl(t *testing.T, client *dynamodb.Client, r *coldResult) {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(table), ProjectionExpression: aws.String("pk")})
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			switch pk := textOf(item, "pk"); {
			case !layout.IsControl(pk):
			case strings.Contains(pk, coldPrefix):
				r.Control++
			default:
				r.Others++
			}
		}
	}
}

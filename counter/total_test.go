package counter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// What operations cost, in requests and units. docs/recipes/counter.md has these numbers.
func TestCosts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{FoldEvery: -1})
		other := open(t, client, Options{FoldEvery: -1})
		for i, x := range []struct {
			name     string
			do       func(ctx context.Context) error
			requests int
			read     float64
			write    float64
		}{
			{"the first Add to a new counter", add(c, "VIEWS", 1), 4, 0.5, 3}, // base read and written, slot opened and flushed
			{"an Add", add(c, "VIEWS", 1), 1, 0, 1},
			{"another process's first Add", add(other, "VIEWS", 1), 3, 0.5, 2},
			{"the first Total", total(c, "VIEWS"), 6, 6, 0}, // the base first
			{"Total", total(c, "VIEWS"), 5, 5, 0},
			{"Total of what is not there", total(c, "NOTHING"), 6, 6, 0},
			{"Read of a counter of ones", read(c, "VIEWS"), 5, 5, 0},
			{"Inspect", inspect(c, "VIEWS"), 5, 5, 0},
			{"Cached, the first time", cached(c, "VIEWS"), 5, 5, 0},
			{"Cached", cached(c, "VIEWS"), 0, 0, 0},
			{"the first Add that is not of 1", add(c, "VIEWS", 5), 2, 0, 2},
			{"Read of a counter that holds still", read(c, "VIEWS"), 10, 10, 0},
			{"somebody else's Total", total(other, "VIEWS"), 6, 6, 0},
			{"Reset", reset(c, "VIEWS"), 6, 5, 1},
			{"Total after that", total(c, "VIEWS"), 5, 5, 0},
			{"Total after somebody else's Reset", total(other, "VIEWS"), 10, 10, 0}, // read in vain, and once more
			{"Fold with nothing to do", foldOnce(c, "VIEWS"), 5, 5, 0},
			{"Close", func(ctx context.Context) error { return other.Close(ctx) }, 3, 1, 2}, // freeze and include
		} {
			var meter heatsink.Meter
			if err := x.do(heatsink.WithMeter(t.Context(), &meter)); err != nil {
				t.Fatalf("%s: %v", x.name, err)
			}
			if got := meter.Cost(); got.Requests != x.requests || got.ReadUnits != x.read || got.WriteUnits != x.write {
				t.Errorf("%d: %s: got %d requests, %v read and %v write units, want %d, %v and %v", i, x.name,
					got.Requests, got.ReadUnits, got.WriteUnits, x.requests, x.read, x.write)
			}
		}
		if cost := c.Cost(); cost.Requests == 0 || cost.WriteUnits == 0 {
			t.Errorf("the counter itself has %+v", cost)
		}
	})
}

func add(c *Counter, key string, delta int64) func(context.Context) error {
	return func(ctx context.Context) error { return c.Add(ctx, key, delta) }
}

func total(c *Counter, key string) func(context.Context) error {
	return func(ctx context.Context) error { return second(c.Total(ctx, key)) }
}

func cached(c *Counter, key string) func(context.Context) error {
	return func(ctx context.Context) error { return second(c.Cached(ctx, key)) }
}

func read(c *Counter, key string) func(context.Context) error {
	return func(ctx context.Context) error { return second(c.Read(ctx, key)) }
}

func inspect(c *Counter, key string) func(context.Context) error {
	return func(ctx context.Context) error { return second(c.Inspect(ctx, key)) }
}

func reset(c *Counter, key string) func(context.Context) error {
	return func(ctx context.Context) error { return second(c.Reset(ctx, key)) }
}

func foldOnce(c *Counter, key string) func(context.Context) error {
	return func(ctx context.Context) error { return second(c.Fold(ctx, key)) }
}

// A read of many slots costs a unit for every 40 or so of a shard.
func TestCostOfManySlots(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		const slots = 120
		for range slots {
			process := open(t, client, Options{FoldEvery: -1})
			mustAdd(t, process, "COUNTER#VIEWS", 123456)
		}
		c := open(t, client, Options{})
		isTotal(t, c, "COUNTER#VIEWS", slots*123456)
		var meter heatsink.Meter
		if _, err := c.Total(heatsink.WithMeter(t.Context(), &meter), "COUNTER#VIEWS"); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d slots: %v read units", slots, meter.Cost().ReadUnits)
		if units := meter.Cost().ReadUnits; units > 1+4+slots/30 {
			t.Errorf("%v read units for %d slots", units, slots)
		}
	})
}

func TestCachedIsForgottenAtAReset(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := open(t, aTable(t), Options{Cache: cache.Options{TTL: time.Minute}})
		mustAdd(t, c, "VIEWS", 5)
		for _, want := range []int64{5, 5} {
			if n, err := c.Cached(t.Context(), "VIEWS"); err != nil || n != want {
				t.Errorf("got %d, %v, want %d", n, err, want)
			}
			mustAdd(t, c, "VIEWS", 5)
		}
		time.Sleep(2 * time.Minute)
		if n, err := c.Cached(t.Context(), "VIEWS"); err != nil || n != 15 {
			t.Errorf("a minute later: got %d, %v, want 15", n, err)
		}
		if n, err := c.Reset(t.Context(), "VIEWS"); err != nil || n != 15 {
			t.Errorf("reset: got %d, %v", n, err)
		}
		if n, err := c.Cached(t.Context(), "VIEWS"); err != nil || n != 0 {
			t.Errorf("after the reset: got %d, %v, want 0", n, err)
		}
	})
}

// Every read of a counter of ones returns at least what was acknowledged before it began, and at most what had begun
// before it ended: that is all there is to the linearizability of such a counter, if what one reader reads never
// shrinks. Processes come and go meanwhile, answers get lost, and slots are folded and removed.
func TestEveryReadIsBetweenAcknowledgedAndBegun(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 20*time.Millisecond))
		luck := rand.New(rand.NewPCG(1, 2))
		client.Decide(faulty.Random(luck, 10, faulty.Throttled, faulty.LostRequest, faulty.LostAnswer))
		options := Options{
			Dead: 200 * time.Millisecond, Retention: 500 * time.Millisecond,
			FoldEvery: 300 * time.Millisecond, Idle: 400 * time.Millisecond,
		}
		var acknowledged, begun atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { countForAWhile(ctx, t, client, options, &acknowledged, &begun) })
		}
		var reads atomic.Int64
		for range 2 {
			all.Go(func() {
				reader := open(t, client, options)
				var last int64
				for ctx.Err() == nil {
					least := max(last, acknowledged.Load())
					n, err := reader.Total(context.Background(), "VIEWS")
					most := begun.Load()
					if errors.Is(err, ErrBusy) {
						continue // the slots are removed all the time
					}
					if err != nil || n < least || n > most {
						t.Errorf("read %d, %v, want %d to %d", n, err, least, most)
						return
					}
					last = n
					reads.Add(1)
					time.Sleep(rand.N(50 * time.Millisecond))
				}
			})
		}
		all.Wait()
		client.Decide(nil)
		c := open(t, client, Options{})
		n, err := c.Total(t.Context(), "VIEWS")
		if err != nil || n < acknowledged.Load() || n > begun.Load() {
			t.Errorf("in the end: got %d, %v, want %d to %d", n, err, acknowledged.Load(), begun.Load())
		}
		t.Logf("%d Adds, %d of them acknowledged, %d reads", begun.Load(), acknowledged.Load(), reads.Load())
	})
}

// countForAWhile is processes that count, one after the other, each until it is killed.
func countForAWhile(ctx context.Context, t *testing.T, client *faulty.Client, options Options, acknowledged, begun *atomic.Int64) {
	for ctx.Err() == nil {
		c := open(t, client, options)
		life, cancel := context.WithTimeout(ctx, rand.N(2*time.Second))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for life.Err() == nil {
					begun.Add(1)
					if err := c.Add(life, "VIEWS", 1); err == nil {
						acknowledged.Add(1)
					} else if !errors.Is(err, ErrUncertain) {
						begun.Add(-1) // it was not counted
					}
					time.Sleep(rand.N(300 * time.Millisecond))
				}
			})
		}
		all.Wait()
		cancel()
		if rand.IntN(2) == 0 {
			crash(c)
		} else if err := c.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// A read of a counter that goes up and down is a value that it had, or two that it was between.
func TestReadOfACounterThatGoesUpAndDown(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 10*time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		// Each process adds 1000 and takes it off again, so at every moment the counter is between 0 and 1000 times the
		// processes.
		const processes = 3
		var all sync.WaitGroup
		for range processes {
			all.Go(func() {
				c := open(t, client, Options{})
				for ctx.Err() == nil {
					mustAdd(t, c, "STOCK", 1000, -1000)
				}
			})
		}
		exact, between := 0, 0
		reader := open(t, client, Options{})
		for ctx.Err() == nil {
			r, err := reader.Read(context.Background(), "STOCK")
			if err != nil {
				t.Fatal(err)
			}
			if r.Exact != (r.Lo == r.Hi) || r.Lo > r.Hi {
				t.Fatalf("got %+v", r)
			}
			if r.Exact && (r.Lo < 0 || r.Lo > processes*1000 || r.Lo%1000 != 0) {
				t.Fatalf("got %+v, which it never was", r)
			}
			if r.Exact {
				exact++
			} else {
				between++
			}
		}
		all.Wait()
		t.Logf("%d exact, %d between", exact, between)
		if exact == 0 {
			t.Error("no read was exact")
		}
		if r, err := reader.Read(context.Background(), "STOCK"); err != nil || !r.Exact || r.Lo != 0 {
			t.Errorf("in the end: got %+v, %v, want 0", r, err)
		}
	})
}

// Without transactions a busy counter can still be read, less exactly.
func TestReadWithoutTransactions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(1, 1)), 10*time.Millisecond))
		client.Decide(faulty.Always(faulty.Denied).Of("TransactGetItems"))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				c := open(t, client, Options{Interval: minInterval})
				for ctx.Err() == nil {
					mustAdd(t, c, "STOCK", 2)
				}
			})
		}
		reader := open(t, client, Options{})
		between := 0
		for ctx.Err() == nil {
			r, err := reader.Read(context.Background(), "STOCK")
			if err != nil || r.Lo > r.Hi {
				t.Fatalf("got %+v, %v", r, err)
			}
			if !r.Exact {
				between++
			}
		}
		all.Wait()
		if between == 0 {
			t.Error("every read was exact: nothing was shown")
		}
	})
}

func TestInspect(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{Shards: 3})
		mustAdd(t, c, "VIEWS", 5, -2)
		crash(c)
		time.Sleep(time.Hour)
		d := open(t, client, Options{Shards: 2, FoldEvery: -1}) // sees the third shard all the same
		folds(t, d, "VIEWS", Folded{Slots: 1, Folded: 1})
		mustAdd(t, d, "VIEWS", 10)
		view, err := d.Inspect(t.Context(), "VIEWS")
		if err != nil || view.Total != 13 || view.Base != 3 || view.Folded != 1 || len(view.Shards) != 3 {
			t.Fatalf("got %+v, %v", view, err)
		}
		var slots []Slot
		var sum int64
		for i, shard := range view.Shards {
			if want := fmt.Sprintf("VIEWS#SHARD_%d", i); shard.Key != want {
				t.Errorf("shard %d is %s, want %s", i, shard.Key, want)
			}
			slots = append(slots, shard.Slots...)
			sum += shard.Total
		}
		if len(slots) != 2 || sum != 10 {
			t.Fatalf("got slots %+v of %d, want two, of which one counts 10", slots, sum)
		}
		for _, s := range slots {
			if s.Folded != !s.Frozen.IsZero() || s.Folded && (s.Total != 3 || s.Adds != 2 || s.Flushes != 2) || !s.Folded && s.Total != 10 {
				t.Errorf("got slot %+v", s)
			}
		}
	})
}

// More shards may be used at any time, by some processes first: those with fewer find what is there.
func TestShardsMayDiffer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		narrow, wide := open(t, client, Options{Shards: 1}), open(t, client, Options{Shards: 64})
		mustAdd(t, narrow, "VIEWS", 1)
		isTotal(t, narrow, "VIEWS", 1)
		for i := range int64(8) {
			process := open(t, client, Options{Shards: 64})
			mustAdd(t, process, "VIEWS", 1)
			isTotal(t, narrow, "VIEWS", 2+i)
			isTotal(t, wide, "VIEWS", 2+i)
		}
	})
}

// A counter that is reset all the time cannot be read, and says so.
func TestReadsOfACounterThatKeepsChanging(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		mustAdd(t, c, "VIEWS", 2)
		client.Decide(func(r faulty.Request) faulty.Fault {
			if r.Operation == "Query" {
				_, err := client.Direct.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
					TableName: aws.String("counters"), Key: c.store.baseKey("VIEWS"),
					UpdateExpression:          aws.String("ADD version :one"),
					ExpressionAttributeValues: heatsink.Item{":one": number(wideOf(1))},
				})
				if err != nil {
					t.Error(err)
				}
			}
			return faulty.None
		})
		for name, err := range map[string]error{
			"Total": second(c.Total(t.Context(), "VIEWS")), "Read": second(c.Read(t.Context(), "VIEWS")),
			"Reset": second(c.Reset(t.Context(), "VIEWS")), "Fold": second(c.Fold(t.Context(), "VIEWS")),
		} {
			if !errors.Is(err, ErrBusy) {
				t.Errorf("%s: got %v, want %v", name, err, ErrBusy)
			}
		}
		client.Decide(nil)
		isTotal(t, c, "VIEWS", 2)
	})
}

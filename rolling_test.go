package heatsink

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/layout"
)

// fleet is several processes that write and read the same key, each with options of its own.
type fleet struct {
	*testing.T
	client    *dynamodb.Client
	processes []*Collection[Item]

	mu           sync.Mutex
	writes       int
	acknowledged []string // sort keys
	reads        int
	missed       int // reads that lacked an item which was acknowledged before they began
}

func newFleet(t *testing.T, size int, options Options) *fleet {
	f := &fleet{T: t, client: onItems(t)}
	for range size {
		f.processes = append(f.processes, openItems(t, f.client, options))
	}
	return f
}

// roll gives one process after the other new options, and has all of them work before, in between and afterwards.
func (f *fleet) roll(options Options) {
	f.work()
	for i := range f.processes {
		f.processes[i] = openItems(f.T, f.client, options)
		f.work()
	}
}

// work has all processes write and read at the same time.
func (f *fleet) work() {
	var wg sync.WaitGroup
	for _, items := range f.processes {
		wg.Go(func() {
			for range 3 {
				f.write(items)
				f.read(items)
			}
		})
	}
	wg.Wait()
}

func (f *fleet) write(items *Collection[Item]) {
	f.mu.Lock()
	f.writes++
	sk := fmt.Sprintf("%06d", f.writes)
	f.mu.Unlock()
	if _, err := items.Put(context.Background(), ov("pk", "hot", "sk", sk)); err != nil {
		f.Error(err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.acknowledged = append(f.acknowledged, sk)
}

// read lists the key, and gets an item that was acknowledged. Each is a read.
func (f *fleet) read(items *Collection[Item]) {
	f.mu.Lock()
	before := slices.Clone(f.acknowledged)
	f.mu.Unlock()
	got, err := all(context.Background(), items, Query{Key: "hot", Consistent: true}, "sk")
	if err != nil {
		f.Error(err)
	}
	there := map[string]bool{}
	for _, sk := range got {
		there[sk] = true
	}
	lacks := slices.ContainsFunc(before, func(sk string) bool { return !there[sk] })
	last := before[len(before)-1]
	_, err = items.Get(context.Background(), ov("pk", "hot", "sk", last), func(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(true) })
	if err != nil && err != ErrNotFound {
		f.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads += 2
	if lacks {
		f.missed++
	}
	if err == ErrNotFound {
		f.missed++
	}
}

// From 4 shards to 16 in a fleet of which every process writes and reads: step by step, as docs/layouts.md says, no read
// misses what was acknowledged. With another number of shards in one process after the other, reads do.
func TestRollingChange(t *testing.T) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		t.Run(strategy.String(), func(t *testing.T) {
			spread := layout.Layout{Shards: 4, Strategy: strategy}
			naive := newFleet(t, 4, Options{Layout: spread})
			naive.roll(Options{Layout: spread.WithShards(16)})
			if naive.missed == 0 {
				t.Error("naive: no read missed anything, so that the test shows nothing")
			}

			documented := newFleet(t, 4, Options{Layout: spread})
			documented.roll(Options{Layout: spread, Widths: layout.Width{Write: 4, Read: 16}})
			documented.roll(Options{Layout: spread, Widths: layout.Width{Write: 16, Read: 16}})
			if strategy == layout.Random { // a calculated layout keeps Widths, as items of narrower ones stay where they are
				documented.roll(Options{Layout: spread.WithShards(16)})
			}
			if documented.missed > 0 {
				t.Errorf("documented: %d of %d reads missed something", documented.missed, documented.reads)
			}
			t.Logf("rolling change: naive %d of %d reads missed, documented %d of %d", naive.missed, naive.reads, documented.missed, documented.reads)
		})
	}
}

// What Widths cannot say, such as 10 shards that become 15 of another hash, takes two steps with Older.
func TestRollingToAnotherLayout(t *testing.T) {
	before := layout.Layout{Shards: 10, Strategy: layout.Calculated, Hash: layout.Product}
	after := layout.Layout{Shards: 15, Strategy: layout.Calculated}
	f := newFleet(t, 4, Options{Layout: before})
	f.roll(Options{Layout: before, Older: []layout.Layout{after}})
	f.roll(Options{Layout: after, Older: []layout.Layout{before}})
	if f.missed > 0 {
		t.Errorf("%d of %d reads missed something", f.missed, f.reads)
	}
}

// From no shards to 16, with a format whose shard 0 is the bare key.
func TestRollingFromNoShards(t *testing.T) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		spread := layout.Layout{Strategy: strategy, Format: layout.Format{BareZero: true}}
		f := newFleet(t, 4, Options{})
		f.roll(Options{Layout: spread, Widths: layout.Width{Write: 1, Read: 16}})
		f.roll(Options{Layout: spread, Widths: layout.Width{Write: 16, Read: 16}})
		if f.missed > 0 {
			t.Errorf("%v: %d of %d reads missed something", strategy, f.missed, f.reads)
		}
	}
}

// From 16 shards to 4: writers first, and readers once the other shards are empty.
func TestRollingBack(t *testing.T) {
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		t.Run(strategy.String(), func(t *testing.T) {
			wide, narrow := layout.Width{Write: 16, Read: 16}, layout.Width{Write: 4, Read: 16}
			spread := layout.Layout{Shards: 16, Strategy: strategy}
			f := newFleet(t, 4, Options{Layout: spread, Widths: wide})
			f.roll(Options{Layout: spread, Widths: narrow})
			f.empty(spread, 4)
			f.roll(Options{Layout: spread, Widths: layout.Width{Write: 4, Read: 4}})
			if f.missed > 0 {
				t.Errorf("%d of %d reads missed something", f.missed, f.reads)
			}
		})
	}
}

// empty moves the items of the shards from first on to where the fleet puts items now.
func (f *fleet) empty(spread layout.Layout, first int) {
	for _, item := range everyItem(f.T, f.client, "items") {
		place, err := spread.Parse(attrText(item, "pk"))
		if err != nil {
			f.Fatal(err)
		}
		if place.Shard < first {
			continue
		}
		ctx := context.Background()
		if _, err := f.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: ov("pk", attrText(item, "pk"), "sk", attrText(item, "sk"))}); err != nil {
			f.Fatal(err)
		}
		if _, err := f.processes[0].Put(ctx, ov("pk", "hot", "sk", attrText(item, "sk"))); err != nil {
			f.Fatal(err)
		}
	}
}

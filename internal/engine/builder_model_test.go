package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// After a backfill beside any writes, an index is what it would be if the table had
// been created with it.
func TestBackfillIsExact(t *testing.T) {
	for _, dir := range []bool{false, true} {
		t.Run(fmt.Sprintf("dir=%t", dir), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { checkBackfill(t, rt, dir) })
		})
	}
}

// trial is an engine with the table tab, writers of it, and an index that it gets.
type trial struct {
	*Engine
	options Options
	random  *rand.Rand
	writers int
	seed    uint64
	gate    gate
}

// gate holds a backfill up after some batches.
type gate struct {
	mu      sync.Mutex
	left    int // batches until it is held up
	reached chan struct{}
	open    chan struct{}
}

func (g *gate) set(batches int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left, g.reached, g.open = batches, make(chan struct{}), make(chan struct{})
}

func (g *gate) pass(s stage) {
	if s != filled {
		return
	}
	time.Sleep(20 * time.Microsecond) // in which others write
	g.mu.Lock()
	g.left--
	held, open := g.left == 0, g.open
	if held {
		close(g.reached)
	}
	g.mu.Unlock()
	if held {
		<-open
	}
}

func checkBackfill(t *testing.T, rt *rapid.T, onDisk bool) {
	tr := &trial{seed: rapid.Uint64().Draw(rt, "seed"), writers: rapid.IntRange(1, 4).Draw(rt, "writers")}
	tr.random = rand.New(rand.NewPCG(tr.seed, 0))
	tr.options = Options{fillBatch: rapid.SampledFrom([]int{1, 2, 7, 256}).Draw(rt, "batch"), reached: tr.gate.pass}
	kind := rapid.SampledFrom([]string{"ALL", "KEYS_ONLY", "INCLUDE"}).Draw(rt, "projection")
	items := rapid.IntRange(0, 100).Draw(rt, "items")
	var restarts []int // after how many batches
	if onDisk {
		items /= 3 // each write waits for the disk
		restarts = rapid.SliceOfN(rapid.IntRange(1, 5), 0, 3).Draw(rt, "restarts")
		dir, err := os.MkdirTemp(t.TempDir(), "")
		noError(rt, err)
		tr.options.Dir = dir
	}
	ctx := context.Background()
	var err error
	tr.Engine, err = Open(tr.options)
	noError(rt, err)
	_, err = tr.CreateTable(ctx, newTableInput("tab", "pk:S sk:N").withGlobal("old", "o:S"))
	noError(rt, err)
	for range items {
		randomWrite(ctx, tr.Engine, tr.random, true)
	}
	add := addInput("tab", "idx", "a:S b:N")
	withProjection(add.IndexUpdates[0].Create, kind)
	for i, batches := range append(restarts, -1) { // in the end it is not held up
		if i == 0 {
			tr.gate.set(batches)
		} else {
			tr.restart(rt, batches)
		}
		stop := tr.write(ctx)
		if i == 0 {
			_, err := tr.UpdateTable(ctx, add)
			noError(rt, err)
		}
		tr.await(ctx, rt)
		stop()
	}
	compareIndexes(t, rt, tr.Engine, kind)
	noError(rt, tr.Close())
}

func noError(t interface {
	Helper()
	Fatal(...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write starts writers. The function that it returns ends them.
func (tr *trial) write(ctx context.Context) (stop func()) {
	var work sync.WaitGroup
	ended := make(chan struct{})
	for i := range tr.writers {
		work.Go(func() {
			random := rand.New(rand.NewPCG(tr.seed, uint64(i)))
			for {
				select {
				case <-ended:
					return
				default:
					randomWrite(ctx, tr.Engine, random, false)
				}
			}
		})
	}
	return func() { close(ended); work.Wait() }
}

// await waits until the index is whole, or its backfill is held up.
func (tr *trial) await(ctx context.Context, rt *rapid.T) {
	for {
		select {
		case <-tr.gate.reached:
			return
		case <-time.After(100 * time.Microsecond):
		}
		d, err := tr.DescribeTable(ctx, &TableInput{TableName: new("tab")})
		noError(rt, err)
		if d.global("idx").Status == "ACTIVE" {
			return
		}
	}
}

// restart ends the engine, as a crash does or as it should, and opens it again. The
// backfill is held up after some batches more.
func (tr *trial) restart(rt *rapid.T, batches int) {
	tr.jobs.cancel()
	close(tr.gate.open)
	var err error
	if tr.random.IntN(2) == 0 {
		tr.jobs.close()
		tr.sweeper.close()
		err = tr.store.Close()
	} else {
		err = tr.Close()
	}
	noError(rt, err)
	tr.gate.set(batches)
	tr.Engine, err = Open(tr.options)
	noError(rt, err)
}

func withProjection(x *IndexInput, kind string) {
	x.Projection.Type = &kind
	if kind == "INCLUDE" {
		x.Projection.HasNonKey, x.Projection.NonKeyAttributes = true, []string{"v"}
	}
}

// randomWrite writes something at random, early before there is an index. What is
// refused is as good.
func randomWrite(ctx context.Context, e *Engine, random *rand.Rand, early bool) {
	item := func() attr.Item {
		list := []any{"pk", fmt.Sprint("p", random.IntN(6)), "sk", random.IntN(6), "v", random.IntN(3)}
		if random.IntN(4) > 0 {
			list = append(list, "a", fmt.Sprint("a", random.IntN(3)))
		} else if early || random.IntN(2) == 0 {
			list = append(list, "a", random.IntN(3))
		}
		switch random.IntN(5) {
		case 0:
			list = append(list, "b", "text")
		case 1:
		default:
			list = append(list, "b", random.IntN(4))
		}
		if random.IntN(3) == 0 {
			list = append(list, "o", "o")
		}
		return fields(list...)
	}
	key := func() attr.Item {
		it := item()
		return attr.NewItem(attr.Field{Name: "pk", Value: it.Get("pk")}, attr.Field{Name: "sk", Value: it.Get("sk")})
	}
	name := "tab"
	put := func() *PutItemInput { return &PutItemInput{TableName: &name, Item: item(), HasItem: true} }
	change := Expressions{Update: new("SET a = :a ADD v :v"), Values: fields(":a", fmt.Sprint("a", random.IntN(3)), ":v", 1), HasValues: true}
	if random.IntN(3) == 0 {
		change = Expressions{Update: new("REMOVE a")}
	}
	switch random.IntN(6) {
	case 0, 1:
		_, _ = e.PutItem(ctx, put())
	case 2:
		_, _ = e.UpdateItem(ctx, &UpdateItemInput{TableName: &name, Key: key(), HasKey: true, Expressions: change})
	case 3:
		_, _ = e.DeleteItem(ctx, &DeleteItemInput{TableName: &name, Key: key(), HasKey: true})
	case 4:
		_, _ = e.BatchWriteItem(ctx, &BatchWriteItemInput{Tables: []BatchWriteTable{{TableName: name, Writes: []BatchWrite{
			{Put: true, Item: item()}, {Delete: true, Key: key()},
		}}}})
	case 5:
		_, _ = e.TransactWriteItems(ctx, &TransactWriteItemsInput{HasActions: true, Actions: []TransactWrite{
			{Put: put()}, {Update: &UpdateItemInput{TableName: &name, Key: key(), HasKey: true, Expressions: change}},
		}})
	}
}

// compareIndexes compares the index of tab with that of a table that is created with
// it and gets the items that it can take: those are the ones that belong into it.
func compareIndexes(t *testing.T, rt *rapid.T, e *Engine, kind string) {
	ctx := context.Background()
	in := newTableInput("twin", "pk:S sk:N").withGlobal("idx", "a:S b:N")
	withProjection(&in.GlobalIndexes[0], kind)
	if _, err := e.CreateTable(ctx, in); err != nil {
		rt.Fatal(err)
	}
	out, err := e.Scan(ctx, &ReadInput{TableName: new("tab"), ConsistentRead: true})
	if err != nil {
		rt.Fatal(err)
	}
	for _, raw := range out.Items {
		it, err := raw.Decode()
		if err != nil {
			rt.Fatal(err)
		}
		_, _ = e.PutItem(ctx, &PutItemInput{TableName: new("twin"), Item: it, HasItem: true})
	}
	got, want := stored(t, e, "tab", "idx"), stored(t, e, "twin", "idx")
	if !maps.Equal(got, want) {
		for place := range want {
			if got[place] != want[place] {
				rt.Errorf("entry %x: got %x, want %x", place, got[place], want[place])
			}
		}
		for place := range got {
			if _, there := want[place]; !there {
				rt.Errorf("entry %x should not be there", place)
			}
		}
	}
	x := e.tables["tab"].index("idx")
	size := int64(0)
	for _, entry := range got {
		size += int64(attr.Raw(entry).Size())
	}
	if n, bytes := x.usage.items.Load(), x.usage.bytes.Load(); n != int64(len(got)) || bytes != size {
		rt.Errorf("the index counts %d entries and %d bytes, and holds %d and %d", n, bytes, len(got), size)
	}
	if left, found, err := e.store.Get(nil, progressKey(e.tables["tab"].record.ID, x.id)); err != nil || found {
		rt.Errorf("got %x, %v; want no progress to be left", left, err)
	}
}

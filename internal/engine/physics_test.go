package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// Whatever is refused: what was acknowledged is there, nothing else is, the index
// agrees with the table, and no partition took more than it may.
func TestPhysicsLosesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tables := 0
		// In a bubble there is no T.Deadline, for which rapid would ask.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			tables++
			h := newHeated(t, rt, fmt.Sprint("table-", tables))
			defer func() {
				if err := h.engine.Close(); err != nil {
					rt.Error(err)
				}
			}()
			rt.Repeat(map[string]func(*rapid.T){
				"put": h.put, "failed put": h.failedPut, "failed transaction": h.failedTransaction, "delete": h.remove, "batch write": h.batchWrite, "transaction": h.transact,
				"get": h.get, "query": h.query, "batch get": h.batchGet, "wait": h.wait,
			})
			h.checkLimits(rt)
			h.checkObserved(rt)
			time.Sleep(time.Minute) // until nothing is owed
			h.checkItems(rt)
		})
	})
}

const (
	heatedReads, heatedWrites = 12, 8 // units a second of a partition
	heatedWindow              = 500 * time.Millisecond
	heatedHistory             = 300 * time.Second
)

// heated is a table with physics and a model of what it holds.
type heated struct {
	engine *Engine
	table  string
	splits bool
	writes int               // so far: each has a number
	items  map[string]string // versions by key
	kinds  map[string]string // index keys by key
	began  time.Time
	seen   [2]seen // of the table and the index, by who was told

	// The most that a request cost on one partition of the table and the index.
	dearest [2]struct{ reads, writes float64 }
}

// seen is what an observer was told.
type seen struct{ reads, writes, refused float64 }

func newHeated(t *testing.T, rt *rapid.T, name string) *heated {
	h := &heated{table: name, items: map[string]string{}, kinds: map[string]string{}, splits: rapid.Bool().Draw(rt, "splits"), began: time.Now()}
	e, err := Open(Options{Physics: &partition.Options{
		Partition: partition.Rate{Read: heatedReads, Write: heatedWrites}, Window: heatedWindow,
		OnDemandPartitions: rapid.IntRange(1, 3).Draw(rt, "partitions"),
		NoSplits:           !h.splits, SplitHold: 2 * time.Second, SplitDuration: 500 * time.Millisecond,
	}, Observe: h.observe})
	if err != nil {
		rt.Fatal(err)
	}
	h.engine = e
	createTable(t, e, newTableInput(name, "site:S at:S").withGlobal("by-kind", "kind:S"))
	return h
}

// drawItem returns an item of up to three units and what identifies it.
func (h *heated) drawItem(rt *rapid.T) (it attr.Item, key, kind, version string) {
	it, key = h.drawKey(rt)
	h.writes++
	version = fmt.Sprint(h.writes)
	it = it.With("version", attr.String(version))
	pad := rapid.SampledFrom([]int{0, 0, 500, 1500, 2500}).Draw(rt, "bytes")
	it = it.With("pad", attr.String(strings.Repeat("x", pad)))
	if kind = rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "kind"); kind != "" {
		it = it.With("kind", attr.String(kind))
	}
	h.paid(0, 0, 3)
	h.paid(1, 0, 6) // one that moves: deleted and written
	return it, key, kind, version
}

func (h *heated) drawKey(rt *rapid.T) (it attr.Item, key string) {
	site, at := fmt.Sprint(rapid.IntRange(0, 4).Draw(rt, "site")), fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "at"))
	return fields("site", site, "at", at), site + "/" + at
}

func (h *heated) paid(set int, reads, writes float64) {
	d := &h.dearest[set]
	d.reads, d.writes = max(d.reads, reads), max(d.writes, writes)
}

// isThrottled tells a throttle from success, and both from anything else.
func isThrottled(rt *rapid.T, err error) bool {
	rt.Helper()
	if err == nil {
		return false
	}
	if e := new(Error); !errors.As(err, &e) || e.Type != TypeThrottling || len(e.Throttling) == 0 {
		rt.Fatalf("got %v, want success or a throttle with reasons", err)
	}
	return true
}

func (h *heated) has(key, kind, version string) {
	h.items[key] = version
	delete(h.kinds, key)
	if kind != "" {
		h.kinds[key] = kind
	}
}

func (h *heated) put(rt *rapid.T) {
	it, key, kind, version := h.drawItem(rt)
	if _, err := h.engine.PutItem(context.Background(), &PutItemInput{TableName: &h.table, Item: it, HasItem: true}); !isThrottled(rt, err) {
		h.has(key, kind, version)
	}
}

// failedPut has a condition that never holds. It costs, and does nothing.
func (h *heated) failedPut(rt *rapid.T) {
	it, _, _, _ := h.drawItem(rt)
	_, err := h.engine.PutItem(context.Background(), &PutItemInput{
		TableName: &h.table, Item: it, HasItem: true, Expressions: Expressions{Condition: new("attribute_exists(nowhere)")},
	})
	if !isConditionFailure(err) && !isThrottled(rt, err) {
		rt.Fatal("a put happened though its condition does not hold")
	}
}

// failedTransaction is failedPut in a transaction, which charges it another way.
func (h *heated) failedTransaction(rt *rapid.T) {
	it, _, _, _ := h.drawItem(rt)
	_, err := h.engine.TransactWriteItems(context.Background(), &TransactWriteItemsInput{HasActions: true, Actions: []TransactWrite{{
		Put: &PutItemInput{TableName: &h.table, Item: it, HasItem: true, Expressions: Expressions{Condition: new("attribute_exists(nowhere)")}},
	}}})
	h.paid(0, 0, 2*3)
	if e := new(Error); !errors.As(err, &e) || e.Type != TypeTransactionCanceled {
		rt.Fatalf("got %v, want a cancellation", err)
	}
}

func (h *heated) remove(rt *rapid.T) {
	it, key := h.drawKey(rt)
	if _, err := h.engine.DeleteItem(context.Background(), &DeleteItemInput{TableName: &h.table, Key: it, HasKey: true}); !isThrottled(rt, err) {
		delete(h.items, key)
		delete(h.kinds, key)
	}
}

func (h *heated) batchWrite(rt *rapid.T) {
	b := BatchWriteTable{TableName: h.table}
	done := map[string]func(){}
	for range rapid.IntRange(1, 12).Draw(rt, "writes") {
		it, key, kind, version := h.drawItem(rt)
		if done[key] == nil {
			b.Writes = append(b.Writes, BatchWrite{Put: true, Item: it})
			done[key] = func() { h.has(key, kind, version) }
		}
	}
	out, err := h.engine.BatchWriteItem(context.Background(), &BatchWriteItemInput{Tables: []BatchWriteTable{b}})
	if isThrottled(rt, err) {
		return
	}
	for _, left := range out.Unprocessed {
		for _, w := range left.Writes {
			delete(done, keyIn(w.Item))
		}
	}
	if len(done) == 0 {
		rt.Fatal("a batch of which nothing was done is no exception")
	}
	for _, do := range done {
		do()
	}
}

func (h *heated) transact(rt *rapid.T) {
	in := &TransactWriteItemsInput{HasActions: true}
	done := map[string]func(){}
	for range 3 {
		it, key, kind, version := h.drawItem(rt)
		if done[key] == nil {
			in.Actions = append(in.Actions, TransactWrite{Put: &PutItemInput{TableName: &h.table, Item: it, HasItem: true}})
			done[key] = func() { h.has(key, kind, version) }
		}
	}
	h.paid(0, 0, 3*2*3)
	h.paid(1, 0, 3*6)
	_, err := h.engine.TransactWriteItems(context.Background(), in)
	if err == nil {
		for _, do := range done {
			do()
		}
		return
	}
	e := new(Error)
	if !errors.As(err, &e) || e.Type != TypeTransactionCanceled || !slices.ContainsFunc(e.Reasons, func(r CancellationReason) bool { return r.Code == "ThrottlingError" }) {
		rt.Fatalf("got %v, want success or a cancellation by a throttle", err)
	}
}

func (h *heated) get(rt *rapid.T) {
	it, key := h.drawKey(rt)
	out, err := h.engine.GetItem(context.Background(), &GetItemInput{TableName: &h.table, Key: it, HasKey: true, ConsistentRead: true})
	h.paid(0, 1, 0)
	if isThrottled(rt, err) {
		return
	}
	got := ""
	if out.Item != nil {
		got = out.Item.Get("version").Str
	}
	if got != h.items[key] {
		rt.Fatalf("%s: got version %q, want %q", key, got, h.items[key])
	}
}

func (h *heated) batchGet(rt *rapid.T) {
	b := BatchGetTable{TableName: h.table, ConsistentRead: true}
	asked := map[string]bool{}
	for range rapid.IntRange(1, 12).Draw(rt, "keys") {
		if it, key := h.drawKey(rt); !asked[key] {
			asked[key] = true
			b.Keys = append(b.Keys, it)
		}
	}
	h.paid(0, 1, 0)
	out, err := h.engine.BatchGetItem(context.Background(), &BatchGetItemInput{Tables: []BatchGetTable{b}})
	if isThrottled(rt, err) {
		return
	}
	for _, left := range out.Unprocessed {
		for _, k := range left.Keys {
			delete(asked, keyIn(k))
		}
	}
	got := versionsOf(rt, out.Responses[0].Items)
	for key := range asked {
		if got[key] != h.items[key] {
			rt.Fatalf("%s: got version %q, want %q", key, got[key], h.items[key])
		}
		delete(got, key)
	}
	if len(got) > 0 {
		rt.Fatalf("got %v besides", got)
	}
}

// query reads a collection of the table or of the index, which are small enough
// for a page.
func (h *heated) query(rt *rapid.T) {
	in := &ReadInput{TableName: &h.table}
	want := map[string]string{}
	if rapid.Bool().Draw(rt, "index") {
		kind := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind")
		in.IndexName, in.KeyCondition, in.Values = new("by-kind"), new("kind = :k"), fields(":k", kind)
		for key, k := range h.kinds {
			if k == kind {
				want[key] = h.items[key]
			}
		}
	} else {
		site := fmt.Sprint(rapid.IntRange(0, 4).Draw(rt, "site"))
		in.KeyCondition, in.Values, in.ConsistentRead = new("site = :k"), fields(":k", site), true
		for key, version := range h.items {
			if strings.HasPrefix(key, site+"/") {
				want[key] = version
			}
		}
	}
	in.HasValues = true
	h.paid(0, 4*3, 0)
	h.paid(1, 20*3, 0)
	out, err := h.engine.Query(context.Background(), in)
	if isThrottled(rt, err) {
		return
	}
	if got := versionsOf(rt, out.Items); !maps.Equal(got, want) {
		rt.Fatalf("got %v, want %v", got, want)
	}
}

func (h *heated) wait(rt *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 1500).Draw(rt, "ms")) * time.Millisecond)
}

func keyIn(it attr.Item) string { return it.Get("site").Str + "/" + it.Get("at").Str }

func versionsOf(rt *rapid.T, items []attr.Raw) map[string]string {
	versions := map[string]string{}
	for _, raw := range items {
		it, err := raw.Decode()
		if err != nil {
			rt.Fatal(err)
		}
		versions[keyIn(it)] = it.Get("version").Str
	}
	return versions
}

// checkItems compares what is there with what was acknowledged.
func (h *heated) checkItems(rt *rapid.T) {
	ctx := context.Background()
	all, err := h.engine.Scan(ctx, &ReadInput{TableName: &h.table})
	if err != nil {
		rt.Fatal(err)
	}
	if got := versionsOf(rt, all.Items); !maps.Equal(got, h.items) {
		rt.Fatalf("the table holds %v, want %v", got, h.items)
	}
	entries, err := h.engine.Scan(ctx, &ReadInput{TableName: &h.table, IndexName: new("by-kind")})
	if err != nil {
		rt.Fatal(err)
	}
	want := maps.Clone(h.items)
	maps.DeleteFunc(want, func(key, _ string) bool { return h.kinds[key] == "" })
	if got := versionsOf(rt, entries.Items); !maps.Equal(got, want) {
		rt.Fatalf("the index holds %v, want %v", got, want)
	}
	d, err := h.engine.DescribeTable(ctx, &TableInput{TableName: &h.table})
	if err != nil {
		rt.Fatal(err)
	}
	for i, heat := range h.heat(rt) {
		bytes := int64(0)
		for _, p := range heat.Partitions {
			bytes += p.Bytes
		}
		want := []int64{d.SizeBytes, d.GlobalIndexes[0].SizeBytes}[i]
		if !h.splits && bytes != want {
			rt.Fatalf("%s %s: the partitions hold %d bytes, want %d", heat.Table, heat.Index, bytes, want)
		}
	}
}

func (h *heated) heat(rt *rapid.T) []partitions.Heat {
	list, err := h.engine.Heat(context.Background(), h.table, heatedHistory)
	if err != nil || len(list) != 2 {
		rt.Fatalf("got %d, %v", len(list), err)
	}
	return list
}

// checkLimits looks at each partition over any run of seconds. Pages are charged
// to all partitions that they went through and only the first is asked, so where
// collections may be split, reads are left out.
func (h *heated) checkLimits(rt *rapid.T) {
	for set, heat := range h.heat(rt) {
		d := h.dearest[set]
		for _, p := range heat.Partitions {
			for i := range p.Seconds {
				reads, writes := 0.0, 0.0
				for _, s := range p.Seconds[i:] {
					reads += s.ReadUnits
					writes += s.WriteUnits
					during := s.Start.Sub(p.Seconds[i].Start) + time.Second + heatedWindow
					if most := heatedWrites*during.Seconds() + d.writes; writes > most {
						rt.Fatalf("%s: %v write units in %v, at most %v are allowed", heat.Index, writes, during, most)
					}
					if most := heatedReads*during.Seconds() + d.reads; !h.splits && reads > most {
						rt.Fatalf("%s: %v read units in %v, at most %v are allowed", heat.Index, reads, during, most)
					}
				}
			}
		}
	}
}

func (h *heated) observe(a *Access) {
	set := 0
	if a.Index != "" {
		set = 1
	}
	switch s := &h.seen[set]; {
	case a.Reason != "":
		s.refused++
	default:
		s.reads += a.ReadUnits
		s.writes += a.WriteUnits
	}
}

// checkObserved compares what the observer was told with what partitions count.
func (h *heated) checkObserved(rt *rapid.T) {
	for set, heat := range h.heat(rt) {
		var counted seen
		for _, m := range heat.Minutes {
			counted.reads += m.Metrics["ConsumedReadCapacityUnits"]
			counted.writes += m.Metrics["ConsumedWriteCapacityUnits"]
			counted.refused += m.Metrics["ReadThrottleEvents"] + m.Metrics["WriteThrottleEvents"]
		}
		told := h.seen[set]
		// A request may be refused for several of its items, of which the observer is told one by one.
		if math.Abs(told.reads-counted.reads) > 0.01 || math.Abs(told.writes-counted.writes) > 0.01 || told.refused < counted.refused ||
			(counted.refused == 0) != (told.refused == 0) {
			rt.Fatalf("%s: the observer was told of %+v, the partitions counted %+v", heat.Index, told, counted)
		}
	}
}

// A transaction's units are doubled on the table and not on its index, an index
// entry that moves is charged where it was and where it will be, and local
// indexes are charged to the table.
func TestPhysicsChargesEveryArm(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{Physics: &partition.Options{}})
		createTable(t, e, newTableInput("tab", "pk:S sk:S").withLocal("local", "pk:S other:S").withGlobal("global", "kind:S"))
		put := func(kind string) *PutItemInput {
			return &PutItemInput{TableName: new("tab"), Item: fields("pk", "p", "sk", "s", "other", "o", "kind", kind, "pad", strings.Repeat("x", 1500)), HasItem: true}
		}
		consumed := func() (table, index float64) {
			heat, err := e.Heat(t.Context(), "tab", time.Minute)
			if err != nil || len(heat) != 2 {
				t.Fatalf("got %d, %v", len(heat), err)
			}
			for i, sum := range []*float64{&table, &index} {
				for _, m := range heat[i].Minutes {
					*sum += m.Metrics["ConsumedWriteCapacityUnits"]
				}
			}
			return table, index
		}
		for _, c := range []struct {
			what         string
			do           func() error
			table, index float64
		}{
			{"a put with entries in both indexes", func() error { _, err := e.PutItem(t.Context(), put("a")); return err }, 2 + 2, 2},
			{"the same again", func() error { _, err := e.PutItem(t.Context(), put("a")); return err }, 2, 0},
			{"one whose entry moves", func() error { _, err := e.PutItem(t.Context(), put("b")); return err }, 2 + 2, 2 + 2},
			{"a transaction", func() error {
				_, err := e.TransactWriteItems(t.Context(), &TransactWriteItemsInput{Actions: []TransactWrite{{Put: put("c")}}, HasActions: true})
				return err
			}, 2*2 + 2, 2 + 2},
			{"a condition that fails", func() error {
				in := put("d")
				in.Condition = new("attribute_not_exists(pk)")
				if _, err := e.PutItem(t.Context(), in); !isConditionFailure(err) {
					return fmt.Errorf("got %w, want a failed condition", err)
				}
				return nil
			}, 2, 0},
		} {
			tableBefore, indexBefore := consumed()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			table, index := consumed()
			if table -= tableBefore; table != c.table {
				t.Errorf("%s: got %v units on the table, want %v", c.what, table, c.table)
			}
			if index -= indexBefore; index != c.index {
				t.Errorf("%s: got %v units on the index, want %v", c.what, index, c.index)
			}
		}
	})
}

// A table that is opened again has the partitions that its description asks for.
func TestPhysicsAfterReopening(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		e, err := Open(Options{Dir: dir, Physics: &partition.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(e.TableNames(), "tab") {
			createTable(t, e, newTableInput("tab", "pk:S").provisioned(100, 5000))
			putItem(t, e, "tab", fields("pk", "a"))
		}
		heat, err := e.Heat(t.Context(), "tab", time.Minute)
		if err != nil || len(heat) != 1 || len(heat[0].Partitions) != 5 {
			t.Errorf("got %+v, %v; want five partitions", heat, err)
		} else if bytes := heat[0].Partitions; math.Abs(float64(bytes[0].Bytes+bytes[1].Bytes+bytes[2].Bytes+bytes[3].Bytes+bytes[4].Bytes)-3) > 5 {
			t.Errorf("got %+v, want the item's three bytes, more or less", bytes)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeatWithoutPhysics(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	if heat, err := e.Heat(t.Context(), "tab", time.Minute); len(heat) != 0 || err != nil {
		t.Errorf("got %v, %v; want nothing", heat, err)
	}
	_, err := e.Heat(t.Context(), "ghost", time.Minute)
	wantError(t, err, TypeResourceNotFound, "Requested resource not found")
}

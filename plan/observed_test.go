package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// What was observed of keys becomes a plan for each, with the others as what they are to it.
func TestForKeys(t *testing.T) {
	base := Workload{ItemBytes: 2000, Table: Table{Partitions: 50}}
	plans, err := ForKeys(base, []KeyRate{{Key: "A", WriteUnits: 3000, ReadUnits: 50, Throttles: 20}, {Key: "B", WriteUnits: 600}, {Key: "C", ReadUnits: 9000}, {Key: "idle"}})
	if err != nil {
		t.Fatal(err)
	}
	if plans[3].Strategy != Leave {
		t.Errorf("a key without any load: got %s", plans[3].Strategy)
	}
	if _, err := ForKeys(base, []KeyRate{{Key: "A", WriteUnits: -1}, {Key: "B", ReadUnits: math.NaN()}}); !errors.Is(err, ErrWorkload) || !strings.Contains(err.Error(), `key "B"`) {
		t.Errorf("rates that are none: got %v", err)
	}
	a, b, c := plans[0], plans[1], plans[2]
	if a.Key != "A" || a.Strategy != Random || a.Load.WriteUnits != 3000 || math.Abs(a.Load.OtherWriteUnits-600) > 1e-6 {
		t.Errorf("A: got %s, %+v", a.Strategy, a.Load)
	}
	near(t, "A's read units", a.Load.ReadUnits, 50)
	wantNote(t, a, "throttled", Warning)
	if b.Strategy != Leave || b.Load.WriteUnits != 600 {
		t.Errorf("B: got %s, %+v", b.Strategy, b.Load)
	}
	if c.Strategy != Cached || c.Load.HottestShare < 0.99 {
		t.Errorf("C: got %s, %+v", c.Strategy, c.Load)
	}
	if _, err := ForKeys(Workload{Zipf: 1}, nil); err == nil {
		t.Error("rates and a skew")
	}
	if plans, err := ForKeys(base, nil); err != nil || len(plans) != 0 {
		t.Errorf("no keys: got %v, %v", plans, err)
	}
}

// What was served of a key that was held at the limit is not what it wants: the plan is for more than one partition.
func TestForKeysHeldAtTheLimit(t *testing.T) {
	plans, err := ForKeys(Workload{}, []KeyRate{
		{Key: "held", WriteUnits: 940, WritesRefused: true},
		{Key: "much", WriteUnits: 5000, WritesRefused: true},
		{Key: "read", ReadUnits: 2900, ReadsRefused: true, Throttles: 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	held, much, read := plans[0], plans[1], plans[2]
	if !held.Shard || held.Load.WriteUnits != 1100 || !held.Load.Guessed || held.Need == NeedNot {
		t.Errorf("held: got %+v, %s", held.Load, &held)
	}
	wantNote(t, held, "held-at-the-limit", Warning)
	if much.Load.Guessed || much.Load.WriteUnits != 5000 {
		t.Errorf("much: got %+v", much.Load)
	}
	if read.Strategy != Cached || read.Shard {
		t.Errorf("reads: got %s", read.Verdict)
	}
}

// A key that is throttled because of its neighbours is left as it is.
func TestForKeysBesideAHotOne(t *testing.T) {
	plans, err := ForKeys(Workload{}, []KeyRate{
		{Key: "hot", WriteUnits: 1000, WritesRefused: true, Throttles: 900},
		{Key: "beside", WriteUnits: 30, Throttles: 40},
		{Key: "bursts", WriteUnits: 300, Throttles: 40},
	})
	if err != nil {
		t.Fatal(err)
	}
	if plans[1].Shard || plans[1].Strategy != Leave || plans[1].Need != NeedNot {
		t.Errorf("beside: got %s", &plans[1])
	}
	wantNote(t, plans[1], "beside-a-hot-key", Info)
	if !plans[0].Shard || !plans[2].Shard || plans[2].Need == NeedNot {
		t.Errorf("hot: %s bursts: %s", plans[0].Verdict, plans[2].Verdict)
	}
}

// One item that is written is a counter, one that is only read is cached, unless the pattern is given.
func TestForKeysOfOneItem(t *testing.T) {
	one := []KeyRate{{Key: "VIEWS", WriteUnits: 3000, OneItem: true}, {Key: "POST", ReadUnits: 9000, OneItem: true}}
	for _, c := range []struct {
		base Workload
		want [2]Strategy
	}{
		{Workload{}, [2]Strategy{Counter, Cached}},
		{Workload{Read: Reading{Pattern: Lists}}, [2]Strategy{Random, Cached}},
		{Workload{Table: Table{Index: true}}, [2]Strategy{ShardedIndex, Cached}},
	} {
		plans, err := ForKeys(c.base, one)
		if err != nil || plans[0].Strategy != c.want[0] || plans[1].Strategy != c.want[1] {
			t.Errorf("%+v: got %v, %v", c.base, plans, err)
		}
	}
}

// The size of an item that was observed counts, unless one is given.
func TestForKeysOfLargeItems(t *testing.T) {
	for _, c := range []struct {
		base, key int
		band      float64
	}{{0, 2560, 1000}, {1024, 2560, 3000}, {0, 0, 3000}} {
		w := Workload{ItemBytes: c.base}.observed(KeyRate{Key: "A", WriteUnits: 3000, ItemBytes: c.key}, 3000, 0)
		near(t, "writes a second", w.Writes, c.band)
	}
}

// Names that nobody told are not made up.
func TestSnippetWithBlanks(t *testing.T) {
	w := Workload{Key: "ACTIVE", Writes: 3000, Table: Table{Index: true}, Read: Reading{Pattern: Times}}
	w.Names = Names{Blank: true, Table: "orders", Index: "byStatus", PartitionKey: "status", TableKey: "customer"}
	p, err := For(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`PartitionKey: "customer"`, `heatsink.Index{Name: "byStatus", PartitionKey: "status"}`, "// Fill in SortKey (the table's, if any), Index.SortKey (the attribute, if any).\n",
	} {
		if !strings.Contains(p.Snippet, want) {
			t.Errorf("no %q in\n%s", want, p.Snippet)
		}
	}
	if strings.Contains(p.Snippet, `"sk"`) || strings.Contains(p.Snippet, `"id"`) {
		t.Errorf("a name that nobody told in\n%s", p.Snippet)
	}
	w.Names, w.Table.Index = Names{Blank: true}, false
	if p, err = For(w); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// Fill in PartitionKey (the attribute), ", "EventTime (the attribute of an item's time).\n"} {
		if !strings.Contains(p.Snippet, want) || strings.Contains(p.Snippet, `""`) {
			t.Errorf("no %q, or an empty name, in\n%s", want, p.Snippet)
		}
	}
}

// Faults are said of what was given, as it was typed.
func TestFaultsAreOfWhatWasGiven(t *testing.T) {
	err := Workload{Writes: -1, Shards: 99_999_999_999}.Validate()
	if err == nil || strings.Contains(err.Error(), "ItemsPerDay") || !strings.Contains(err.Error(), "Shards is 99999999999: ") {
		t.Errorf("got %v", err)
	}
}

// A key that is refused below the limit shares its partition: the plan spreads what was seen, over few shards, whatever the
// others take. Its reads are cached.
func TestForKeysOfAFullPartition(t *testing.T) {
	plans, err := ForKeys(Workload{}, []KeyRate{
		{Key: "shared", WriteUnits: 400, WritesRefused: true, Throttles: 500},
		{Key: "others", WriteUnits: 5000},
		{Key: "read", ReadUnits: 900, ReadsRefused: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	shared, read := plans[0], plans[2]
	if !shared.Shard || shared.Shards > 4 || shared.Load.WriteUnits != 400 || shared.Load.Guessed || shared.Need == NeedNot {
		t.Errorf("shared: got %+v, %s", shared.Load, &shared)
	}
	wantNote(t, shared, "full-partition", Warning)
	if read.Strategy != Cached || !read.Load.ReadsThrottled || read.Load.ReadUnits > 901 || !strings.Contains(strings.Join(read.Reasons, " "), "shares a partition that is full") {
		t.Errorf("read: got %+v, %q", read.Load, read.Reasons)
	}
}

// The keys may be a part of the load only: then the others are all the rest.
func TestForKeysThatAreAPart(t *testing.T) {
	keys := []KeyRate{{Key: "A", WriteUnits: 3000}, {Key: "B", WriteUnits: 600}}
	plans, err := ForKeys(Workload{Share: 0.4}, keys)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "others of A", plans[0].Load.OtherWriteUnits, 6000)
	near(t, "others of B", plans[1].Load.OtherWriteUnits, 8400)
	for _, share := range []float64{-1, 1.1, math.NaN()} {
		if _, err := ForKeys(Workload{Share: share}, keys); !errors.Is(err, ErrWorkload) {
			t.Errorf("share %v: got %v", share, err)
		}
	}
}

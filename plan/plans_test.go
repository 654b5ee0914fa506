package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/golden"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// Workloads of every strategy and on both sides of each limit, with all that a plan says of them: testdata/plans reads as its
// specification.
func TestPlansInFull(t *testing.T) {
	for file, test := range map[string]struct {
		workloads []named
		text      func(*plan.Plan) string
	}{
		"strategies": {strategyWorkloads(), (*plan.Plan).String}, "notes": {noteWorkloads(), summary}, "tables": {tableWorkloads(), summary},
	} {
		t.Run(file, func(t *testing.T) {
			var all strings.Builder
			for _, w := range test.workloads {
				p := makePlan(t, w.workload)
				fmt.Fprintf(&all, "== %s\n%s\n%s\n", w.name, test.text(&p), figures(&p))
			}
			golden.Text(t, "testdata/plans/"+file+".txt", all.String(), *update)
		})
	}
	t.Run("observed", func(t *testing.T) {
		var all strings.Builder
		for _, o := range observations() {
			plans, err := plan.ForKeys(o.base, o.keys)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "== %s\n", o.name)
			for i := range plans {
				fmt.Fprintf(&all, "%s\n%s\n", summary(&plans[i]), figures(&plans[i]))
			}
		}
		golden.Text(t, "testdata/plans/observed.txt", all.String(), *update)
	})
	t.Run("brief", func(t *testing.T) {
		var all strings.Builder
		for _, w := range strategyWorkloads() {
			p := makePlan(t, w.workload)
			fmt.Fprintf(&all, "== %s\n", w.name)
			if err := p.WriteBrief(&all); err != nil {
				t.Fatal(err)
			}
		}
		golden.Text(t, "testdata/plans/brief.txt", all.String(), *update)
	})
}

// named is a workload with a name.
type named struct {
	name     string
	workload plan.Workload
}

// summary writes the decision and the notes of a plan.
func summary(p *plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s: %s, %d shards %s %s, sharding is %s\n", p.Verdict, p.Key, p.Strategy, p.Shards, p.Bucket, p.Choice, p.Need)
	for _, reason := range p.Reasons {
		fmt.Fprintf(&b, "  because %s\n", reason)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "  %s: %s: %s\n", n.Severity, n.Code, n.Text)
	}
	for _, w := range p.Ways {
		fmt.Fprintf(&b, "  %s: %d shards on %d partitions sustain %.6g of %.6g and accept %.6g of %.6g; a read takes %d requests, %.6g units and %.4g ms; $%.6g a month\n",
			w.Name, w.Shards, w.Partitions, w.Sustained, w.UpperBound, w.Accepted, p.Peak, w.Read.Requests, w.Read.Units, w.Read.P99Millis, w.Dollars)
	}
	if p.Recommended != nil {
		fmt.Fprintf(&b, "  of these it is %q\n", p.Recommended.Name)
	}
	if w := p.Waste; w != nil {
		fmt.Fprintf(&b, "  of %d provisioned units %d are usable and %d wasted, %.4g and $%.6g\n", w.Provisioned, w.Usable, w.Wasted, w.Share, w.Dollars)
	}
	for _, hint := range p.Hints {
		fmt.Fprintf(&b, "  hint: %s\n", hint)
	}
	for _, cost := range p.Costs {
		fmt.Fprintf(&b, "  cost: %s\n", cost)
	}
	return b.String()
}

// figures writes the figures of a plan that its text does not have.
func figures(p *plan.Plan) string {
	var b strings.Builder
	l, r := &p.Load, &p.Read
	fmt.Fprintf(&b, "figures of the load: hot %v %v, throttled %v %v, guessed %v, share %.4g, others %.6g, keys above %d\n",
		l.HotWrites, l.HotReads, l.Throttled, l.ReadsThrottled, l.Guessed, l.HottestShare, l.OtherWriteUnits, l.KeysAbove)
	fmt.Fprintf(&b, "of a read: %.6g units/sec of %.6g reads sustained, tail %.4g, p50 %.4g; without shards: %d requests, %.6g units, %.6g sustained, p99 %.4g, $%.6g\n",
		r.UnitsPerSecond, r.Sustained, r.Tail, r.P50Millis, p.Unsharded.Requests, p.Unsharded.Units, p.Unsharded.Sustained, p.Unsharded.P99Millis, p.Unsharded.Dollars)
	for _, w := range p.Ways {
		fmt.Fprintf(&b, "of %s: median %.6g, fits %v, read sustained %.6g\n", w.Name, w.Median, w.Fits, w.Read.Sustained)
	}
	if t := p.Trade; t != nil {
		fmt.Fprintf(&b, "of the trade: gain %.4g of %.4g, %.4g requests, %.4g units, $%.6g more, outweighs %v, %d bytes, %.4g of an item\n",
			t.Gain, t.GainBound, t.ReadRequests, t.ReadUnits, t.AddedDollars, t.Outweighs, t.KeyBytes, t.StorageShare)
	}
	if w := p.Warm; w != nil {
		fmt.Fprintf(&b, "of warming: %d write and %d read units, %d partitions, $%.6g\n", w.WriteUnits, w.ReadUnits, w.Partitions, w.Dollars)
	}
	if i := p.Index; i != nil {
		fmt.Fprintf(&b, "of an index: %d write units, hot %v, %d shards\n", i.WriteUnits, i.Hot, i.Shards)
	}
	return b.String()
}

func strategyWorkloads() []named {
	const window = 7 * 24 * time.Hour
	lists := func(w plan.Workload) plan.Workload { w.Key = "PAGE_VIEWS"; return w }
	return []named{
		{"nothing to do", lists(plan.Workload{Writes: 60, Reads: 39})},
		{"many keys", lists(plan.Workload{Writes: 60, Reads: 40, Keys: 1000, Share: 0.009})},
		{"a share that is not small", lists(plan.Workload{Writes: 60, Reads: 61, Keys: 1000, Share: 0.01})},
		{"random shards", lists(plan.Workload{Writes: 5000, Reads: 10})},
		{"random shards that existing items are in", lists(plan.Workload{Writes: 5000, Reads: 10, Shards: 40, Existing: true})},
		{"random shards beside existing ones", lists(plan.Workload{Writes: 5000, Reads: 10, Shards: 5, Existing: true})},
		{"calculated shards", plan.Workload{Key: "SESSIONS", Writes: 1500, Reads: 3000, Read: plan.Reading{Pattern: plan.Points}}},
		{"calculated shards for reads", plan.Workload{Key: "SESSIONS", Writes: 10, Reads: 20_000, Existing: true, Read: plan.Reading{Pattern: plan.Points}}},
		{"buckets", plan.Workload{Key: "OPS_LOG", Writes: 0.1, Reads: 1, Existing: true, Read: plan.Reading{Pattern: plan.Times, Window: window}}},
		{"shards in buckets", plan.Workload{Key: "EVENTS", Writes: 3000, Reads: 5, Read: plan.Reading{Pattern: plan.Times, Window: time.Hour, Items: 20}}},
		{"shards in buckets that a read touches many of", plan.Workload{
			Key: "EVENTS", Writes: 3000, Reads: 5, ItemsPerDay: 50, Existing: true, Shards: 3,
			Read: plan.Reading{Pattern: plan.Times, Window: 90 * 24 * time.Hour, Strong: true},
		}},
		{"an index", plan.Workload{Key: "STATUS#ACTIVE", Writes: 2000, Reads: 1, Table: plan.Table{Index: true}, Names: plan.Names{Format: layout.PlainNumber()}}},
		{"a counter", plan.Workload{Key: "LIKES", Writes: 3000, Reads: 50, ItemBytes: 80, Existing: true, Read: plan.Reading{Pattern: plan.Counters}}},
		{"a counter in a format of its own", plan.Workload{Key: "LIKES", Writes: 1001, ItemBytes: 80, Read: plan.Reading{Pattern: plan.Counters}, Names: plan.Names{Format: layout.Format{Width: 3, First: 1, ShardPrefix: "~"}}}},
		{"a cache", plan.Workload{Key: "POST", Writes: 1, Reads: 20_000, Read: plan.Reading{Pattern: plan.Mostly, Stale: 90 * time.Second}}},
		{"copies", plan.Workload{Key: "POST", Writes: 3, Reads: 20_000, Read: plan.Reading{Pattern: plan.Mostly, Stale: -1}}},
		{"copies that are written too often", plan.Workload{Key: "POST", Writes: 3, Reads: 20_000, Throttles: 5, Read: plan.Reading{Stale: -1, Items: 1}}},
		{"one item that is written too often", plan.Workload{Key: "POST", Writes: 2000, Reads: 20_000, Read: plan.Reading{Pattern: plan.Mostly}}},
		{"strong reads", plan.Workload{Key: "POST", Writes: 1, Reads: 20_000, Read: plan.Reading{Pattern: plan.Mostly, Strong: true}}},
		{"what must stay consistent", plan.Workload{Key: "LEDGER", Writes: 2000, Atomic: true}},
		{"what must stay consistent, and is cool", plan.Workload{Key: "LEDGER", Writes: 200, Atomic: true}},
		{"what must stay consistent, and is read a lot", plan.Workload{Key: "LEDGER", Reads: 7000, Atomic: true, Read: plan.Reading{Items: 1}}},
		{"any key", plan.Workload{Key: "TENANT", Writes: 300, Reads: 1, Unpredictable: true}},
		{"any key that is hot", plan.Workload{Key: "TENANT", Writes: 3000, Reads: 1, Unpredictable: true, Names: plan.Names{Time: "at"}}},
		{"any counter", plan.Workload{Key: "TENANT", Writes: 300, Reads: 1, Unpredictable: true, Read: plan.Reading{Pattern: plan.Counters}}},
		{"any item of an index", plan.Workload{Key: "TENANT", Writes: 300, Reads: 1, Unpredictable: true, Table: plan.Table{Index: true}, Names: plan.Names{Blank: true}}},
	}
}

func noteWorkloads() []named {
	points := plan.Reading{Pattern: plan.Points}
	return []named{
		{"half of the limit", plan.Workload{Writes: 500}},
		{"more than half of the limit", plan.Workload{Writes: 501}},
		{"at the limit, with a shard", plan.Workload{Writes: 1000, Shards: 1}},
		{"too few shards", plan.Workload{Writes: 10_000, Reads: 1, Shards: 9}},
		{"enough by the formula", plan.Workload{Writes: 10_000, Reads: 1, Shards: 10}},
		{"few shards for reads", plan.Workload{Writes: 10, Reads: 20_000, Shards: 4, Read: points}},
		{"as many as planned", plan.Workload{Writes: 10_000, Reads: 1, Shards: 29}},
		{"too many shards", plan.Workload{Writes: 10_000, Reads: 1, Shards: 41}},
		{"too many shards that cost nothing", plan.Workload{Writes: 2000, Reads: 1, Shards: 500, Read: points}},
		{"shards of a key that needs none", plan.Workload{Writes: 10, Reads: 1, Shards: 2}},
		{"calculated shards, and other ones", plan.Workload{Writes: 2000, Reads: 1, Shards: 6, Read: points}},
		{"ten throttles", plan.Workload{Writes: 300, Throttles: 10}},
		{"one throttle", plan.Workload{Writes: 300, Throttles: 1}},
		{"eleven throttles", plan.Workload{Writes: 300, Throttles: 11}},
		{"throttled shards", plan.Workload{Writes: 800, Throttles: 11, Shards: 4}},
		{"throttled shards with little load", plan.Workload{Writes: 799, Throttles: 11, Shards: 4}},
		{"a throttled item", plan.Workload{Writes: 300, Throttles: 11, Read: plan.Reading{Pattern: plan.Mostly}}},
		{"nine keys", plan.Workload{Writes: 300, Keys: 9}},
		{"ten keys", plan.Workload{Writes: 300, Keys: 10}},
		{"one key", plan.Workload{Writes: 2000, Keys: 1}},
		{"a skew", plan.Workload{Writes: 8000, Reads: 1, Keys: 1_000_000, Zipf: 1}},
		{"a skew of few keys", plan.Workload{Writes: 8000, Reads: 1, Keys: 5, Zipf: 0.5}},
		{"reads that are slow", plan.Workload{Writes: 5000, Reads: 10, MaxLatency: 20 * time.Millisecond}},
		{"reads that are fast enough on more partitions", plan.Workload{Writes: 5000, Reads: 10, MaxLatency: 34 * time.Millisecond}},
		{"reads that cost too much", plan.Workload{Writes: 5000, Reads: 1000, MaxDollars: 9000}},
		{"reads that cost too much, and nothing helps", plan.Workload{Writes: 5000, Reads: 1000, MaxDollars: 8000}},
		{"a key that costs too much", plan.Workload{Writes: 10, Reads: 10, MaxDollars: 10}},
		{"reads that outweigh writes", plan.Workload{Writes: 5000, Reads: 5000}},
		{"reads outnumber writes", plan.Workload{Writes: 2000, Reads: 2001, Read: plan.Reading{Items: 1}}},
		{"as many reads as writes", plan.Workload{Writes: 2000, Reads: 2000, Read: plan.Reading{Items: 1}}},
		{"more than one key takes", plan.Workload{Writes: 1e9, Reads: 1}},
		{"more copies than there are", plan.Workload{Writes: 1, Reads: 2_000_000, Read: plan.Reading{Pattern: plan.Mostly, Stale: -1}}},
		{"more shards than a counter has", plan.Workload{Writes: 1_000_000, Processes: 100_000, Reads: 1, Read: plan.Reading{Pattern: plan.Counters}}},
	}
}

func tableWorkloads() []named {
	w := func(edit func(*plan.Workload)) plan.Workload {
		w := plan.Workload{Writes: 2000, Reads: 10}
		edit(&w)
		return w
	}
	return []named{
		{"a new table", w(func(*plan.Workload) {})},
		{"one partition", w(func(w *plan.Workload) { w.Table.Partitions = 1 })},
		{"many partitions", w(func(w *plan.Workload) { w.Table.Partitions = 50 })},
		{"a warm table", w(func(w *plan.Workload) { w.Table.WarmWrites, w.Table.WarmReads = 20_000, 12_000 })},
		{"a table warm for reads", w(func(w *plan.Workload) { w.Table.WarmWrites, w.Table.WarmReads = 4000, 90_000 })},
		{"a table that is hardly warm", w(func(w *plan.Workload) { w.Table.WarmWrites = 1000 })},
		{"provisioned", w(func(w *plan.Workload) { w.Table.WriteUnits, w.Table.ReadUnits = 10_000, 1000 })},
		{"provisioned, with shards", w(func(w *plan.Workload) { w.Table.WriteUnits, w.Table.ReadUnits, w.Shards = 10_000, 1000, 4 })},
		{"provisioned for reads alone", w(func(w *plan.Workload) { w.Table.ReadUnits = 9000 })},
		{"provisioned for less than the load", w(func(w *plan.Workload) { w.Table.WriteUnits, w.Table.ReadUnits = 1999, 29 })},
		{"provisioned for just the load", w(func(w *plan.Workload) { w.Table.WriteUnits, w.Table.ReadUnits, w.Share = 4000, 1000, 0.5 })},
		{"provisioned for less than all keys", w(func(w *plan.Workload) { w.Table.WriteUnits, w.Table.ReadUnits, w.Share = 3999, 1000, 0.5 })},
		{"provisioned and warm", w(func(w *plan.Workload) { w.Table.WriteUnits, w.Table.ReadUnits, w.Table.WarmWrites = 1000, 1000, 30_000 })},
		{"the quota", w(func(w *plan.Workload) { w.Writes, w.Table.Partitions = 40_000, 500 })},
		{"more than the quota", w(func(w *plan.Workload) { w.Writes, w.Table.Partitions = 40_001, 500 })},
		{"reads beyond the quota", w(func(w *plan.Workload) { w.Reads, w.Table.Partitions = 10_000, 50 })},
		{"other keys", w(func(w *plan.Workload) { w.Share, w.Table.Partitions = 0.1, 40 })},
		{"other keys that fill the table", w(func(w *plan.Workload) { w.Share, w.Table.Partitions = 0.1, 20 })},
		{"large items", w(func(w *plan.Workload) { w.Writes, w.ItemBytes = 400, 5000 })},
		{"small items", w(func(w *plan.Workload) { w.ItemBytes, w.Read.Items = 40, 10 })},
		{"strong reads", w(func(w *plan.Workload) { w.Read.Strong = true })},
		{"an index that is cool", plan.Workload{Writes: 900, Reads: 10, Table: plan.Table{Index: true}}},
		{"other assumptions", w(func(w *plan.Workload) {
			w.Assume = plan.Assumptions{Factor: 2, Confidence: 0.999, Target: 0.5, Average: 0.4, P50Millis: 20}
			w.Assume.Prices = plan.Prices{Region: "moon-1", Date: "2030-01-01", MillionWrites: 2, MillionReads: 1, WarmWrite: 0.01, WarmRead: 0.005}
		})},
		{"warming for reads", plan.Workload{Writes: 1, Reads: 60_000, Read: plan.Reading{Pattern: plan.Points}, Assume: plan.Assumptions{
			Prices: plan.Prices{Region: "moon-1", Date: "2030-01-01", MillionWrites: 2, MillionReads: 1, WarmWrite: 0.01, WarmRead: 0.005},
		}}},
		{"a key that nobody reads", plan.Workload{Key: "WRITES", Writes: 2000}},
		{"a key that nobody writes", plan.Workload{Key: "READS", Reads: 20_000, Read: points()}},
	}
}

func points() plan.Reading { return plan.Reading{Pattern: plan.Points} }

// observations are rates of keys.
func observations() []struct {
	name string
	base plan.Workload
	keys []plan.KeyRate
} {
	return []struct {
		name string
		base plan.Workload
		keys []plan.KeyRate
	}{
		{"alone on a partition", plan.Workload{}, []plan.KeyRate{{Key: "A", WriteUnits: 940, WritesRefused: true, Throttles: 100}, {Key: "B", WriteUnits: 60}}},
		{"beside others", plan.Workload{}, []plan.KeyRate{{Key: "A", WriteUnits: 400, WritesRefused: true, Throttles: 100}, {Key: "B", WriteUnits: 199, Throttles: 40}, {Key: "C", WriteUnits: 200, Throttles: 40}}},
		{"reads", plan.Workload{}, []plan.KeyRate{{Key: "A", ReadUnits: 2900, ReadsRefused: true}, {Key: "B", ReadUnits: 900, ReadsRefused: true}, {Key: "C", ReadUnits: 100}}},
		{"one item", plan.Workload{}, []plan.KeyRate{{Key: "A", WriteUnits: 3000, OneItem: true}, {Key: "B", ReadUnits: 9000, OneItem: true}, {Key: "C", WriteUnits: 10, ReadUnits: 9000, OneItem: true}}},
		{"an index", plan.Workload{Table: plan.Table{Index: true}}, []plan.KeyRate{{Key: "A", WriteUnits: 400, WritesRefused: true, Throttles: 100, OneItem: true}}},
		{"large items", plan.Workload{}, []plan.KeyRate{{Key: "A", WriteUnits: 3000, ItemBytes: 2500}, {Key: "B"}}},
	}
}

// What is out of range is said with what was given and what may be; what is just in range is taken.
func TestFaultsOfWorkloads(t *testing.T) {
	for _, c := range []struct {
		field       string
		low, high   string // the range as the error has it
		set         func(*plan.Workload, float64)
		least, past float64 // the last value in range at either end, and how far beyond it is out of range
		greatest    float64
	}{
		{"Writes", "0", "1000000000000", func(w *plan.Workload, x float64) { w.Writes, w.Reads = x, 1 }, 0, 1e-3, 1e12},
		{"Reads", "0", "1000000000000", func(w *plan.Workload, x float64) { w.Reads = x }, 0, 1e-3, 1e12},
		{"ItemBytes", "1", "409600", func(w *plan.Workload, x float64) { w.ItemBytes = int(x) }, 1, 2, 409_600},
		{"ItemsPerDay", "0", "8.64e+16", func(w *plan.Workload, x float64) { w.ItemsPerDay = x }, 0, 100, 8.64e16},
		{"Share", "0", "1", func(w *plan.Workload, x float64) { w.Share = x }, 0, 1e-3, 1},
		{"Zipf", "0", "10", func(w *plan.Workload, x float64) { w.Zipf, w.Keys = x, 100 }, 0, 1e-3, 10},
		{"Shards", "0", "65536", func(w *plan.Workload, x float64) { w.Shards = int(x) }, 0, 1, 65_536},
		{"Table.WriteUnits", "0", "1000000000000", func(w *plan.Workload, x float64) { w.Table.WriteUnits = int64(x) }, 0, 1, 1e12},
		{"Table.ReadUnits", "0", "1000000000000", func(w *plan.Workload, x float64) { w.Table.ReadUnits = int64(x) }, 0, 1, 1e12},
		{"Table.WarmWrites", "0", "1000000000000", func(w *plan.Workload, x float64) { w.Table.WarmWrites = int64(x) }, 0, 1, 1e12},
		{"Table.WarmReads", "0", "1000000000000", func(w *plan.Workload, x float64) { w.Table.WarmReads = int64(x) }, 0, 1, 1e12},
		{"Table.Partitions", "0", "65536", func(w *plan.Workload, x float64) { w.Table.Partitions = int(x) }, 0, 1, 65_536},
		{"Read.Items", "1", "1000000000", func(w *plan.Workload, x float64) { w.Read.Items = int(x) }, 1, 2, 1e9},
		{"Read.Window in hours", "0", "878400", func(w *plan.Workload, x float64) { w.Read.Window = time.Duration(x * float64(time.Hour)) }, 0, 1, 878_400},
		{"MaxLatency in seconds", "0", "2147483647", func(w *plan.Workload, x float64) { w.MaxLatency = time.Duration(x * float64(time.Second)) }, 0, 1, 2147483647},
		{"Assume.Factor", "1", "100", func(w *plan.Workload, x float64) { w.Assume.Factor = x }, 1, 1e-3, 100},
		{"Assume.Confidence", "0.5", "0.999999", func(w *plan.Workload, x float64) { w.Assume.Confidence = x }, 0.5, 1e-7, 0.999999},
		{"Assume.Target", "0.1", "1", func(w *plan.Workload, x float64) { w.Assume.Target = x }, 0.1, 1e-3, 1},
		{"Assume.Average", "0", "1", func(w *plan.Workload, x float64) { w.Assume.Average = x }, 0, 1e-3, 1},
		{"Assume.P50Millis", "0.000001", "3600000", func(w *plan.Workload, x float64) { w.Assume.P50Millis = x }, 1e-6, 1e-7, 3.6e6},
		{"Assume.Prices.MillionWrites", "0", "1000000", func(w *plan.Workload, x float64) { w.Assume.Prices = plan.USEast1(); w.Assume.Prices.MillionWrites = x }, 0, 1e-3, 1e6},
		{"Assume.Prices.WriteHour", "0", "1000000", func(w *plan.Workload, x float64) { w.Assume.Prices = plan.USEast1(); w.Assume.Prices.WriteHour = x }, 0, 1e-3, 1e6},
		{"Assume.Prices.ReadHour", "0", "1000000", func(w *plan.Workload, x float64) { w.Assume.Prices = plan.USEast1(); w.Assume.Prices.ReadHour = x }, 0, 1e-3, 1e6},
		{"Assume.Prices.StorageMonth", "0", "1000000", func(w *plan.Workload, x float64) { w.Assume.Prices = plan.USEast1(); w.Assume.Prices.StorageMonth = x }, 0, 1e-3, 1e6},
		{"Assume.Prices.WarmWrite", "0", "1000000", func(w *plan.Workload, x float64) { w.Assume.Prices = plan.USEast1(); w.Assume.Prices.WarmWrite = x }, 0, 1e-3, 1e6},
		{"Assume.Prices.WarmRead", "0", "1000000", func(w *plan.Workload, x float64) { w.Assume.Prices = plan.USEast1(); w.Assume.Prices.WarmRead = x }, 0, 1e-3, 1e6},
	} {
		w := plan.Workload{Writes: 1}
		for _, in := range []float64{c.least, c.greatest} {
			if c.set(&w, in); w.Validate() != nil {
				t.Errorf("%s of %v: got %v, want none", c.field, in, w.Validate())
			}
		}
		for _, out := range []float64{c.least - c.past, c.greatest + c.past} {
			c.set(&w, out)
			want := fmt.Sprintf(": it must be between %s and %s", c.low, c.high)
			if err := w.Validate(); err == nil || !strings.Contains(err.Error(), c.field+" is ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %v: got %v, want %q", c.field, out, err, want)
			}
		}
	}
}

// Shards that would be enough if they were even are kept, and get another way to choose them.
func TestUnevenShards(t *testing.T) {
	for _, test := range []struct {
		pattern plan.Pattern
		bucket  layout.Bucket
		fullest float64
		shards  int
		verdict string
		snippet string
	}{
		{plan.Lists, layout.NoBucket, 1300, 4, "Spread KEY evenly over the 4 shards that it has, drawn at random: ", "layout.Layout{Shards: 4}"},
		{
			plan.Points, layout.NoBucket, 1300, 4, "Spread KEY evenly over the 4 shards that it has, calculated from the item's id: ",
			"{Shards: 4, Strategy: layout.Calculated, Hash: layout.Product}",
		},
		{plan.Lists, layout.Day, 1300, 4, "Spread KEY evenly over the 4 shards that it has, in every day: ", "layout.Layout{Shards: 4, Bucket: layout.Day}"},
		{plan.Lists, layout.NoBucket, 900, 4, "Leave KEY as it is: each of its 4 shards takes about 423 write", ""},
		{plan.Lists, layout.NoBucket, 1300, 1, "Spread KEY over 10 shards drawn at random", "layout.Layout{Shards: 10}"},
	} {
		w := plan.Workload{Existing: true, Read: plan.Reading{Pattern: test.pattern}}
		plans, err := plan.ForKeys(w, []plan.KeyRate{{Key: "KEY", WriteUnits: 1690, FullestWrites: test.fullest, Shards: test.shards, Bucket: test.bucket}})
		if err != nil {
			t.Fatal(err)
		}
		p := plans[0]
		if !strings.HasPrefix(p.Verdict, test.verdict) || !strings.Contains(p.Snippet, test.snippet) {
			t.Errorf("got %s\n%s", p.Verdict, p.Snippet)
		}
		if p.Snippet != "" {
			opens(t, p)
		}
		if strings.Contains(p.Verdict, "evenly") && (p.Shards != test.shards || p.Warm != nil || !p.Recommended.Fits) {
			t.Errorf("got %d shards, warm %v, %+v", p.Shards, p.Warm, p.Recommended)
		}
	}
}

// A limiter gets more shards of its own, which are 256 at most.
func TestLimiter(t *testing.T) {
	for writes, shards := range map[float64]int{1300: 5, 1e6: 256} {
		plans, err := plan.ForKeys(plan.Workload{Existing: true}, []plan.KeyRate{{Key: "RATE_LIMIT#app", WriteUnits: writes, OneItem: true, Shards: 1, Limiter: true}})
		if err != nil {
			t.Fatal(err)
		}
		p := plans[0]
		if o := evaluate[ratelimit.Options](t, p.Snippet, "options"); o.Shards != shards || strings.Contains(p.String(), "second-copy") {
			t.Errorf("%v writes: got %d shards, want %d: %s", writes, o.Shards, shards, &p)
		}
	}
}

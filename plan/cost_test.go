package plan

import (
	"math"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// X19: the more requests a read waits for, the more often it meets a slow one.
func TestTail(t *testing.T) {
	for n, want := range map[int]float64{-1: 0, 0: 0, 1: 0.01, 10: 0.0956, 50: 0.395, 100: 0.634, 200: 0.866} {
		if got := tailOf(0.01, n); math.Abs(got-want) > 0.0005 {
			t.Errorf("%d requests: got %.4f, want %v", n, got, want)
		}
	}
	if tailOf(1, 5) != 1 || tailOf(-1, 5) != 0 {
		t.Error("probabilities out of range")
	}
}

func TestSlowest(t *testing.T) {
	l := (&Assumptions{P50Millis: 10, P99Millis: 25}).latency()
	about := func(got, want time.Duration) bool { return math.Abs(float64(got-want)) < float64(want)/1000 }
	if got := l.slowest(1, 0.5); !about(got, l.p50) {
		t.Errorf("the median of one is %v", got)
	}
	if got := l.slowest(1, 0.99); !about(got, l.p99) {
		t.Errorf("the 99th percentile of one is %v", got)
	}
	// 69 requests are all below the 99th percentile in half of all reads: 0.99^69 = 0.5.
	if got := l.slowest(69, 0.5); !about(got, l.p99) {
		t.Errorf("the median of 69 is %v", got)
	}
	last := time.Duration(0)
	for n := 1; n < 2000; n++ {
		got := l.slowest(n, 0.99)
		if got < last {
			t.Fatalf("%d requests are faster than %d: %v", n, n-1, got)
		}
		last = got
	}
	if got := (latency{time.Millisecond, time.Millisecond}).slowest(50, 0.99); !about(got, time.Millisecond) {
		t.Errorf("requests that all take a millisecond take %v", got)
	}
}

// 003-01, 003-14, X30: of 10,000 provisioned write units one key can use 1,000; the price of the rest is a parameter.
func TestWasted(t *testing.T) {
	if got, want := wastedOf(10_000, 1, DocumentedWriteMonth), (Waste{10_000, 1000, 9000, 0.9, 4500}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := wastedOf(10_000, 1, USEast1().WriteMonth()).Dollars; math.Abs(got-4270.50) > 0.001 {
		t.Errorf("at list prices: got %v dollars, want 4,270.50", got)
	}
	if got, want := wastedOf(10_000, 10, 1), (Waste{10_000, 10_000, 0, 0, 0}); got != want {
		t.Errorf("ten shards: got %+v, want %+v", got, want)
	}
	if got := wastedOf(-1, 0, 1); got != (Waste{}) {
		t.Errorf("nothing provisioned: got %+v", got)
	}
	p := mustPlan(t, Workload{Writes: 5000, Table: Table{WriteUnits: 10_000, ReadUnits: 1000}})
	if p.Waste == nil || p.Waste.Wasted != 9000 || math.Abs(p.Waste.Dollars-4270.50) > 0.001 {
		t.Errorf("got %+v", p.Waste)
	}
	wantNote(t, p, "wasted-capacity", Warning, "9,000 (90 %)", "$4,271")
}

// X30, X32: prices are data; hourly prices are hourly, and requests are paid by the million.
func TestPrices(t *testing.T) {
	p := USEast1()
	if p.Date == "" || p.Region == "" {
		t.Errorf("prices of nowhere or never: %+v", p)
	}
	if _, err := time.Parse(time.DateOnly, p.Date); err != nil {
		t.Error(err)
	}
	near(t, "a write unit's month", p.WriteMonth(), 0.4745)
	near(t, "a read unit's month", p.ReadMonth(), 0.0949)
	near(t, "1,000 writes a second on demand", p.writes(onDemand, 1000, 1), 1642.5)
	near(t, "half of them on average", p.writes(onDemand, 1000, 0.5), 821.25)
	near(t, "1,000 writes a second provisioned", p.writes(provisioned, 1000, 0.5), 474.5)
	near(t, "1,000 reads a second on demand", p.reads(onDemand, 1000, 1), 328.5)
	near(t, "1,000 reads a second provisioned", p.reads(provisioned, 1000, 1), 94.9)
	own := Workload{Writes: 2000, Reads: 1}
	own.Assume.Prices = Prices{Region: "moon-1", Date: "2030-01-01", MillionWrites: 10}
	if p := mustPlan(t, own); p.Recommended.Dollars != 2000*secondsPerMonth/1e6*10 || p.Assumed.Prices.Region != "moon-1" {
		t.Errorf("got %+v", p.Recommended)
	}
}

// X13: a read of all shards costs half a unit and a request for each, whatever is in them; 4 KB are rounded up by
// query.
func TestReadCosts(t *testing.T) {
	w := Workload{Writes: 5000, Reads: 10, ItemBytes: 40, Read: Reading{Items: 10}, Table: Table{Partitions: 500}}
	p := mustPlan(t, w)
	if p.Shards != 9 || p.Read.Requests != 9 || p.Read.Units != 4.5 || p.Unsharded.Units != 0.5 {
		t.Errorf("got %d shards, %+v, instead of %+v", p.Shards, p.Read, p.Unsharded)
	}
	w.Read.Strong = true
	if p := mustPlan(t, w); p.Read.Units != 9 {
		t.Errorf("strongly consistent: got %v units, want 9", p.Read.Units)
	}
	near(t, "dollars", p.Read.Dollars, 10*4.5*secondsPerMonth/1e6*0.125)
	near(t, "tail", p.Read.Tail, tailOf(0.01, 9))

	// A random shard is found by asking all of them, a hundred at a time; a calculated one at once.
	d := Workload{Writes: 1, Read: Reading{Pattern: Points}}.withDefaults()
	if a := d.readWith(Random, 250, 1, layout.NoBucket); a.requests != 3 || a.units() != 125 {
		t.Errorf("got %+v", a)
	}
	if a := d.readWith(Calculated, 250, 1, layout.NoBucket); a.requests != 1 || a.units() != 0.5 {
		t.Errorf("got %+v", a)
	}
	// q reads a second cost every shard half a unit each: a key takes 6,000 at the most, however many shards it has.
	p = mustPlan(t, Workload{Writes: 5000, Reads: 7000, ItemBytes: 40, Read: Reading{Items: 10}, Table: Table{Partitions: 500}})
	if p.Read.Sustained > 6000 {
		t.Errorf("%v reads a second of all shards", p.Read.Sustained)
	}
	wantNote(t, p, "read-hot", Critical)
}

func TestZipfShare(t *testing.T) {
	near(t, "one key", zipfShare(1, 1), 1)
	near(t, "three keys", zipfShare(3, 1), 1/(1+0.5+1.0/3))
	near(t, "even keys", zipfShare(1000, 0), 0.001)
	exact := 0.0
	for k := 300_000; k > 0; k-- {
		exact += math.Pow(float64(k), -1.1)
	}
	near(t, "many keys", zipfShare(300_000, 1.1), 1/exact)
	if got := zipfShare(math.MaxInt, 1); math.Abs(got-1/(math.Log(math.MaxInt)+0.5772156649)) > 1e-9 {
		t.Errorf("all keys there are: got %v", got)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

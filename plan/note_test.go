package plan

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// 000-19: two shards are too few for 10,000 writes a second, and a thousand too many.
func TestShardCountIsJudged(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 10_000, Reads: 1, Shards: 2})
	wantNote(t, p, "too-few-shards", Critical, "2 shards take at most 2,000 write units a second", "10,000 needs at least 10")
	p = mustPlan(t, Workload{Writes: 10_000, Reads: 1, Shards: 1000})
	wantNote(t, p, "too-many-shards", Warning, "1,000 shards", "1,000 requests and 500 units")
	p = mustPlan(t, Workload{Writes: 10_000, Reads: 1, Shards: 12})
	wantNote(t, p, "few-shards", Warning, "12 shards are fewer than the 29", "4 partitions")
	for _, shards := range []int{29, 40} { // what it takes, and what the most generous rule allows
		p = mustPlan(t, Workload{Writes: 10_000, Reads: 1, Shards: shards})
		for _, n := range p.Notes {
			if strings.HasSuffix(n.Code, "-shards") {
				t.Errorf("%d shards: got %v", shards, n)
			}
		}
	}
	p = mustPlan(t, Workload{Writes: 10, Reads: 1, Shards: 10})
	wantNote(t, p, "too-many-shards", Warning, "10 requests")
	p = mustPlan(t, Workload{Writes: 2000, Reads: 1, Shards: 5000, Read: Reading{Pattern: Points}})
	wantNote(t, p, "too-many-shards", Info)
	p = mustPlan(t, Workload{Writes: 900})
	wantNote(t, p, "near-limit", Info, "90 %", "BareZero")
}

// X14: a bucket alone gives no more throughput, and above 1,000 write units a second it gets shards.
func TestBucketAloneGivesNothing(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 1000, Reads: 1, Read: Reading{Pattern: Times}})
	if p.Strategy != Bucketed || p.Shards != 1 {
		t.Errorf("got %s with %d shards", p.Strategy, p.Shards)
	}
	wantNote(t, p, "bucket-alone", Info, "× 1", "1,000 write units a second it needs shards")
	p = mustPlan(t, Workload{Writes: 1001, Reads: 1, Read: Reading{Pattern: Times}})
	if p.Strategy != BucketedShards || p.Shards < 2 || p.Bucket == layout.NoBucket {
		t.Errorf("got %s with %d shards by %s", p.Strategy, p.Shards, p.Bucket)
	}
	wantNote(t, p, "bucket-alone", Info, "× 1")
	wantNote(t, p, "bucket-luck", Info, "one day in 100")
}

// 004-25: an index is weighed, and may be as hot.
func TestIndexIsChecked(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 5000, Reads: 1})
	if p.Index == nil || *p.Index != (Indexed{5000, true, 8}) {
		t.Errorf("got %+v", p.Index)
	}
	wantNote(t, p, "index-as-hot", Info, "8 shards")
	p = mustPlan(t, Workload{Writes: 500, Reads: 1})
	if p.Index == nil || p.Index.Hot || p.Index.Shards != 1 {
		t.Errorf("got %+v", p.Index)
	}
	p = mustPlan(t, Workload{Writes: 5000, Reads: 1, Table: Table{Index: true}})
	wantNote(t, p, "hot-index", Warning, "DynamoDB refuses the table's writes")
	if p.Index != nil || !strings.Contains(p.Verdict, "warm the index") {
		t.Errorf("got %v, %s", p.Index, p.Verdict)
	}
}

// 003-19: what must be consistent is not spread, and the plan says that it is too much.
func TestConsistencyAcrossItems(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 5000, Atomic: true})
	wantNote(t, p, "cross-item-consistency", Critical, "not a snapshot")
	wantNote(t, p, "cannot-spread", Critical)
	if !strings.Contains(p.Verdict, "shards cannot help") {
		t.Errorf("the verdict is %q", p.Verdict)
	}
	p = mustPlan(t, Workload{Writes: 5, Atomic: true})
	wantNote(t, p, "cross-item-consistency", Info)
}

// X20: the plan says how far shards are from partitions, what to warm the table to, and what shards do not cure.
func TestPartitionsAndTables(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 10_000})
	if p.Warm == nil || p.Warm.WriteUnits != 29_000 || p.Warm.Partitions != 29 || p.Warm.Dollars != 0 {
		t.Errorf("got %+v", p.Warm)
	}
	wantNote(t, p, "warm-first", Warning, "29,000 write units")
	wantNote(t, p, "shards-are-not-partitions", Info, "the formula gives 15 shards, but the table has 4 partitions", "not 15,000")
	if f := p.Ways[0]; f.Name != ByFormula || f.UpperBound != 15_000 || f.Sustained != 3000 || f.Fits {
		t.Errorf("the formula leads to %+v", f)
	}

	priced := Workload{Writes: 10_000}
	priced.Assume.Prices = USEast1()
	priced.Assume.Prices.WarmWrite = 0.001
	if p := mustPlan(t, priced); math.Abs(p.Warm.Dollars-25) > 1e-9 {
		t.Errorf("warming 25 more partitions costs %v, want 25 dollars", p.Warm.Dollars)
	}

	p = mustPlan(t, Workload{Writes: 30_000})
	wantNote(t, p, "quota", Warning, "40,000")
	p = mustPlan(t, Workload{Writes: 2000, Share: 0.5, Table: Table{WriteUnits: 3000, ReadUnits: 100}})
	wantNote(t, p, "table-capacity", Critical, "4,000", "3,000")
	p = mustPlan(t, Workload{Writes: 2000, Table: Table{WriteUnits: 1}})
	wantNote(t, p, "table-capacity", Critical, "2,000", "the 1 provisioned")
	p = mustPlan(t, Workload{Writes: 2000, Reads: 500, Table: Table{WriteUnits: 30_000, ReadUnits: 100}})
	wantNote(t, p, "table-read-capacity", Critical)
	p = mustPlan(t, Workload{Writes: 2000})
	wantNote(t, p, "others-unknown", Info)

	// On the partitions there are, other keys leave less room.
	alone := mustPlan(t, Workload{Writes: 2000, Share: 1, Table: Table{Partitions: 20}})
	among := mustPlan(t, Workload{Writes: 2000, Share: 0.25, Table: Table{Partitions: 20}})
	if among.Shards <= alone.Shards || among.Load.OtherWriteUnits != 6000 {
		t.Errorf("%d shards alone, %d among others with %v", alone.Shards, among.Shards, among.Load.OtherWriteUnits)
	}
	p = mustPlan(t, Workload{Writes: 8000, Keys: 1_000_000, Zipf: 1})
	wantNote(t, p, "more-hot-keys", Warning, "8 keys")
	p = mustPlan(t, Workload{Writes: 8, Keys: 3})
	wantNote(t, p, "low-cardinality", Info, "3 keys")
}

// 004-21: more than ten throttles in five minutes ask for more shards, up to ten do not; and shards that have little to
// do are not what is missing.
func TestThrottles(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 900, Throttles: 10})
	wantNote(t, p, "few-throttles", Info, "healthy")
	if p.Shard {
		t.Error("ten throttles are no reason to shard")
	}
	p = mustPlan(t, Workload{Writes: 900, Throttles: 11})
	wantNote(t, p, "throttled", Warning, "11 throttles in five minutes are more than 10: the key needs shards")
	if p.Shards < 2 {
		t.Errorf("got %d shards", p.Shards)
	}
	p = mustPlan(t, Workload{Writes: 900, Throttles: 11, Shards: 2})
	wantNote(t, p, "throttled", Warning, "more shards than it has")
	p = mustPlan(t, Workload{Writes: 900, Throttles: 100, Shards: 4, Table: Table{Partitions: 500}})
	if p.Shards != 8 {
		t.Errorf("got %d shards after four were throttled, want 8", p.Shards)
	}
	p = mustPlan(t, Workload{Writes: 900, Throttles: 100, Shards: 10, Table: Table{Partitions: 500}})
	wantNote(t, p, "throttled", Warning, "little load")
	if p.Shards != 10 {
		t.Errorf("got %d shards after ten that have little load were throttled, want 10", p.Shards)
	}
}

// 004-28, 000-17, 003-20: gain and cost side by side, and what to do if the cost is too much.
func TestTradeOffs(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 5000, Reads: 10})
	plain := mustPlan(t, Workload{Writes: 5000, Reads: 10, Names: Names{Format: layout.PlainNumber()}})
	if plain.Trade.KeyBytes != len("#16") {
		t.Errorf("a short spelling adds %d bytes to keys, want %d", plain.Trade.KeyBytes, len("#16"))
	}
	if p.Trade.GainBound != 17 || p.Trade.Gain != 8 || p.Trade.ReadRequests != 17 || p.Trade.KeyBytes != len("#SHARD_16") || p.Trade.Outweighs {
		t.Errorf("got %+v", p.Trade)
	}
	if want := 9.0 / 1024; p.Trade.StorageShare != want { // of an item of 1 KB
		t.Errorf("got %v of an item for the shard, want %v", p.Trade.StorageShare, want)
	}
	all := strings.Join(p.Costs, "\n")
	for _, want := range []string{
		"× 8 the writes, at most × 17", "one shard takes at most 1,000 units", "× 17 requests", "instead of 1",
		"beyond the 99th percentile", "a month", "every item's key is 9 bytes longer", "not a snapshot", "lags behind",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
	p = mustPlan(t, Workload{Writes: 5000, Reads: 5000})
	wantNote(t, p, "reads-outweigh", Warning, "denormalise", "another store")
	wantNote(t, p, "read-hot", Critical, "cache")
	if !p.Trade.Outweighs {
		t.Errorf("got %+v", p.Trade)
	}
}

// Latency and cost limits are respected with fewer shards on more partitions, or reported.
func TestLimits(t *testing.T) {
	w := Workload{Writes: 5000, Reads: 10}
	free := mustPlan(t, w)
	w.MaxLatency = 34 * time.Millisecond
	p := mustPlan(t, w)
	if p.Recommended.Name != Within || p.Shards >= free.Shards || !p.Recommended.Fits || p.Read.P99Millis > 34 {
		t.Errorf("got %d shards, %+v", p.Shards, p.Recommended)
	}
	w.MaxLatency = 10 * time.Millisecond
	p = mustPlan(t, w)
	wantNote(t, p, "slow-reads", Warning, "10ms")
	w.MaxLatency, w.MaxDollars = 0, 100
	p = mustPlan(t, w)
	wantNote(t, p, "over-budget", Warning, "$100")
	p = mustPlan(t, Workload{Writes: 1, Reads: 1, MaxDollars: 1})
	wantNote(t, p, "over-budget", Warning, "$1.00")
}

// 000-26, X32: hints for cheaper reads, none of which is a saving that is not one.
func TestHints(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 2000, Reads: 3000})
	all := strings.Join(p.Hints, "\n")
	for _, want := range []string{"COUNT: it costs the same units", "cache", "condition on the sort key: you pay for what a " +
		"filter drops", "an index with few attributes"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
	if p := mustPlan(t, Workload{Writes: 2000, Reads: 30, Read: Reading{Pattern: Points}}); p.Hints != nil {
		t.Errorf("reads that ask one shard get hints: %q", p.Hints)
	}
	if p := mustPlan(t, Workload{Writes: 2000, Reads: 30, Read: Reading{Pattern: Counters}}); !strings.Contains(strings.Join(p.Hints, "\n"), "combines the increments") {
		t.Errorf("a counter gets hints %q", p.Hints)
	}
	if p := mustPlan(t, Workload{Writes: 2000}); p.Hints != nil {
		t.Errorf("a key that nobody reads gets hints: %q", p.Hints)
	}
}

func TestSeverity(t *testing.T) {
	for _, s := range []Severity{Info, Warning, Critical} {
		text, err := json.Marshal(s)
		var back Severity
		if err != nil || json.Unmarshal(text, &back) != nil || back != s {
			t.Errorf("%v is %s, %v, and back %v", s, text, err, back)
		}
	}
	var s Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil || Severity(9).String() != "Severity(9)" {
		t.Errorf("got %v, %v", err, Severity(9))
	}
	p := mustPlan(t, Workload{Writes: 10_000, Shards: 2})
	if worst, ok := p.Worst(); !ok || worst != Critical || !slices.IsSortedFunc(p.Notes, func(a, b Note) int { return int(b.Severity - a.Severity) }) {
		t.Errorf("got %v, %v of %v", worst, ok, p.Notes)
	}
	if _, ok := (&Plan{}).Worst(); ok {
		t.Error("a plan without notes has a worst one")
	}
}

// What the verdict says is what the snippet has, and notes are about what the plan spreads: copies, reads or writes.
func TestCopiesAndReads(t *testing.T) {
	most := mustPlan(t, Workload{Writes: 1, Reads: 2_000_000, Read: Reading{Pattern: Mostly, Stale: -1}})
	wantNote(t, most, "beyond-one-key", Critical, "at most 1,000")
	wantNote(t, most, "copies", Warning, "written 1,001 times")
	if !strings.Contains(most.Verdict, "more than the 1,000 that package replica keeps") || !strings.Contains(most.Snippet, "1000") {
		t.Errorf("got %q", most.Verdict)
	}
	few := mustPlan(t, Workload{Writes: 1, Reads: 20_000, Shards: 2, Read: Reading{Pattern: Mostly, Stale: -1}})
	wantNote(t, few, "warm-first", Warning, "warm the new table of the copies to")
	if !strings.Contains(few.Verdict, "first warm the new table of the copies") {
		t.Errorf("got %q", few.Verdict)
	}
	for _, n := range few.Notes {
		if n.Code == "few-shards" {
			t.Errorf("shards are not copies: %s", n.Text)
		}
	}
	points := mustPlan(t, Workload{Writes: 1, Reads: 20_000, Shards: 2, Read: Reading{Pattern: Points}})
	wantNote(t, points, "few-shards", Warning, "they sustain 3,000 read units a second")
	counter := mustPlan(t, Workload{Writes: 1_000_000, Processes: 100_000, Read: Reading{Pattern: Counters}})
	if !strings.Contains(counter.Verdict, "over 1,024 shards") || !strings.Contains(counter.Snippet, "1024") {
		t.Errorf("got %q", counter.Verdict)
	}
}

// Every note that may warn has short words, and no short words are of a note that there is not.
func TestWarningsHaveShortWords(t *testing.T) {
	source, err := os.ReadFile("note.go")
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]bool)
	for _, match := range regexp.MustCompile(`n\.say\((\w+),\s*"([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		if said[match[2]] = true; match[1] != "Info" && shortWords[match[2]] == "" && match[2] != inSnippet {
			t.Errorf("no short words for %s", match[2])
		}
	}
	for code, words := range shortWords {
		if !said[code] || len(strings.Fields(words)) > 6 {
			t.Errorf("%s: said %t, in short %q", code, said[code], words)
		}
	}
}

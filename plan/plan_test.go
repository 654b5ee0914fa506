package plan

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
)

func mustPlan(t testing.TB, w Workload) Plan {
	t.Helper()
	p, err := For(w)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// noted returns the note with a code, and false if there is none.
func noted(p Plan, code string) (Note, bool) {
	i := slices.IndexFunc(p.Notes, func(n Note) bool { return n.Code == code })
	if i < 0 {
		return Note{}, false
	}
	return p.Notes[i], true
}

func wantNote(t testing.TB, p Plan, code string, severity Severity, texts ...string) {
	t.Helper()
	n, ok := noted(p, code)
	if !ok || n.Severity != severity {
		t.Errorf("%s: got note %q, %v, want %s of severity %s, in:\n%s", p.Key, n, ok, code, severity, &p)
		return
	}
	for _, text := range texts {
		if !strings.Contains(n.Text, text) {
			t.Errorf("%s: no %q in %q", p.Key, text, n.Text)
		}
	}
}

func drawWorkload(t *rapid.T) Workload {
	w := Workload{
		Writes:        rapid.Float64Range(0.001, 40_000).Draw(t, "writes"),
		Reads:         rapid.SampledFrom([]float64{0, 1, 50, 20_000}).Draw(t, "reads"),
		ItemBytes:     rapid.SampledFrom([]int{100, 1024, 3000, 20_000}).Draw(t, "item bytes"),
		Shards:        rapid.SampledFrom([]int{0, 1, 10}).Draw(t, "shards"),
		Throttles:     rapid.SampledFrom([]int{0, 10, 11}).Draw(t, "throttles"),
		Unpredictable: rapid.Bool().Draw(t, "unpredictable"),
		Existing:      rapid.Bool().Draw(t, "existing"),
		Share:         rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(t, "share"),
		Table:         Table{Partitions: rapid.SampledFrom([]int{0, 1, 4, 10, 50}).Draw(t, "partitions"), Index: rapid.Bool().Draw(t, "index")},
		Read:          Reading{Pattern: rapid.SampledFrom(patterns[:]).Draw(t, "pattern")},
	}
	w.Table.Index = w.Table.Index && w.Read.Pattern != Counters
	if rapid.Bool().Draw(t, "provisioned") {
		w.Table.WriteUnits, w.Table.ReadUnits = 20_000, 20_000
	}
	return w
}

// More load never takes fewer shards or partitions, and there are never fewer than the load needs at the very least.
func TestPlanProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkload(t)
		p, err := For(w)
		if err != nil {
			t.Fatal(err)
		}
		if p.Shard {
			d := w.withDefaults()
			floor := dynamoDB.shardsFor(unitsPerSecond(d.written(p.Load, p.Strategy)), 1)
			if p.Shards < floor || p.Shards < p.Ways[0].Shards {
				t.Errorf("%d shards are below the floor of %d, or the formula's %d", p.Shards, floor, p.Ways[0].Shards)
			}
		}
		if r := p.Recommended; r != nil {
			if r.Partitions < p.Partitions || (p.Warm != nil) != (r.Partitions > p.Partitions) {
				t.Errorf("%d partitions of now %d, warm %v", r.Partitions, p.Partitions, p.Warm)
			}
			if r.Fits && p.Load.OtherWriteUnits == 0 && w.Table.WriteUnits == 0 && r.Sustained*p.Assumed.Target < p.Peak*(1-1e-9) {
				t.Errorf("%v does not take %v", r, p.Peak)
			}
			if r.Sustained > r.Median+1e-6 || r.Accepted > p.Peak+1e-6 || r.Median > r.UpperBound+1e-6 {
				t.Errorf("%+v contradicts itself for %v", r, p.Peak)
			}
			if r.Fits && w.Table.WriteUnits == 0 && r.Accepted < 0.99*p.Peak {
				t.Errorf("%v fits and accepts only %v", r, r.Accepted)
			}
		}
		more := w
		more.Writes *= rapid.Float64Range(1, 3).Draw(t, "more")
		q, err := For(more)
		if err != nil {
			t.Fatal(err)
		}
		if q.Strategy != p.Strategy { // another question, with other answers
			return
		}
		if q.Shards < p.Shards {
			t.Errorf("%d shards for %v writes, %d for %v", p.Shards, w.Writes, q.Shards, more.Writes)
		}
		if p.Recommended != nil && q.Recommended.Partitions < p.Recommended.Partitions {
			t.Errorf("%d partitions for %v writes, %d for %v", p.Recommended.Partitions, w.Writes, q.Recommended.Partitions, more.Writes)
		}
	})
}

// The same workload is always planned in the same way, and its JSON says all of it.
func TestPlanIsReproducible(t *testing.T) {
	w := Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 10, Keys: 100_000, Zipf: 1.1, MaxLatency: 20 * time.Millisecond}
	p, q := mustPlan(t, w), mustPlan(t, w)
	if !reflect.DeepEqual(p, q) || p.String() != q.String() {
		t.Error("two plans for one workload differ")
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, back) {
		t.Errorf("got %+v back from JSON, want %+v", back, p)
	}
	for _, name := range []string{`"severity":"warning"`, `"upperBound":`, `"dollarsPerMonth":`, `"date":"2026-08-31"`, `"region":"us-east-1"`} {
		if !strings.Contains(string(text), name) {
			t.Errorf("no %s in %s", name, text)
		}
	}
}

// X12: the bands go by requests and the formulas by units; both are reported, and the formulas decide.
func TestFormulasAreReported(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 400, ItemBytes: 3000, Table: Table{Partitions: 500}})
	want := Formulas{Minimum: 2, Factor: 1.5, Factored: 2, Cautious: 3, Conservative: 4, Generous: 8}
	want.Band.From, want.Band.To = 5, 10
	if p.Formulas != want || p.Shards != 2 {
		t.Errorf("got %+v and %d shards, want %+v and 2", p.Formulas, p.Shards, want)
	}
	for _, text := range []string{"at least 2; × 1.5, 2; × 2, 3; rounded, then doubled, 4; four times, 8; by " +
		"requests, 5 to 10."} {
		if !strings.Contains(strings.Join(strings.Fields(p.String()), " "), text) {
			t.Errorf("no %q in:\n%s", text, &p)
		}
	}
}

// A key that a terminal would act on is shown, not obeyed.
func TestKeysAreShownSafely(t *testing.T) {
	p := mustPlan(t, Workload{Key: "\x1b[2Jkey\n", Writes: 5000, Reads: 1})
	if text := p.String(); strings.ContainsAny(text, "\x1b") || !strings.Contains(text, `"\x1b[2Jkey\n"`) {
		t.Errorf("got %q", text)
	}
}

// Everything that is wrong is said at once.
func TestValidate(t *testing.T) {
	if err := (Workload{}).Validate(); !errors.Is(err, ErrWorkload) || !strings.Contains(err.Error(), "nothing to plan") {
		t.Errorf("got %v", err)
	}
	err := Workload{
		Writes: math.NaN(), Reads: -1, ItemBytes: MaxItemBytes + 1, ItemsPerDay: -1, Keys: -1, Share: 2, Zipf: 11,
		Shards: MaxShards + 1, Throttles: -1,
		Table:      Table{WriteUnits: -1, ReadUnits: -1, Partitions: -1, WarmWrites: -1, WarmReads: -1, Index: true},
		Read:       Reading{Pattern: "any", Items: -1, Window: -1, Strong: true},
		MaxLatency: -1, MaxDollars: -1,
		Assume: Assumptions{
			Factor: 0.5, Confidence: 1, Target: 2, Average: 2, P50Millis: 1000, P99Millis: 1, Prices: Prices{MillionReads: -1},
		},
		Names: Names{Format: layout.Format{First: 2}},
	}.Validate()
	if !errors.Is(err, ErrWorkload) {
		t.Fatalf("got %v", err)
	}
	for _, field := range []string{
		"Writes", "Reads", "ItemBytes", "ItemsPerDay", "Keys", "Share", "Zipf", "Shards", "Throttles", "Table.WriteUnits", "Table.ReadUnits", "Table.Partitions",
		"Table.WarmWrites", "Table.WarmReads", "Read.Pattern", "Read.Items", "Read.Window", "Read.Strong", "MaxLatency", "MaxDollars",
		"Assume.Factor", "Assume.Confidence", "Assume.Target", "Assume.Average", "Assume.P99Millis", "Assume.Prices.MillionReads", "Names.Format",
	} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("nothing about %s in %v", field, err)
		}
	}
	for name, w := range map[string]Workload{
		"give one of them":     {Writes: 1, Keys: 10, Share: 0.5, Zipf: 1},
		"Zipf needs Keys":      {Writes: 1, Zipf: 1},
		"at least an equal":    {Writes: 1, Keys: 10, Share: 0.05},
		"the only key has all": {Writes: 1, Keys: 1, Share: 1.0000001e-0 - 0.00000005},
		"Names.Format has BareZero, so that shard 0 has the bare key: leave it out, and set Existing": {Writes: 1, Names: Names{Format: layout.Format{BareZero: true}}},
		"Read.Pattern is counter, but an index cannot hold a counter: plan for the table's key":       {Writes: 1, Read: Reading{Pattern: Counters}, Table: Table{Index: true}},
		"Read.Strong is set, but an index has no strongly consistent reads: leave it out":             {Writes: 1, Read: Reading{Strong: true}, Table: Table{Index: true}},
		"P99Millis is NaN": {Writes: 1, Assume: Assumptions{P99Millis: math.NaN()}},
	} {
		if _, err := For(w); !errors.Is(err, ErrWorkload) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The largest and the smallest of everything has an answer, and soon.
func TestExtremes(t *testing.T) {
	for _, pattern := range patterns {
		for _, partitions := range []int{1, MaxShards} {
			for _, rate := range []float64{1e-9, 1e12} {
				p := mustPlan(t, Workload{
					Writes: rate, Reads: rate, ItemBytes: MaxItemBytes, Read: Reading{Pattern: pattern, Items: 1e9, Window: 100 * 365 * 24 * time.Hour},
					Table: Table{Partitions: partitions}, MaxLatency: 1, MaxDollars: 1e-9, Keys: math.MaxInt, Zipf: 0.1,
				})
				for _, n := range []float64{p.Read.Units, p.Read.Dollars, p.Read.Sustained, p.Read.P99Millis} {
					if math.IsNaN(n) || n < 0 {
						t.Errorf("%v on %d partitions: got %+v", rate, partitions, p.Read)
					}
				}
				if p.Shards < 1 || p.Shards > MaxShards || p.Verdict == "" {
					t.Errorf("%v on %d partitions: %s", rate, partitions, p.Verdict)
				}
			}
		}
	}
	p := mustPlan(t, Workload{Writes: 1e9})
	wantNote(t, p, "beyond-one-key", Critical, "65,536 shards")
	wantNote(t, p, "does-not-fit", Critical)
	if !strings.Contains(p.Verdict, "divide it among several keys first") {
		t.Errorf("the verdict is %q", p.Verdict)
	}
}

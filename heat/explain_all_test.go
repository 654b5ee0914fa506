package heat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/golden"
)

// seen is a report of a source about the table app.
func seen(source heat.Source, writes heat.Flow, edit ...func(*heat.ResourceReport)) heat.Report {
	r := report(writes, edit...)
	r.Source = source
	return r
}

// metrics is an hour of CloudWatch with so many throttles for a reason.
func metrics(reason string, throttled int64, edit ...func(*heat.ResourceReport)) heat.Report {
	r := seen(heat.CloudWatch, heat.Flow{
		Units: 60_000, Throttled: throttled, Throttles: []heat.ThrottleCount{{Reason: reason, Count: throttled}},
	}, edit...)
	r.From = noon.Add(-time.Hour)
	return r
}

// stored is a scan in which all keys of a pattern hold a thousand items.
func stored(pattern, example string, keys int64) heat.Report {
	return seen(heat.Scan, heat.Flow{}, func(r *heat.ResourceReport) {
		r.Stored = &heat.Stored{Items: 1000, Fraction: 1, Distinct: heat.Distinct{Keys: keys}}
		r.Patterns = []heat.Pattern{{Shape: pattern, Example: example, Distinct: heat.Distinct{Keys: keys}, Items: 1000}}
	})
}

// skewed is a scan in which one key of a pattern has most of a thousand items.
func skewed(pattern, key string) heat.Report {
	r := stored(pattern, key, 50)
	r.Resources[0].Stored.Keys = []heat.KeyItems{{Key: key, Items: 800, Low: 800, Share: 0.8}}
	return r
}

// many makes a flow's key one of a hundred, so that its share speaks for itself.
func many(f heat.Flow) heat.Flow {
	f.Distinct.Keys = 100
	return f
}

func onIndex(r *heat.ResourceReport) { r.Index = "byStatus" }

func asReads(r *heat.ResourceReport) { r.Reads, r.Writes = r.Writes, heat.Flow{} }

const (
	keyRange     = "TableWriteKeyRangeThroughputExceeded"
	readKeyRange = "TableReadKeyRangeThroughputExceeded"
	provisioned  = "TableWriteProvisionedThroughputExceeded"
)

// X25, 004-14: what sources show together is said once: the throttles of one, the key of another, the design of a third.
func TestExplainAllPutsSourcesTogether(t *testing.T) {
	insights := func(f heat.Flow, throttled int64) heat.Report {
		f.Keys[0].Throttled, f.Throttled = throttled, throttled
		if throttled > 0 {
			f.Throttles = []heat.ThrottleCount{{Count: throttled}}
		}
		return seen(heat.Insights, f)
	}
	half := many(shares(map[string]float64{"user-1": 60, "user-2": 10})) // 100 and 17 units a second
	quarter := many(shares(map[string]float64{"user-1": 30, "user-2": 10}))
	slices.SortFunc(half.Keys, func(a, b heat.KeyHeat) int { return int(b.Units - a.Units) })
	slices.SortFunc(quarter.Keys, func(a, b heat.KeyHeat) int { return int(b.Units - a.Units) })
	refused := many(hotFlow("user-1", 250, 200)) // 11 of 500 refusals
	refused.Keys[0].Share, refused.Keys[0].Refused, refused.Keys[0].Throttled, refused.Keys[0].Reason = 0.1, 1, 11, keyRange
	refused.Throttled = 500
	hours := cloned(refused)
	hours.Keys[0].Key = "HOUR#2024-12-02T15"
	hours.Keys = append(hours.Keys, hours.Keys[0])
	hours.Keys[1].Key, hours.Keys[1].RateLow = "HOUR#2024-12-02T14", 240
	two := shares(map[string]float64{"user-1": 70, "user-2": 30})
	whole := cloned(quarter)
	whole.Throttled, whole.Keys[0].Throttled, whole.Keys[0].Reason = 500, 400, provisioned
	told := insights(hotFlow("user-1", 2000, 200), 500)
	told.Resources[0].Writes.Throttles[0].Reason = provisioned
	few := func(r *heat.ResourceReport) {
		r.Writes.Distinct.Keys, r.Stored = 3, &heat.Stored{Items: 1000, Distinct: heat.Distinct{Keys: 3}}
	}
	cardinality := stored("ORDER#{n}", "ORDER#1", 1000)
	index := seen(heat.Scan, heat.Flow{}, onIndex, few)
	cardinality.Resources = append(cardinality.Resources, index.Resources...)

	var full strings.Builder
	for _, test := range []struct {
		name    string
		reports []heat.Report
		want    string
	}{
		{"nothing", nil, ""},
		{
			"a hot partition and its key",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Stream, hotFlow("user-1", 2000, 200))},
			"critical hot-key user-1",
		},
		{
			"a warm key hurts",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Stream, hotFlow("user-1", 750, 200))},
			"critical hot-key user-1",
		},
		{
			"few throttles raise nothing",
			[]heat.Report{metrics(keyRange, 9), seen(heat.Stream, hotFlow("user-1", 750, 200))},
			"warning hot-key user-1",
		},
		{
			"by far most of the writes",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Stream, half)},
			"critical hot-key user-1",
		},
		{
			"too little to be blamed",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Stream, quarter)},
			"critical hot-partition ; warning dominant-key user-1",
		},
		{
			"little, but refused",
			[]heat.Report{metrics(keyRange, 500), insights(cloned(quarter), 400)},
			"critical hot-key user-1",
		},
		{
			"not by far, of two",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Stream, two)},
			"critical hot-partition ; warning dominant-key user-1",
		},
		{
			"refused, but for the table",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Live, whole)},
			"critical hot-partition ; warning dominant-key user-1",
		},
		{"no key", []heat.Report{metrics(keyRange, 500), seen(heat.Stream, heat.Flow{})}, "critical hot-partition "},
		{
			"a scan shows no writes",
			[]heat.Report{metrics(keyRange, 500), stored("STATUS#ACTIVE", "STATUS#ACTIVE", 1)},
			"critical hot-partition ; warning low-cardinality STATUS#ACTIVE",
		},
		{
			"of the other direction",
			[]heat.Report{metrics(readKeyRange, 500, asReads), seen(heat.Stream, hotFlow("user-1", 750, 200))},
			"critical hot-partition ; warning hot-key user-1",
		},
		{
			"of an index",
			[]heat.Report{metrics(keyRange, 500, onIndex), seen(heat.Stream, hotFlow("user-1", 750, 200))},
			"critical hot-index ; warning hot-key user-1",
		},
		{
			"of an index and its key",
			[]heat.Report{metrics(keyRange, 500, onIndex), seen(heat.Stream, hotFlow("ACTIVE", 750, 200), onIndex)},
			"critical low-cardinality ACTIVE",
		},
		{
			"an index of few keys that throttles",
			[]heat.Report{metrics(keyRange, 500, onIndex), cardinality},
			"critical hot-index ",
		},
		{
			"an index of few keys, and a hot one",
			[]heat.Report{seen(heat.Stream, hotFlow("user-1", 2000, 200), onIndex), cardinality},
			"critical hot-key user-1",
		},
		{
			"an index of few keys, and a warm one",
			[]heat.Report{seen(heat.Stream, hotFlow("user-1", 750, 200), onIndex), cardinality},
			"warning hot-key user-1; warning hot-index ",
		},
		{
			"the table's limit is no key's",
			[]heat.Report{metrics(provisioned, 500), seen(heat.Stream, hotFlow("user-1", 2000, 200))},
			"critical hot-key user-1; critical table-throttled ",
		},
		{
			"throttled for the table's reason",
			[]heat.Report{metrics(provisioned, 500), insights(hotFlow("user-1", 750, 200), 500)},
			"critical table-throttled ; warning hot-key user-1",
		},
		{
			"throttled for a key's reason",
			[]heat.Report{metrics(keyRange, 500), insights(hotFlow("user-1", 2000, 200), 500)},
			"critical hot-key user-1",
		},
		{
			"throttled for no reason, a warm key",
			[]heat.Report{metrics("", 500), seen(heat.Stream, hotFlow("user-1", 750, 200))},
			"critical hot-key user-1",
		},
		{
			"throttled for no reason, a cool one",
			[]heat.Report{metrics("", 500), seen(heat.Stream, half)},
			"warning dominant-key user-1; warning throttled ",
		},
		{
			"throttled a little",
			[]heat.Report{metrics(keyRange, 9), insights(hotFlow("user-1", 1, 200), 9)},
			"info hot-partition ",
		},
		{
			"throttled a little, but more says another",
			[]heat.Report{metrics(keyRange, 9), insights(hotFlow("user-1", 1, 200), 9), seen(heat.Live, heat.Flow{
				Units: 600, Requests: 1000, Throttled: 500, Throttles: []heat.ThrottleCount{{Count: 500}},
			})},
			"warning hot-partition ",
		},
		{
			"throttled, say two",
			[]heat.Report{metrics("", 500), insights(hotFlow("user-1", 1, 200), 500)},
			"warning throttled ",
		},
		{
			"a design and its heat",
			[]heat.Report{stored("OPS_LOG", "OPS_LOG", 1), seen(heat.Insights, hotFlow("OPS_LOG", 2000, 200))},
			"warning low-cardinality OPS_LOG",
		},
		{
			"a design, its heat and its throttles",
			[]heat.Report{metrics(keyRange, 500), stored("OPS_LOG", "OPS_LOG", 1), seen(heat.Stream, hotFlow("OPS_LOG", 750, 200))},
			"critical low-cardinality OPS_LOG",
		},
		{
			"times, and the hot one of them",
			[]heat.Report{stored("HOUR#{hour}", "HOUR#2024-01-01T00", 90), seen(heat.Stream, hotFlow("HOUR#2024-12-02T15", 2000, 200))},
			"critical time-key HOUR#2024-12-02T15",
		},
		{
			"times, and two that are refused",
			[]heat.Report{stored("HOUR#{hour}", "HOUR#2024-01-01T00", 90), seen(heat.Live, hours)},
			"critical time-key HOUR#2024-12-02T15",
		},
		{
			"times, and another key",
			[]heat.Report{stored("HOUR#{hour}", "HOUR#2024-01-01T00", 90), seen(heat.Stream, hotFlow("user-1", 2000, 200))},
			"critical hot-key user-1; info time-key HOUR#2024-01-01T00",
		},
		{
			"times, of two looks",
			[]heat.Report{stored("HOUR#{hour}", "HOUR#2024-01-01T00", 90), stored("HOUR#{hour}", "HOUR#2024-02-02T00", 80)},
			"info time-key HOUR#2024-01-01T00",
		},
		{
			"a large tenant, hot and throttled",
			[]heat.Report{metrics(keyRange, 500), skewed("TENANT#{id}", "TENANT#x1"), seen(heat.Stream, hotFlow("TENANT#x1", 750, 200))},
			"critical skewed-tenant TENANT#x1",
		},
		{
			"a large shard, and hot",
			[]heat.Report{skewed("PAGE#SHARD_{n}", "PAGE#SHARD_3"), seen(heat.Stream, hotFlow("PAGE#SHARD_3", 2000, 200))},
			"critical hot-key PAGE#SHARD_3",
		},
		{
			"a large tenant, and another that is hot",
			[]heat.Report{skewed("TENANT#{id}", "TENANT#x1"), seen(heat.Stream, hotFlow("TENANT#x2", 2000, 200))},
			"critical hot-key TENANT#x2; warning skewed-tenant TENANT#x1",
		},
		{
			"one item of a design",
			[]heat.Report{stored("TOTALS", "TOTALS", 1), seen(heat.Live, hotFlow("TOTALS", 2000, 1))},
			"critical global-counter TOTALS",
		},
		{
			"two keys",
			[]heat.Report{seen(heat.Live, hotFlow("user-1", 2000, 200)), seen(heat.Stream, hotFlow("user-2", 750, 200))},
			"critical hot-key user-1; warning hot-key user-2",
		},
		{
			"of one source alone",
			[]heat.Report{insights(hotFlow("user-1", 2000, 200), 500), seen(heat.Stream, heat.Flow{})},
			"warning hot-key user-1; warning throttled ",
		},
		{
			"few keys are no reason",
			[]heat.Report{metrics("", 500, onIndex), cardinality},
			"warning hot-index ; warning throttled ",
		},
		{
			"a key that is refused at little",
			[]heat.Report{metrics(keyRange, 500), seen(heat.Live, refused)},
			"critical hot-partition user-1",
		},
		{
			"insights that tell writes",
			[]heat.Report{metrics(readKeyRange, 500, asReads), told},
			"critical table-throttled ; critical hot-partition ; warning hot-key user-1",
		},
		{
			"insights of a table that nobody writes",
			[]heat.Report{seen(heat.CloudWatch, heat.Flow{Units: 9000}, asReads), insights(hotFlow("CONFIG", 5000, 12), 0)},
			"warning read-hot CONFIG",
		},
		{
			"insights of a table that is read",
			[]heat.Report{metrics(readKeyRange, 500, asReads), insights(hotFlow("CONFIG", 5000, 12), 500)},
			"critical read-hot CONFIG",
		},
	} {
		before := indented(test.reports)
		findings := heat.ExplainAll(heat.Rules{}, test.reports...)
		if got := kinds(findings); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if indented(test.reports) != before {
			t.Errorf("%s: the reports were changed", test.name)
		}
		fmt.Fprintf(&full, "== %s\n%s", test.name, spelt(findings))
	}
	golden.Text(t, "testdata/findings/together.txt", full.String(), *rewrite)
}

// indented shows all there is of reports or findings.
func indented(v any) string {
	lines, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(err)
	}
	return string(lines)
}

// cloned returns a flow whose keys can be changed.
func cloned(f heat.Flow) heat.Flow {
	f.Keys = slices.Clone(f.Keys)
	return f
}

// A finding of several sources has the evidence of each, and says what is right for a key that hurts.
func TestExplainAllSaysWhoSaysSo(t *testing.T) {
	traffic := many(shares(map[string]float64{"OPS_LOG": 80}))
	findings := heat.ExplainAll(heat.Rules{}, stored("OPS_LOG", "OPS_LOG", 1), seen(heat.Stream, traffic), metrics(keyRange, 500))
	if len(findings) != 1 {
		t.Fatalf("got %s", kinds(findings))
	}
	f := findings[0]
	if f.Message != "Partition OPS_LOG receiving 80% of traffic; writes are throttled by key range" || strings.Contains(f.Remedy, "nothing") {
		t.Errorf("got %q, %q", f.Message, f.Remedy)
	}
	all := strings.Join(f.Evidence, "\n")
	for _, want := range []string{
		"stream: at least 80.0% of the write traffic", "cloudwatch: 500 requests throttled by key range", "scan: 1000 items under 1 partition key",
	} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%q is not once in:\n%s", want, all)
		}
	}
	tenant := seen(heat.Live, many(shares(map[string]float64{"TENANT#x1": 80})), withPattern("TENANT#{id}", 500))
	findings = heat.ExplainAll(heat.Rules{}, tenant, seen(heat.Stream, hotFlow("TENANT#x1", 2000, 200)))
	if got := kinds(findings); got != "critical skewed-tenant TENANT#x1" || strings.Contains(findings[0].Remedy, "nothing") {
		t.Errorf("a tenant: got %q, %q", got, findings[0].Remedy)
	}
	rules := heat.Rules{Exclude: func(key string) bool { return key == "OPS_LOG" }}
	if got := kinds(heat.ExplainAll(rules, seen(heat.Stream, traffic), metrics(keyRange, 500))); got != "critical hot-partition " {
		t.Errorf("excluded: got %q", got)
	}
}

// Rules that contradict themselves are refused however many reports there are.
func TestExplainAllRefusesRules(t *testing.T) {
	for n := range 3 {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d reports: no panic", n)
				}
			}()
			heat.ExplainAll(heat.Rules{Hot: 2}, make([]heat.Report, n)...)
		}()
	}
}

// anyReport draws a report as its source could make it.
func anyReport(t *rapid.T) heat.Report {
	source := rapid.SampledFrom([]heat.Source{heat.Live, heat.Stream, heat.Scan, heat.Export, heat.CloudWatch, heat.Insights}).Draw(t, "source")
	r := heat.Report{Source: source, From: noon, To: noon.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "minutes")) * time.Minute)}
	for _, index := range []string{"", "byStatus"} {
		if rapid.Bool().Draw(t, "there") {
			r.Resources = append(r.Resources, anyResource(t, source, heat.Resource{Table: "app", Index: index}))
		}
	}
	return r
}

func anyResource(t *rapid.T, source heat.Source, resource heat.Resource) heat.ResourceReport {
	r := heat.ResourceReport{Resource: resource, Key: []string{"pk"}}
	if source == heat.Scan || source == heat.Export {
		items, keys := rapid.Int64Range(0, 1000).Draw(t, "items"), rapid.Int64Range(1, 900).Draw(t, "keys")
		r.Stored = &heat.Stored{Items: items, Expired: items / rapid.Int64Range(2, 20).Draw(t, "expired"), Fraction: 1, Distinct: heat.Distinct{Keys: keys}}
	}
	for _, key := range anyKeys(t) {
		low := rapid.Int64Range(0, 300).Draw(t, "low")
		switch source {
		case heat.Scan, heat.Export:
			r.Stored.Keys = append(r.Stored.Keys, heat.KeyItems{Key: key, Items: low, Low: low, Share: float64(low) / 1000})
			fallthrough
		case heat.Live, heat.Stream:
			p := heat.Pattern{Shape: key, Example: key, Distinct: heat.Distinct{Keys: 1}, Items: low}
			if before, _, is := strings.Cut(key, "2026-"); is {
				p.Shape = before + "{hour}"
			}
			if source == heat.Live || source == heat.Stream {
				p.Items, p.Writes = 0, float64(low)
			}
			r.Patterns = append(r.Patterns, p)
		}
	}
	if r.Stored != nil {
		return r
	}
	r.Writes = anyFlow(t, source, "Write")
	if source == heat.Live || source == heat.CloudWatch {
		r.Reads = anyFlow(t, source, "Read")
	}
	return r
}

func anyKeys(t *rapid.T) []string {
	all := []string{"OPS_LOG", "user-1", "user-2", "HOUR#2026-06-22T12", "HOUR#2026-06-22T11", "loadtest"}
	return slices.DeleteFunc(all, func(string) bool { return rapid.Bool().Draw(t, "not") })
}

func anyFlow(t *rapid.T, source heat.Source, direction string) heat.Flow {
	f := heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: rapid.Int64Range(1, 50).Draw(t, "distinct")}}
	if source != heat.Stream {
		for _, reason := range []string{"", "KeyRangeThroughputExceeded", "ProvisionedThroughputExceeded", "AccountLimitExceeded"} {
			if reason != "" && source == heat.Insights || !rapid.Bool().Draw(t, "throttled") {
				continue
			}
			if reason != "" {
				reason = "Table" + direction + reason
			}
			n := rapid.Int64Range(1, 30).Draw(t, "throttles")
			f.Throttles = append(f.Throttles, heat.ThrottleCount{Reason: reason, Count: n})
			f.Throttled += n
		}
	}
	if source == heat.CloudWatch {
		f.Requests = 0
		return f
	}
	for _, key := range anyKeys(t) {
		rate := rapid.Float64Range(0, 4000).Draw(t, "rate")
		k := heat.KeyHeat{Key: key, Rate: rate, RateLow: rate, Share: rapid.Float64Range(0, 1).Draw(t, "share"), Items: rapid.Int64Range(0, 2).Draw(t, "items")}
		if len(f.Throttles) > 0 && rapid.Bool().Draw(t, "refused") {
			k.Reason, k.Throttled, k.Refused = f.Throttles[0].Reason, f.Throttles[0].Count, 1
		}
		f.Keys = append(f.Keys, k)
	}
	return f
}

// Whatever the reports: nothing critical is lost, nor any evidence, limits stay what they are, no key is spoken of twice;
// and neither their order nor that one is there twice matters.
func TestExplainAllOfAnyReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reports := rapid.SliceOfN(rapid.Custom(anyReport), 0, 5).Draw(t, "reports")
		before := indented(reports)
		got := heat.ExplainAll(heat.Rules{}, reports...)
		if indented(reports) != before {
			t.Fatal("the reports were changed")
		}
		if !slices.IsSortedFunc(got, func(a, b heat.Finding) int { return int(b.Severity) - int(a.Severity) }) {
			t.Fatalf("not the worst first: %s", kinds(got))
		}
		if len(reports) == 1 && !reflect.DeepEqual(got, heat.Explain(reports[0], heat.Rules{})) {
			t.Fatalf("of one report: got %s", kinds(got))
		}
		shuffled := slices.Clone(reports)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		if again := heat.ExplainAll(heat.Rules{}, append(shuffled, reports...)...); !reflect.DeepEqual(got, again) {
			t.Fatalf("in another order and twice:\n%s\nat first:\n%s", indented(again), indented(got))
		}
		if distinct(reports) > 1 {
			losesNothing(t, reports, got)
			saysNothingTwice(t, got)
			worstFirst(t, got)
		}
	})
}

func distinct(reports []heat.Report) int {
	n := 0
	for i, r := range reports {
		if !slices.ContainsFunc(reports[:i], func(known heat.Report) bool { return reflect.DeepEqual(known, r) }) {
			n++
		}
	}
	return n
}

func losesNothing(t *rapid.T, reports []heat.Report, got []heat.Finding) {
	for _, r := range reports {
		for _, f := range heat.Explain(r, heat.Rules{}) {
			limit := f.Kind == heat.TableThrottled || f.Kind == heat.AccountThrottled
			keeps := func(g heat.Finding) bool {
				return g.Resource == f.Resource && g.Direction == f.Direction && g.Severity >= f.Severity && (!limit || g.Kind == f.Kind)
			}
			if (limit || f.Severity == heat.Critical) && !slices.ContainsFunc(got, keeps) {
				t.Fatalf("%s of %s is lost in %s", f, r.Source, kinds(got))
			}
			if r.Source == heat.Insights {
				continue // whose writes may turn out to be reads
			}
			for _, line := range f.Evidence {
				line = fmt.Sprintf("%s: %s", r.Source, line)
				if !slices.ContainsFunc(got, func(g heat.Finding) bool { return keeps(g) && slices.Contains(g.Evidence, line) }) {
					t.Fatalf("%s of %s: %q is lost in %s", f, r.Source, line, kinds(got))
				}
			}
		}
	}
}

func saysNothingTwice(t *rapid.T, got []heat.Finding) {
	said := make(map[string]bool)
	for _, f := range got {
		name := fmt.Sprint(f.Resource, f.Direction, f.Key)
		if f.Key == "" || f.Kind == heat.Suspicious || f.Kind == heat.TimeKey {
			name += string(f.Kind)
		}
		if said[name] {
			t.Fatalf("twice: %s in %s", name, kinds(got))
		}
		said[name] = true
	}
}

func worstFirst(t *rapid.T, got []heat.Finding) {
	if !slices.IsSortedFunc(got, func(a, b heat.Finding) int { return int(b.Severity) - int(a.Severity) }) {
		t.Fatalf("not the worst first: %s", kinds(got))
	}
}

// Metrics tell that a key is throttled, a stream tells which.
func ExampleExplainAll() {
	hour := heat.Report{Source: heat.CloudWatch, From: noon.Add(-time.Hour), To: noon, Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views"},
		Writes: heat.Flow{
			Units: 900_000, Throttled: 700, Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 700}},
		},
	}}}
	minute := heat.Report{Source: heat.Stream, From: noon, To: noon.Add(time.Minute), Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views"},
		Writes: heat.Flow{
			Units: 60_000, Requests: 60_000, Distinct: heat.Distinct{Keys: 900},
			Keys: []heat.KeyHeat{{Key: "PAGE#viral", Units: 54_000, Requests: 54_000, Rate: 900, RateLow: 900, Consumed: 900, Share: 0.9}},
		},
	}}}
	for _, f := range heat.ExplainAll(heat.Rules{}, hour, minute) {
		fmt.Println(f)
		fmt.Println(strings.Join(f.Evidence, "\n"))
	}
	// Output:
	// critical: views: Partition key 'PAGE#viral' has 900 requests/sec (hot partition); writes are throttled by key range
	// stream: demand: 900 write units a second; one partition serves 1,000
	// stream: at least 90.0% of the write traffic
	// cloudwatch: 700 requests throttled by key range
	// cloudwatch: 250 write units a second served in total
}

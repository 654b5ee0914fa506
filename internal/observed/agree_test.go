package observed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/observed"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan"
)

const keyRange = "TableWriteKeyRangeThroughputExceeded"

// written is a report of keys that each take so many write units a second, and of throttles of them by key range.
func written(rate float64, throttled int64, keys ...string) heat.Report {
	flow := heat.Flow{Distinct: heat.Distinct{Keys: int64(len(keys))}}
	for _, key := range keys {
		k := heat.KeyHeat{
			Key: key, Units: 60 * rate, Low: 60 * rate, Rate: rate, RateLow: rate, Consumed: rate, Share: 1 / float64(len(keys)),
			Requests: int64(60*rate) + throttled, Throttled: throttled, Items: 250,
		}
		if throttled > 0 {
			k.Reason, k.Refused = keyRange, float64(throttled)/60
		}
		flow.Keys = append(flow.Keys, k)
		flow.Units, flow.Requests, flow.Throttled = flow.Units+k.Units, flow.Requests+k.Requests, flow.Throttled+throttled
	}
	if throttled > 0 {
		flow.Throttles = []heat.ThrottleCount{{Reason: keyRange, Count: flow.Throttled}}
	}
	return heat.Report{Source: heat.Live, From: time.Unix(0, 0), To: time.Unix(60, 0), Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views"}, Key: []string{"pk"}, Writes: flow,
	}}}
}

// both returns the findings and the plan for the hottest key.
func both(t *testing.T, report heat.Report) ([]heat.Finding, plan.Plan) {
	t.Helper()
	findings := heat.Explain(report, heat.Rules{})
	seen := observed.Of([]heat.Report{report})
	seen.Judge(findings)
	plans, err := seen.Plans(plan.Workload{}, seen.Hottest(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	return findings, plans[0]
}

// uneven is a report of keys of which the first takes so much, and the others a tenth of it each.
func uneven(rate float64, keys ...string) heat.Report {
	report := written(rate, 0, keys...)
	f := &report.Resources[0].Writes
	f.Units, f.Requests = 0, 0
	for i := range f.Keys {
		k := &f.Keys[i]
		if i > 0 {
			*k = written(rate/10, 0, k.Key).Resources[0].Writes.Keys[0]
		}
		f.Units, f.Requests = f.Units+k.Units, f.Requests+k.Requests
	}
	for i := range f.Keys {
		f.Keys[i].Share = f.Keys[i].Units / f.Units
	}
	return report
}

func shardsOf(key string, n int) []string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("%s#SHARD_%d", key, i))
	}
	return keys
}

// A plan for shards is one for the key that they are of: it keeps its bucket and its spelling, and counts all of its load.
func TestPlansFoldShards(t *testing.T) {
	sharp := []string{"VIEWS#SHARD#0", "VIEWS#SHARD#1", "VIEWS#SHARD#2", "VIEWS#SHARD#3"}
	for _, test := range []struct {
		name    string
		report  heat.Report
		told    *heat.Layout
		verdict string
		snippet string
	}{
		{
			"shards that are too few", written(980, 900, shardsOf("VIEWS", 4)...), nil,
			"Spread VIEWS over 15 shards drawn at random; first warm the table to 15,000 write units a second.", "layout.Layout{Shards: 15}",
		},
		{
			"another spelling", written(980, 900, sharp...), nil,
			"Spread VIEWS over 15 shards drawn at random; first warm the table to 15,000 write units a second.", "Layout:       layout.Layout{Shards: 15, Format: layout.SharpNumber()}",
		},
		{
			"another spelling, beside the bare key", written(980, 900, append(sharp, "VIEWS")...), nil,
			"Spread VIEWS over 15 shards drawn at random; first warm the table to 15,000 write units a second.", "Layout:       layout.Layout{Shards: 15, Format: layout.SharpNumber()}",
		},
		{
			"shards in a bucket", written(980, 900, shardsOf("VIEWS#2026-06-22", 4)...),
			&heat.Layout{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}},
			"Spread VIEWS over 15 shards in every day; first warm the table to 15,000 write units a second.", "layout.Layout{Shards: 15, Bucket: layout.Day}",
		},
		{
			"a bucket without shards", written(980, 900, "VIEWS#2026-06-22"), nil,
			"Spread VIEWS over 5 shards in every day.", "layout.Layout{Shards: 5, Bucket: layout.Day, Format: layout.Format{BareZero: true}}",
		},
		{
			"keys of different widths", written(980, 900, shardsOf("VIEWS", 4)...),
			&heat.Layout{Layout: layout.Layout{Shards: 64}, Widths: true},
			"Spread VIEWS over 15 shards drawn at random; first warm the table to 15,000 write units a second.", `Keys: map[string]layout.Width{"VIEWS": {Write: 15, Read: 15}}`,
		},
		{
			"shards that are not even", uneven(1300, shardsOf("VIEWS", 4)...), nil,
			"Spread VIEWS evenly over the 4 shards that it has, drawn at random: the hash does not spread its ids, or some writers have fewer shards.",
			"Layout:       layout.Layout{Shards: 4}",
		},
		{
			"one shard of those that were told", uneven(1300, "VIEWS#SHARD_2"), &heat.Layout{Layout: layout.Layout{Shards: 4}},
			"Spread VIEWS evenly over the 4 shards that it has, drawn at random: the hash does not spread its ids, or some writers have fewer shards.",
			"Layout:       layout.Layout{Shards: 4}",
		},
		{
			"one shard in a bucket", uneven(1300, "VIEWS#2026-06-22#SHARD_0"), &heat.Layout{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}},
			"Spread VIEWS evenly over the 4 shards that it has, in every day: the hash does not spread its ids, or some writers have fewer shards.",
			"layout.Layout{Shards: 4, Bucket: layout.Day}",
		},
		{
			"one shard, of which nothing was told", uneven(1300, "sneaker#SHARD_0"), nil,
			"Spread sneaker over 5 shards drawn at random.", `"sneaker" is stored as "sneaker#SHARD_0" to "sneaker#SHARD_4".`,
		},
		{
			"shards that are enough", written(400, 0, shardsOf("VIEWS", 4)...), nil,
			"Leave VIEWS as it is: each of its 4 shards takes about 400 write and 0 read units a second, and one partition takes 1,000 and 3,000.", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.told != nil {
				if err := test.report.Fold(*test.told); err != nil {
					t.Fatal(err)
				}
			}
			findings, p := both(t, test.report)
			if p.Verdict != test.verdict || !strings.Contains(p.Snippet, test.snippet) || (p.Snippet == "") != (test.snippet == "") {
				t.Errorf("got %s\n%s\nwant %s\n%s", p.Verdict, p.Snippet, test.verdict, test.snippet)
			}
			if worst, _ := heat.Worst(findings); (worst == heat.Critical) != (p.Strategy != plan.Leave) {
				t.Errorf("%v, but %s", findings, p.Verdict)
			}
		})
	}
}

// A counter's only shard is planned for as the counter, and a limiter's as the limiter.
func TestPlansOfRecipes(t *testing.T) {
	for _, test := range []struct{ key, verdict, snippet string }{
		{"sneaker#SHARD_0", "Spread sneaker over 4 shards of a counter.", `It is stored under "sneaker#SHARD_0" to "sneaker#SHARD_3".`},
		{"RATE_LIMIT#app#SHARD_0", "Spread RATE_LIMIT#app over 5 shards of its limiter.", "var options = ratelimit.Options{"},
	} {
		report := uneven(1300, test.key)
		report.Resources[0].Writes.Keys[0].Items = 1
		_, p := both(t, report)
		if p.Verdict != test.verdict || !strings.Contains(p.Snippet, test.snippet) {
			t.Errorf("%s: got %s\n%s", test.key, p.Verdict, p.Snippet)
		}
	}
}

// One hot tenant of many gets shards alone, as its finding says.
func TestPlanOfATenant(t *testing.T) {
	report := written(25, 0, func() (keys []string) {
		for i := range 40 {
			keys = append(keys, fmt.Sprintf("TENANT#t%03d", i*i))
		}
		return keys
	}()...)
	r := &report.Resources[0]
	r.Writes.Keys = append(written(980, 900, "TENANT#t777").Resources[0].Writes.Keys, r.Writes.Keys...)
	r.Patterns = []heat.Pattern{{Shape: "TENANT#{id}", Example: "TENANT#t777", Distinct: heat.Distinct{Keys: 41}, Writes: 100_000}}
	for i := range r.Writes.Keys {
		r.Writes.Keys[i].Shape = "TENANT#{id}"
	}
	findings, p := both(t, report)
	if len(findings) == 0 || findings[0].Kind != heat.SkewedTenant || !strings.Contains(findings[0].Remedy, "Widths") {
		t.Fatalf("got %+v", findings)
	}
	if !strings.Contains(p.Snippet, `Widths:       layout.WidthTable{`) || !strings.Contains(p.Snippet, `"TENANT#t777": {Write: `) ||
		!strings.Contains(p.Snippet, "Layout:       layout.Layout{Format: layout.Format{BareZero: true}}") {
		t.Errorf("got %s", p.Snippet)
	}
}

// Findings and plans judge by what the partitions of the source serve.
func TestPartitionsOfOtherSizes(t *testing.T) {
	for _, test := range []struct {
		limit, rate float64
		throttled   int64
		critical    bool
		message     string
	}{
		{0, 150, 0, false, ""},
		{100, 150, 900, true, "Partition key 'VIEWS' has at least 150 requests/sec (hot partition)"},
		{100, 60, 0, false, ""},
		{100, 80, 0, false, "Partition key 'VIEWS' has 80 requests/sec (hot partition)"},
		{10_000, 2000, 0, false, ""},
		{10_000, 12_000, 0, true, "Partition key 'VIEWS' has 12,000 requests/sec (hot partition)"},
	} {
		report := written(test.rate, test.throttled, "VIEWS", "OTHER")
		report.Resources[0].Writes.Keys[1] = written(1, 0, "OTHER").Resources[0].Writes.Keys[0]
		report.Resources[0].Writes.Keys[0].Share = 0.5
		report.Limits.WriteUnits = test.limit
		report.Resources[0].Capacity = &heat.Capacity{OnDemand: true, WarmWrites: 4000, WarmReads: 12_000}
		findings, p := both(t, report)
		message := ""
		for _, f := range findings {
			if strings.Contains(f.Message, "hot partition") {
				message = f.Message
			}
		}
		worst, _ := heat.Worst(findings)
		if message != test.message || (worst == heat.Critical) != test.critical || p.Shard != test.critical {
			t.Errorf("partitions of %v: %v; plan: %s", test.limit, findings, p.Verdict)
		}
		if limit := int64(max(test.limit, 0)); limit > 0 && (p.Load.PartitionWrites != limit || p.Partitions != plan.NewTablePartitions) {
			t.Errorf("partitions of %v: planned for %d partitions of %d", test.limit, p.Partitions, p.Load.PartitionWrites)
		}
	}
	report := written(150, 900, "VIEWS")
	report.Limits.WriteUnits = 100
	report.Resources[0].Capacity = &heat.Capacity{OnDemand: true, WarmWrites: 4000, Partitions: 7}
	if _, p := both(t, report); p.Partitions != 7 {
		t.Errorf("planned for %d partitions, though the source knows 7", p.Partitions)
	}
}

// A key that comes near the limit, or is above it for a second, has a warning that says to wait: the plan waits too.
func TestPlansWaitWithTheirFindings(t *testing.T) {
	for _, edit := range []func(*heat.KeyHeat){
		func(k *heat.KeyHeat) { k.Rate, k.RateLow = 900, 900 },
		func(k *heat.KeyHeat) { k.Second = 990 },
		nil, // Contributor Insights, which counts reads and writes together
	} {
		report := written(100, 0, "user-12345", "user-2", "user-3")
		if edit == nil {
			report = written(980, 0, "user-12345", "user-2", "user-3")
			report.Source = heat.Insights
		} else {
			edit(&report.Resources[0].Writes.Keys[0])
		}
		findings, p := both(t, report)
		if len(findings) == 0 || findings[0].Severity != heat.Warning || !strings.HasPrefix(findings[0].Remedy, "do nothing while it stays below 1,000 units a second") {
			t.Errorf("got %+v", findings)
		}
		if p.Shard {
			t.Errorf("got %s", p.Verdict)
		}
	}
}

// A key of a report has items, and a table with other keys gives shards to the hot one alone.
func TestPlansReadWhatIsThere(t *testing.T) {
	index := written(980, 900, "SELLER#1")
	index.Resources[0].Index = "bySeller"
	index.Resources[0].Writes.Distinct.Keys = 151
	many := written(980, 900, "LIKES")
	many.Resources[0].Writes.Distinct.Keys = 300
	days := written(980, 900, "EVENTS#2026-11-18")
	days.Resources[0].Writes.Keys = append(days.Resources[0].Writes.Keys, heat.KeyHeat{Key: "EVENTS#2026-11-19", RateLow: 1}, heat.KeyHeat{Key: "USER#1", RateLow: 1})
	both2 := written(980, 900, "EVENTS#2026-11-18")
	both2.Resources[0].Writes.Keys = append(both2.Resources[0].Writes.Keys, heat.KeyHeat{Key: "CLICKS#2026-11-18", RateLow: 1})
	bare := written(980, 900, "VIEWS", "VIEWS#SHARD_1", "VIEWS#SHARD_2", "VIEWS#SHARD_3")
	beside := written(980, 900, "VIEWS", "VIEWS#SHARD_1", "VIEWS#SHARD_2", "VIEWS#SHARD_3")
	beside.Resources[0].Writes.Keys = append(beside.Resources[0].Writes.Keys, heat.KeyHeat{Key: "USER#1", RateLow: 1})
	grownIndex := written(980, 900, append(shardsOf("SELLER#1", 8)[1:], "SELLER#1")...)
	grownIndex.Resources[0].Index = "bySeller"
	grownIndex.Resources[0].Writes.Distinct.Keys = 151
	for _, test := range []struct {
		name   string
		report heat.Report
		want   []string
	}{
		{"the only key", written(980, 900, "LIKES"), []string{"layout.Layout{Shards: 5, Format: layout.Format{BareZero: true}}"}},
		{"one of many", many, []string{"layout.Layout{Format: layout.Format{BareZero: true}}", `"LIKES": {Write: 5, Read: 5}`}},
		{"one of an index", index, []string{
			"layout.Layout{Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}", `"SELLER#1": {Write: 16, Read: 16}`, `heatsink.Index{Name: "bySeller"`,
		}},
		{"a day, among other keys", days, []string{"layout.Layout{Shards: 5, Bucket: layout.Day, Format: layout.Format{BareZero: true}}", `as "EVENTS#2026-11-19" to "EVENTS#2026-11-19#SHARD_4"`}},
		{"a day, among other keys with days", both2, []string{"layout.Layout{Bucket: layout.Day, Format: layout.Format{BareZero: true}}", `"EVENTS": {Write: `}},
		{"shards from the bare key on, beside other keys", beside, []string{
			"layout.Layout{Format: layout.Format{BareZero: true}}", `"VIEWS": {Write: 15, Read: 15}`, "Existing items in 4 shards are in these shards.",
		}},
		{"a calculated key of an index that has grown already", grownIndex, []string{
			"layout.Layout{Strategy: layout.Calculated, Format: layout.Format{BareZero: true}}", `"SELLER#1": {Write: 128, Read: 128}`,
		}},
		{"shards from the bare key on", bare, []string{"layout.Layout{Shards: 15, Format: layout.Format{BareZero: true}}"}},
	} {
		_, p := both(t, test.report)
		for _, want := range test.want {
			if !strings.Contains(p.Snippet, want) {
				t.Errorf("%s: no %s in\n%s", test.name, want, p.Snippet)
			}
		}
		if strings.Contains(p.Snippet, "Older") {
			t.Errorf("%s: got %s", test.name, p.Snippet)
		}
	}
}

// grown is a report of a key that was throttled before it got shards from its bare key on, and has 2,500 units a second since.
func grown() heat.Report {
	report := written(340, 0, "LIKES#SHARD_1", "LIKES#SHARD_2", "LIKES#SHARD_3", "LIKES#SHARD_4", "LIKES#SHARD_5", "LIKES#SHARD_6", "LIKES#SHARD_7")
	flow := &report.Resources[0].Writes
	flow.Keys = append(flow.Keys, heat.KeyHeat{
		Key: "LIKES", RateLow: 120, Busy: 1309, Units: 4000, Requests: 1080, Throttled: 685, Reason: keyRange, Items: 250, Share: 0.07,
	})
	flow.Peak, flow.Throttled, flow.Throttles = 2510, 685, []heat.ThrottleCount{{Reason: keyRange, Count: 685}}
	return report
}

// A source that knows the sort key fills it in. A key whose ledger is known gets no fixed shards.
func TestPlansFillInWhatIsKnown(t *testing.T) {
	report := written(980, 900, "LIKES")
	report.Resources[0].Sort = []string{"at"}
	_, p := both(t, report)
	if !strings.Contains(p.Snippet, `SortKey:      "at"`) || strings.Contains(p.Snippet, "Fill in") {
		t.Errorf("got %s", p.Snippet)
	}
	seen := observed.Of([]heat.Report{report})
	seen.Grow(heat.Resource{Table: "views"}, "LIKES")
	seen.Grow(heat.Resource{Table: "views"}, "UNKNOWN")
	plans, err := seen.Plans(plan.Workload{}, seen.Hottest(2), nil)
	if err != nil || len(plans) != 1 || plans[0].Strategy != plan.Leave || plans[0].Snippet != "" {
		t.Errorf("got %v, %v", plans, err)
	}
}

// The peaks of shards at different times are not wanted at one time.
func TestPlansOfShardsThatPeakedAtDifferentTimes(t *testing.T) {
	report := grown()
	if p := hottest(t, report, 1); p.Key != "LIKES" || p.Load.WriteUnits > 2510 {
		t.Errorf("%s: planned for %d units, of 2,510 in the busiest second", p.Key, p.Load.WriteUnits)
	}
	for i := range report.Resources[0].Writes.Keys { // what is wanted now, though much of it is refused, is of one time
		report.Resources[0].Writes.Keys[i].RateLow = 500
	}
	if p := hottest(t, report, 1); p.Load.WriteUnits != 4000 {
		t.Errorf("planned for %d units, want 4,000", p.Load.WriteUnits)
	}
}

// A key that grows by itself gets no fixed shards, and the plan says what to check.
func TestPlansLeaveAdaptiveKeys(t *testing.T) {
	control := grown()
	control.Resources[0].Writes.Control.Requests = 9
	decided := written(980, 900, "LIKES")
	decided.Decisions = []heat.Decision{{Resource: heat.Resource{Table: "views"}, Key: "LIKES", Reason: heat.DecidedAtMaximum, From: 1, To: 1}}
	for name, report := range map[string]heat.Report{"control items": control, "decisions": decided} {
		_, p := both(t, report)
		if p.Strategy != plan.Leave || p.Snippet != "" || !strings.HasPrefix(p.Verdict, "Leave LIKES as it is: ") || !strings.Contains(p.Verdict, "grows by itself") {
			t.Errorf("%s: got %s", name, &p)
		}
		if len(p.Notes) == 0 || p.Notes[0].Code != "grows-by-itself" || p.Notes[0].Severity != plan.Warning || !strings.Contains(p.Notes[0].Text, "heatsink ledger show") {
			t.Errorf("%s: got %v", name, p.Notes)
		}
	}
	if _, p := both(t, grown()); p.Strategy == plan.Random && !strings.Contains(p.Snippet, "BareZero") { // without control items it may have fixed shards
		t.Errorf("got %s", &p)
	}
}

// A key that is throttled at a low rate is beside a hot one only if there is one.
func TestPlansNameTheNeighbour(t *testing.T) {
	alone := written(60, 240, "SELLER#1")
	beside := written(60, 240, "SELLER#1", "SELLER#2")
	beside.Resources[0].Writes.Keys[1] = written(990, 900, "SELLER#2").Resources[0].Writes.Keys[0]
	apart := written(60, 240, "SELLER#1", "SELLER#2")
	apart.Resources[0].Writes.Keys = []heat.KeyHeat{beside.Resources[0].Writes.Keys[0], beside.Resources[0].Writes.Keys[1]}
	apart.Resources[0].Writes.Keys[0].Partition, apart.Resources[0].Writes.Keys[1].Partition = "p1", "p2"
	for _, test := range []struct {
		report heat.Report
		code   string
		want   string
	}{
		{alone, "short-bursts", "its bursts are shorter than the measurement"},
		{beside, "beside-a-hot-key", "shares its partition with SELLER#2"},
		{apart, "short-bursts", "keys that were not seen"},
	} {
		seen := observed.Of([]heat.Report{test.report})
		plans, err := seen.Plans(plan.Workload{}, seen.Hottest(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := plans[len(plans)-1]
		if p.Key != "SELLER#1" || p.Shard || len(p.Notes) == 0 || p.Notes[0].Code != test.code || !strings.Contains(p.Notes[0].Text, test.want) ||
			strings.Contains(p.Notes[0].Text, "five minutes") {
			t.Errorf("got %s: %v, want %s", p.Verdict, p.Notes, test.code)
		}
	}
}

// Of keys that fill a partition together, finding and plan say to raise the warm throughput first.
func TestPlansOfASharedPartition(t *testing.T) {
	report := written(600, 300, "WAREHOUSE#0", "WAREHOUSE#2")
	findings, p := both(t, report)
	if len(findings) == 0 || findings[0].Kind != heat.HotPartition || !strings.HasPrefix(findings[0].Remedy, "raise the table's warm throughput") {
		t.Fatalf("got %+v", findings)
	}
	if want := "First raise the table's warm throughput, such as to 8,000 write units a second, so that WAREHOUSE#0 gets a partition of its own; " +
		"if it is still throttled, spread it over 2 shards drawn at random."; p.Verdict != want {
		t.Errorf("got %s\nwant %s", p.Verdict, want)
	}
}

// Copies have a table of their own, which is new: the partitions of the item's table are none of theirs.
func TestPlansOfCopies(t *testing.T) {
	report := written(0, 0, "ARTICLE#1")
	r := &report.Resources[0]
	r.Capacity = &heat.Capacity{OnDemand: true, WarmWrites: 12_000, WarmReads: 36_000, Partitions: 12}
	r.Writes = heat.Flow{}
	r.Reads = written(4160, 0, "ARTICLE#1").Resources[0].Writes
	seen := observed.Of([]heat.Report{report})
	base := plan.Workload{Key: "ARTICLE#1", ItemBytes: 100 << 10, Read: plan.Reading{Pattern: plan.Mostly, Stale: -1}}
	plans, err := seen.Plans(base, seen.Hottest(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	base.Reads = 4160 / 12.5
	want, err := plan.For(base)
	if err != nil {
		t.Fatal(err)
	}
	if got := plans[0]; got.Shards != want.Shards || got.Verdict != want.Verdict || !strings.Contains(got.Verdict, "first warm the new table") {
		t.Errorf("got %s\nwant %s", got.Verdict, want.Verdict)
	}
}

// What was seen of a key's items weighs more than the pattern of its reads.
func TestPlansByWhatWasSeen(t *testing.T) {
	for _, test := range []struct {
		items   int64
		verdict string
	}{
		{250, "Spread AUDIT over 5 shards drawn at random."},
		{1, "AUDIT is too hot for one partition, and shards cannot help: its writes change one item, "},
		{0, "AUDIT is too hot for one partition, and shards cannot help: with this pattern, its writes change one item, "},
	} {
		report := written(1200, 900, "AUDIT")
		report.Resources[0].Writes.Keys[0].Items = test.items
		seen := observed.Of([]heat.Report{report})
		plans, err := seen.Plans(plan.Workload{Read: plan.Reading{Pattern: plan.Mostly}}, seen.Hottest(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(plans[0].Verdict, test.verdict) {
			t.Errorf("%d items: got %s", test.items, plans[0].Verdict)
		}
	}
}

// A key that is throttled below a partition's limit does not take all of it, and an old burst of reads says nothing of now.
func TestReasonsOfPlansAreSo(t *testing.T) {
	report := written(790, 900, "QUEUE#mail", "QUEUE#sms")
	report.Resources[0].Writes.Keys[1] = written(180, 300, "QUEUE#sms").Resources[0].Writes.Keys[0]
	reads := written(0.3, 40, "QUEUE#mail").Resources[0].Writes
	reads.Keys[0].Busiest, reads.Keys[0].Reason = 900, "TableReadKeyRangeThroughputExceeded"
	report.Resources[0].Reads = reads
	_, p := both(t, report)
	text := p.String()
	for _, not := range []string{"takes all that one partition serves", "exceed the 1,000", "its reads are throttled"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in %s", not, text)
		}
	}
	if want := "it is throttled at 79 % of what one partition serves, by short bursts or by others on its partition"; p.Key != "QUEUE#mail" || !strings.Contains(strings.Join(p.Reasons, " "), want) {
		t.Errorf("no %q in %s", want, text)
	}
}

// Contributor Insights counts reads and writes together, and not what was throttled.
func TestPlansOfInsights(t *testing.T) {
	insights := uneven(600, "OPEN", "DONE", "NEW")
	insights.Source, insights.Resources[0].Index = heat.Insights, "byStatus"
	metrics := heat.Report{Source: heat.CloudWatch, From: insights.From, To: insights.To, Resources: []heat.ResourceReport{{
		Resource: insights.Resources[0].Resource,
		Writes:   heat.Flow{Units: 36_000, Requests: 40_000, Throttled: 4000, Throttles: []heat.ThrottleCount{{Reason: "IndexWriteKeyRangeThroughputExceeded", Count: 4000}}},
	}}}
	reports := []heat.Report{insights, metrics}
	findings := heat.ExplainAll(heat.Rules{}, reports...)
	seen := observed.Of(reports)
	seen.Judge(findings)
	plans, err := seen.Plans(plan.Workload{}, seen.Hottest(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if findings[0].Severity != heat.Critical || findings[0].Key != "OPEN" || !strings.Contains(findings[0].Remedy, "shard the index's key") ||
		!strings.HasPrefix(plans[0].Verdict, "Spread OPEN over ") {
		t.Errorf("finding: %+v\nplan: %s", findings[0], &plans[0])
	}

	article := written(291, 0, "ARTICLE")
	article.Source = heat.Insights
	read := heat.Report{Source: heat.CloudWatch, Resources: []heat.ResourceReport{{Resource: article.Resources[0].Resource, Reads: heat.Flow{Units: 17_000, Requests: 34_000}}}}
	for want, reports := range map[string][]heat.Report{
		"Do not shard ARTICLE: 0 write and 291 read units a second fit in one partition":               {article, read},
		"Do not shard ARTICLE: 291 units a second, of reads and writes together, fit in one partition": {article},
	} {
		seen := observed.Of(reports)
		plans, err := seen.Plans(plan.Workload{}, seen.Hottest(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(plans[0].Verdict, want) {
			t.Errorf("got %s, want %s", plans[0].Verdict, want)
		}
	}
}

// The names of sort keys that a table's description gave are in the snippet, each in its place. What is not there is not asked for.
func TestPlansNameSortKeys(t *testing.T) {
	index := written(980, 900, "OPEN")
	index.Resources[0].Index, index.Resources[0].Sort, index.Resources[0].Key = "byStatus", []string{}, []string{"status"}
	index.Resources = append(index.Resources, heat.ResourceReport{Resource: heat.Resource{Table: "views"}, Key: []string{"pk"}, Sort: []string{"sk"}})
	table := written(980, 900, "OPEN")
	table.Resources[0].Sort = []string{"sk"}
	unknown := written(980, 900, "OPEN")
	for _, test := range []struct {
		report heat.Report
		want   string
		asks   bool
	}{
		{index, "PartitionKey: \"pk\",\n\tSortKey:      \"sk\",\n\tIndex:        heatsink.Index{Name: \"byStatus\", PartitionKey: \"status\"}", false},
		{table, "PartitionKey: \"pk\",\n\tSortKey:      \"sk\",\n\tLayout", false},
		{unknown, "PartitionKey: \"pk\",\n\tLayout", true},
	} {
		_, p := both(t, test.report)
		if !strings.Contains(p.Snippet, test.want) || strings.Contains(p.Snippet, "Fill in") != test.asks {
			t.Errorf("got %s\nwant %s", p.Snippet, test.want)
		}
	}
}

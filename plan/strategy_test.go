package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// 000-15, 000-16, 001-16, 001-17, 002-07, 002-08, 003-19, 004-18, 004-19, 004-20: which strategy, for whom.
func TestChoose(t *testing.T) {
	week := 7 * 24 * time.Hour
	for _, c := range []struct {
		name     string
		workload Workload
		want     Strategy
		why      string // in one of the reasons
	}{
		{"above 1,000 write units", Workload{Writes: 1001}, Random, "1,001 write units a second exceed the " +
			"1,000"},
		{"large items count", Workload{Writes: 400, ItemBytes: 3000}, Random, "1,200 write units"},
		{"likes of a viral post", Workload{Writes: 3000, Read: Reading{Pattern: Counters}}, Counter, "the number is sharded"},
		{"a viral post that is read", Workload{Writes: 1, Reads: 20_000, Read: Reading{Pattern: Mostly}}, Cached, "a cache does"},
		{"a viral post that is written too", Workload{Writes: 2000, Reads: 20_000, Read: Reading{Pattern: Mostly}}, Leave, "plan a counter"},
		{"one item of an index", Workload{Writes: 2000, Read: Reading{Pattern: Mostly}, Table: Table{Index: true}}, Leave, "goes to the same shard"},
		{"any item", Workload{Writes: 500, Reads: 1, Unpredictable: true, Read: Reading{Pattern: Mostly}}, Leave, "shards do not help an item"},
		{"one item beside a hot key", Workload{Writes: 300, Throttles: 11, Read: Reading{Pattern: Mostly}}, Leave, "goes to the same shard"},
		{"page views", Workload{Writes: 5000, Reads: 1}, Random, "read as a list"},
		{"analytics of the last hour", Workload{Writes: 5000, Reads: 1, Read: Reading{Pattern: Times, Window: time.Hour}}, BucketedShards, "a bucket alone would not help"},
		{"a rate limiter's calls", Workload{Writes: 2000, Reads: 2000, ItemBytes: 200, Read: Reading{Pattern: Times, Window: time.Hour, Items: 1}}, BucketedShards, ""},
		{"sessions by their id", Workload{Writes: 1500, Reads: 3000, Read: Reading{Pattern: Points}}, Calculated, "one request finds a calculated shard"},
		{"orders of a day by their id", Workload{Writes: 2000, Reads: 100, Read: Reading{Pattern: Points}}, Calculated, "a request to every shard"},
		{"status in an index", Workload{Writes: 2000, Reads: 1, Table: Table{Index: true}}, ShardedIndex, "DynamoDB refuses the table's writes"},
		{"tenants", Workload{Writes: 500, Reads: 1, Unpredictable: true}, BucketedShards, "nobody can foresee"},
		{"tenants by id", Workload{Writes: 500, Reads: 1, Unpredictable: true, Read: Reading{Pattern: Points}}, Calculated, "nobody can foresee"},
		{"tenants in an index", Workload{Writes: 500, Reads: 1, Unpredictable: true, Table: Table{Index: true}}, ShardedIndex, "nobody can foresee"},
		{"hot tenants", Workload{Writes: 5000, Reads: 1, Unpredictable: true}, BucketedShards, "nobody can foresee"},
		{"above 3,000 read units", Workload{Writes: 1, Reads: 6001, Read: Reading{Pattern: Points}}, Calculated, "read units a second exceed the 3,000"},
		{"no old answers", Workload{Writes: 1, Reads: 20_000, Read: Reading{Pattern: Mostly, Stale: -1}}, Replicated, "copies"},
		{"throttled below its limit", Workload{Writes: 300, Throttles: 11}, Random, "throttled below"},
		{"bulk import of 10,000 products", Workload{Key: "PRODUCT_INDEX", Writes: 10_000, Reads: 1}, Random, "10,000 write units"},

		{"an operations log", Workload{Writes: 0.1, Reads: 1, Read: Reading{Pattern: Times, Window: week}}, Bucketed, "nothing to spread"},
		{"50 writes a day", Workload{Writes: 50.0 / 86400, Reads: 0.1}, Leave, "below 100 requests a second"},
		{"500 writes a day", Workload{Writes: 500.0 / 86400, Reads: 0.1}, Leave, "fit in one partition"},
		{"just at the limit", Workload{Writes: 1000}, Leave, "fit in one partition"},
		{"few requests", Workload{Writes: 99}, Leave, "below 100 requests a second"},
		{"naturally spread", Workload{Writes: 300, Keys: 1_000_000, Share: 0.00001}, Leave, "DynamoDB spreads them by itself"},
		{"read-first", Workload{Writes: 150, Reads: 200, Read: Reading{Items: 1}}, Leave, "read more than it is written"},
		{"one query in order", Workload{Writes: 150, Reads: 1}, Leave, "one query reads one key"},
		{"consistent with each other", Workload{Writes: 2000, Atomic: true}, Leave, "cannot be sharded"},
		{"strong reads of one item", Workload{Writes: 1, Reads: 20_000, Read: Reading{Pattern: Mostly, Strong: true}}, Leave, "cannot use a cache or a copy"},
		{"ten throttles", Workload{Writes: 300, Throttles: 10}, Leave, "fit in one partition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustPlan(t, c.workload)
			if p.Strategy != c.want || p.Shard != c.want.Spreads() {
				t.Errorf("got %s, %v, want %s", p.Strategy, p.Shard, c.want)
			}
			if !strings.Contains(strings.Join(p.Reasons, "\n"), c.why) {
				t.Errorf("no %q in %q", c.why, p.Reasons)
			}
			if !p.Shard && p.Strategy != Replicated && (p.Shards != 1 || p.Recommended != nil || p.Warm != nil) {
				t.Errorf("what is not spread has %d shards, %v, %v", p.Shards, p.Recommended, p.Warm)
			}
			if fits := p.Strategy == Leave && !p.Load.HotWrites && !p.Load.HotReads; fits != strings.HasPrefix(p.Verdict, "Do not shard") && p.Strategy == Leave {
				t.Errorf("the verdict is %q", p.Verdict)
			}
		})
	}
}

// 004-17: aligned buckets need the fewest queries, then shards that can be calculated, then random ones.
func TestRank(t *testing.T) {
	want := []ranked{{Bucketed, 1, 1}, {Calculated, 10, 1}, {Random, 10, 10}, {BucketedShards, 10, 10}}
	if got := rankStrategies(10, 1); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, ranking := range [][]ranked{rankStrategies(0, 0), rankStrategies(2, 7), rankStrategies(5, 2)} {
		if !slices.IsSortedFunc(ranking, func(a, b ranked) int { return a.List - b.List }) {
			t.Errorf("%v is not in order", ranking)
		}
	}
	p := mustPlan(t, Workload{Writes: 5000, Reads: 1, Read: Reading{Pattern: Times}})
	if p.Ranking[0].Strategy != Bucketed || p.Ranking[1].Strategy != Calculated || p.Ranking[2].Strategy != Random {
		t.Errorf("got %v", p.Ranking)
	}
}

// 004-24: the need, in the published words.
func TestNeed(t *testing.T) {
	for _, c := range []struct {
		requests float64
		keys     int
		share    float64
		want     Need
	}{
		{1e6, 1000, 0, NeedEssential},
		{5e6, 9000, 0, NeedEssential},
		{5e6, 9000, 0.01, NeedEssential},
		{2e6, 50_000, 0.001, NeedEssential}, // one key of many is above the limit
		{5000, 3, 0, NeedCritical},
		{2000, 1, 1, NeedCritical},
		{5000, 10, 0.9, NeedCritical},
		{5000, 10_000, 0, NeedNot},
		{5000, 10_000, 0.01, NeedNot},
		{1e6, 1_000_000, 0, NeedNot},
		{500, 1, 1, NeedNot},
		{0, 0, 0, NeedNot},
	} {
		if got := needOf(c.requests, c.keys, c.share, PartitionWrites); got != c.want {
			t.Errorf("%v requests on %d keys, %v of them on one: got %s, want %s", c.requests, c.keys, c.share, got, c.want)
		}
	}
	for need, w := range map[Need]Workload{
		NeedEssential: {Writes: 1500, Keys: 5000, Share: 0.001},
		NeedCritical:  {Writes: 1500, Keys: 3, Share: 0.5},
		NeedNot:       {Writes: 100, Keys: 5000, Share: 0.001},
	} {
		if p := mustPlan(t, w); p.Need != need {
			t.Errorf("%+v: got %s, want %s", w, p.Need, need)
		}
	}
}

// 001-14, 004-19: months for 10 to 50 items a day, days for a log; 24 hours touch two days at the most.
func TestChooseBucket(t *testing.T) {
	const quarter = 90 * day
	for _, c := range []struct {
		name        string
		itemsPerDay float64
		window      time.Duration
		want        layout.Bucket
		least, most int
	}{
		{"10 threats a day, a quarter", 10, quarter, layout.Month, 3, 4},
		{"50 threats a day, a quarter", 50, quarter, layout.Month, 3, 4},
		{"a log of 1,000 a day, a week", 1000, 7 * day, layout.Day, 7, 8},
		{"a log of 100,000 a day, a week", 100_000, 7 * day, layout.Day, 7, 8},
		{"metrics, 24 hours", 5e6, day, layout.Day, 1, 2},
		{"metrics, an hour", 5e6, time.Hour, layout.Hour, 1, 2},
		{"200 a day, a week", 200, 7 * day, layout.Week, 1, 2},
		{"one a day, a year", 1, 365 * day, layout.Year, 1, 2},
		{"many, ten years", 1e6, 3650 * day, layout.Year, 10, 11},
		{"everything", 1000, 0, layout.NoBucket, 1, 1},
	} {
		got := chooseBucket(c.itemsPerDay, c.window)
		least, most := touched(got, c.window)
		if got != c.want || least != c.least || most != c.most {
			t.Errorf("%s: got %s, %d to %d buckets, want %s, %d to %d", c.name, got, least, most, c.want, c.least, c.most)
		}
	}
	if least, most := touched(layout.Day, quarter); least != 90 || most != 91 {
		t.Errorf("a quarter of days is %d to %d queries, want 90 to 91", least, most)
	}
	p := mustPlan(t, Workload{Writes: 30.0 / 86400, Reads: 1, Read: Reading{Pattern: Times, Window: quarter}})
	if p.Strategy != Bucketed || p.Bucket != layout.Month || p.Read.Requests != 4 {
		t.Errorf("30 threats a day: got %s by %s with %d requests", p.Strategy, p.Bucket, p.Read.Requests)
	}
}

// A plan's bucket is the layout's, as JSON by its name; without one there is none. What a plan says can be a layout.
func TestBucketAsJSON(t *testing.T) {
	for want, w := range map[string]Workload{
		`"bucket":"month"`: {Writes: 30.0 / 86400, Reads: 1, Read: Reading{Pattern: Times, Window: 90 * day}},
		"":                 {Writes: 1},
	} {
		p := mustPlan(t, w)
		text, err := json.Marshal(p)
		if err != nil || !strings.Contains(string(text), want) || want == "" && strings.Contains(string(text), `"bucket"`) {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
		var back Plan
		if err := json.Unmarshal(text, &back); err != nil || back.Bucket != p.Bucket || back.Need != p.Need {
			t.Errorf("got %s and %s, %v, want %s and %s", back.Bucket, back.Need, err, p.Bucket, p.Need)
		}
	}
	if MaxShards > layout.MaxShards {
		t.Errorf("a plan may have %d shards, a layout only %d", MaxShards, layout.MaxShards)
	}
}

// 004-20, 001-17, 004-18: the keys of the published examples.
func TestKeysOfExamples(t *testing.T) {
	for _, c := range []struct {
		workload    Workload
		shards      int
		first, last string
	}{
		{
			Workload{Key: "tenant-456", Writes: 300, Unpredictable: true, Names: Names{Format: layout.PlainNumber()}},
			5, "tenant-456#2026-06-22#0", "tenant-456#2026-06-22#4",
		},
		{
			Workload{Key: "leaderboard#game-1", Writes: 2300, Processes: 100, Read: Reading{Pattern: Counters}, Table: Table{Partitions: 40}, Names: Names{Format: layout.PlainNumber()}},
			10, "leaderboard#game-1#0", "leaderboard#game-1#9",
		},
		{
			Workload{Key: "PRODUCT_INDEX", Writes: 10_000, Table: Table{Partitions: 500}, Names: Names{Format: layout.PlainNumber()}},
			17, "PRODUCT_INDEX#0", "PRODUCT_INDEX#16",
		},
		{Workload{Key: "2014-07-09", Writes: 1001, Names: Names{Format: layout.DotFromOne()}}, 5, "2014-07-09.1", "2014-07-09.5"},
		{Workload{Key: "STATUS#ACTIVE", Writes: 1001, Existing: true, Names: Names{Format: layout.SharpNumber()}}, 5, "STATUS#ACTIVE", "STATUS#ACTIVE#SHARD#4"},
	} {
		p := mustPlan(t, c.workload)
		w := c.workload.withDefaults()
		first, last := w.keys(&p)
		if p.Shards != c.shards || first != c.first || last != c.last || !strings.Contains(p.Snippet, `"`+last+`"`) {
			t.Errorf("%s: got %d shards, %s to %s, want %d, %s to %s", p.Key, p.Shards, first, last, c.shards, c.first, c.last)
		}
	}
}

// Few requests for large items may be much of a partition: then they are no reason to leave a key.
func TestFewRequestsOfLargeItems(t *testing.T) {
	p := mustPlan(t, Workload{Writes: 79, ItemBytes: 10 << 10})
	if p.Strategy != Leave || p.Load.WriteUnits != 790 || strings.Contains(strings.Join(p.Reasons, " "), "nothing to spread") {
		t.Errorf("got %s: %q", p.Verdict, p.Reasons)
	}
}

// What is little traffic follows from what a partition takes.
func TestLittleTraffic(t *testing.T) {
	for limit, want := range map[int64]bool{0: true, 400: true, 200: false} {
		p, err := For(Workload{Writes: 30, Table: Table{PartitionWrites: limit}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(p.Reasons, " "), "there is nothing to spread"); got != want {
			t.Errorf("30 writes a second on partitions of %d: got %q", limit, p.Reasons)
		}
	}
}

package heat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
)

// observeEvenly counts so many units a second of each key for ten seconds.
func observeEvenly(recorder *heat.Recorder, perSecond map[string]int) {
	for range 100 {
		for key, n := range perSecond {
			for i := range n / 10 {
				recorder.Observe(heat.Observation{
					Resource: heat.Resource{Table: "views"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{key},
					Sort: []string{fmt.Sprint(i)}, Units: 1,
				})
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func sharded(key string, format string, shards, perSecond int) map[string]int {
	all := make(map[string]int)
	for i := range shards {
		all[fmt.Sprintf(format, key, i)] = perSecond
	}
	return all
}

// A key over shards is one key in a report, also if it has more shards than the report lists, and it is no finding while it
// is spread. Its bare key stays apart.
func TestReportsFoldShards(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true, Top: 20})
		load := sharded("POLL#7", "%s#SHARD_%d", 64, 100)
		load["POLL#7"], load["USER#1"], load["USER#2"] = 10, 30, 20
		observeEvenly(recorder, load)
		report := recorder.Report()
		folded := resource(t, report, "views").Writes.Folded()
		if len(folded) < 1 || folded[0].Key != "POLL#7" || folded[0].Shards != 64 || folded[0].Units != 64_000 || folded[0].Spread() != "64 shards, the fullest takes 2 %" {
			t.Fatalf("got %+v", folded)
		}
		if k := folded[0]; k.HottestRate < 90 || k.HottestRate > 110 || k.Consumed < 60*k.HottestRate || k.Consumed > 68*k.HottestRate || k.Second != 6400 {
			t.Errorf("the rates are not those of 64 shards with 100 units a second: %+v", k)
		}
		if findings := heat.Explain(report, heat.Rules{}); len(findings) != 0 {
			t.Errorf("got %v", findings)
		}
	})
}

// Without shards a key stays as it is, one shard alone too, and a bare key beside shards is another key.
func TestFoldedKeys(t *testing.T) {
	flow := heat.Flow{Keys: []heat.KeyHeat{
		{Key: "A#SHARD_0", Units: 60, RateLow: 6, Share: 0.3, Requests: 60, Throttled: 1},
		{Key: "A#SHARD_1", Units: 40, RateLow: 4, Share: 0.2, Requests: 40},
		{Key: "A", Units: 30, RateLow: 3, Share: 0.1},
		{Key: "B#SHARD_7", Units: 20, RateLow: 2, Share: 0.1},
		{Key: "C#1", Units: 10, RateLow: 1},
		{Key: "C#2", Units: 9, RateLow: 0.9},
	}}
	text := func(all []heat.LogicalKey) string {
		var list []string
		for _, k := range all {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %v %s", k.Key, k.Units, k.Spread())))
		}
		return strings.Join(list, "; ")
	}
	if got, want := text(flow.Folded()), "A 100 2 shards, the fullest takes 60 %; A 30; B#SHARD_7 20; C#1 10; C#2 9"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if first := flow.Folded()[0]; first.RateLow != 10 || first.Requests != 100 || first.Throttled != 1 || first.Share != 0.5 || first.Fullest != "A#SHARD_0" {
		t.Errorf("got %+v", first)
	}
	flow.Sharded = []heat.Sharded{{Layout: heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.PlainNumber()}}}}
	if got := text(flow.Folded()); !strings.Contains(got, "C 19 2 shards") {
		t.Errorf("with a layout: got %s", got)
	}
	stored := heat.Stored{Keys: []heat.KeyItems{{Key: "A#SHARD_0", Low: 5}, {Key: "A#SHARD_1", Low: 15}, {Key: "B", Low: 7}}}
	if got := stored.Folded(); len(got) != 2 || got[0].Key != "A" || got[0].Items != 20 || got[0].Spread() != "2 shards, the fullest takes 75 %" {
		t.Errorf("stored: got %+v", got)
	}
}

// The rates of a key are those of its shards together, the hottest shard is told apart, and the reason is that of the shard
// that was throttled most.
func TestFoldedRates(t *testing.T) {
	flow := heat.Flow{Keys: []heat.KeyHeat{
		{Key: "A.1", Units: 60, RateLow: 6, Consumed: 5, Second: 3, Refused: 1, Throttled: 1, Reason: "few"},
		{Key: "A.2", Units: 40, RateLow: 8, Consumed: 4, Second: 2, Refused: 2, Throttled: 7, Reason: "many"},
		{Key: "A.3", Units: 10, RateLow: 1, Throttled: 2, Reason: "some"},
		{Key: "B", RateLow: 4, Consumed: 4, Refused: 3, Throttled: 3, Reason: "own"},
	}}
	dotted := heat.Layout{Layout: layout.Layout{Shards: 8, Format: layout.DotFromOne()}}
	if got := flow.Folded(); len(got) != 4 {
		t.Errorf("without a layout: got %+v", got)
	}
	got := flow.Folded(dotted)
	want := []heat.LogicalKey{
		{
			Key: "A", Shards: 3, Units: 110, RateLow: 15, Throttled: 10, Consumed: 9, Second: 5, Refused: 3,
			Fullest: "A.1", FullestShare: 60.0 / 110, HottestRate: 8, Reason: "many",
		},
		{Key: "B", Shards: 1, RateLow: 4, Throttled: 3, Consumed: 4, Refused: 3, HottestRate: 4, Reason: "own"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for key, want := range map[string]string{"A.2": "A true", "A": " false", "B#SHARD_1": "B true", "B": " false"} {
		logical, shard := flow.LogicalOf(key, dotted)
		if got := fmt.Sprint(logical, " ", shard); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

// Keys that Redact made the same are no shards of each other: the hottest stands for them.
func TestFoldedKeysOfTheSameText(t *testing.T) {
	for _, keys := range [][]heat.KeyHeat{
		{{Key: "tenant", RateLow: 9, Units: 90, Refused: 1}, {Key: "tenant", RateLow: 7, Units: 99, Refused: 2}},
		{{Key: "tenant", RateLow: 7, Units: 99, Refused: 2}, {Key: "tenant", RateLow: 9, Units: 90, Refused: 1}},
	} {
		flow := heat.Flow{Keys: keys}
		got := flow.Folded()
		if len(got) != 1 || got[0] != (heat.LogicalKey{Key: "tenant", Shards: 1, Units: 90, RateLow: 9, Refused: 1, HottestRate: 9}) {
			t.Errorf("got %+v", got)
		}
	}
}

// A report of an older release, which has shards together without their rates, is folded from its keys.
func TestFoldedOfAnOlderRelease(t *testing.T) {
	flow := heat.Flow{
		Keys:    []heat.KeyHeat{{Key: "A#SHARD_0", RateLow: 6, Refused: 1}, {Key: "A#SHARD_1", RateLow: 5}},
		Logical: []heat.LogicalKey{{Key: "A", Shards: 3, RateLow: 13}},
	}
	if got := flow.Folded(); len(got) != 1 || got[0].Shards != 2 || got[0].HottestRate != 6 || got[0].Refused != 1 {
		t.Errorf("got %+v", got)
	}
	flow.Logical[0].HottestRate = 6
	if got := flow.Folded(); len(got) != 1 || got[0].Shards != 3 {
		t.Errorf("of this release: got %+v", got)
	}
}

// Shards that are all too hot are one finding, which says how many there are and does not advise to shard as if there were
// none.
func TestHotShardsAreOneFinding(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true})
		observeEvenly(recorder, sharded("POLL#7", "%s#SHARD_%d", 8, 1100))
		findings := heat.Explain(recorder.Report(), heat.Rules{})
		if len(findings) != 1 || findings[0].Kind != heat.HotKey || len(findings[0].Others) != 7 {
			t.Fatalf("got %v", findings)
		}
		const want = "'POLL#7' has 8 shards, the fullest takes 12 % of 88,000 write units"
		if !slices.Contains(findings[0].Evidence, want) || !strings.Contains(findings[0].Remedy, "raise the number of shards") {
			t.Errorf("got %+v", findings[0])
		}
	})
}

// An index whose key is sharded already is not advised to shard it.
func TestAShardedIndexIsNoFinding(t *testing.T) {
	r := report(heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: 900}})
	index := heat.ResourceReport{
		Resource: heat.Resource{Table: "app", Index: "GSI1"}, Key: []string{"GSI1PK"},
		Writes: heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: 16}},
	}
	index.Patterns = []heat.Pattern{{Shape: "STATUS#{value}#SHARD_{n}", Example: "STATUS#ACTIVE#SHARD_3", Sharded: true, Distinct: heat.Distinct{Keys: 16}, Writes: 1000}}
	r.Resources = append(r.Resources, index)
	if got := heat.Explain(r, heat.Rules{}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	r.Resources[1].Patterns[0] = heat.Pattern{Shape: "STATUS#{id}", Distinct: heat.Distinct{Keys: 16}, Writes: 1000}
	if got := kinds(heat.Explain(r, heat.Rules{})); got != "warning hot-index " {
		t.Errorf("without shards: got %q", got)
	}
}

// A recorder that was told a layout folds shards of that layout, and shards that say so themselves.
func TestReportsFoldShardsOfALayoutToo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true, Top: 2, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4, Format: layout.DotFromOne()}}}})
		load := sharded("POLL#7", "%s#SHARD_%d", 8, 50)
		load["DAY.1"], load["DAY.2"], load["DAY.3"], load["USER#1"] = 60, 40, 20, 10
		observeEvenly(recorder, load)
		var got []string
		for _, k := range resource(t, recorder.Report(), "views").Writes.Logical {
			got = append(got, fmt.Sprintf("%s: %v units of %s", k.Key, k.Units, k.Spread()))
		}
		want := []string{"POLL#7: 4000 units of 8 shards, the fullest takes 12 %", "DAY: 1200 units of 3 shards, the fullest takes 50 %"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// The bare key of an adaptive collection is its first shard: one row has the sum, also in reports of live calls.
func TestFoldedKeyThatGrows(t *testing.T) {
	stored := heat.Stored{Items: 100, Keys: []heat.KeyItems{{Key: "OPEN", Low: 40, Share: 0.4}, {Key: "OPEN#SHARD_1", Low: 50, Share: 0.5}, {Key: "OPEN#SHARD_2", Low: 10, Share: 0.1}}}
	if got := stored.Folded(); len(got) != 1 || got[0].Key != "OPEN" || got[0].Shards != 3 || got[0].Items != 100 || got[0].Fullest != "OPEN#SHARD_1" || !got[0].Bare {
		t.Errorf("stored: got %+v", got)
	}
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true, Top: 4})
		load := sharded("OPEN", "%s#SHARD_%d", 16, 50)
		delete(load, "OPEN#SHARD_0")
		load["OPEN"], load["CLOSED"], load["CLOSED#SHARD_7"] = 60, 3, 2
		observeEvenly(recorder, load)
		flow := resource(t, recorder.Report(), "views").Writes
		got := flow.Folded()
		if len(got) == 0 || got[0].Key != "OPEN" || got[0].Shards != 16 || got[0].Units != 8100 || !got[0].Bare {
			t.Errorf("got %+v", got)
		}
		if slices.ContainsFunc(got[1:], func(k heat.LogicalKey) bool { return k.Key == "OPEN" }) {
			t.Errorf("the bare key is listed again: %+v", got)
		}
		for key, want := range map[string]bool{"OPEN": true, "OPEN#SHARD_3": true, "CLOSED": false} {
			if _, shard := flow.LogicalOf(key); shard != want {
				t.Errorf("%s: shard is %v", key, shard)
			}
		}
	})
}

// Where a layout is told, it alone says whether the bare key is a shard.
func TestFoldedBareKeyOfALayout(t *testing.T) {
	for _, bareZero := range []bool{false, true} {
		flow := heat.Flow{
			Keys:    []heat.KeyHeat{{Key: "A", RateLow: 3}, {Key: "A#SHARD_1", RateLow: 5}, {Key: "A#SHARD_2", RateLow: 4}},
			Sharded: []heat.Sharded{{Layout: heat.Layout{Layout: layout.Layout{Shards: 4, Format: layout.Format{BareZero: bareZero}}}}},
		}
		want := map[bool]int{false: 2, true: 1}[bareZero]
		if got := flow.Folded(); len(got) != want || got[0].Bare {
			t.Errorf("BareZero %v: got %+v", bareZero, got)
		}
	}
}

package heat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
)

// offer observes writes of ten units each to keys for some seconds, and so many of a hundred of them throttled.
func offer(recorder *heat.Recorder, seconds int, perSecond, refused int, keys ...string) {
	for range seconds * 10 {
		for n := range perSecond / 10 {
			o := heat.Observation{
				Resource: heat.Resource{Table: "app"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{keys[n%len(keys)]}, Units: 10,
			}
			if n%100 < refused {
				o.Throttled, o.Reason = true, "TableWriteKeyRangeThroughputExceeded"
			}
			recorder.Observe(o)
		}
		time.Sleep(time.Second / 10)
	}
}

// A key of an adaptive collection that was throttled, grew and is served since then is healthy: what was before belongs to
// its growth. Its demand is that of one moment, not of the peaks of its shards at different times.
func TestThrottlesBeforeGrowthBelongToIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{})
		shards := []string{"LIKES#1"}
		for i := 1; i < 8; i++ {
			shards = append(shards, fmt.Sprintf("LIKES#1#SHARD_%d", i))
		}
		offer(recorder, 5, 250, 60, shards[0])
		if worst, _ := heat.Worst(heat.Explain(recorder.Report(), heat.Rules{})); worst != heat.Critical {
			t.Errorf("throttled: got %s", worst)
		}
		offer(recorder, 15, 250, 0, shards...)
		report := recorder.Report()
		check := func(when string) {
			report := recorder.Report()
			report.Ended = when == "the end" // it counts at its busiest then
			findings := heat.Explain(report, heat.Rules{})
			if got := kinds(findings); got != "info key-grew LIKES#1" {
				t.Errorf("%s: got %s: %v", when, got, findings)
			} else if !strings.Contains(findings[0].Remedy, "if the collection is adaptive") { // nothing proves it
				t.Errorf("got %s", findings[0].Remedy)
			}
		}
		check("after the growth")
		check("the end")
		if k := resource(t, report, "app").Writes.Logical[0]; k.Busy < 2000 || k.Busy > 2750 {
			t.Errorf("a demand of %.0f units a second, want that of 2,500: %+v", k.Busy, k)
		}
		offer(recorder, 90, 50, 0, shards...)
		check("90 seconds later")

		offer(recorder, 5, 800, 60, shards...) // more than these shards take
		if worst, _ := heat.Worst(heat.Explain(recorder.Report(), heat.Rules{})); worst != heat.Critical {
			t.Errorf("throttled again: got %s", worst)
		}
	})
}

// Where the time of a growth is known, what was throttled up to a few seconds after it belongs to it at once, also while another key
// is throttled. A key that is throttled from then on is hot, and is told to let the law work, not to get fixed shards.
func TestThrottlesOfADecidedGrowth(t *testing.T) {
	shards := []string{"LIKES#1"}
	for i := 1; i < 8; i++ {
		shards = append(shards, fmt.Sprintf("LIKES#1#SHARD_%d", i))
	}
	for _, test := range []struct {
		name    string
		seconds int                       // after the growth
		after   func(*heat.Recorder, int) // in each of them
		want    string
	}{
		{"at once", 1, func(r *heat.Recorder, _ int) { offer(r, 1, 250, 60, shards[0]) }, "info key-grew LIKES#1"},
		{"almost hot", 6, func(r *heat.Recorder, _ int) { offer(r, 1, 80, 0, shards[0]) }, "warning hot-key LIKES#1; info key-grew LIKES#1"},
		{"served", 6, func(r *heat.Recorder, second int) {
			if second < 2 {
				offer(r, 1, 250, 60, shards[0]) // another process has not learnt of it yet
			} else {
				offer(r, 1, 250, 0, shards...)
			}
		}, "info key-grew LIKES#1"},
		{"beside a hot key", 6, func(r *heat.Recorder, second int) {
			offer(r, 1, 250, 60, "OTHER")
			offer(r, 1, 250, 0, shards...)
		}, "critical low-cardinality OTHER; info key-grew LIKES#1"},
		{"throttled on", 6, func(r *heat.Recorder, second int) {
			offer(r, 1, 800, 60, shards...)
		}, "critical hot-key LIKES#1; critical hot-partition LIKES#1#SHARD_1; info key-grew LIKES#1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				recorder := newRecorder(t, heat.Options{})
				offer(recorder, 20, 800, 80, shards[0])
				recorder.Decided(heat.Decision{Resource: heat.Resource{Table: "app"}, Key: shards[0], Reason: heat.DecidedGrow, From: 1, To: 8})
				for second := range test.seconds {
					test.after(recorder, second)
				}
				findings := heat.Explain(recorder.Report(), heat.Rules{})
				var of []heat.Finding
				for _, f := range findings {
					if f.Key != "" {
						of = append(of, f)
					}
				}
				if got := kinds(of); got != test.want {
					t.Fatalf("got %s, want %s: %+v", got, test.want, findings)
				}
				if f := findings[0]; f.Kind == heat.HotKey && f.Severity == heat.Warning {
					checkText(t, f.Remedy, "nothing: the key grows further by itself")
				} else if f.Kind == heat.HotKey {
					checkText(t, f.Cause, "has grown from 1 shard to 8 shards at 00:00:20", "still throttled")
					checkText(t, f.Remedy, "Options.Adaptive", "ledger show")
				}
			})
		})
	}
}

// Shards of a fixed number that were all throttled have not grown: nothing takes their throttles away.
func TestFixedShardsDoNotGrow(t *testing.T) {
	for _, adaptive := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{})
			shards := []string{"QUEUE#mail", "QUEUE#mail#SHARD_1", "QUEUE#mail#SHARD_2", "QUEUE#mail#SHARD_3", "QUEUE#mail#SHARD_4"}
			if adaptive {
				recorder.Observe(heat.Observation{
					Resource: heat.Resource{Table: "app"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{layout.ControlPrefix + "x"}, Units: 1,
				})
			}
			offer(recorder, 5, 500, 60, shards...)
			offer(recorder, 15, 100, 0, shards...)
			grown := strings.Contains(kinds(heat.Explain(recorder.Report(), heat.Rules{})), "key-grew")
			if grown != adaptive {
				t.Errorf("adaptive %v: grown %v", adaptive, grown)
			}
		})
	}
}

// A key far below the limit that comes in bursts has one finding, which is not critical: a plan leaves it alone.
func TestBurstsAreOneWarning(t *testing.T) {
	for _, test := range []struct {
		of     heat.Resource
		d      heat.Direction
		reason string
		want   string
	}{
		{heat.Resource{Table: "app", Index: "bySeller"}, heat.Write, "IndexWriteKeyRangeThroughputExceeded", "warning hot-index "},
		{heat.Resource{Table: "app"}, heat.Write, "TableWriteKeyRangeThroughputExceeded", "warning hot-partition "},
		{heat.Resource{Table: "app"}, heat.Read, "TableReadKeyRangeThroughputExceeded", "warning hot-partition "},
	} {
		t.Run(test.of.String()+" "+test.d.String(), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				recorder := newRecorder(t, heat.Options{})
				observe := func(key string, units float64, refused bool) {
					o := heat.Observation{Resource: test.of, Direction: test.d, KeyNames: []string{"gpk"}, Key: []string{key}, Units: units, Throttled: refused}
					if refused {
						o.Reason = test.reason
					}
					recorder.Observe(o)
				}
				for second := range 30 {
					for n := range 40 {
						observe(fmt.Sprintf("SELLER#s-%d", 1000+(40*second+n)%97), 1, false)
					}
					for n := range 60 {
						if second%5 == 0 {
							observe("SELLER#s-7", 10, n >= 20)
						}
					}
					time.Sleep(time.Second)
				}
				findings := heat.Explain(recorder.Report(), heat.Rules{})
				if got := kinds(findings); got != test.want+"SELLER#s-7" {
					t.Fatalf("got %s, %+v", got, findings)
				}
				checkText(t, findings[0].Cause, "short bursts", "far below the limit")
				checkText(t, fmt.Sprint(findings[0].Evidence), "throttled in 6 of 30 seconds")
				if test.of.Index != "" {
					checkText(t, findings[0].Cause, "refuses the table's writes")
				}
			})
		})
	}
}

func checkText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %q", part, text)
		}
	}
}

// A scan has no more keys of a shape than items of it.
func TestShapesHaveNoMoreKeysThanItems(t *testing.T) {
	for n := 1100; n < 1600; n += 20 {
		reader, err := heat.NewExportReader("app", heat.Options{Keys: map[string][]string{"app": {"pk"}}})
		if err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, `{"Item":{"pk":{"S":"ORDER#%08x"},"sk":{"S":"1"}}}`+"\n", uint32(i+n)*2654435761)
		}
		if err := reader.Read("items.json", strings.NewReader(lines.String())); err != nil {
			t.Fatal(err)
		}
		r := reader.Report().Resources[0]
		if r.Stored.Distinct.Keys > r.Stored.Items {
			t.Errorf("%d keys of %d items", r.Stored.Distinct.Keys, r.Stored.Items)
		}
		for _, p := range r.Patterns {
			if p.Distinct.Keys > p.Items {
				t.Errorf("%s: %d keys of %d items", p.Shape, p.Distinct.Keys, p.Items)
			}
		}
	}
}

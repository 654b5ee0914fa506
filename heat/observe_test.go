package heat_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// What others saw is counted as calls are: served and refused requests, tables and indexes, keys of several attributes,
// and requests without a key.
func TestObserve(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{})
		hot := heat.Observation{
			Resource: heat.Resource{Table: "orders", Index: "byPlace"}, Direction: heat.Write,
			KeyNames: []string{"country", "city"}, Key: []string{"FI", "Oulu"}, Sort: []string{"1"}, Units: 2,
		}
		refused := hot
		refused.Throttled, refused.Reason = true, "IndexWriteKeyRangeThroughputExceeded"
		for range 1000 {
			recorder.Observe(hot)
			recorder.Observe(refused)
			time.Sleep(time.Millisecond)
		}
		recorder.Observe(heat.Observation{Resource: heat.Resource{Table: "orders"}, Direction: heat.Read, Units: 0.5})

		report := recorder.Report()
		index := resource(t, report, "orders/byPlace")
		if len(index.Key) != 2 || index.Key[1] != "city" {
			t.Errorf("the key is %v", index.Key)
		}
		writes := index.Writes
		if writes.Units != 2000 || writes.Requests != 2000 || writes.Throttled != 1000 {
			t.Errorf("got %+v", writes)
		}
		key := writes.Keys[0]
		if key.Key != "FI|Oulu" || key.Units != 2000 || key.Throttled != 1000 || key.Items != 1 || key.Reason != refused.Reason {
			t.Errorf("got %+v", key)
		}
		if key.RateLow < 3800 || key.RateLow > 4200 || key.Consumed < 1900 || key.Consumed > 2100 {
			t.Errorf("wants %.0f units a second and got %.0f, should be 4000 and 2000", key.RateLow, key.Consumed)
		}
		if reads := resource(t, report, "orders").Reads; reads.Units != 0.5 || len(reads.Keys) != 0 {
			t.Errorf("got %+v", reads)
		}
		findings := heat.Explain(report, heat.Rules{})
		if len(findings) != 1 || findings[0].Key != "FI|Oulu" || findings[0].Severity != heat.Critical {
			t.Errorf("got %+v", findings)
		}
	})
}

// Tables that are forgotten leave room for others, and nothing of theirs in the report. What is no number does no harm.
func TestForget(t *testing.T) {
	recorder := newRecorder(t, heat.Options{Entries: 8})
	for i := range 1100 {
		table := fmt.Sprint("table-", i)
		recorder.Observe(heat.Observation{Resource: heat.Resource{Table: table}, KeyNames: []string{"pk"}, Key: []string{"a"}, Units: 1})
		recorder.Observe(heat.Observation{Resource: heat.Resource{Table: table, Index: "i"}, KeyNames: []string{"x"}, Key: []string{"a"}, Units: math.NaN()})
		recorder.Forget(table)
	}
	recorder.Forget("nothing")
	recorder.Observe(heat.Observation{Resource: heat.Resource{Table: "fresh"}, Key: []string{"a"}, Units: math.Inf(1)})
	report := recorder.Report()
	if len(report.Resources) != 1 || report.Resources[0].Table != "fresh" || len(report.Notes) != 0 {
		t.Errorf("got %+v", report)
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
}

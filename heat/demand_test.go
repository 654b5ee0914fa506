package heat_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Demand is what programs wanted: a collection that repeats its refused puts wants no more for that. 1,500 puts a second want
// 1,500 units, however often each is sent.
func TestRetriesOfCollectionsAreNoDemand(t *testing.T) {
	for _, attempts := range []int{1, 6} {
		t.Run(fmt.Sprint(attempts), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := start(t, &local.Physics{})
				recorder := newRecorder(t, heat.Options{})
				views, err := heatsink.Open[heatsink.Item](db.Client(recorder.Option), heatsink.Options{
					Table: "views", PartitionKey: "pk", SortKey: "sk",
					Retry: heatsink.Retry{Attempts: attempts, Budget: 1, Base: 20 * time.Millisecond, Max: 200 * time.Millisecond},
				})
				if err != nil {
					t.Fatal(err)
				}
				const perSecond = 1500
				var puts sync.WaitGroup
				for i := range 5 * perSecond {
					puts.Go(func() { _, _ = views.Put(context.Background(), key("PAGE#viral", fmt.Sprint(i))) })
					time.Sleep(time.Second / perSecond)
				}
				writes := resource(t, recorder.Report(), "views").Writes
				puts.Wait()
				if repeated := writes.Retries > 500; repeated != (attempts > 1) {
					t.Fatalf("%d retries of %d requests", writes.Retries, writes.Requests)
				}
				if k := writes.Keys[0]; k.RateLow < 0.9*perSecond || k.RateLow > 1.07*perSecond || k.Busy > 1.07*perSecond {
					t.Errorf("wants %.0f units a second, %.0f at its busiest, of %d puts", k.RateLow, k.Busy, perSecond)
				}
			})
		})
	}
}

// Retries that a server sees are no demand either.
func TestObservedRetriesAreNoDemand(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true})
		observe := func(attempt int, throttled bool) {
			o := heat.Observation{
				Resource: heat.Resource{Table: "views"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{"PAGE#viral"},
				Units: 2, Throttled: throttled, Attempt: attempt,
			}
			if throttled {
				o.Reason = "TableWriteKeyRangeThroughputExceeded"
			}
			recorder.Observe(o)
		}
		for i := range 4000 { // 100 a second want 200 units: half are served at once, a quarter the third time, a quarter never
			switch i % 4 {
			case 0, 1:
				observe(1, false)
			case 2:
				observe(1, true)
				observe(2, true)
				observe(3, false)
			case 3:
				observe(1, true)
				observe(2, true)
				observe(3, true)
			}
			time.Sleep(10 * time.Millisecond)
		}
		writes := resource(t, recorder.Report(), "views").Writes
		if k := writes.Keys[0]; k.RateLow < 198 || k.RateLow > 202 || writes.Retries != 4000 {
			t.Errorf("wants %.1f units a second, want 200; %d retries, want 4,000", k.RateLow, writes.Retries)
		}
	})
}

// Of a key that never gets through, only attempts are known. A finding does not take retries for requests.
func TestRequestsOfWhatIsAlwaysRefused(t *testing.T) {
	report := heat.Report{Source: heat.Live, From: noon, To: noon.Add(time.Minute), Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "app"},
		Writes: heat.Flow{Requests: 24_000, Retries: 18_000, Throttled: 24_000, Keys: []heat.KeyHeat{{
			Key: "PAGE#viral", Rate: 1000, RateLow: 1000, Refused: 400, Requests: 24_000, Throttled: 24_000,
			Reason: "TableWriteKeyRangeThroughputExceeded",
		}}},
	}}}
	findings := heat.Explain(report, heat.Rules{})
	if len(findings) == 0 || !strings.Contains(findings[0].Message, " has at least 100 requests/sec of 10.0 write units each ") {
		t.Errorf("got %v", findings)
	}
}

// After a pause rates are of the time since: what a key wants is not taken for the average of the pause and the load.
func TestDemandAfterAPause(t *testing.T) {
	for _, pause := range []time.Duration{0, 51 * time.Second, 5 * time.Minute} {
		bubble.Test(t, func(t *testing.T) {
			recorder := newRecorder(t, heat.Options{NoDescribe: true})
			observeEvenly(recorder, map[string]int{"LIKES#viral": 500})
			if pause > 0 {
				time.Sleep(pause)
				observeEvenly(recorder, map[string]int{"LIKES#viral": 900})
			} else {
				observeEvenly(recorder, map[string]int{"LIKES#viral": 500})
			}
			k := resource(t, recorder.Report(), "views").Writes.Keys[0]
			want := map[bool]float64{true: 900, false: 500}[pause > 0]
			if k.RateLow < 0.95*want || k.RateLow > 1.05*want || k.Busy < 0.9*want || k.Busy > 1.05*want {
				t.Errorf("after %v: wants %.0f units a second, %.0f at its busiest, and %.0f were served in the last second", pause, k.RateLow, k.Busy, k.Second)
			}
		})
	}
}

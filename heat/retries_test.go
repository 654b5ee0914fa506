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

// A collection repeats its own requests, with the SDK's retries off. The recorder is told, and finds too many of them: where
// a key is throttled, and not where nothing is repeated.
func TestRetriesOfCollectionsAreFound(t *testing.T) {
	for _, test := range []struct {
		name    string
		second  int // puts a second
		amplify bool
	}{
		{"throttled", 3000, true},
		{"served", 500, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := start(t, &local.Physics{})
				recorder := newRecorder(t, heat.Options{})
				views, err := heatsink.Open[heatsink.Item](db.Client(recorder.Option), heatsink.Options{
					Table: "views", PartitionKey: "pk", SortKey: "sk",
					Retry: heatsink.Retry{Attempts: 4, Budget: 1},
				})
				if err != nil {
					t.Fatal(err)
				}
				var meter heatsink.Meter
				ctx := heatsink.WithMeter(context.Background(), &meter)
				var puts sync.WaitGroup
				for i := range 2 * test.second {
					puts.Go(func() {
						_, _ = views.Put(ctx, key("PAGE#viral", fmt.Sprint(i))) // what is refused to the end is counted as well
					})
					time.Sleep(time.Second / time.Duration(test.second))
				}
				puts.Wait()
				report, cost := recorder.Report(), meter.Cost()
				writes := resource(t, report, "views").Writes
				if writes.Requests != int64(cost.Requests) || writes.Retries != int64(cost.Retries) || writes.Throttled != int64(cost.Throttles) {
					t.Errorf("recorded %d requests, %d retries, %d throttles; the meter has %+v", writes.Requests, writes.Retries, writes.Throttled, cost)
				}
				findings := kinds(heat.Explain(report, heat.Rules{}))
				if found := strings.Contains(findings, "retry-amplification"); found != test.amplify {
					t.Errorf("found: %t, want %t, with %d retries in %d requests: %s", found, test.amplify, writes.Retries, writes.Requests, findings)
				}
				if !test.amplify && writes.Retries != 0 {
					t.Errorf("%d retries where nothing was throttled", writes.Retries)
				}
			})
		})
	}
}

package simulate

import (
	"math"
	"testing"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// agreement is scenarios on which both modes must give the same figures.
var agreement = map[string]string{
	"one hot key, all retries": `
title: t
duration: 20s
table: {no-splits: true}
load: [{per-second: 3000, keys: {one: hot}}]
layouts: [{kind: none, retries: none}, {kind: none}, {kind: naive}, {kind: fixed, shards: 10}, {kind: bucket}, {kind: bucket-and-shards, shards: 16}]
`,
	"just at the limit": `
title: t
duration: 30s
load: [{per-second: 1000, keys: {one: hot}}]
layouts: [{kind: none, retries: none}, {kind: none, load-factor: 0.9}, {kind: none, load-factor: 1.1}]
`,
	"zipf": `
title: t
duration: 20s
table: {partitions: 20}
load: [{per-second: 8000, keys: {zipf: {count: 50000, exponent: 1.1}}}]
layouts: [{kind: none}, {kind: none, retries: none}, {kind: naive, shards: 20}, {kind: calculated, shards: 8}, {kind: fixed, shards: 8}]
`,
	"uniform, and more than is provisioned": `
title: t
duration: 20s
table: {capacity: provisioned, write-units: 2000, read-units: 1000, partitions: 8}
load: [{per-second: 3000, keys: {uniform: {count: 100000}}}, {operation: read, per-second: 4000, keys: {uniform: {count: 100000}}, consistent: true}]
layouts: [{kind: none, retries: none}, {kind: none}]
`,
	"a constant index key": `
title: t
duration: 20s
table: {partitions: 8, indexes: [{name: byStatus}]}
load: [{per-second: 3000, keys: {uniform: {count: 10000}}}]
layouts: [{kind: none, retries: none}, {kind: none}]
`,
	"a sharded index key": `
title: t
duration: 20s
table: {partitions: 8, indexes: [{name: byStatus, shards: 10}]}
load: [{per-second: 3000, keys: {uniform: {count: 10000}}}]
layouts: [{kind: none}]
`,
	"a flash crowd of readers": `
title: t
duration: 30s
run-in: 1s
load: [{operation: read, per-second: 10000, size: 4KB, keys: {flash: {share: 0.8, at: 10s, for: 10s, count: 5000}}}]
layouts: [{kind: none}, {kind: fixed, shards: 4}]
`,
	"tenants and large items": `
title: t
duration: 80s
table: {partitions: 10}
load: [{per-second: 500, size: 10KB, keys: {tenants: {count: 1000, largest: 0.4}}}]
layouts: [{kind: none}, {kind: fixed, shards: 5}]
`,
	"an adaptive key": `
title: t
run-in: 1s
duration: 60s
table: {partitions: 32}
load: [{per-second: 4000, keys: {hot: {share: 0.9, count: 1000}}}]
layouts: [{kind: adaptive}]
`,
	"a ramp": `
title: t
duration: 40s
load: [{ramp: {from: 100, to: 3000, over: 30s}, keys: {one: hot}}]
layouts: [{kind: none}, {kind: fixed, shards: 16}]
`,
	"bursts of less than a second": `
title: t
duration: 20s
load:
- steps: [{at: 4.6s, per-second: 3000}, {at: 5.4s, per-second: 0}, {at: 8.6s, per-second: 3000}, {at: 9.4s, per-second: 0}, {at: 12.605s, per-second: 3000}, {at: 13.413s, per-second: 0}]
  keys: {one: a}
layouts: [{kind: none, retries: none}, {kind: fixed, shards: 16}]
`,
	"a short flash crowd": `
title: t
duration: 20s
load: [{per-second: 4000, keys: {flash: {key: f, share: 0.9, at: 8.6s, for: 800ms, count: 100000}}}]
table: {partitions: 20}
layouts: [{kind: none, retries: none}, {kind: none}]
`,
	"a flash crowd between seconds": `
title: t
duration: 20s
load: [{per-second: 4000, keys: {flash: {key: f, share: 0.9, at: 8.4s, for: 4s, count: 100000}}}]
table: {partitions: 20}
layouts: [{kind: none, retries: none}, {kind: none}]
`,
	"indexes of 3 keys and of 2": `
title: t
duration: 30s
load: [{per-second: 1700, keys: {uniform: {count: 10000}}}]
table: {partitions: 64, indexes: [{name: a, keys: 3}, {name: b, keys: 2}]}
layouts: [{kind: none, retries: none}, {kind: none}]
`,
	"an end between seconds": `
title: t
run-in: 700ms
duration: 1.5s
tick: 30ms
load: [{per-second: 8000, keys: {uniform: {count: 10000}}}]
table: {partitions: 64}
layouts: [{kind: none, retries: none}]
`,
}

// Mode aggregate must be within 2 % of mode requests.
func TestAggregateAgreesWithRequests(t *testing.T) {
	for name, text := range agreement {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareModes(t, parse(t, text))
		})
	}
}

// compareModes runs a scenario in both modes. Both draw what is offered, so figures are compared as parts of that.
func compareModes(t *testing.T, s scenario.Scenario) {
	t.Helper()
	const within = 0.02
	results := map[scenario.Mode]Result{}
	for _, mode := range []scenario.Mode{scenario.Requests, scenario.Aggregate} {
		s.Mode = mode
		var err error
		if results[mode], err = Scenario(t.Context(), s, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.Layouts {
		want, got := &results[scenario.Requests].Runs[i], &results[scenario.Aggregate].Runs[i]
		if noise := 5 * math.Sqrt(2*want.Offered); math.Abs(got.Offered-want.Offered) > noise {
			t.Errorf("%s: %.0f and %.0f operations offered, more apart than %.0f", want.Layout, want.Offered, got.Offered, noise)
		}
		for _, c := range []struct {
			name            string
			want, got, unit float64
		}{
			{"served units of those offered", want.ServedUnits / want.OfferedUnits, got.ServedUnits / got.OfferedUnits, 1},
			{"accepted operations of those offered", want.Accepted / want.Offered, got.Accepted / got.Offered, 1},
			{"failed operations", want.FailedShare(), got.FailedShare(), 1},
			{"throttled requests", want.ThrottledShare(), got.ThrottledShare(), 1},
			{"requests for an operation", want.Requests / want.Offered, got.Requests / got.Offered, want.Requests / want.Offered},
		} {
			off := (c.got - c.want) / c.unit
			t.Logf("%s, %s: requests %.5g, aggregate %.5g, off by %+.2f %%", want.Layout, c.name, c.want, c.got, 100*off)
			if !(math.Abs(off) <= within) {
				t.Errorf("%s, %s: requests %.5g, aggregate %.5g, off by %+.2f %%", want.Layout, c.name, c.want, c.got, 100*off)
			}
		}
	}
}

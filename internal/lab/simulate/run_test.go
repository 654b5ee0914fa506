package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

func parse(t testing.TB, text string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lawful is scenarios with all that can happen to an operation: retries, growth, splits, new days, indexes.
var lawful = map[string]string{
	"retries": `
title: t
duration: 8s
load: [{per-second: 2500, keys: {hot: {share: 0.9, count: 100}}}]
layouts: [{kind: none}, {kind: naive, shards: 3}, {kind: fixed, shards: 3}, {kind: adaptive}, {kind: calculated, shards: 4}]
`,
	"midnight": `
title: t
start: 2026-11-18T23:59:55Z
duration: 8s
load: [{per-second: 2500, keys: {date: {period: day}}}]
layouts: [{kind: none}, {kind: bucket}, {kind: bucket-and-shards, shards: 3}, {kind: adaptive}]
`,
	"splits of a key, in minutes": `
title: t
duration: 15m
load: [{per-second: 30, size: 50KB, items: random, keys: {one: hot}}]
layouts: [{kind: none}, {kind: fixed, shards: 2}]
`,
	"index and reads": `
title: t
duration: 8s
table: {indexes: [{name: a, keys: 3}, {name: b, shards: 2}], capacity: provisioned, write-units: 1500, read-units: 500}
load: [{per-second: 2000, keys: {tenants: {count: 50, largest: 0.3}}}, {operation: read, per-second: 900, keys: {zipf: {count: 50, exponent: 1}}}]
layouts: [{kind: none}, {kind: fixed, shards: 2}]
`,
}

// No operation is lost and none comes from nowhere, in both modes: carried + offered = accepted + failed + waiting. What is
// served is never more than the partitions allow.
func TestConservation(t *testing.T) {
	for name, text := range lawful {
		for _, mode := range []scenario.Mode{scenario.Requests, scenario.Aggregate} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				s := parse(t, text)
				s.Mode = mode
				result, err := Scenario(t.Context(), s, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for i := range result.Runs {
					r := &result.Runs[i]
					in, out := r.Carried+r.Offered, r.Accepted+r.Failed+r.Waiting
					if math.Abs(in-out) > 1e-6*in+1 || r.Offered == 0 {
						t.Errorf("%s: %v carried, %v offered; %v accepted, %v failed, %v waiting", r.Layout, r.Carried, r.Offered, r.Accepted, r.Failed, r.Waiting)
					}
					if r.Requests-r.Throttled < 0.999*r.Accepted {
						t.Errorf("%s: %v of %v requests throttled, yet %v accepted", r.Layout, r.Throttled, r.Requests, r.Accepted)
					}
					if most := 1000*float64(r.PartitionsAtEnd) + 200; s.Table.Capacity == scenario.OnDemand && r.ServedUnits > most {
						t.Errorf("%s: %v units served by %d partitions", r.Layout, r.ServedUnits, r.PartitionsAtEnd)
					}
				}
			})
		}
	}
}

// A split of a key's items helps in both modes.
func TestSplitsHelp(t *testing.T) {
	s := parse(t, lawful["splits of a key, in minutes"])
	for _, mode := range []scenario.Mode{scenario.Requests, scenario.Aggregate} {
		s.Mode = mode
		result, err := Scenario(t.Context(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := result.Runs[0]
		first, last := r.Series[10], r.Series[len(r.Series)-2]
		if r.PartitionsAtEnd <= r.Partitions || first.Served > 1100 || last.Served < 1300 {
			t.Errorf("mode %s: %d partitions became %d, and %.0f units a second %.0f", mode, r.Partitions, r.PartitionsAtEnd, first.Served, last.Served)
		}
	}
}

// The same seed gives the same figures, another one others.
func TestSeedDecidesEverything(t *testing.T) {
	for _, mode := range []scenario.Mode{scenario.Requests, scenario.Aggregate} {
		s := parse(t, lawful["retries"])
		s.Mode = mode
		run := func(seed uint64) string {
			s.Seed = seed
			result, err := Scenario(t.Context(), s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(result.Runs)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		first := run(1)
		if first != run(1) {
			t.Errorf("mode %s: seed 1 gives two results", mode)
		}
		if first == run(2) {
			t.Errorf("mode %s: seeds 1 and 2 give the same", mode)
		}
	}
}

// What would take too long or too much memory is refused, with the mode that can do it.
func TestTooLarge(t *testing.T) {
	for _, load := range []string{"per-second: 1000000, keys: {uniform: {count: 1000}}", "steps: [{at: 0s, per-second: 1}, {at: 29s, per-second: 20000000}], keys: {one: a}"} {
		s := parse(t, "title: t\nduration: 100s\nload: [{"+load+"}]\nlayouts: [{kind: none}]\n")
		if strings.Contains(load, "29s") {
			s.Duration = scenario.Duration(30e9)
		}
		_, err := Scenario(t.Context(), s, Options{})
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "set mode: aggregate") {
			t.Errorf("got %v", err)
		}
	}
}

// What mode aggregate has no memory for is refused, whatever multiplies it.
func TestTooManyFlows(t *testing.T) {
	var listed []string
	for i := range 5000 {
		listed = append(listed, fmt.Sprintf("{key: k%d, share: 0.0002}", i))
	}
	for name, c := range map[string]struct{ table, load, layout, want string }{
		"partitions":              {"{partitions: 65536, indexes: [{name: a, keys: 1000}]}", "{per-second: 1, keys: {one: a}}", "{kind: none}", "set mode: requests"},
		"of a layout":             {"{indexes: [{name: a, keys: 1000}]}", "{per-second: 1, keys: {one: a}}", "{kind: none, partitions: 65536}", "set mode: requests"},
		"that are warm":           {"{warm-write-units: 20000000, indexes: [{name: a, shards: 100}]}", "{per-second: 1, keys: {one: a}}", "{kind: none}", "set mode: requests"},
		"loads":                   {"{partitions: 60000, indexes: [{name: a, keys: 9}]}", "{per-second: 1, keys: {one: a}}, {per-second: 1, keys: {one: a}}", "{kind: none}", "set mode: requests"},
		"listed keys with shards": {"{partitions: 4}", "{per-second: 1, keys: {listed: {shares: [" + strings.Join(listed, ", ") + "]}}}", "{kind: fixed, shards: 1024}", "set mode: requests"},
		"hot keys with shards":    {"{no-quota: true}", "{per-second: 90000000, keys: {uniform: {count: 100000}}}", "{kind: fixed, shards: 1024}", "at most: make it smaller"},
	} {
		s := parse(t, fmt.Sprintf("title: t\nmode: aggregate\ntable: %s\nload: [%s]\nlayouts: [%s]\n", c.table, c.load, c.layout))
		if _, err := Scenario(t.Context(), s, Options{}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for _, name := range scenario.Files() {
		s, err := scenario.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Layouts {
			if err := fits(&s, &s.Layouts[i]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A run ends with its context, and tells how far it is.
func TestProgressAndCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := -1.0
	_, err := Scenario(ctx, parse(t, lawful["retries"]), Options{Progress: func(_ string, done float64) {
		if done < last || done > 1 {
			t.Errorf("progress went from %v to %v", last, done)
		}
		if last = done; done > 0.3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || last > 0.5 {
		t.Errorf("got %v at %v", err, last)
	}
}

// A long run looks at its context once in a virtual minute, and its points are as wide as ever.
func TestCancelOfALongRun(t *testing.T) {
	const text = "title: t\nmode: aggregate\ntick: 1s\nduration: %s\nload: [{per-second: 1, keys: {one: a}}]\nlayouts: [{kind: none}]\n"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := 0.0
	_, err := Scenario(ctx, parse(t, fmt.Sprintf(text, "168h")), Options{Progress: func(_ string, done float64) {
		if last = done; done > 0 {
			cancel()
		}
	}})
	if most := 1.01 / (7 * 24 * 60); !errors.Is(err, context.Canceled) || last > most {
		t.Errorf("got %v at %v of a week, want an end at %v", err, last, most)
	}
	result, err := Scenario(t.Context(), parse(t, fmt.Sprintf(text, "5h")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	series := result.Runs[0].Series
	for i, p := range series {
		if p.Partitions != 4 || i > 0 && p.At-series[i-1].At != series[1].At {
			t.Errorf("point %d is %+v", i, p)
		}
	}
}

// What mode aggregate has no time for is refused, with what to do. A week of one key is not.
func TestTooManyTicks(t *testing.T) {
	const text = "title: t\nmode: aggregate\ntick: %s\nduration: 168h\nload: [{per-second: %d, keys: {zipf: {count: 1000000, exponent: 0.9}}}]\ntable: {partitions: %d, no-quota: true}\nlayouts: [{kind: fixed, shards: 64}]\n"
	if _, err := Scenario(t.Context(), parse(t, fmt.Sprintf(text, "1ms", 60_000_000, 65_536)), Options{}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "or its tick longer") {
		t.Errorf("got %v", err)
	}
	s := parse(t, fmt.Sprintf(text, "20ms", 100, 4))
	if err := fits(&s, &s.Layouts[0]); err != nil {
		t.Errorf("a week of 100 writes a second: %v", err)
	}
}

// A load that is low but for a second takes as long as its operations do.
func TestSpikeInAWeek(t *testing.T) {
	s := parse(t, "title: t\nduration: 168h\nload: [{steps: [{at: 0s, per-second: 0.1}, {at: 3s, per-second: 40000}, {at: 4s, per-second: 0.1}], keys: {one: a}}]\nlayouts: [{kind: none, retries: none}]\n")
	result, err := Scenario(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Runs[0].Offered; math.Abs(got-100_480) > 2000 {
		t.Errorf("got %v operations, want about 100,480", got)
	}
}

// A run looks at its context within a virtual minute: an end from outside is seen in well below a second.
func TestCancelWithinAStep(t *testing.T) {
	for _, mode := range []scenario.Mode{scenario.Requests, scenario.Aggregate} {
		s := parse(t, "title: t\nduration: 90s\nload: [{per-second: 200000, keys: {uniform: {count: 1000}}}]\ntable: {partitions: 1000, no-quota: true}\nlayouts: [{kind: fixed, shards: 8, retries: none}]\n")
		s.Mode = mode
		w, err := newWorld(&s, &s.Layouts[0])
		if err != nil {
			t.Fatal(err)
		}
		w.tally = newTally(&s, "")
		asked := 0
		w.ended = func() bool { asked++; return asked > 3 }
		var r runner = newRequests(w)
		if mode == scenario.Aggregate {
			r = newAggregate(w)
		}
		r.advance(s.Total())
		if offered := w.tally.run.Offered + w.tally.run.Carried; asked < 4 || offered > 100_000 {
			t.Errorf("mode %s: asked %d times, and %v operations began after the end", mode, asked, offered)
		}
	}
}

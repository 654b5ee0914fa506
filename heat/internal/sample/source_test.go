package sample_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/internal/sample"
)

func source(t *testing.T, report heat.Report, keys int) *sample.Source {
	t.Helper()
	s, err := sample.NewSource(func() heat.Report { return report }, keys, heat.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines returns samples as text: name, labels that have a value, value.
func lines(samples []sample.Sample) []string {
	var all []string
	for _, s := range samples {
		var line strings.Builder
		line.WriteString(s.OpenTelemetry)
		for i, value := range s.Values {
			if value != "" {
				fmt.Fprintf(&line, " %s=%s", s.Labels[i], value)
			}
		}
		all = append(all, fmt.Sprintf("%s: %v", line.String(), s.Value))
	}
	return all
}

func TestSamplesOfAFlow(t *testing.T) {
	const reason = "IndexWriteKeyRangeThroughputExceeded"
	now := time.Now()
	report := heat.Report{Source: heat.Live, From: now.Add(-time.Minute), To: now, Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views", Index: "byPage"},
		Writes: heat.Flow{
			Units: 900.5, Requests: 950, Retries: 40, Throttled: 50, Errors: 3, Peak: 99, Distinct: heat.Distinct{Keys: 7},
			Throttles: []heat.ThrottleCount{{Reason: reason, Count: 49}, {Count: 1}},
			Latency:   heat.Latency{P50: time.Millisecond, P99: 20 * time.Millisecond, P999: time.Second, Max: 2 * time.Second},
			Keys: []heat.KeyHeat{
				{Key: "PAGE#viral", RateLow: 1500, Throttled: 50, Refused: 12.5, Reason: reason}, {Key: "PAGE#2", RateLow: 980}, {Key: "PAGE#3"},
			},
		},
	}}}
	const at = " table=views index=byPage direction=write"
	want := []string{
		"units" + at + ": 900.5", "requests" + at + ": 950", "retries" + at + ": 40", "errors" + at + ": 3",
		"throttles" + at + " reason=" + reason + ": 49", "throttles" + at + ": 1",
		"keys" + at + ": 7", "peak" + at + ": 99",
		"latency" + at + " percentile=50: 0.001", "latency" + at + " percentile=99: 0.02", "latency" + at + " percentile=99.9: 1",
		"key.rate" + at + " key=PAGE#viral: 1500", "key.hottest_shard_rate" + at + " key=PAGE#viral: 1500",
		"key.shards" + at + " key=PAGE#viral: 1", "key.throttle_rate" + at + " key=PAGE#viral: 12.5",
		"key.rate" + at + " key=PAGE#2: 980", "key.hottest_shard_rate" + at + " key=PAGE#2: 980",
		"key.shards" + at + " key=PAGE#2: 1", "key.throttle_rate" + at + " key=PAGE#2: 0",
		"findings table=views index=byPage kind=hot-key severity=critical: 2",
	}
	got := lines(source(t, report, 2).Samples())
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(source(t, report, -1).Samples()); n != len(got)-8 {
		t.Errorf("without keys there are %d samples, with two of them %d", n, len(got))
	}
}

// A key keeps its series when the order of the keys changes.
func TestSeriesOfKeysDoNotDependOnTheirOrder(t *testing.T) {
	labels := func(keys ...string) []string {
		flow := heat.Flow{Units: 1}
		for i, key := range keys {
			flow.Keys = append(flow.Keys, heat.KeyHeat{Key: key, RateLow: float64(9 - i)})
		}
		report := heat.Report{Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Writes: flow}}}
		var all []string
		for _, s := range source(t, report, 0).Samples() {
			all = append(all, s.Prometheus+" "+strings.Join(s.Values, ","))
		}
		slices.Sort(all)
		return all
	}
	if a, b := labels("x", "y", "z"), labels("z", "x", "y"); !slices.Equal(a, b) {
		t.Errorf("got %q and %q", a, b)
	}
}

// Each metric of the list is used, with as many labels as it says.
func TestMetricsHaveTheirLabels(t *testing.T) {
	flow := heat.Flow{
		Units: 1, Requests: 1, Throttled: 1, Throttles: []heat.ThrottleCount{{Count: 1}},
		Latency: heat.Latency{P50: 1}, Durations: heat.Durations{Count: 1}, Keys: []heat.KeyHeat{{Key: "a", RateLow: 1000}},
	}
	flow.Control = heat.Control{Units: 1}
	report := heat.Report{
		Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Reads: flow, Writes: flow}},
		Decided:   []heat.DecisionCount{{Resource: heat.Resource{Table: "t"}, Reason: "grow", Count: 1}},
	}
	unused := sample.Metrics()
	for _, s := range source(t, report, 0).Samples() {
		unused = slices.DeleteFunc(unused, func(m *sample.Metric) bool { return m == s.Metric })
		if len(s.Values) != len(s.Labels) {
			t.Errorf("%s has the labels %q and the values %q", s.Prometheus, s.Labels, s.Values)
		}
	}
	for _, m := range unused {
		t.Errorf("nothing is exported as %s%s", m.Prometheus, m.OpenTelemetry)
	}
}

// What was refused throughout has no units, and metrics of AWS count no requests: it is exported all the same. Who did not
// wait has no latency, rather than one of nothing.
func TestSamplesOfWhatIsOnlyRefused(t *testing.T) {
	refused := heat.Report{Source: heat.CloudWatch, Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views"},
		Reads:    heat.Flow{Errors: 2},
		Writes:   heat.Flow{Throttled: 50, Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 50}}},
	}}}
	got := strings.Join(lines(source(t, refused, 0).Samples()), "\n")
	for _, want := range []string{
		"throttles table=views direction=write reason=TableWriteKeyRangeThroughputExceeded: 50",
		"errors table=views direction=read: 2",
		"findings table=views kind=hot-partition severity=critical: 1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "latency") {
		t.Errorf("a latency of nothing: %s", got)
	}
	quiet := heat.Report{Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "views"}}}}
	if got := source(t, quiet, 0).Samples(); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// Keys that are no UTF-8, or that Redact made the same, are samples like any other, and no two of a metric have the same
// labels: of such keys it is the hottest.
func TestSamplesOfOddKeys(t *testing.T) {
	report := heat.Report{Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "t"},
		Reads: heat.Flow{Units: 1, Keys: []heat.KeyHeat{
			{Key: "a\xff", RateLow: 9, Refused: 1}, {Key: "a\xfe", RateLow: 7, Refused: 2}, {Key: ""}, {Key: "Straße"},
		}},
	}}}
	seen := make(map[string]bool)
	samples := source(t, report, 0).Samples()
	for _, want := range []string{"key.rate table=t direction=read key=a\uFFFD: 9", "key.throttle_rate table=t direction=read key=a\uFFFD: 2"} {
		if !slices.Contains(lines(samples), want) {
			t.Errorf("no %q in %q", want, lines(samples))
		}
	}
	for _, s := range samples {
		id := s.Prometheus + "\x00" + strings.Join(s.Values, "\x00")
		if seen[id] || !utf8.ValidString(id) {
			t.Errorf("%q: twice, or no UTF-8", id)
		}
		seen[id] = true
	}
}

// Shards are one series of their key, which says how many there are and what the hottest takes. A bare key beside them adds
// to it, and is as hot as it is.
func TestShardsAreOneSeries(t *testing.T) {
	flow := heat.Flow{Units: 1, Keys: []heat.KeyHeat{{Key: "PAGE#2", RateLow: 950}}}
	for i := range 8 {
		flow.Keys = append(flow.Keys, heat.KeyHeat{Key: fmt.Sprintf("POLL#7#SHARD_%d", i), Units: 100, RateLow: 100 + float64(i), Refused: 1})
	}
	report := heat.Report{Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Writes: flow}}}
	const at = " table=t direction=write key=POLL#7: "
	want := func(when string, report heat.Report, lasting ...string) {
		t.Helper()
		var got []string
		for _, line := range lines(source(t, report, 0).Samples()) {
			if strings.Contains(line, "key=POLL") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, lasting) {
			t.Errorf("%s: got %q, want %q", when, got, lasting)
		}
	}
	want("8 shards", report, "key.rate"+at+"828", "key.hottest_shard_rate"+at+"107", "key.shards"+at+"8", "key.throttle_rate"+at+"8")
	report.Resources[0].Writes.Keys = append(report.Resources[0].Writes.Keys, heat.KeyHeat{Key: "POLL#7", RateLow: 200, Refused: 2})
	want("and a bare key", report, "key.rate"+at+"1028", "key.hottest_shard_rate"+at+"200", "key.shards"+at+"8", "key.throttle_rate"+at+"10")
}

func TestTenKeysUnlessSaidOtherwise(t *testing.T) {
	reads := heat.Flow{Units: 1}
	for i := range 25 {
		reads.Keys = append(reads.Keys, heat.KeyHeat{Key: fmt.Sprint(i)})
	}
	report := heat.Report{Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "t"}, Reads: reads}}}
	for keys, want := range map[int]int{0: 10, 1: 1, 25: 25, 99: 25, -1: 0} {
		n := 0
		for _, s := range source(t, report, keys).Samples() {
			if s.OpenTelemetry == "key.rate" {
				n++
			}
		}
		if n != want {
			t.Errorf("%d keys asked for, %d are there, want %d", keys, n, want)
		}
	}
}

// What is wrong is said when the source is made, not when it is asked.
func TestSourceRefusesWhatIsWrong(t *testing.T) {
	_, err := sample.NewSource(nil, 0, heat.Rules{Warm: 70, Sample: -1})
	for _, want := range []string{"the source is nil", "Warm is 70: it must be between 0 and 1", "Sample is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Control items are in metrics of their own, and in no others. Decisions are counted by their reason, each label once.
func TestSamplesOfControlItemsAndDecisions(t *testing.T) {
	at := heat.Resource{Table: "views"}
	report := heat.Report{
		Resources: []heat.ResourceReport{{Resource: at, Reads: heat.Flow{Control: heat.Control{Units: 2.5, Requests: 5, Throttled: 1}}}},
		Decided: []heat.DecisionCount{
			{Resource: at, Reason: "grow", Count: 2}, {Resource: at, Reason: "odd\xff", Count: 3}, {Resource: at, Reason: "odd\xfe", Count: 4},
		},
	}
	want := []string{
		"control.units table=views direction=read: 2.5", "control.throttles table=views direction=read: 1",
		"decisions table=views reason=grow: 2", "decisions table=views reason=odd\uFFFD: 7",
	}
	if got := lines(source(t, report, 2).Samples()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

package heatprom_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatprom"
	"github.com/heatsink-go/heatsink/local"
)

// gather returns the registry's samples under name and the values of the labels.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	samples := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.Metric {
			var name strings.Builder
			name.WriteString(family.GetName())
			for _, label := range m.Label {
				if v := label.GetValue(); v != "" {
					name.WriteString(" " + label.GetName() + "=" + v)
				}
			}
			samples[name.String()] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return samples
}

func TestCollector(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "views", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	recorder, err := heat.NewRecorder(heat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client := db.Client(recorder.Option)
	for i := range 300 {
		pk := "STATUS#ACTIVE"
		if i%10 == 0 {
			pk = fmt.Sprint("STATUS#", i)
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(t, recorder.Report, heatprom.Options{Keys: 2}))
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"heatsink_heat_units_total direction=write table=views":                    300,
		"heatsink_heat_requests_total direction=write table=views":                 300,
		"heatsink_heat_retries_total direction=write table=views":                  0,
		"heatsink_heat_keys direction=write table=views":                           31,
		"heatsink_heat_call_duration_seconds direction=write table=views":          300,
		"heatsink_heat_findings kind=low-cardinality severity=warning table=views": 1,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v; all: %v", name, v, ok, want, got)
		}
	}
	if got["heatsink_heat_key_units_per_second direction=write key=STATUS#ACTIVE table=views"] == 0 {
		t.Errorf("the hottest key is missing: %v", got)
	}
	keys := 0
	for name := range got {
		if strings.HasPrefix(name, "heatsink_heat_key_units_per_second ") {
			keys++
		}
	}
	if keys != 2 {
		t.Errorf("%d keys, want 2", keys)
	}
}

// durations are three calls of 1 ms, one of 300 ms and one of two minutes.
func durations() (d heat.Durations) {
	d.Count, d.Sum = 5, 3*time.Millisecond+300*time.Millisecond+2*time.Minute
	d.Buckets[1], d.Buckets[9] = 3, 1
	return d
}

// The histogram is cumulative, and the calls that are slower than its last bound are in its count.
func TestHistogram(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(t, refused, heatprom.Options{}))
	const want = `
# HELP heatsink_heat_call_duration_seconds Duration of calls, including retries and their waits.
# TYPE heatsink_heat_call_duration_seconds histogram
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.0005"} 0
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.001"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.002"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.005"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.01"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.02"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.05"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.1"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.2"} 3
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="0.5"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="1"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="2"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="5"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="10"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="30"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="60"} 4
heatsink_heat_call_duration_seconds_bucket{direction="write",index="byPage",table="views",le="+Inf"} 5
heatsink_heat_call_duration_seconds_sum{direction="write",index="byPage",table="views"} 120.303
heatsink_heat_call_duration_seconds_count{direction="write",index="byPage",table="views"} 5
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "heatsink_heat_call_duration_seconds"); err != nil {
		t.Error(err)
	}
}

// refused is a table that refuses everything: nothing is consumed, and of two keys only the beginning is left.
func refused() heat.Report {
	decided := []heat.DecisionCount{{Resource: heat.Resource{Table: "views"}, Reason: "at maximum", Count: 7}}
	return heat.Report{Source: heat.Live, Decided: decided, Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views", Index: "byPage"},
		Writes: heat.Flow{
			Control:  heat.Control{Units: 2.5, Requests: 9, Throttled: 4},
			Requests: 500, Retries: 200, Throttled: 500, Errors: 1, Latency: heat.Latency{P50: 1, P99: 2, P999: 3, Max: 4}, Durations: durations(),
			Throttles: []heat.ThrottleCount{{Reason: "IndexWriteKeyRangeThroughputExceeded", Count: 490}, {Count: 10}},
			Keys: []heat.KeyHeat{
				{Key: "a\xff", RateLow: 1000, Throttled: 490, Refused: 49, Reason: "IndexWriteKeyRangeThroughputExceeded"}, {Key: "a\xff", Throttled: 10, Refused: 1},
			},
		},
	}}}
}

func TestCollectorOfWhatIsOnlyRefused(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(t, refused, heatprom.Options{}))
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"heatsink_heat_throttles_total direction=write index=byPage reason=IndexWriteKeyRangeThroughputExceeded table=views": 490,
		"heatsink_heat_throttles_total direction=write index=byPage table=views":                                             10,
		"heatsink_heat_key_throttles_per_second direction=write index=byPage key=a\uFFFD table=views":                        49,
		"heatsink_heat_control_units_total direction=write index=byPage table=views":                                         2.5,
		"heatsink_heat_control_throttles_total direction=write index=byPage table=views":                                     4,
		"heatsink_heat_decisions_total reason=at maximum table=views":                                                        7,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v; all: %v", name, got[name], want, got)
		}
	}
}

// Names, types and labels are as Prometheus wants them.
func TestMetricsPassTheLinter(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(t, refused, heatprom.Options{}))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 16 {
		t.Errorf("%d metrics, want all 16", len(families))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) != 0 {
		t.Errorf("got %v, %v", problems, err)
	}
}

// newCollector returns a collector, or fails.
func newCollector(t *testing.T, source func() heat.Report, options heatprom.Options) *heatprom.Collector {
	t.Helper()
	c, err := heatprom.New(source, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Rules that contradict themselves are refused at once, not at the first scrape.
func TestNewRefusesWhatIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		source func() heat.Report
		rules  heat.Rules
		want   string
	}{
		"rules":  {refused, heat.Rules{Hot: 95}, "Hot is 95: it must be between 0 and 1"},
		"source": {nil, heat.Rules{}, "the source is nil"},
	} {
		_, err := heatprom.New(test.source, heatprom.Options{Rules: test.rules})
		if got := fmt.Sprint(err); !strings.HasPrefix(got, "heatprom: ") || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %q", name, got, test.want)
		}
	}
}

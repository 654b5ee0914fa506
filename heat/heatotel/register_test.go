package heatotel_test

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatotel"
)

func report() heat.Report {
	now := time.Now()
	decided := []heat.DecisionCount{{Resource: heat.Resource{Table: "views"}, Reason: "at maximum", Count: 7}}
	return heat.Report{Source: heat.Live, From: now.Add(-time.Minute), To: now, Decided: decided, Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views", Index: "byPage"},
		Writes: heat.Flow{
			Control: heat.Control{Units: 2.5, Requests: 9, Throttled: 4},
			Units:   90_000, Requests: 95_000, Throttled: 5000, Distinct: heat.Distinct{Keys: 7},
			Throttles: []heat.ThrottleCount{{Reason: "IndexWriteKeyRangeThroughputExceeded", Count: 5000}},
			Keys: []heat.KeyHeat{
				{Key: "PAGE#viral", RateLow: 1500, Rate: 1500, Throttled: 5000, Share: 0.9, Reason: "IndexWriteKeyRangeThroughputExceeded"},
				{Key: "PAGE#2", RateLow: 10},
			},
		},
	}}}
}

func TestRegister(t *testing.T) {
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	registration, err := heatotel.Register(provider.Meter("test"), report, heatotel.Options{Keys: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := collect(t, reader)
	for name, want := range map[string]float64{
		"heatsink.heat.units|direction=write,index=byPage,table=views":                                                 90_000,
		"heatsink.heat.requests|direction=write,index=byPage,table=views":                                              95_000,
		"heatsink.heat.throttles|direction=write,index=byPage,reason=IndexWriteKeyRangeThroughputExceeded,table=views": 5000,
		"heatsink.heat.key.rate|direction=write,index=byPage,key=PAGE#viral,table=views":                               1500,
		"heatsink.heat.findings|index=byPage,kind=hot-key,severity=critical,table=views":                               1,
		"heatsink.heat.control.units|direction=write,index=byPage,table=views":                                         2.5,
		"heatsink.heat.control.throttles|direction=write,index=byPage,table=views":                                     4,
		"heatsink.heat.decisions|reason=at maximum,table=views":                                                        7,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v; all: %v", name, v, ok, want, got)
		}
	}
	for name := range got {
		if name == "heatsink.heat.key.rate|direction=write,index=byPage,key=PAGE#2,table=views" {
			t.Error("more keys than asked for")
		}
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("after Unregister: %v", got)
	}
}

// What was refused throughout has no units, and metrics of AWS count no requests.
func TestRegisterOfWhatIsOnlyRefused(t *testing.T) {
	reader := metric.NewManualReader()
	refused := func() heat.Report {
		return heat.Report{Source: heat.CloudWatch, Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: "views"},
			Writes:   heat.Flow{Throttled: 50, Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 50}}},
		}}}
	}
	if _, err := heatotel.Register(metric.NewMeterProvider(metric.WithReader(reader)).Meter("test"), refused, heatotel.Options{}); err != nil {
		t.Fatal(err)
	}
	got := collect(t, reader)
	if got["heatsink.heat.throttles|direction=write,reason=TableWriteKeyRangeThroughputExceeded,table=views"] != 50 {
		t.Errorf("got %v", got)
	}
}

// Rules that contradict themselves are refused at once, not when metrics are collected.
func TestRegisterRefusesWhatIsWrong(t *testing.T) {
	meter := metric.NewMeterProvider().Meter("test")
	_, err := heatotel.Register(meter, report, heatotel.Options{Rules: heat.Rules{Excess: -1}})
	if err == nil || !strings.Contains(err.Error(), "heatotel: invalid rules: Excess is -1: it must be between 0 and 1") {
		t.Errorf("got %v", err)
	}
	if _, err := heatotel.Register(meter, nil, heatotel.Options{}); err == nil || !strings.Contains(err.Error(), "the source is nil") {
		t.Errorf("got %v", err)
	}
}

func collect(t *testing.T, reader *metric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(set attribute.Set, v float64) { got[m.Name+"|"+set.Encoded(attribute.DefaultEncoder())] = v }
			switch data := m.Data.(type) {
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			}
		}
	}
	return got
}

// Package heatotel exports heat reports as OpenTelemetry metrics.
//
//	registration, err := heatotel.Register(provider.Meter("heatsink"), recorder.Report, heatotel.Options{})
package heatotel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/heatsink-go/heatsink/heat"
)

// Options configure what is exported. The zero value is ready to use.
type Options struct {
	// Keys is how many keys of each table, index and direction are exported. Every key is an attribute's value, so keep
	// it small, and redact keys that a backend should not know. Default: 10. Negative: none.
	Keys int

	// Rules are those of the findings.
	Rules heat.Rules
}

// instruments are what is observed; their names begin with heatsink.heat.
type instruments struct {
	units, peak, keyRate                 metric.Float64Observable
	requests, retries, errors, throttles metric.Int64Observable
	distinct, keyThrottles, findings     metric.Int64Observable
	latency                              metric.Float64Observable
}

// Register observes what source reports, such as the Report method of a Recorder, whenever metrics are collected.
// Unregister the result to end that.
func Register(meter metric.Meter, source func() heat.Report, options Options) (metric.Registration, error) {
	if options.Keys == 0 {
		options.Keys = 10
	}
	in, all, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("heatotel: %w", err)
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		in.observe(o, source(), options)
		return nil
	}, all...)
}

func newInstruments(meter metric.Meter) (*instruments, []metric.Observable, error) {
	var (
		in     instruments
		all    []metric.Observable
		faults []error
	)
	float := func(target *metric.Float64Observable, o metric.Float64Observable, err error) {
		*target, all, faults = o, append(all, o), append(faults, err)
	}
	integer := func(target *metric.Int64Observable, o metric.Int64Observable, err error) {
		*target, all, faults = o, append(all, o), append(faults, err)
	}
	counter := func(target *metric.Int64Observable, name, help string) {
		o, err := meter.Int64ObservableCounter("heatsink.heat."+name, metric.WithDescription(help))
		integer(target, o, err)
	}
	gauge := func(target *metric.Int64Observable, name, help string) {
		o, err := meter.Int64ObservableGauge("heatsink.heat."+name, metric.WithDescription(help))
		integer(target, o, err)
	}
	floatGauge := func(target *metric.Float64Observable, name, help, unit string) {
		o, err := meter.Float64ObservableGauge("heatsink.heat."+name, metric.WithDescription(help), metric.WithUnit(unit))
		float(target, o, err)
	}
	units, err := meter.Float64ObservableCounter("heatsink.heat.units", metric.WithDescription("capacity units consumed"))
	float(&in.units, units, err)
	counter(&in.requests, "requests", "attempts, retries included")
	counter(&in.retries, "retries", "attempts that repeated one")
	counter(&in.errors, "errors", "attempts that failed, throttles not among them")
	counter(&in.throttles, "throttles", "attempts refused as too fast, by DynamoDB's reason")
	gauge(&in.distinct, "keys", "different partition keys seen, about")
	gauge(&in.keyThrottles, "key.throttles", "attempts of one of the hottest keys that were refused")
	gauge(&in.findings, "findings", "problems found, by kind and severity")
	floatGauge(&in.peak, "peak", "the most units of one second lately", "")
	floatGauge(&in.keyRate, "key.rate", "units a second that one of the hottest keys wants, at least", "")
	floatGauge(&in.latency, "latency", "how long calls took, retries included", "s")
	return &in, all, errors.Join(faults...)
}

func (in *instruments) observe(o metric.Observer, report heat.Report, options Options) {
	for i := range report.Resources {
		r := &report.Resources[i]
		for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
			if f := r.Flow(d); f.Requests > 0 || f.Units > 0 {
				in.flow(o, f, place(r.Resource, attribute.String("direction", d.String())), options.Keys)
			}
		}
	}
	type group struct {
		resource heat.Resource
		kind     heat.Kind
		severity heat.Severity
	}
	counts := make(map[group]int64)
	for _, f := range heat.Explain(report, options.Rules) {
		counts[group{f.Resource, f.Kind, f.Severity}]++
	}
	for g, n := range counts {
		o.ObserveInt64(in.findings, n, metric.WithAttributes(place(g.resource,
			attribute.String("kind", string(g.kind)), attribute.String("severity", g.severity.String()))...))
	}
}

// place returns the attributes of a table or index, and more.
func place(r heat.Resource, more ...attribute.KeyValue) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("table", r.Table)}
	if r.Index != "" {
		all = append(all, attribute.String("index", r.Index))
	}
	return append(all, more...)
}

func (in *instruments) flow(o metric.Observer, f *heat.Flow, at []attribute.KeyValue, keys int) {
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(at[:len(at):len(at)], more...)...)
	}
	o.ObserveFloat64(in.units, f.Units, with())
	o.ObserveInt64(in.requests, f.Requests, with())
	o.ObserveInt64(in.retries, f.Retries, with())
	o.ObserveInt64(in.errors, f.Errors, with())
	for _, t := range f.Throttles {
		o.ObserveInt64(in.throttles, t.Count, with(attribute.String("reason", t.Reason)))
	}
	o.ObserveInt64(in.distinct, f.Distinct.Keys, with())
	o.ObserveFloat64(in.peak, f.Peak, with())
	o.ObserveFloat64(in.latency, f.Latency.P50.Seconds(), with(attribute.String("quantile", "0.5")))
	o.ObserveFloat64(in.latency, f.Latency.P99.Seconds(), with(attribute.String("quantile", "0.99")))
	o.ObserveFloat64(in.latency, f.Latency.P999.Seconds(), with(attribute.String("quantile", "0.999")))
	for i := range f.Keys[:min(len(f.Keys), max(0, keys))] {
		k := &f.Keys[i]
		at := with(attribute.Int("rank", i+1), attribute.String("key", k.Key))
		o.ObserveFloat64(in.keyRate, k.RateLow, at)
		o.ObserveInt64(in.keyThrottles, k.Throttled, at)
	}
}

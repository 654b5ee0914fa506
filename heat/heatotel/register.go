// Package heatotel exports heat reports as OpenTelemetry metrics.
//
//	registration, err := heatotel.Register(provider.Meter("heatsink"), recorder.Report, heatotel.Options{})
package heatotel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/internal/sample"
)

// Options select what Register exports. The zero value is ready to use.
type Options struct {
	// Keys is the number of keys to export of each table, index and direction, hottest first. Every key becomes an
	// attribute's value, so keep it small, and redact keys that the backend should not see. The shards of a key are one
	// key, as heat.Flow.Folded has them. Default: 10. Negative: none.
	Keys int

	// Rules are the thresholds of findings.
	Rules heat.Rules
}

// Register calls source, such as the Report method of a Recorder, whenever metrics are collected. Totals become counters,
// so they must count since a fixed time. The metrics' names begin with heatsink.heat. Unregister the result to stop.
func Register(meter metric.Meter, source func() heat.Report, options Options) (metric.Registration, error) {
	samples, err := sample.NewSource(source, options.Keys, options.Rules)
	if err != nil {
		return nil, fmt.Errorf("heatotel: %w", err)
	}
	all, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("heatotel: %w", err)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, s := range samples.Samples() {
			all.observe(o, s)
		}
		return nil
	}, slices.Collect(maps.Values(all))...)
	if err != nil {
		return nil, fmt.Errorf("heatotel: %w", err)
	}
	return registration, nil
}

// instruments are what is observed.
type instruments map[*sample.Metric]metric.Observable

func newInstruments(meter metric.Meter) (instruments, error) {
	all := make(instruments)
	var faults []error
	for _, m := range sample.Metrics() {
		if m.OpenTelemetry == "" {
			continue
		}
		o, err := newInstrument(meter, m)
		all[m] = o
		faults = append(faults, err)
	}
	return all, errors.Join(faults...)
}

func newInstrument(meter metric.Meter, m *sample.Metric) (metric.Observable, error) {
	name, help, unit := "heatsink.heat."+m.OpenTelemetry, metric.WithDescription(m.Help), metric.WithUnit(m.Unit)
	switch {
	case m.Counter && m.Whole:
		return meter.Int64ObservableCounter(name, help, unit)
	case m.Counter:
		return meter.Float64ObservableCounter(name, help, unit)
	case m.Whole:
		return meter.Int64ObservableGauge(name, help, unit)
	}
	return meter.Float64ObservableGauge(name, help, unit)
}

// observe observes a sample. Labels without a value, such as the index of a table, are no attributes.
func (all instruments) observe(o metric.Observer, s sample.Sample) {
	var attributes []attribute.KeyValue
	for i, value := range s.Values {
		if value != "" {
			attributes = append(attributes, attribute.String(s.Labels[i], value))
		}
	}
	with := metric.WithAttributes(attributes...)
	switch instrument := all[s.Metric].(type) {
	case metric.Int64Observable:
		o.ObserveInt64(instrument, int64(s.Value), with)
	case metric.Float64Observable:
		o.ObserveFloat64(instrument, s.Value, with)
	}
}

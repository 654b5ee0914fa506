package heatotel_test

import (
	"errors"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatotel"
)

// The tests of this file were written for breaks of a line that no other test noticed.

var errMeter = errors.New("the meter is broken")

// brokenMeter makes no counters, or takes no callback.
type brokenMeter struct {
	noop.Meter
	counters, callbacks error
}

func (m brokenMeter) Int64ObservableCounter(name string, options ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	counter, _ := m.Meter.Int64ObservableCounter(name, options...)
	return counter, m.counters
}

func (m brokenMeter) Float64ObservableCounter(name string, options ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	counter, _ := m.Meter.Float64ObservableCounter(name, options...)
	return counter, m.counters
}

func (m brokenMeter) RegisterCallback(f metric.Callback, instruments ...metric.Observable) (metric.Registration, error) {
	registration, _ := m.Meter.RegisterCallback(f, instruments...)
	return registration, m.callbacks
}

// A meter that fails is not registered with, and the error says whose it is.
func TestRegisterWithABrokenMeter(t *testing.T) {
	for name, meter := range map[string]brokenMeter{"counters": {counters: errMeter}, "callbacks": {callbacks: errMeter}} {
		registration, err := heatotel.Register(meter, func() heat.Report { return heat.Report{} }, heatotel.Options{})
		if registration != nil || !errors.Is(err, errMeter) || !strings.HasPrefix(err.Error(), "heatotel: ") {
			t.Errorf("%s: got %v, %v, want the meter's error", name, registration, err)
		}
	}
	if _, err := heatotel.Register(brokenMeter{}, func() heat.Report { return heat.Report{} }, heatotel.Options{}); err != nil {
		t.Errorf("a meter that is not broken: got %v", err)
	}
}

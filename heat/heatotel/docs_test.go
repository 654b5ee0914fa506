package heatotel_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatotel"
)

// namingMeter notes the names and kinds of instruments.
type namingMeter struct {
	noop.Meter
	made *[]string
}

func (m namingMeter) Int64ObservableCounter(name string, o ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	*m.made = append(*m.made, name+" counter "+metric.NewInt64ObservableCounterConfig(o...).Description())
	return m.Meter.Int64ObservableCounter(name, o...)
}

func (m namingMeter) Float64ObservableCounter(name string, o ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	*m.made = append(*m.made, name+" counter "+metric.NewFloat64ObservableCounterConfig(o...).Description())
	return m.Meter.Float64ObservableCounter(name, o...)
}

func (m namingMeter) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	*m.made = append(*m.made, name+" gauge "+metric.NewInt64ObservableGaugeConfig(o...).Description())
	return m.Meter.Int64ObservableGauge(name, o...)
}

func (m namingMeter) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	*m.made = append(*m.made, name+" gauge "+metric.NewFloat64ObservableGaugeConfig(o...).Description())
	return m.Meter.Float64ObservableGauge(name, o...)
}

// docs/monitoring.md lists the metrics that there are.
func TestPageListsTheMetrics(t *testing.T) {
	page, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, made []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		listed = append(listed, "heatsink.heat."+strings.Trim(cells[1], " `")+" "+strings.TrimSpace(cells[2])+" "+strings.TrimSpace(cells[4]))
	}
	if _, err := heatotel.Register(namingMeter{made: &made}, func() heat.Report { return heat.Report{} }, heatotel.Options{}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(made)
	if !slices.Equal(listed, made) {
		t.Errorf("the page lists\n%s\nthere are\n%s", strings.Join(listed, "\n"), strings.Join(made, "\n"))
	}
}

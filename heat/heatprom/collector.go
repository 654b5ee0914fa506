// Package heatprom exports heat reports to Prometheus.
//
//	collector, err := heatprom.New(recorder.Report, heatprom.Options{})
//	…
//	registry.MustRegister(collector)
package heatprom

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/internal/sample"
)

// Options configure a collector. The zero value is ready to use.
type Options struct {
	// Keys is the number of keys to export of each table, index and direction, hottest first. Every key becomes a label
	// value, so keep it small, and redact keys that Prometheus should not see. The shards of a key are one key, as
	// heat.Flow.Folded has them. Default: 10. Negative: none.
	Keys int

	// Rules are the thresholds of findings.
	Rules heat.Rules
}

// Collector exports a report whenever Prometheus scrapes it. The metrics' names begin with heatsink_heat_.
type Collector struct {
	source *sample.Source
	descs  map[*sample.Metric]*prometheus.Desc
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector of reports from source, such as the Report method of a Recorder. Totals become counters, so they
// must count since a fixed time. An error says that source is nil, or names the faults of the rules.
func New(source func() heat.Report, options Options) (*Collector, error) {
	samples, err := sample.NewSource(source, options.Keys, options.Rules)
	if err != nil {
		return nil, fmt.Errorf("heatprom: %w", err)
	}
	c := &Collector{samples, make(map[*sample.Metric]*prometheus.Desc)}
	for _, m := range sample.Metrics() {
		if m.Prometheus != "" {
			c.descs[m] = prometheus.NewDesc(prefix+m.Prometheus, m.Help, m.Labels, nil)
		}
	}
	return c, nil
}

// prefix is before the name of every metric.
const prefix = "heatsink_heat_"

// Describe implements prometheus.Collector.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range c.source.Samples() {
		desc, exported := c.descs[s.Metric]
		switch {
		case !exported:
		case s.Histogram:
			metrics <- prometheus.MustNewConstHistogram(desc, uint64(s.Durations.Count), s.Durations.Sum.Seconds(), buckets(&s.Durations), s.Values...)
		case s.Counter:
			metrics <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, s.Value, s.Values...)
		default:
			metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.Value, s.Values...)
		}
	}
}

// buckets returns a histogram as Prometheus has it: how many calls took so many seconds at most.
func buckets(d *heat.Durations) map[float64]uint64 {
	all := make(map[float64]uint64)
	sum := uint64(0)
	for i, bound := range heat.DurationBounds() {
		sum += uint64(d.Buckets[i])
		all[bound.Seconds()] = sum
	}
	return all
}

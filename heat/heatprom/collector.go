// Package heatprom exports heat reports to Prometheus.
//
//	registry.MustRegister(heatprom.New(recorder.Report, heatprom.Options{}))
package heatprom

import (
	"errors"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/heatsink-go/heatsink/heat"
)

// Options configure a collector. The zero value is ready to use.
type Options struct {
	// Keys is how many keys of each table, index and direction are exported, by rank. Every key is a label value, so keep
	// it small, and redact keys that Prometheus should not know. Default: 10. Negative: none.
	Keys int

	// Rules are those of the findings.
	Rules heat.Rules
}

// Collector makes metrics of a report whenever Prometheus asks. Their names begin with heatsink_heat_.
type Collector struct {
	source  func() heat.Report
	options Options
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector of what source reports, such as the Report method of a Recorder.
func New(source func() heat.Report, options Options) *Collector {
	if options.Keys == 0 {
		options.Keys = 10
	}
	return &Collector{source, options}
}

var (
	flowLabels = []string{"table", "index", "direction"}

	unitsDesc    = describe("units_total", "Capacity units consumed.", flowLabels...)
	requestsDesc = describe("requests_total", "Attempts, retries included.", flowLabels...)
	retriesDesc  = describe("retries_total", "Attempts that repeated one.", flowLabels...)
	errorsDesc   = describe("errors_total", "Attempts that failed, throttles not among them.", flowLabels...)
	throttleDesc = describe("throttles_total", "Attempts refused as too fast, by DynamoDB's reason.", append(flowLabels, "reason")...)
	distinctDesc = describe("keys", "Different partition keys seen, about.", flowLabels...)
	peakDesc     = describe("peak_units", "The most units of one second lately.", flowLabels...)
	latencyDesc  = describe("latency_seconds", "How long calls took, retries included.", append(flowLabels, "quantile")...)
	keyDesc      = describe("key_units_per_second", "Units a second that one of the hottest keys wants, at least.", append(flowLabels, "rank", "key")...)
	keyThrottled = describe("key_throttles_total", "Attempts of one of the hottest keys that were refused.", append(flowLabels, "rank", "key")...)
	findingDesc  = describe("findings", "Problems found, by kind and severity.", "table", "index", "kind", "severity")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("heatsink_heat_"+name, help, append([]string(nil), labels...), nil)
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		unitsDesc, requestsDesc, retriesDesc, errorsDesc, throttleDesc, distinctDesc, peakDesc, latencyDesc, keyDesc,
		keyThrottled, findingDesc,
	} {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	report := c.source()
	for i := range report.Resources {
		r := &report.Resources[i]
		for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
			if f := r.Flow(d); f.Requests > 0 || f.Units > 0 {
				c.flow(metrics, f, r.Table, r.Index, d.String())
			}
		}
	}
	c.findings(metrics, report)
}

func (c *Collector) flow(metrics chan<- prometheus.Metric, f *heat.Flow, labels ...string) {
	counter := func(d *prometheus.Desc, v float64, more ...string) {
		send(metrics, d, prometheus.CounterValue, v, append(labels, more...))
	}
	gauge := func(d *prometheus.Desc, v float64, more ...string) {
		send(metrics, d, prometheus.GaugeValue, v, append(labels, more...))
	}
	counter(unitsDesc, f.Units)
	counter(requestsDesc, float64(f.Requests))
	counter(retriesDesc, float64(f.Retries))
	counter(errorsDesc, float64(f.Errors))
	for _, t := range f.Throttles {
		counter(throttleDesc, float64(t.Count), t.Reason)
	}
	gauge(distinctDesc, float64(f.Distinct.Keys))
	gauge(peakDesc, f.Peak)
	gauge(latencyDesc, f.Latency.P50.Seconds(), "0.5")
	gauge(latencyDesc, f.Latency.P99.Seconds(), "0.99")
	gauge(latencyDesc, f.Latency.P999.Seconds(), "0.999")
	for i := range f.Keys[:min(len(f.Keys), max(0, c.options.Keys))] {
		k := &f.Keys[i]
		gauge(keyDesc, k.RateLow, strconv.Itoa(i+1), k.Key)
		gauge(keyThrottled, float64(k.Throttled), strconv.Itoa(i+1), k.Key)
	}
}

func (c *Collector) findings(metrics chan<- prometheus.Metric, report heat.Report) {
	type group struct {
		resource heat.Resource
		kind     heat.Kind
		severity heat.Severity
	}
	counts := make(map[group]int)
	for _, f := range heat.Explain(report, c.options.Rules) {
		counts[group{f.Resource, f.Kind, f.Severity}]++
	}
	for g, n := range counts {
		send(metrics, findingDesc, prometheus.GaugeValue, float64(n),
			[]string{g.resource.Table, g.resource.Index, string(g.kind), g.severity.String()})
	}
}

// send makes a metric; one that cannot be, as of a key that is not UTF-8, is reported by the registry.
func send(metrics chan<- prometheus.Metric, d *prometheus.Desc, kind prometheus.ValueType, v float64, labels []string) {
	m, err := prometheus.NewConstMetric(d, kind, v, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d, errors.Join(errors.New("heatprom"), err))
	}
	metrics <- m
}

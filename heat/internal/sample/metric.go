// Package sample turns a heat report into metrics and their samples, for the packages that export them to monitoring
// systems.
package sample

// Metric is a metric of a report.
type Metric struct {
	Prometheus    string // its name there, behind heatsink_heat_; "" if it is not exported there
	OpenTelemetry string // and there, behind heatsink.heat.; likewise
	Help          string
	Unit          string   // in UCUM, as OpenTelemetry has it
	Counter       bool     // its values only grow; else it is a gauge
	Histogram     bool     // its samples are histograms
	Whole         bool     // its values are whole numbers
	Labels        []string // their names
}

// ofFlow are the labels of a metric of a flow, and more.
func ofFlow(more ...string) []string { return append([]string{"table", "index", "direction"}, more...) }

// The metrics of a report. The throttles of a key are a rate, not a counter: a count would restart whenever the recorder
// takes up the key again.
var (
	units = &Metric{
		Prometheus: "units_total", OpenTelemetry: "units", Unit: "{unit}", Counter: true,
		Help: "Capacity units consumed, without those of control items.", Labels: ofFlow(),
	}
	requests = &Metric{
		Prometheus: "requests_total", OpenTelemetry: "requests", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts, including retries.", Labels: ofFlow(),
	}
	retries = &Metric{
		Prometheus: "retries_total", OpenTelemetry: "retries", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts that were retries.", Labels: ofFlow(),
	}
	failures = &Metric{
		Prometheus: "errors_total", OpenTelemetry: "errors", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts that failed, without throttles.", Labels: ofFlow(),
	}
	throttles = &Metric{
		Prometheus: "throttles_total", OpenTelemetry: "throttles", Unit: "{request}", Counter: true, Whole: true,
		Help: "Throttled attempts, by DynamoDB's reason.", Labels: ofFlow("reason"),
	}
	keys = &Metric{
		Prometheus: "keys", OpenTelemetry: "keys", Unit: "{key}", Whole: true,
		Help: "Approximate number of different partition keys.", Labels: ofFlow(),
	}
	peak = &Metric{
		Prometheus: "peak_units", OpenTelemetry: "peak", Unit: "{unit}",
		Help: "The most units of one second in the last five minutes.", Labels: ofFlow(),
	}
	durations = &Metric{
		Prometheus: "call_duration_seconds", Unit: "s", Histogram: true,
		Help: "Duration of calls, including retries and their waits.", Labels: ofFlow(),
	}
	// OpenTelemetry has no observable histogram: its instruments want every call, and a report has none.
	latency = &Metric{
		OpenTelemetry: "latency", Unit: "s",
		Help: "Duration of calls, including retries.", Labels: ofFlow("percentile"),
	}
	keyRate = &Metric{
		Prometheus: "key_units_per_second", OpenTelemetry: "key.rate", Unit: "{unit}/s",
		Help: "Lower bound of the demand for one of the hottest keys, all shards together, in units a second.", Labels: ofFlow("key"),
	}
	keyShardRate = &Metric{
		Prometheus: "key_hottest_shard_units_per_second", OpenTelemetry: "key.hottest_shard_rate", Unit: "{unit}/s",
		Help: "Lower bound of the demand for the hottest shard of such a key, or for the key itself if it has no shards.", Labels: ofFlow("key"),
	}
	keyShards = &Metric{
		Prometheus: "key_shards", OpenTelemetry: "key.shards", Unit: "{shard}", Whole: true,
		Help: "Number of shards of such a key that were seen, 1 if it has none.", Labels: ofFlow("key"),
	}
	keyThrottles = &Metric{
		Prometheus: "key_throttles_per_second", OpenTelemetry: "key.throttle_rate", Unit: "{request}/s",
		Help: "Recent throttled attempts a second of such a key, all shards together.", Labels: ofFlow("key"),
	}
	controlUnits = &Metric{
		Prometheus: "control_units_total", OpenTelemetry: "control.units", Unit: "{unit}", Counter: true,
		Help: "Capacity units consumed by control items of adaptive collections, which no other metric counts.", Labels: ofFlow(),
	}
	controlThrottles = &Metric{
		Prometheus: "control_throttles_total", OpenTelemetry: "control.throttles", Unit: "{request}", Counter: true, Whole: true,
		Help: "Throttled attempts to read or write control items of adaptive collections.", Labels: ofFlow(),
	}
	decisions = &Metric{
		Prometheus: "decisions_total", OpenTelemetry: "decisions", Unit: "{decision}", Counter: true, Whole: true,
		Help: "Decisions of the control law about keys of adaptive collections, by reason.", Labels: []string{"table", "index", "reason"},
	}
	findings = &Metric{
		Prometheus: "findings", OpenTelemetry: "findings", Unit: "{finding}", Whole: true,
		Help: "Problems found, by kind and severity.", Labels: []string{"table", "index", "kind", "severity"},
	}
)

// Metrics returns all of them.
func Metrics() []*Metric {
	return []*Metric{
		units, requests, retries, failures, throttles, keys, peak, durations, latency,
		keyRate, keyShardRate, keyShards, keyThrottles, controlUnits, controlThrottles, decisions, findings,
	}
}

// Package sample lists what a heat report is exported as, for the packages that hand it to monitoring systems: metrics,
// and their samples.
package sample

// Metric is one that reports are exported as.
type Metric struct {
	Prometheus    string // its name there, behind heatsink_heat_
	OpenTelemetry string // and there, behind heatsink.heat.
	Help          string
	Unit          string   // in UCUM, as OpenTelemetry has it
	Counter       bool     // its values only grow; else it is a gauge
	Whole         bool     // its values are whole numbers
	Labels        []string // their names
}

// ofFlow are the labels of a metric of a flow, and more.
func ofFlow(more ...string) []string { return append([]string{"table", "index", "direction"}, more...) }

// What a report is exported as. The throttles of a key are a rate and no counter: a count would begin anew whenever the
// recorder takes the key up again.
var (
	units = &Metric{
		Prometheus: "units_total", OpenTelemetry: "units", Unit: "{unit}", Counter: true,
		Help: "Capacity units consumed.", Labels: ofFlow(),
	}
	requests = &Metric{
		Prometheus: "requests_total", OpenTelemetry: "requests", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts, retries included.", Labels: ofFlow(),
	}
	retries = &Metric{
		Prometheus: "retries_total", OpenTelemetry: "retries", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts that repeated one.", Labels: ofFlow(),
	}
	failures = &Metric{
		Prometheus: "errors_total", OpenTelemetry: "errors", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts that failed, throttles not among them.", Labels: ofFlow(),
	}
	throttles = &Metric{
		Prometheus: "throttles_total", OpenTelemetry: "throttles", Unit: "{request}", Counter: true, Whole: true,
		Help: "Attempts refused as too fast, by DynamoDB's reason.", Labels: ofFlow("reason"),
	}
	keys = &Metric{
		Prometheus: "keys", OpenTelemetry: "keys", Unit: "{key}", Whole: true,
		Help: "Different partition keys seen, about.", Labels: ofFlow(),
	}
	peak = &Metric{
		Prometheus: "peak_units", OpenTelemetry: "peak", Unit: "{unit}",
		Help: "The most units of one second lately.", Labels: ofFlow(),
	}
	latency = &Metric{
		Prometheus: "latency_seconds", OpenTelemetry: "latency", Unit: "s",
		Help: "How long calls took, retries included.", Labels: ofFlow("percentile"),
	}
	keyRate = &Metric{
		Prometheus: "key_units_per_second", OpenTelemetry: "key.rate", Unit: "{unit}/s",
		Help: "Units a second that one of the hottest keys wants, at least.", Labels: ofFlow("key"),
	}
	keyThrottles = &Metric{
		Prometheus: "key_throttles_per_second", OpenTelemetry: "key.throttle_rate", Unit: "{request}/s",
		Help: "Attempts a second of one of the hottest keys that are refused of late.", Labels: ofFlow("key"),
	}
	findings = &Metric{
		Prometheus: "findings", OpenTelemetry: "findings", Unit: "{finding}", Whole: true,
		Help: "Problems found, by kind and severity.", Labels: []string{"table", "index", "kind", "severity"},
	}
)

// Metrics returns all of them.
func Metrics() []*Metric {
	return []*Metric{units, requests, retries, failures, throttles, keys, peak, latency, keyRate, keyThrottles, findings}
}

package sample

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/heat"
)

// Sample is a value of a metric.
type Sample struct {
	*Metric
	Values []string // of the metric's labels, in their order; "" where there is none, as of an index
	Value  float64

	Durations heat.Durations // of a histogram, which has no value
}

// Source makes samples of a new report each time.
type Source struct {
	report func() heat.Report
	keys   int
	rules  heat.Rules
}

// defaultKeys is how many keys of a flow are exported unless somebody says otherwise.
const defaultKeys = 10

// NewSource returns a source of what report returns. keys is how many keys of each flow there are samples of, 0 for ten
// and less for none.
func NewSource(report func() heat.Report, keys int, rules heat.Rules) (*Source, error) {
	var faults []error
	if report == nil {
		faults = append(faults, errors.New("the source is nil: give a function that returns a report"))
	}
	if err := rules.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("invalid rules: %w", err))
	}
	return &Source{report, max(0, cmp.Or(keys, defaultKeys)), rules}, errors.Join(faults...)
}

// Samples returns the samples of now. No two of a metric have the same labels.
func (s *Source) Samples() []Sample {
	var all samples
	report := s.report()
	for i := range report.Resources {
		r := &report.Resources[i]
		for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
			f := r.Flow(d)
			if seen(f) {
				all.flow(f, s.keys, r.Table, r.Index, d.String())
			}
			if f.Control != (heat.Control{}) {
				all.add(controlUnits, f.Control.Units, r.Table, r.Index, d.String())
				all.add(controlThrottles, float64(f.Control.Throttled), r.Table, r.Index, d.String())
			}
		}
	}
	all.decisions(report.Decided)
	all.findings(heat.Explain(report, s.rules))
	return all
}

// seen reports whether there is anything to say of a flow. Metrics count no requests, and what is always refused has no
// units.
func seen(f *heat.Flow) bool {
	return f.Requests > 0 || f.Units > 0 || f.Throttled > 0 || f.Errors > 0 || len(f.Keys) > 0
}

type samples []Sample

// label returns a text as the value of a label. Labels are UTF-8 in all systems, and one that is not would keep the others
// from being exported.
func label(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// add adds a sample.
func (s *samples) add(m *Metric, value float64, labels ...string) {
	for i := range labels {
		labels[i] = label(labels[i])
	}
	*s = append(*s, Sample{Metric: m, Values: labels, Value: value})
}

func (s *samples) flow(f *heat.Flow, most int, at ...string) {
	add := func(m *Metric, value float64, more ...string) {
		s.add(m, value, append(at[:len(at):len(at)], more...)...)
	}
	add(units, f.Units)
	add(requests, float64(f.Requests))
	add(retries, float64(f.Retries))
	add(failures, float64(f.Errors))
	for _, t := range f.Throttles {
		add(throttles, float64(t.Count), t.Reason)
	}
	add(keys, float64(f.Distinct.Keys))
	add(peak, f.Peak)
	if f.Durations.Count > 0 {
		add(durations, 0)
		(*s)[len(*s)-1].Durations = f.Durations
	}
	if f.Latency != (heat.Latency{}) { // else nobody waited for anything
		add(latency, f.Latency.P50.Seconds(), "50")
		add(latency, f.Latency.P99.Seconds(), "99")
		add(latency, f.Latency.P999.Seconds(), "99.9")
	}
	all := hottest(f.Folded())
	for _, k := range all[:min(len(all), most)] {
		add(keyRate, k.RateLow, k.Key)
		add(keyShardRate, k.HottestRate, k.Key)
		add(keyShards, float64(k.Shards), k.Key)
		add(keyThrottles, k.Refused, k.Key)
	}
}

// hottest returns keys with texts that can be labels, each once. A bare key beside its shards adds to them: it is not yet
// moved, or from before there were shards. Of other keys that have become the same text, as odd bytes make them, it is the
// highest figure: more than that no single key has.
func hottest(all []heat.LogicalKey) []heat.LogicalKey {
	var keys []heat.LogicalKey
	places := make(map[string]int, len(all))
	exact := make(map[string]bool, len(all))
	for _, k := range all {
		bare := exact[k.Key]
		exact[k.Key] = true
		k.Key = label(k.Key)
		i, known := places[k.Key]
		if !known {
			places[k.Key] = len(keys)
			keys = append(keys, k)
			continue
		}
		same := &keys[i]
		same.HottestRate, same.Shards = max(same.HottestRate, k.HottestRate), max(same.Shards, k.Shards)
		if bare {
			same.RateLow, same.Refused = same.RateLow+k.RateLow, same.Refused+k.Refused
		} else {
			same.RateLow, same.Refused = max(same.RateLow, k.RateLow), max(same.Refused, k.Refused)
		}
	}
	return keys
}

// decisions adds the counts of decisions. Those that have become the same text are one.
func (s *samples) decisions(all []heat.DecisionCount) {
	counted := make(map[[3]string]int) // their places among the samples
	for _, d := range all {
		labels := [3]string{label(d.Table), label(d.Index), label(d.Reason)}
		i, ok := counted[labels]
		if !ok {
			i = len(*s)
			counted[labels] = i
			s.add(decisions, 0, labels[:]...)
		}
		(*s)[i].Value += float64(d.Count)
	}
}

func (s *samples) findings(all []heat.Finding) {
	type group struct {
		resource heat.Resource
		kind     heat.Kind
		severity heat.Severity
	}
	counted := make(map[group]int) // their places among the samples
	for _, f := range all {
		g := group{f.Resource, f.Kind, f.Severity}
		i, ok := counted[g]
		if !ok {
			i = len(*s)
			counted[g] = i
			s.add(findings, 0, f.Table, f.Index, string(f.Kind), f.Severity.String())
		}
		(*s)[i].Value++
	}
}

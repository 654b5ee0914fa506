package heat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/judge"
)

// Rules are the thresholds of findings. A field at zero has its default.
type Rules struct {
	// Warm and Hot are fractions of a partition's limit. A key whose certain demand exceeds Warm is a warning; one that
	// stays above Hot is critical. One second alone is a warning, as DynamoDB serves bursts. Defaults: 0.7 and 0.95.
	Warm, Hot float64

	// Excess is the part of the traffic beyond its fair share that a key may have, 0 to 1. Of four keys each has a fair
	// share of 25 %; one with 62.5 % has half of the rest. Default: 0.25.
	Excess float64

	// Sample is the least number of requests for findings about shares. Default: 100.
	Sample int64

	// Items is the least number of items for findings about stored items. Default: 100.
	Items int64

	// Exclude keeps keys out of findings, such as those of tests. It may be nil.
	Exclude func(key string) bool
}

// Validate returns an error with all faults of the rules. Explain panics with that error, so validate rules from outside
// the program first.
func (r Rules) Validate() error {
	var faults []error
	for _, fraction := range []struct {
		name  string
		value float64
	}{{"Warm", r.Warm}, {"Hot", r.Hot}, {"Excess", r.Excess}} {
		if !(fraction.value >= 0 && fraction.value <= 1) {
			faults = append(faults, notBetween(fraction.name, fraction.value, 0, 1))
		}
	}
	if r.Sample < 0 {
		faults = append(faults, isNegative("Sample", r.Sample))
	}
	if r.Items < 0 {
		faults = append(faults, isNegative("Items", r.Items))
	}
	return errors.Join(faults...)
}

// DefaultRules returns the rules that the zero value stands for.
func DefaultRules() Rules { return Rules{}.withDefaults() }

func (r Rules) withDefaults() Rules {
	r.Warm = cmp.Or(r.Warm, judge.Warm)
	r.Hot = cmp.Or(r.Hot, judge.Hot)
	r.Excess = cmp.Or(r.Excess, judge.Excess)
	r.Sample = cmp.Or(r.Sample, 100)
	r.Items = cmp.Or(r.Items, 100)
	return r
}

// Explain returns the findings of a report, the worst first. A key has one finding: its cause, if that is known, rather than
// each symptom. Explain panics if the rules are invalid.
func Explain(report Report, rules Rules) []Finding {
	if err := rules.Validate(); err != nil {
		panic(fmt.Sprintf("heat: invalid rules: %v", err))
	}
	e := explainer{report: &report, rules: rules.withDefaults()}
	report.Resources = slices.Clone(report.Resources) // they are the caller's
	for i := range report.Resources {
		report.Resources[i].learn()
		e.resource(&report.Resources[i])
	}
	e.growth()
	slices.SortStableFunc(e.findings, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return e.findings
}

// Worst returns the severity of the worst finding, and false if there is none.
func Worst(findings []Finding) (Severity, bool) {
	if len(findings) == 0 {
		return Info, false
	}
	return slices.MaxFunc(findings, func(a, b Finding) int { return int(a.Severity) - int(b.Severity) }).Severity, true
}

// explainer collects the findings of a report.
type explainer struct {
	report   *Report
	rules    Rules
	findings []Finding
	grown    map[about]bool // keys whose throttles are from before they grew
}

// about is the subject of a finding. A subject has only one.
type about struct {
	Resource
	subject string // a key, or a pattern
}

func (e *explainer) resource(r *ResourceReport) {
	said := make(map[about]bool)
	e.grew(r)
	e.shards(r, said)
	for _, d := range [...]Direction{Write, Read} {
		e.hotKeys(r, d, said)
		e.victims(r, d, said)
		e.crowded(r, d, said)
		e.bursts(r, d, said)
	}
	for _, d := range [...]Direction{Write, Read} {
		e.sets(r, d, said)
	}
	e.designs(r, said)
	for _, d := range [...]Direction{Write, Read} {
		e.dominance(r, d, said)
		e.throttles(r, d)
		e.signs(r, d)
	}
	e.stored(r, said)
	e.index(r, said)
	e.suspects(r)
}

// add adds a finding about a resource.
func (e *explainer) add(r *ResourceReport, f Finding) {
	f.Resource = r.Resource
	e.findings = append(e.findings, f)
}

func (e *explainer) excluded(key string) bool { return e.rules.Exclude != nil && e.rules.Exclude(key) }

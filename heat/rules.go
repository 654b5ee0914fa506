package heat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Rules say from when on Explain speaks up. Fields that are zero have the defaults given here.
type Rules struct {
	// Warm and Hot are fractions of what a partition serves: a key that surely wants more than Warm is a warning, more
	// than Hot is critical if it goes on. A second alone is a warning, as DynamoDB serves bursts. Defaults: 0.7 and 0.95.
	Warm, Hot float64

	// Excess is how much of the traffic that is not its fair share a key may have, 0 to 1. Of four keys each has a fair
	// share of 25 %; one with 62.5 % has half of the rest. Default: 0.25.
	Excess float64

	// Sample is how many requests there must be to speak of shares. Default: 100.
	Sample int64

	// Items is how many items a key must hold to be a finding for what it is, whatever its traffic. Default: 100.
	Items int64

	// Exclude keeps keys out of findings: those of tests, say. It may be nil.
	Exclude func(key string) bool
}

// Validate returns what is wrong with the rules, all of it. Explain panics with that: who takes rules to explain with later
// asks first.
func (r Rules) Validate() error {
	var faults []error
	for _, fraction := range []struct {
		name  string
		value float64
	}{{"Warm", r.Warm}, {"Hot", r.Hot}, {"Excess", r.Excess}} {
		if !(fraction.value >= 0 && fraction.value <= 1) {
			faults = append(faults, fmt.Errorf("%s is a fraction, 0 to 1, not %v", fraction.name, fraction.value))
		}
	}
	if r.Sample < 0 || r.Items < 0 {
		faults = append(faults, fmt.Errorf("negative Sample or Items: %d and %d", r.Sample, r.Items))
	}
	return errors.Join(faults...)
}

func (r Rules) withDefaults() Rules {
	r.Warm = cmp.Or(r.Warm, 0.7)
	r.Hot = cmp.Or(r.Hot, 0.95)
	r.Excess = cmp.Or(r.Excess, 0.25)
	r.Sample = cmp.Or(r.Sample, 100)
	r.Items = cmp.Or(r.Items, 100)
	return r
}

// Explain returns what is wrong according to a report, the worst first. It says one thing about a key: the cause, if it
// can tell, rather than each symptom. It panics if the rules contradict themselves.
func Explain(report Report, rules Rules) []Finding {
	if err := rules.Validate(); err != nil {
		panic(fmt.Sprintf("heat: invalid rules: %v", err))
	}
	e := explainer{report: &report, rules: rules.withDefaults()}
	for i := range report.Resources {
		e.resource(&report.Resources[i])
	}
	slices.SortStableFunc(e.findings, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return e.findings
}

// Worst returns the severity of the worst finding, and whether there is any.
func Worst(findings []Finding) (Severity, bool) {
	if len(findings) == 0 {
		return Info, false
	}
	return slices.MaxFunc(findings, func(a, b Finding) int { return int(a.Severity) - int(b.Severity) }).Severity, true
}

// explainer gathers findings about a report.
type explainer struct {
	report   *Report
	rules    Rules
	findings []Finding
}

// about is what a finding is about, so that nothing is said twice.
type about struct {
	Resource
	subject string // a key, or a pattern
}

func (e *explainer) resource(r *ResourceReport) {
	said := make(map[about]bool)
	e.shards(r, said)
	for _, d := range [...]Direction{Write, Read} {
		e.hotKeys(r, d, said)
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

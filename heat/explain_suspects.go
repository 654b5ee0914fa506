package heat

import (
	"fmt"
	"strings"
)

// suspects finds loud keys that look like a test or a bug rather than like customers.
func (e *explainer) suspects(r *ResourceReport) {
	for _, d := range [...]Direction{Write, Read} {
		f := r.Flow(d)
		if f.Requests < e.rules.Sample {
			continue
		}
		for _, k := range f.Keys {
			if what := suspicious(k.Key); what != "" && k.Share >= 0.05 && !e.excluded(k.Key) {
				e.add(r, Finding{
					Kind: Suspicious, Severity: Info, Direction: d, Key: k.Key,
					Message:  fmt.Sprintf("Partition key '%s' looks like %s, with %.0f%% of the %s traffic", k.Key, what, 100*k.Share, d),
					Evidence: e.evidence(&k, d), Cause: "keys like this are rarely customers",
					Remedy: "stop it or limit it (package ratelimit); Rules.Exclude leaves it out of the findings",
				})
			}
		}
	}
}

// suspicious says what a key looks like, "" if like any other.
func suspicious(key string) string {
	lower := strings.ToLower(key)
	for part := range strings.FieldsFuncSeq(lower, func(c rune) bool { return strings.ContainsRune("#|:/._- ", c) }) {
		switch part {
		case "test", "tests", "testing", "loadtest", "perftest", "benchmark", "bench", "dummy", "fake", "smoketest":
			return "a test"
		case "null", "nil", "none", "undefined", "nan":
			return "a missing value"
		case "bot", "crawler", "spider", "scraper":
			return "a robot"
		}
	}
	if strings.Contains(lower, "00000000-0000-0000-0000-000000000000") {
		return "a missing value"
	}
	return ""
}

package heat

import (
	"fmt"
	"strings"
)

// suspects finds busy keys that look like a test or a bug rather than a customer.
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
					Evidence: e.evidence(&k, d), Cause: "keys like this are rarely those of customers",
					Remedy: "stop this traffic or limit its rate (package ratelimit); Rules.Exclude keeps the key out of the findings",
				})
			}
		}
	}
}

// suspicious says what a key looks like, "" for an ordinary key.
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

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// inBoth returns the findings that both the earlier report and the present one can show, then and now, and notes what
// it leaves out. Findings of both are worked out from the same sources with the same rules: else those would differ that
// a flag has changed.
func (e *earlier) inBoth(change *auditChange, reports []heat.Report) (before, after []heat.Finding) {
	note := func(format string, args ...any) { change.Notes = append(change.Notes, fmt.Sprintf(format, args...)) }
	if len(e.others) > 0 {
		note("the earlier report is also about %q, which are not compared: this one is about one table", e.others)
	}
	then, now := e.common(change, reports)
	before, after = explained(e.rules, then), explained(e.rules, now)
	unruled := e.rules
	unruled.Exclude = nil
	if n := len(explained(unruled, then)) - len(before); n > 0 {
		note("--exclude leaves out %s of the earlier report, which says nothing about whether they are gone", figure.Count(n, "finding"))
	}
	if why := differentlyHashed(keysOf(then), keysOf(now), e.hashed); why != "" {
		ofKeys := func(f heat.Finding) bool { return subject(f) != "" }
		all := len(before) + len(after)
		before, after = slices.DeleteFunc(before, ofKeys), slices.DeleteFunc(after, ofKeys)
		if n := all - len(before) - len(after); n > 0 {
			note("%s about keys are not compared: %s", figure.Count(n, "finding"), why)
		}
	}
	return before, after
}

// explained returns the findings of reports, none for none.
func explained(rules heat.Rules, reports []heat.Report) []heat.Finding {
	if len(reports) == 0 {
		return nil
	}
	return heat.ExplainAll(rules, reports...)
}

// common returns the reports whose source both have, and notes the others.
func (e *earlier) common(change *auditChange, reports []heat.Report) (then, now []heat.Report) {
	split := func(reports, others []heat.Report) (shared []heat.Report, alone []string) {
		for _, r := range reports {
			if slices.ContainsFunc(others, func(o heat.Report) bool { return o.Source == r.Source }) {
				shared = append(shared, r)
			} else if !slices.Contains(alone, string(r.Source)) {
				alone = append(alone, string(r.Source))
			}
		}
		return shared, alone
	}
	then, onlyThen := split(e.reports, reports)
	now, onlyNow := split(reports, e.reports)
	for _, side := range []struct {
		name  string
		alone []string
	}{{"the earlier report", onlyThen}, {"this report", onlyNow}} {
		if len(side.alone) > 0 {
			change.Notes = append(change.Notes, fmt.Sprintf("only %s has read %s, whose findings are not compared: read the same sources both times",
				side.name, strings.Join(side.alone, ", ")))
		}
	}
	return then, now
}

// keysOf returns the keys that reports list.
func keysOf(reports []heat.Report) map[string]bool {
	keys := make(map[string]bool)
	for i := range reports {
		for j := range reports[i].Resources {
			r := &reports[i].Resources[j]
			for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
				for k := range r.Flow(d).Keys {
					keys[r.Flow(d).Keys[k].Key] = true
				}
			}
			if r.Stored != nil {
				for k := range r.Stored.Keys {
					keys[r.Stored.Keys[k].Key] = true
				}
			}
		}
	}
	return keys
}

// differentlyHashed says why the keys of two reports cannot be compared, "" if they can. A key that is in both shows that
// they can.
func differentlyHashed(then, now map[string]bool, hashedNow bool) string {
	if len(then) == 0 || len(now) == 0 {
		return ""
	}
	for key := range now {
		if then[key] {
			return ""
		}
	}
	switch hashedThen := allHashes(then); {
	case hashedNow && hashedThen:
		return "no hash is in both reports, as if the secrets differed: give --hash-keys the same secret both times"
	case hashedNow:
		return "keys are hashed now and were not then: give --hash-keys both times, with the same secret"
	case hashedThen && !allHashes(now):
		return "keys were hashed then and are not now: give --hash-keys the same secret as then"
	}
	return ""
}

// allHashes reports whether keys look as heat.Hashed makes them.
func allHashes(keys map[string]bool) bool {
	for key := range keys {
		for part := range strings.SplitSeq(key, "|") { // of a key of several attributes
			if len(part) != 16 || strings.Trim(part, "0123456789abcdef") != "" {
				return false
			}
		}
	}
	return true
}

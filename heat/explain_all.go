package heat

import (
	"reflect"
	"slices"
)

// ExplainAll returns the findings of several reports together, the worst first. It combines findings, not reports, which
// may be of different times; each line of evidence then begins with its source. For one report it is Explain.
//
// Findings about one key and direction become one, with the worst severity and the kind that explains most. Some sources,
// such as CloudWatch, know throttles but no keys. ExplainAll adds such throttles to the finding about a key that another
// source shows at Rules.Warm or above, or with most of the traffic or of the throttles; that finding becomes critical. It
// adds throttles without a reason to throttles with one, or to a warm key. It never adds limits of the table or of the
// account to a key's finding.
func ExplainAll(rules Rules, reports ...Report) []Finding {
	reports = distinct(reports)
	switch len(reports) {
	case 0:
		return Explain(Report{}, rules)
	case 1:
		return Explain(reports[0], rules)
	}
	direct(reports)
	var claims []claim
	for i := range reports {
		for _, f := range Explain(reports[i], rules) {
			claims = append(claims, newClaim(f, i, &reports[i]))
		}
	}
	warm := rules.withDefaults().Warm
	claims = joinSubjects(claims, warm)
	claims = fold(claims, func(c *claim, all []claim) *claim { return keyOfShape(c, all, warm) })
	claims = fold(claims, reasonOf)
	claims = fold(claims, func(c *claim, all []claim) *claim { return culprit(c, all, warm) })
	slices.SortFunc(claims, compareClaims)
	var findings []Finding
	for i := range claims {
		findings = append(findings, claims[i].Finding)
	}
	return findings
}

// distinct returns the reports, each once.
func distinct(reports []Report) []Report {
	var all []Report
	for _, r := range reports {
		if !slices.ContainsFunc(all, func(known Report) bool { return reflect.DeepEqual(known, r) }) {
			all = append(all, r)
		}
	}
	return all
}

// direct turns the writes of a Contributor Insights report into reads where CloudWatch shows only reads. Insights counts
// both as writes.
func direct(reports []Report) {
	for i := range reports {
		if reports[i].Source != Insights {
			continue
		}
		reports[i].Resources = slices.Clone(reports[i].Resources) // they are the caller's
		for j := range reports[i].Resources {
			r := &reports[i].Resources[j]
			told := slices.ContainsFunc(r.Writes.Throttles, func(t ThrottleCount) bool { return t.Reason != "" })
			if !told && r.Reads.Requests == 0 && len(r.Reads.Keys) == 0 && onlyRead(reports, r.Resource) {
				r.Reads, r.Writes = r.Writes, Flow{}
			}
		}
	}
}

// onlyRead reports whether all throttled requests of a table or index are reads according to CloudWatch or, without
// throttles, almost all served ones.
func onlyRead(reports []Report, resource Resource) bool {
	reads, known := true, false
	for i := range reports {
		if reports[i].Source != CloudWatch {
			continue
		}
		for j := range reports[i].Resources {
			if r := &reports[i].Resources[j]; r.Resource == resource {
				known = true
				if r.Reads.Throttled+r.Writes.Throttled > 0 {
					reads = reads && r.Writes.Throttled == 0
				} else {
					reads = reads && r.Reads.Units > 10*r.Writes.Units
				}
			}
		}
	}
	return known && reads
}

// keyOfShape returns the worst claim about a key of a claim's shape.
func keyOfShape(c *claim, all []claim, warm float64) *claim {
	if !c.ofShape(warm) {
		return nil
	}
	for i := range all {
		if to := &all[i]; to.ofKey() && !to.ofShape(warm) && to.beside(c) && to.Pattern == c.Pattern {
			return to
		}
	}
	return nil
}

// reasonOf returns, for throttles without a reason, another source's claim about throttles with one: of keys first, then
// of limits.
func reasonOf(c *claim, all []claim) *claim {
	if c.Kind != Throttled {
		return nil
	}
	for _, kinds := range [][]Kind{{HotPartition, HotIndex}, {TableThrottled, AccountThrottled, MaximumThrottled}} {
		for i := range all {
			to := &all[i]
			if slices.Contains(kinds, to.Kind) && !to.ofCardinality() && to.beside(c) && to.together(c) {
				return to
			}
		}
	}
	return nil
}

// culprit returns the claim about the key that most likely causes throttles of an unknown key, if a source shows one: of
// several, the worst and hottest.
func culprit(c *claim, all []claim, warm float64) *claim {
	if c.Kind != HotPartition && c.Kind != HotIndex && c.Kind != Throttled || c.Key != "" {
		return nil
	}
	for i := range all {
		to := &all[i]
		if !to.ofKey() || to.Key == "" || !to.beside(c) || !to.together(c) {
			continue
		}
		switch {
		case c.ofCardinality():
			if to.Kind == LowCardinality || to.Severity == Critical {
				return to // few keys: this is why
			}
		case to.Severity == Critical, to.rate >= warm, c.Kind != Throttled && max(to.excess, to.refused) > 0.5:
			return to
		}
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// auditChange is how findings differ from those of an earlier report.
type auditChange struct {
	Gone   []heat.Finding `json:"gone"`  // of the earlier report only; all three without findings that cannot be compared
	New    []heat.Finding `json:"new"`   // of this one only
	Still  []heat.Finding `json:"still"` // of both
	Tables []flowChange   `json:"tables"`
	Notes  []string       `json:"notes,omitempty"` // what cannot be compared, and why
}

// flowChange is how a table or index that was throttled in either report differs, in one direction. Rates are per second.
type flowChange struct {
	heat.Resource
	Direction heat.Direction `json:"direction"`
	Source    heat.Source    `json:"source"`
	Capacity  [2]float64     `json:"capacity"` // units, 0 if unknown or on demand
	Units     [2]float64     `json:"units"`    // that were consumed
	Throttled [2]float64     `json:"throttled"`
}

// earlier is the report of --before, as far as it is about the table.
type earlier struct {
	reports  []heat.Report
	findings []heat.Finding // that it had
	rules    heat.Rules     // of now
	hashed   bool           // keys are hashed now
	others   []string       // further tables that it is about
}

// readBefore reads the report of --before, which must be about the same table.
func (a *audit) readBefore(ctx context.Context) (*earlier, error) {
	if a.before == "" {
		return nil, nil
	}
	reports, findings, err := readReports(ctx, a.before, nil)
	if err != nil {
		return nil, fmt.Errorf("--before: %w", err)
	}
	e := &earlier{rules: a.rules, hashed: a.hide != ""}
	e.rules.Exclude = a.excluded
	e.reports, e.others = ofTable(reports, a.table)
	if len(e.reports) == 0 {
		return nil, fmt.Errorf("--before %s: it has nothing about table %q, only about %q: give a report of the same table", a.before, a.table, e.others)
	}
	e.findings = slices.DeleteFunc(findings, func(f heat.Finding) bool { return f.Table != a.table })
	return e, nil
}

// ofTable returns the part of reports that is about a table, and the other tables that they are about.
func ofTable(reports []heat.Report, table string) (about []heat.Report, others []string) {
	for _, report := range reports {
		var resources []heat.ResourceReport
		for _, r := range report.Resources {
			switch {
			case r.Table == table:
				resources = append(resources, r)
			case !slices.Contains(others, r.Table):
				others = append(others, r.Table)
			}
		}
		if report.Resources = resources; len(resources) > 0 {
			about = append(about, report)
		}
	}
	return about, others
}

// compare returns the findings of now with those that only two reports show, and how they differ from the earlier ones.
func (e *earlier) compare(reports []heat.Report, findings []heat.Finding) ([]heat.Finding, *auditChange) {
	if e == nil {
		return findings, nil
	}
	change := &auditChange{Gone: []heat.Finding{}, New: []heat.Finding{}, Still: []heat.Finding{}, Tables: []flowChange{}}
	var more []heat.Finding
	for i := range reports {
		for j := range e.reports {
			switch {
			case e.reports[j].Source != reports[i].Source:
			case change.overlaps(&e.reports[j], &reports[i]):
			default:
				more = append(more, heat.ExplainChange(e.reports[j], reports[i])...)
				change.flows(&e.reports[j], &reports[i])
			}
		}
	}
	for i := range more {
		if key := sameKey(e.reports, reports, more[i].Resource, more[i].Direction); key != "" {
			more[i].Evidence = append(more[i].Evidence, fmt.Sprintf("'%s' is the hottest key in both reports", key))
		}
	}
	before, after := e.inBoth(change, reports)
	for _, f := range e.findings {
		if f.Kind == heat.NoHelp && slices.ContainsFunc(more, func(g heat.Finding) bool { return same(f, g) }) {
			before = append(before, f) // two other reports have shown it; whether it is gone, these do not show
		}
	}
	change.findings(before, bySeverity(append(after, more...)))
	return bySeverity(append(slices.Clone(findings), more...)), change
}

// bySeverity sorts findings, the worst first.
func bySeverity(findings []heat.Finding) []heat.Finding {
	slices.SortStableFunc(findings, func(a, b heat.Finding) int { return int(b.Severity) - int(a.Severity) })
	return findings
}

// overlaps reports whether two reports share so much of their time that they are not compared: throttles of that part would
// be counted in both, so that nothing seems to have helped. Of less a note says so.
func (c *auditChange) overlaps(before, after *heat.Report) bool {
	const little = 10 // of the shorter report
	shared := before.To.Sub(after.From)
	if after.Elapsed() <= 0 || shared <= 0 {
		return false
	}
	if little*shared <= min(before.Elapsed(), after.Elapsed()) {
		c.Notes = append(c.Notes, fmt.Sprintf("%s: the reports share %s, whose throttles are counted in both", after.Source, spanText(shared.Round(time.Second))))
		return false
	}
	// CloudWatch counts by the minute, so its reports begin up to a minute earlier than --last says.
	advice := "repeat it two minutes after the earlier one at the soonest, with --last 1m"
	if since := after.To.Sub(before.To).Truncate(time.Minute) - time.Minute; since > 0 {
		advice = "give --last less than the time since the earlier one, " + spanText(since) + " at most"
	}
	c.Notes = append(c.Notes, fmt.Sprintf("%s: the reports share %s, so their rates are not compared: %s",
		after.Source, spanText(shared.Round(time.Second)), advice))
	return true
}

// provisionedUnits returns the capacity of a table or index in a direction, 0 if it is unknown or has no limit.
func provisionedUnits(c *heat.Capacity, d heat.Direction) float64 {
	switch {
	case c == nil:
		return 0
	case d == heat.Read:
		return float64(c.ReadUnits)
	}
	return float64(c.WriteUnits)
}

// findings sorts findings into those that are gone, new, and still there.
func (c *auditChange) findings(before, after []heat.Finding) {
	has := func(list []heat.Finding, f heat.Finding) bool {
		return slices.ContainsFunc(list, func(g heat.Finding) bool { return same(f, g) })
	}
	for _, f := range before {
		if !has(after, f) {
			c.Gone = append(c.Gone, f)
		}
	}
	for _, f := range after {
		if has(before, f) {
			c.Still = append(c.Still, f)
		} else {
			c.New = append(c.New, f)
		}
	}
}

// same reports whether two findings say the same of the same key.
func same(f, g heat.Finding) bool {
	return g.Kind == f.Kind && g.Resource == f.Resource && g.Direction == f.Direction && subject(g) == subject(f)
}

// subject is the key or the shape of keys that a finding is about.
func subject(f heat.Finding) string { return cmp.Or(f.Key, f.Pattern) }

// flows notes the tables and indexes that were throttled in one of two reports of a source.
func (c *auditChange) flows(before, after *heat.Report) {
	for i := range after.Resources {
		is := &after.Resources[i]
		at := slices.IndexFunc(before.Resources, func(r heat.ResourceReport) bool { return r.Resource == is.Resource })
		if at < 0 {
			continue
		}
		was := &before.Resources[at]
		for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
			if was.Flow(d).Throttled+is.Flow(d).Throttled == 0 {
				continue
			}
			rate := func(n float64, r *heat.Report) float64 { return n / max(1, r.Elapsed().Seconds()) }
			c.Tables = append(c.Tables, flowChange{
				Resource: is.Resource, Direction: d, Source: after.Source,
				Capacity:  [2]float64{provisionedUnits(was.Capacity, d), provisionedUnits(is.Capacity, d)},
				Units:     [2]float64{rate(was.Flow(d).Units, before), rate(is.Flow(d).Units, after)},
				Throttled: [2]float64{rate(float64(was.Flow(d).Throttled), before), rate(float64(is.Flow(d).Throttled), after)},
			})
		}
	}
}

// sameKey returns the key that is the hottest of a table or index in both of two sets of reports, "" if there is none.
func sameKey(before, after []heat.Report, resource heat.Resource, d heat.Direction) string {
	hottest := func(reports []heat.Report) string {
		for _, report := range reports {
			for i := range report.Resources {
				if r := &report.Resources[i]; r.Resource == resource && len(r.Flow(d).Keys) > 0 {
					return r.Flow(d).Keys[0].Key
				}
			}
		}
		return ""
	}
	key := hottest(before)
	if key != hottest(after) {
		return ""
	}
	return key
}

// write writes what has changed since the earlier report.
func (c *auditChange) write(screen *screen) {
	if c == nil {
		return
	}
	screen.say("\n%s", screen.bold("since the earlier report"))
	for _, f := range c.Tables {
		capacity := ""
		if f.Capacity[0] > 0 || f.Capacity[1] > 0 {
			capacity = fmt.Sprintf("capacity %s, then %s; ", figure.Thousands(f.Capacity[0]), figure.Thousands(f.Capacity[1]))
		}
		screen.say("  %s, %ss: %s%.1f units a second, then %.1f; %.1f throttled a second, then %.1f",
			printable(f.Resource.String()), f.Direction, capacity, f.Units[0], f.Units[1], f.Throttled[0], f.Throttled[1])
	}
	for _, list := range []struct {
		name     string
		findings []heat.Finding
	}{{"gone", c.Gone}, {"still", c.Still}, {"new", c.New}} {
		for _, f := range list.findings {
			screen.say("  %-5s  %s", list.name, printable(f.String()))
		}
	}
	for _, note := range c.Notes {
		screen.say("  note: %s", printable(note))
	}
	switch {
	case len(c.Gone)+len(c.Still)+len(c.New) > 0:
	case len(c.Notes) > 0:
		screen.say("  no findings to compare")
	default:
		screen.say("  no findings, neither then nor now")
	}
}

package main

import (
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/internal/doctor"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// writeDoctor writes a report as text: a line for each result, its remedy below it, and how many there are of each outcome.
func writeDoctor(screen *screen, report *doctor.Report) {
	of := "the account"
	if report.Table != "" {
		of = "table " + report.Table
	}
	where := report.Endpoint
	if where == "" {
		where = report.Region
	}
	if where != "" {
		of += ", " + where
	}
	screen.say("%s", screen.bold(printable(of)))
	for i := 0; i < len(report.Results); {
		r := report.Results[i]
		names := []string{r.Check}
		for i++; r.Outcome == doctor.Unknown && i < len(report.Results) && sameResult(r, report.Results[i]); i++ {
			names = append(names, report.Results[i].Check)
		}
		screen.say("%s  %-11s  %s", outcomeText(screen, r.Outcome), strings.Join(names, ", "), printable(r.Found))
		if r.Remedy != "" {
			screen.say("         %-11s  → %s", "", printable(r.Remedy))
		}
	}
	if s := report.Sample; s != nil && s.Items > 0 {
		screen.say("looked at %s of about %s (%.1f %%), for %s", figure.Count(s.Items, "item"), figure.Thousands(s.Of), 100*s.Fraction, units(s.Units))
	}
	var parts []string
	for _, o := range []doctor.Outcome{doctor.Problem, doctor.Warning, doctor.Unknown, doctor.OK} {
		if n := report.Count(o); n > 0 {
			text := fmt.Sprintf("%d %s", n, o)
			if n > 1 && (o == doctor.Problem || o == doctor.Warning) {
				text += "s"
			}
			parts = append(parts, text)
		}
	}
	screen.say("%s", strings.Join(parts, ", "))
}

// sameResult reports whether two checks could not be made for the same reason.
func sameResult(a, b doctor.Result) bool {
	return a.Outcome == b.Outcome && a.Found == b.Found && a.Remedy == b.Remedy
}

func outcomeText(screen *screen, o doctor.Outcome) string {
	text := fmt.Sprintf("%-7s", o)
	switch o {
	case doctor.OK:
		return screen.green(text)
	case doctor.Problem, doctor.Warning:
		return screen.red(text)
	}
	return text
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// parseKeyFlag reads NAME or INDEX=NAME and returns the table or index as heat.Options name it.
func parseKeyFlag(table, text string) (resource, name string, err error) {
	index, name, of := strings.Cut(text, "=")
	if !of {
		index, name = "", text
	}
	if name == "" || of && index == "" {
		return "", "", fmt.Errorf("--key %q: %w", text, errors.New("want NAME or INDEX=NAME"))
	}
	if index == "" {
		return table, name, nil
	}
	return table + "/" + index, name, nil
}

// writeReports writes reports as text: what each source saw and when, then the findings of all of them.
func writeReports(screen *screen, reports []heat.Report, findings []heat.Finding, top int) {
	for i, report := range reports {
		if i > 0 {
			screen.say("")
		}
		screen.say("%s, %s", screen.bold(printable(string(report.Source))), windowText(report))
		for i := range report.Resources {
			writeResource(screen, &report.Resources[i], report, top)
		}
		for _, note := range report.Notes {
			screen.say("note: %s", printable(note))
		}
	}
	screen.say("")
	if len(findings) == 0 {
		screen.say("%s", screen.green("no findings"))
		return
	}
	for _, f := range findings {
		writeFinding(screen, f)
	}
	screen.say("%s", countFindings(findings))
}

// windowText says which time a report covers.
func windowText(report heat.Report) string {
	from, to := report.From.Local(), report.To.Local()
	switch {
	case report.To.IsZero():
		return "no data"
	case !from.Before(to):
		return "as of " + to.Format(time.DateTime)
	case from.Format(time.DateOnly) == to.Format(time.DateOnly):
		return from.Format(time.DateTime) + " to " + to.Format(time.TimeOnly)
	}
	return from.Format(time.DateTime) + " to " + to.Format(time.DateTime)
}

// spanText returns a duration without the zeros that it ends with: 1h and not 1h0m0s.
func spanText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func writeResource(screen *screen, r *heat.ResourceReport, report heat.Report, top int) {
	screen.say("%s", screen.bold(printable(headline(r, report))))
	table := tabwriter.NewWriter(screen.out, 0, 0, 2, ' ', 0)
	for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
		writeKeys(table, r.Flow(d), d, report, top)
	}
	if r.Stored != nil {
		writeStored(table, r.Stored, top)
	}
	_ = table.Flush()
	if text := controlText(r); text != "" {
		screen.say("  %s", text)
	}
	if len(r.Patterns) > 0 {
		screen.say("  key shapes:")
		for _, p := range r.Patterns[:min(top, len(r.Patterns))] {
			fmt.Fprintf(table, "    %s\t%s\t%s\n", printable(p.Shape), keysText(p.Distinct), patternText(p))
		}
		_ = table.Flush()
	}
}

// writeKeys lists the keys of a flow, shards folded into their logical key. Rates are of the time that the headline tells if
// the source has stopped, else those of the last seconds.
func writeKeys(table io.Writer, f *heat.Flow, d heat.Direction, report heat.Report, top int) {
	all := f.Folded()
	if report.Ended { // the rates that are printed are those of the whole time
		slices.SortStableFunc(all, func(a, b heat.LogicalKey) int { return cmp.Compare(b.Units, a.Units) })
	}
	for i := range all[:min(top, len(all))] {
		k := &all[i]
		rate := fmt.Sprintf("%.1f/s", k.RateLow)
		switch {
		case report.Ended:
			rate = fmt.Sprintf("%.1f/s", perSecond(k.Units, report))
		case report.Source == heat.Live || report.Source == heat.Engine:
			rate += " lately"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%.1f%%\t%s\n", printable(k.Key), figure.Count(k.Units, d.String()+" unit"), rate, 100*k.Share,
			joinTexts(k.Spread(), throttleText(k.Throttled, k.Reason)))
	}
}

// perSecond returns units of a report as a rate of its whole time.
func perSecond(units float64, report heat.Report) float64 {
	return units / max(1, report.Elapsed().Seconds())
}

// writeStored lists the keys of stored items in the same way.
func writeStored(table io.Writer, s *heat.Stored, top int) {
	all := s.Folded()
	for i := range all[:min(top, len(all))] {
		k := &all[i]
		count := figure.Count(k.Items, "item")
		if at := slices.IndexFunc(s.Keys, func(listed heat.KeyItems) bool { return listed.Key == k.Key }); at >= 0 && k.Shards < 2 {
			count = between(s.Keys[at].Low, s.Keys[at].Items)
		}
		fmt.Fprintf(table, "  %s\t%s\t%.1f%%", printable(k.Key), count, 100*k.Share)
		if spread := k.Spread(); spread != "" {
			fmt.Fprintf(table, "\t%s", spread)
		}
		fmt.Fprintln(table)
	}
}

func joinTexts(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; ")
}

// printable returns a text as it is, or quoted if it has something in it that a terminal would obey.
func printable(text string) string { return quote.Printable(text) }

// printableLines is printable for a text of several lines, such as an error's.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		text, tabbed := strings.CutPrefix(lines[i], "\t")
		if lines[i] = printable(text); tabbed {
			lines[i] = "\t" + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// examined returns the part of a table's items that a scan has seen. Its fraction is of segments, which differ in size.
func examined(r *heat.ResourceReport) float64 {
	s := r.Stored
	if s.Fraction < 1 && r.Capacity != nil && r.Capacity.Items > s.Items {
		return float64(s.Items) / float64(r.Capacity.Items)
	}
	return s.Fraction
}

func headline(r *heat.ResourceReport, report heat.Report) string {
	parts := []string{r.Resource.String()}
	if len(r.Key) > 0 {
		parts[0] += " by " + strings.Join(r.Key, ", ")
	}
	if s := r.Stored; s != nil {
		parts = append(parts, fmt.Sprintf("%s (%.0f%%) under %s", figure.Count(s.Items, "item"), 100*examined(r), keysText(s.Distinct)))
	}
	for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
		if f := r.Flow(d); f.Units > 0 || f.Throttled > 0 {
			parts = append(parts, flowText(f, d, report))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return parts[0] + ": " + strings.Join(parts[1:], ", ")
}

// flowText says how much a flow consumed, its peak and how much was throttled, as far as the source knows.
func flowText(f *heat.Flow, d heat.Direction, report heat.Report) string {
	text := fmt.Sprintf("%s in %s (%.1f/s", figure.Count(f.Units, d.String()+" unit"), spanText(report.Elapsed().Round(time.Second)),
		perSecond(f.Units, report))
	if f.Peak > 0 {
		text += fmt.Sprintf(", peak %s/s", figure.Thousands(f.Peak))
	}
	text += ")"
	if f.Throttled > 0 || !slices.Contains([]heat.Source{heat.Scan, heat.Stream, heat.Export}, report.Source) {
		text += fmt.Sprintf(", %s throttled", figure.Thousands(f.Throttled))
	}
	return text
}

// controlText says what control items took, which is in none of the other figures; "" if there are none.
func controlText(r *heat.ResourceReport) string {
	var parts []string
	if s := r.Stored; s != nil && s.Control != (heat.StoredControl{}) {
		parts = append(parts, fmt.Sprintf("%s, %s", figure.Count(s.Control.Items, "item"), figure.Count(s.Control.Bytes, "byte")))
	}
	for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
		c := r.Flow(d).Control
		if c == (heat.Control{}) {
			continue
		}
		text := fmt.Sprintf("%s in %s", figure.Count(c.Units, d.String()+" unit"), figure.Count(c.Requests, "request"))
		if c.Throttled > 0 {
			text += fmt.Sprintf(", %s throttled", figure.Thousands(c.Throttled))
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "control items of adaptive collections, counted apart: " + strings.Join(parts, "; ")
}

func throttleText(n int64, reason string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s throttled: %s", figure.Thousands(n), printable(reason))
}

func between(low, high int64) string {
	if low == high {
		return figure.Count(low, "item")
	}
	return figure.Thousands(low) + " to " + figure.Count(high, "item")
}

func keysText(d heat.Distinct) string {
	about := ""
	if d.Error > 0 {
		about = "about "
	}
	return about + figure.Count(d.Keys, "key")
}

func patternText(p heat.Pattern) string {
	if p.Items > 0 {
		return figure.Count(p.Items, "item")
	}
	return fmt.Sprintf("%s write and %s", figure.Thousands(p.Writes), figure.Count(p.Reads, "read unit"))
}

func writeFinding(screen *screen, f heat.Finding) {
	severity := f.Severity.String()
	if f.Severity == heat.Critical {
		severity = screen.red(severity)
	}
	screen.say("%s  %s: %s", severity, printable(f.Resource.String()), screen.bold(printable(f.Message)))
	for _, line := range f.Evidence {
		screen.say("    %s", printable(line))
	}
	screen.say("    why: %s", printable(f.Cause))
	screen.say("    do:  %s", printable(f.Remedy))
}

func countFindings(findings []heat.Finding) string {
	counts := make(map[heat.Severity]int)
	for _, f := range findings {
		counts[f.Severity]++
	}
	var parts []string
	for _, s := range []heat.Severity{heat.Critical, heat.Warning, heat.Info} {
		if counts[s] > 0 {
			parts = append(parts, severityCount(counts[s], s))
		}
	}
	return "findings: " + strings.Join(parts, ", ")
}

// severityCount writes how many there are: 2 warnings, but 2 critical and 2 info, which are no nouns.
func severityCount(n int, s heat.Severity) string {
	if s == heat.Warning {
		return figure.Count(n, s.String())
	}
	return fmt.Sprintf("%s %s", figure.Thousands(n), s)
}

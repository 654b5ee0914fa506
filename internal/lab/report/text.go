package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// column is a figure of a run.
type column struct {
	title string
	of    func(r *simulate.Run) string
}

// columns returns the figures that a result has: there are no latencies in mode aggregate.
func columns(result *simulate.Result) []column {
	list := []column{
		{"offered/s", func(r *simulate.Run) string { return figure.Thousands(r.OfferedUnits) }},
		{"served/s", func(r *simulate.Run) string { return figure.Thousands(r.ServedUnits) }},
		{"throttled", func(r *simulate.Run) string { return Percent(r.ThrottledShare()) }},
		{"failed", func(r *simulate.Run) string { return Percent(r.FailedShare()) }},
	}
	if result.Scenario.Mode == scenario.Requests {
		for _, p := range []struct {
			title string
			of    func(p *simulate.Percentiles) time.Duration
		}{
			{"p50", func(p *simulate.Percentiles) time.Duration { return p.P50 }},
			{"p99", func(p *simulate.Percentiles) time.Duration { return p.P99 }},
			{"p99.9", func(p *simulate.Percentiles) time.Duration { return p.P999 }},
		} {
			list = append(list, column{p.title, func(r *simulate.Run) string { return Millis(p.of(r.Latency)) }})
		}
	}
	return append(list,
		column{"shards", func(r *simulate.Run) string { return fmt.Sprint(r.Width) }},
		column{"partitions", func(r *simulate.Run) string {
			if r.Partitions == r.PartitionsAtEnd {
				return figure.Thousands(r.Partitions)
			}
			return figure.Thousands(r.Partitions) + " → " + figure.Thousands(r.PartitionsAtEnd)
		}},
		column{"busiest", func(r *simulate.Run) string { return Percent(r.Busiest) }},
	)
}

// Percent writes a share with as many digits as it needs to be told from nothing.
func Percent(share float64) string {
	switch p := 100 * share; {
	case p == 0:
		return "0 %"
	case p < 0.01:
		return "< 0.01 %"
	case p < 1:
		return fmt.Sprintf("%.2f %%", p)
	case p < 99.95:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// Millis writes a latency in milliseconds.
func Millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 100 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return figure.Thousands(ms) + " ms"
}

// Table writes a result for a terminal, which obeys nothing that a name has in it.
func Table(w io.Writer, result *simulate.Result) error {
	s := &result.Scenario
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", quote.Printable(s.Title))
	fmt.Fprintf(&b, "%s: %s of virtual time after a run-in of %s, mode %s, seed %d\n\n", quote.Printable(s.Name), s.Duration, s.RunIn, s.Mode, s.Seed)
	list := columns(result)
	rows := [][]string{{"layout"}}
	for _, c := range list {
		rows[0] = append(rows[0], c.title)
	}
	for i := range result.Runs {
		row := []string{quote.Printable(result.Runs[i].Layout)}
		for _, c := range list {
			row = append(row, c.of(&result.Runs[i]))
		}
		rows = append(rows, row)
	}
	align(&b, rows)
	b.WriteString("\n")
	for _, line := range legend(result) {
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// legend explains the columns.
func legend(result *simulate.Result) []string {
	lines := []string{
		"Offered and served are capacity units a second. Throttled is of requests, failed of operations after",
		"their retries. Busiest is the load of the busiest partition at the end, 100 % being its ceiling.",
	}
	byReason := map[string][]string{}
	for i := range result.Runs {
		r := &result.Runs[i]
		if reason, part := mainReason(r); reason != "" {
			byReason[reason] = append(byReason[reason], fmt.Sprintf("%s (%s)", quote.Printable(r.Layout), Percent(part)))
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		lines = append(lines, fmt.Sprintf("%s is the reason of the throttles of %s.", reason, strings.Join(byReason[reason], ", ")))
	}
	return lines
}

// mainReason returns why most requests of a run were throttled.
func mainReason(r *simulate.Run) (reason string, part float64) {
	most, sum := 0.0, 0.0
	for name, n := range r.Reasons {
		sum += n
		if n > most || n == most && name < reason {
			reason, most = name, n
		}
	}
	if sum == 0 {
		return "", 0
	}
	return reason, most / sum
}

// align writes rows in columns: the first to the left, the others to the right.
func align(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + space)
			} else {
				b.WriteString("  " + space + cell)
			}
		}
		b.WriteString("\n")
	}
}

// JSON writes a result as one document.
func JSON(w io.Writer, result *simulate.Result) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

// Markdown returns the figures of a result as a table in Markdown.
func Markdown(result *simulate.Result) string {
	var b strings.Builder
	list := columns(result)
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	b.WriteString("| layout |")
	for _, c := range list {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(list)) + "\n")
	for i := range result.Runs {
		b.WriteString("| " + cell(result.Runs[i].Layout) + " |")
		for _, c := range list {
			b.WriteString(" " + cell(c.of(&result.Runs[i])) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

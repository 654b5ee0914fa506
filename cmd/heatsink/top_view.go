package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// lines are a round for people.
func (t *top) lines(screen *screen, r topRound) []string {
	lines := []string{screen.bold(fmt.Sprintf("%s  %s, source: %s", time.Now().Format(time.TimeOnly), printable(t.table), printable(string(r.Source))))}
	flows := r.Flows()
	for i := range flows {
		lines = append(lines, t.flowLines(screen, &flows[i], r.To)...)
	}
	control := controlLines(&r)
	lines = append(lines, control...)
	if len(flows)+len(control) == 0 {
		lines = append(lines, "no requests yet")
	}
	for i := range r.Partitions {
		lines = append(lines, t.partitionLines(screen, &r.Partitions[i], r.To)...)
	}
	lines = append(lines, findingLines(screen, r.Report)...)
	for _, note := range r.Notes {
		lines = append(lines, "note: "+printable(note))
	}
	return lines
}

// mostTopFindings is how many findings plain lines have, the worst ones.
const mostTopFindings = 5

// findingLines are the findings of warning or worse, with their remedies.
func findingLines(screen *screen, report heat.Report) []string {
	var lines []string
	findings := heat.Explain(report, heat.Rules{})
	for _, f := range findings[:min(len(findings), mostTopFindings)] {
		if f.Severity < heat.Warning {
			break // the worst come first
		}
		severity := f.Severity.String()
		if f.Severity == heat.Critical {
			severity = screen.red(severity)
		}
		lines = append(lines, severity+": "+printable(f.Message), "  do: "+printable(f.Remedy))
	}
	return lines
}

// controlLines say what control items took, a line for each table and index that has some.
func controlLines(r *topRound) []string {
	var lines []string
	for i := range r.Resources {
		if text := controlText(&r.Resources[i]); text != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", printable(r.Resources[i].Resource.String()), text))
		}
	}
	return lines
}

// tooCold and tooSmall are the rate and the share below which a key is not listed.
const tooCold, tooSmall = 0.05, 0.001

// flowLines are a flow and its hottest keys.
func (t *top) flowLines(screen *screen, of *round.Flow, now time.Time) []string {
	r, d := of.ResourceReport, of.Direction
	f := r.Flow(d)
	units, throttled := round.Lately(f.Trend, now)
	line := fmt.Sprintf("%s %ss: %.0f units/s", printable(r.Resource.String()), d, units)
	if f.Throttled > 0 {
		line += fmt.Sprintf(", %.0f/s throttled", throttled)
	}
	line += fmt.Sprintf(" (peak %.0f/s, total %.0f) on %s", f.Peak, f.Units, keysText(f.Distinct))
	lines := []string{line}
	keys := f.Folded(t.told...)
	for i := range keys[:min(len(keys), t.keys)] {
		if k := &keys[i]; k.RateLow >= tooCold || k.Consumed >= tooCold || k.Refused >= tooCold || k.Share >= tooSmall {
			lines = append(lines, keyLine(screen, k, of.Limit))
		}
	}
	return lines
}

// keyLine is a key with its shards, if it has any: the bar is that of the hottest one.
func keyLine(screen *screen, k *heat.LogicalKey, limit float64) string {
	rate := max(k.Consumed, k.Second)
	load := rate / limit
	if k.Shards > 1 {
		load = k.HottestRate / limit
	}
	line := fmt.Sprintf("  %8.1f/s  %5.1f%%  %s  %s", rate, 100*k.Share, bar(load), printable(k.Key))
	if spread := k.Spread(); spread != "" {
		line += "  " + spread
	}
	if k.Refused >= tooCold {
		// The demand is of some seconds and the rate may be of the last one: what was served was wanted.
		line += fmt.Sprintf("  demand %.0f/s, %.1f/s throttled: %s", max(k.RateLow, rate), k.Refused, printable(k.Reason))
	}
	if k.Refused >= tooCold || load >= 0.7 {
		line = screen.red(line)
	}
	return line
}

// partitionLines are the partitions of a table or index, the busiest of the last seconds first, each in its busiest second.
func (t *top) partitionLines(screen *screen, h *partitions.Heat, now time.Time) []string {
	resource := heat.Resource{Table: h.Table, Index: h.Index}
	lines := []string{fmt.Sprintf("%s: %s, %s", printable(resource.String()), figure.Count(len(h.Partitions), "partition"), figure.Count(len(h.Splits), "split"))}
	type partition struct {
		id    uint64
		lower string
		load  float64 // of the limit
		partitions.Second
	}
	var busiest []partition
	for _, p := range h.Partitions {
		second := round.Busiest(p.Seconds, now, h.PartitionWrites, h.PartitionReads)
		load := max(second.WriteUnits/float64(h.PartitionWrites), second.ReadUnits/float64(h.PartitionReads))
		busiest = append(busiest, partition{p.ID, cmp.Or(p.Lower, "the lowest hash"), load, second})
	}
	slices.SortStableFunc(busiest, func(a, b partition) int {
		return cmp.Or(cmp.Compare(b.load, a.load), cmp.Compare(b.WriteThrottled+b.ReadThrottled, a.WriteThrottled+a.ReadThrottled))
	})
	for _, p := range busiest[:min(len(busiest), t.keys)] {
		line := fmt.Sprintf("  #%-4d %s  %6.0f writes/s %6.0f reads/s  from %s", p.id, bar(p.load), p.WriteUnits, p.ReadUnits, printable(p.lower))
		if refused := p.WriteThrottled + p.ReadThrottled; refused > 0 {
			line = screen.red(line + fmt.Sprintf("  %.0f units/s throttled", refused))
		}
		lines = append(lines, line)
	}
	if more := len(busiest) - t.keys; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

// bar draws how much of what a partition serves is used.
func bar(part float64) string {
	const width = 20
	if !(part > 0) { // no number, if nobody knows what a partition serves
		part = 0
	}
	full := int(min(1, part)*width + 0.5)
	return strings.Repeat("#", full) + strings.Repeat(".", width-full)
}

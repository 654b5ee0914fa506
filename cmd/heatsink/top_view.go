package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// lines are a round for people.
func (t *top) lines(screen *screen, r topRound) []string {
	lines := []string{screen.bold(fmt.Sprintf("%s  %s, by its %s", time.Now().Format(time.TimeOnly), t.table, r.Source))}
	for i := range r.Resources {
		for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
			lines = append(lines, t.flowLines(screen, &r.Resources[i], d, r.To)...)
		}
	}
	if len(r.Resources) == 0 {
		lines = append(lines, "nothing yet")
	}
	for i := range r.Partitions {
		lines = append(lines, t.partitionLines(screen, &r.Partitions[i], r.To)...)
	}
	return lines
}

// flowLines are a direction of a table or index and its hottest keys.
func (t *top) flowLines(screen *screen, r *heat.ResourceReport, d heat.Direction, now time.Time) []string {
	f := r.Flow(d)
	if f.Requests == 0 && f.Units == 0 && f.Throttled == 0 {
		return nil
	}
	second := lastSecond(f.Trend, now)
	line := fmt.Sprintf("%s %ss: %.0f units/s", r.Resource, d, second.Units)
	if f.Throttled > 0 {
		line += fmt.Sprintf(", %d/s refused", second.Throttled)
	}
	line += fmt.Sprintf(" (at most %.0f in a second, %.0f in all) of %s", f.Peak, f.Units, keysText(f.Distinct))
	lines := []string{line}
	for i := range f.Keys[:min(len(f.Keys), t.keys)] {
		k := &f.Keys[i]
		line := fmt.Sprintf("  %8.1f/s  %5.1f%%  %s  %s", k.Consumed, 100*k.Share, bar(k.Consumed/d.Limit()), printable(k.Key))
		if k.Refused >= 0.05 {
			line += fmt.Sprintf("  %.1f/s refused: %s", k.Refused, k.Reason)
		}
		if k.Refused >= 0.05 || max(k.Consumed, k.Second) >= 0.7*d.Limit() {
			line = screen.red(line)
		}
		lines = append(lines, line)
	}
	return lines
}

// lastSecond returns the last whole second of a trend, empty if nothing happened in it.
func lastSecond(trend []heat.Point, now time.Time) heat.Point {
	second := now.Truncate(time.Second).Add(-time.Second)
	for _, p := range slices.Backward(trend) {
		if p.From.Equal(second) {
			return p
		}
	}
	return heat.Point{}
}

// partitionLines are the partitions of a table or index, the busiest first.
func (t *top) partitionLines(screen *screen, h *engine.Heat, now time.Time) []string {
	resource := heat.Resource{Table: h.Table, Index: h.Index}
	lines := []string{fmt.Sprintf("%s: %d partitions, %d splits", resource, len(h.Partitions), len(h.Splits))}
	type partition struct {
		id    uint64
		lower string
		load  float64 // of the limit
		engine.SecondHeat
	}
	var busiest []partition
	for _, p := range h.Partitions {
		second := wholeSecond(p.Seconds, now)
		load := max(second.WriteUnits/float64(h.PartitionWrites), second.ReadUnits/float64(h.PartitionReads))
		busiest = append(busiest, partition{p.ID, cmp.Or(p.Lower, "the lowest hash"), load, second})
	}
	slices.SortStableFunc(busiest, func(a, b partition) int { return cmp.Compare(b.load, a.load) })
	for _, p := range busiest[:min(len(busiest), t.keys)] {
		line := fmt.Sprintf("  #%-4d %s  %6.0f writes/s %6.0f reads/s  from %s", p.id, bar(p.load), p.WriteUnits, p.ReadUnits, p.lower)
		if refused := p.WriteThrottled + p.ReadThrottled; refused > 0 {
			line = screen.red(line + fmt.Sprintf("  %.0f units/s refused", refused))
		}
		lines = append(lines, line)
	}
	if more := len(busiest) - t.keys; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

// wholeSecond is lastSecond of a partition.
func wholeSecond(seconds []engine.SecondHeat, now time.Time) engine.SecondHeat {
	second := now.Truncate(time.Second).Add(-time.Second)
	for _, s := range slices.Backward(seconds) {
		if s.Start.Equal(second) {
			return s
		}
	}
	return engine.SecondHeat{}
}

// bar draws how much of what a partition serves is used.
func bar(part float64) string {
	const width = 20
	full := int(min(1, max(0, part))*width + 0.5)
	return strings.Repeat("#", full) + strings.Repeat(".", width-full)
}

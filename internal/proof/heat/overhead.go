package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// benchLine is a line of BenchmarkRecorded: blocks of bare and recorded calls that took turns.
var benchLine = regexp.MustCompile(`BenchmarkRecorded/(\w+)\S*\s.*?(-?[\d.]+) added-allocs/call\s+(-?[\d.]+) added-ns/call\s+([\d.]+) noise-%\s+(-?[\d.]+) overhead-%\s+([\d.]+) plain-ns/call`)

// single are the calls for one item, which the bounds are about. A Query or a batch does the work of many, and has bounds of its
// own in BenchmarkRecorded.
var single = []string{"PutItem", "GetItem", "UpdateItem"}

// overhead compares recorded calls with the same calls unrecorded. BenchmarkRecorded says how. The median of its counts is judged. How far
// blocks of the same client differ tells how much the figures mean.
func overhead(ctx context.Context, p *proof) error {
	calls := "^BenchmarkRecorded$/^(" + strings.Join(single, "|") + ")$"
	out, err := goTest(ctx, "./heat", "-run", "^$", "-bench", calls, "-benchtime", "400x", "-count", "6", "-timeout", "60m")
	if err != nil {
		return err
	}
	type figures struct{ allocs, added, noise, percent, plain []float64 }
	byCall := make(map[string]*figures)
	for _, found := range benchLine.FindAllStringSubmatch(out, -1) {
		f := byCall[found[1]]
		if f == nil {
			f = &figures{}
			byCall[found[1]] = f
		}
		for i, into := range []*[]float64{&f.allocs, &f.added, &f.noise, &f.percent, &f.plain} {
			n, err := strconv.ParseFloat(found[2+i], 64)
			if err != nil {
				return fmt.Errorf("%s: %w", found[0], err)
			}
			*into = append(*into, n)
		}
	}
	for _, call := range single {
		f := byCall[call]
		if f == nil {
			return fmt.Errorf("no figures of %s in\n%s", call, out)
		}
		percent, allocs := median(f.percent), median(f.allocs)
		text := fmt.Sprintf("%+.1f %% (%.1f to %.1f %% in %d runs; %+.0f ns of %.0f ns; blocks of the same client differ by %.1f %%)",
			percent, slices.Min(f.percent), slices.Max(f.percent), len(f.percent), median(f.added), median(f.plain), median(f.noise))
		p.Must(call+": time", text, "at most +5 %", percent <= 5)
		p.Must(call+": allocations", fmt.Sprintf("%+.0f", allocs), "at most +4", allocs <= 4)
	}
	return nil
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

package main

import (
	"fmt"
	"math"
	"strings"
)

// differences returns what two measurements disagree about. Time is virtual and random numbers come from a seed, so a run repeats
// itself. Only what an adaptive key does beside its writes may come in another order, which changes some of its figures: see bound.
func differences(got, want *results) (all []string) {
	all = append(all, compare(got.Loads, want.Loads, func(l *loadResult) (string, []float64) {
		return fmt.Sprintf("%s at %.1f", l.Contestant, l.Share), []float64{
			float64(l.Offered), float64(l.Failed), l.Finished, l.P50, l.P99, float64(l.Requests), float64(l.Throttles), float64(l.Shards), l.Grew,
		}
	})...)
	all = append(all, compare(got.Reads, want.Reads, func(n *readResult) (string, []float64) {
		return n.Contestant, []float64{float64(n.Stored), float64(n.Items), float64(n.Requests), n.Units, n.Seconds, float64(n.Wrong)}
	})...)
	all = append(all, compare(got.Faults, want.Faults, func(f *faultResult) (string, []float64) {
		return f.Contestant + ": " + f.Fault, []float64{float64(f.Items), float64(f.Met), float64(f.Failed), float64(f.Doubled), float64(f.Lost), float64(f.Keys)}
	})...)
	return append(all, compare(got.Spread, want.Spread, func(s *spreadResult) (string, []float64) {
		return fmt.Sprint(s.Shards, s.Partitions), nil
	})...)
}

// compare returns where two lists differ, by the names and figures of their entries.
func compare[T any](got, want []T, figures func(*T) (string, []float64)) (all []string) {
	if len(got) != len(want) {
		return []string{fmt.Sprintf("%d entries of %T, want %d", len(got), got, len(want))}
	}
	for i := range got {
		name, a := figures(&got[i])
		wanted, b := figures(&want[i])
		if name != wanted {
			all = append(all, fmt.Sprintf("got %s, want %s", name, wanted))
			continue
		}
		for j := range a {
			if !near(a[j], b[j], bound(name)) {
				all = append(all, fmt.Sprintf("%s: got %v, want %v", name, a, b))
				break
			}
		}
	}
	return all
}

// bound is by which part the figures of an entry may differ. An adaptive key that grows a moment later refuses more writes until then.
func bound(name string) float64 {
	if strings.HasPrefix(name, heatsinkAdaptive) { // also with a control table, or calculated
		return 0.25
	}
	return 0.05
}

// near reports whether figures differ by a part at most. None is only near to none: documents say that nothing fails, or is lost.
func near(a, b, part float64) bool {
	return (a == 0) == (b == 0) && math.Abs(a-b) <= part*max(math.Abs(a), math.Abs(b))
}

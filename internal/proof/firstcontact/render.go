package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// headlines is the table that the README and the document have in common.
func (r *results) headlines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "One key is written for %.0f s, at 0.5 / 0.9 / 1.1 of the table's capacity, which is %d partitions × %s = %s WCU/s.\n\n",
		loadTime.Seconds(), tablePartitions, figure.Thousands(partitionWrites), figure.Thousands(capacity))
	b.WriteString("| one key with | failed | finished after | p99 | read for the newest 50 | doubled, of 100: no answer / killed |\n|---|---|---|---|---|---|\n")
	for _, contestant := range []string{oneKey, suffixRandom, suffixTimed, suffixHashed, heatsinkRandom, heatsinkHashed, heatsinkAdaptive} {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d / %d |\n", contestant,
			r.across(contestant, func(l *loadResult) string { return percent(l.Failed, l.Offered) }),
			r.across(contestant, func(l *loadResult) string { return fmt.Sprintf("%.1f", l.Finished) })+" s",
			r.across(contestant, func(l *loadResult) string { return millis(l.P99) }),
			r.newestOf(contestant),
			r.fault(contestant, unanswered).Doubled, r.fault(contestant, killed).Doubled)
	}
	fmt.Fprintf(&b, "\nheatsink waits a second for each attempt (`Retry.Timeout`), and the SDK in one row (`WithTimeout` of its `BuildableClient`). All other settings are defaults.\n"+
		"Callers wait two seconds, then write again; if they wait four, that row has %d instead. No contestant lost an acknowledged item.\n", r.fault(suffixPatient, unanswered).Doubled)
	fmt.Fprintf(&b, "`make proof-first-contact ONLY=comparison` measures all of it again. `make test` does so for %d of these rows, with %.0f s of load at %.1f.\n",
		len(headline), opening.Seconds(), readShare)
	return b.String()
}

// across joins a figure of all loads.
func (r *results) across(contestant string, cell func(*loadResult) string) string {
	var cells []string
	for _, share := range shares {
		l := r.load(contestant, share)
		cells = append(cells, cell(&l))
	}
	return strings.Join(cells, " / ")
}

// newestOf is what a read takes. Where an item is stored makes no difference to it, so calculated shards are read as random ones are.
func (r *results) newestOf(contestant string) string {
	switch contestant {
	case suffixHashed, suffixTimed:
		contestant = suffixRandom
	case heatsinkHashed:
		contestant = heatsinkRandom
	}
	n := r.read(contestant)
	return fmt.Sprintf("%s, %s", figure.Count(n.Items, "item"), figure.Count(n.Requests, "request"))
}

// details are the tables that only the document has.
func (r *results) details() string {
	var b strings.Builder
	b.WriteString("### Writes\n\n| one key with | load | offered | failed | last failure began after | finished after | p50 | p99 | requests | throttled | shards |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, contestant := range loaded {
		for _, share := range shares {
			l := r.load(contestant, share)
			last := "–"
			if l.Failed > 0 {
				last = seconds(l.Last)
			}
			fmt.Fprintf(&b, "| %s | %.1f | %s | %s (%s) | %s | %s | %s | %s | %s | %s | %s |\n", contestant, share, figure.Thousands(l.Offered),
				figure.Thousands(l.Failed), percent(l.Failed, l.Offered), last, seconds(l.Finished), millis(l.P50), millis(l.P99),
				figure.Thousands(l.Requests), figure.Thousands(l.Throttles), shards(&l))
		}
	}
	b.WriteString("\n### Reads\n\nThe newest 50 items, after the load of 0.9:\n\n| one key with | items stored | items read | requests | RCU | time | wrong items |\n|---|---|---|---|---|---|---|\n")
	for _, contestant := range reading {
		n := r.read(contestant)
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s | %d |\n", contestant, figure.Thousands(n.Stored), figure.Thousands(n.Items), n.Requests,
			figure.Thousands(int(math.Ceil(n.Units))), millis(1000*n.Seconds), n.Wrong)
	}
	fmt.Fprintf(&b, "\n### Faults\n\nOf %d items, %d meet the fault. The cells are items that are there twice, and acknowledged items that are not there:\n\n| one key with |", faultItems, faultItems/faultEvery)
	for _, fault := range faults {
		fmt.Fprintf(&b, " %s |", fault)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(faults)) + "\n")
	for _, contestant := range faulted {
		fmt.Fprintf(&b, "| %s |", contestant)
		for _, fault := range faults {
			f := r.fault(contestant, fault)
			fmt.Fprintf(&b, " %d twice, %d lost |", f.Doubled, f.Lost)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n### Shards on partitions\n\n| shards of the key | on each partition |\n|---|---|\n")
	for _, s := range r.Spread {
		fmt.Fprintf(&b, "| %d | %s |\n", s.Shards, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Partitions), " ", ", "), "[]"))
	}
	return b.String()
}

// words are the claims, as a list.
func (r *results) words() string {
	var b strings.Builder
	for _, c := range r.claims() {
		fmt.Fprintf(&b, "- %s\n", c.text)
	}
	return b.String()
}

// percent writes a share: none is 0, and less than a tenth is not.
func percent(n, of int) string {
	share := 100 * float64(n) / float64(max(1, of))
	switch {
	case n == 0:
		return "0"
	case share < 0.1:
		return "< 0.1 %"
	case share < 10:
		return fmt.Sprintf("%.1f %%", share)
	}
	return fmt.Sprintf("%.0f %%", share)
}

// shards says how many a key has, and since when if it grew.
func shards(l *loadResult) string {
	if l.Grew == 0 {
		return fmt.Sprint(l.Shards)
	}
	return fmt.Sprintf("%d, first grown after %s", l.Shards, seconds(l.Grew))
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

// millis writes a time.
func millis(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	if d >= time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f ms", ms)
}

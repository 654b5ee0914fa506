package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	lab "github.com/heatsink-go/heatsink/internal/lab/results"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// labPage is relative to the root of the repository.
const labPage = "docs/results.md"

// labResults runs the scenarios of the documents in the lab, and compares the page with them. With -write it brings the page up to date.
// An error says that a verdict of the page is not borne out any more.
func labResults(ctx context.Context, p *proof) error {
	var now bytes.Buffer
	if err := lab.Write(ctx, &now, func(name string) { scenario.Progress("  %s", name) }); err != nil {
		return err
	}
	if p.write {
		if err := os.WriteFile(labPage, now.Bytes(), 0o644); err != nil {
			return err
		}
	}
	before, err := os.ReadFile(labPage)
	if err != nil {
		return err
	}
	p.Tell("claims of the documents, as the lab finds them", tally(now.String()))
	stale := staleLines(string(before), now.String())
	for _, line := range stale {
		fmt.Fprintf(p.Out, "stale: %s\n", line)
	}
	p.Must("lines of "+labPage+" that are stale", fmt.Sprintf("%d of %d", len(stale), strings.Count(now.String(), "\n")), "0, or run it with WRITE=1", len(stale) == 0)
	return nil
}

var verdictOf = regexp.MustCompile(`(?m)^\|[^|]*\|[^|]*\|[^|]*\| (right|partly|wrong) \|`)

// tally counts the verdicts of the page.
func tally(page string) string {
	counts := map[string]int{}
	for _, found := range verdictOf.FindAllStringSubmatch(page, -1) {
		counts[found[1]]++
	}
	return fmt.Sprintf("%d right, %d partly, %d wrong", counts["right"], counts["partly"], counts["wrong"])
}

// staleLines returns the lines of a page that are not in the new one any more, and marks those that it lacks.
func staleLines(before, now string) (stale []string) {
	count := func(page string) map[string]int {
		lines := map[string]int{}
		for line := range strings.Lines(page) {
			lines[line]++
		}
		return lines
	}
	a, b := count(before), count(now)
	for line := range strings.Lines(before) {
		if a[line] > b[line] {
			a[line]--
			stale = append(stale, "- "+strings.TrimSpace(line))
		}
	}
	a = count(before)
	for line := range strings.Lines(now) {
		if b[line] > a[line] {
			b[line]--
			stale = append(stale, "+ "+strings.TrimSpace(line))
		}
	}
	return stale
}

package heat_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/golden"
)

var rewrite = flag.Bool("update", false, "rewrite the findings in testdata/findings")

// situation is a report, and what is looked for in it.
type situation struct {
	name   string
	report heat.Report
	rules  heat.Rules
}

// Reports on both sides of each limit, and all that Explain says of them: testdata/findings reads as its specification.
func TestFindingsInFull(t *testing.T) {
	for file, situations := range map[string][]situation{
		"keys": keySituations(), "partitions": partitionSituations(), "sets": setSituations(), "shares": shareSituations(),
		"throttles": throttleSituations(), "signs": signSituations(), "stored": storedSituations(), "indexes": indexSituations(),
		"suspects": suspectSituations(), "strays": straySituations(), "uneven": unevenSituations(),
	} {
		t.Run(file, func(t *testing.T) {
			var all strings.Builder
			for _, s := range situations {
				fmt.Fprintf(&all, "== %s\n%s", s.name, spelt(heat.Explain(s.report, s.rules)))
			}
			golden.Text(t, "testdata/findings/"+file+".txt", all.String(), *rewrite)
		})
	}
}

// spelt writes findings in full.
func spelt(findings []heat.Finding) string {
	if len(findings) == 0 {
		return "nothing\n"
	}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %s of %s, %s", f.Severity, f.Kind, f.Resource, f.Direction)
		if f.Key != "" {
			fmt.Fprintf(&b, ", key %s", f.Key)
		}
		if f.Pattern != "" {
			fmt.Fprintf(&b, ", pattern %s", f.Pattern)
		}
		if len(f.Others) > 0 {
			fmt.Fprintf(&b, ", others %s", strings.Join(f.Others, " "))
		}
		fmt.Fprintf(&b, "\n  %s\n", f.Message)
		for _, line := range f.Evidence {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		fmt.Fprintf(&b, "  cause: %s\n  remedy: %s\n", f.Cause, f.Remedy)
	}
	return b.String()
}

// hot is a minute of a key at so many write units a second, on so many items, among a thousand others.
func hot(key string, rate float64, items int64, edit ...func(*heat.KeyHeat)) heat.Report {
	f := hotFlow(key, rate, items)
	for _, e := range edit {
		e(&f.Keys[0])
	}
	return report(f)
}

// hotRead is hot for reads.
func hotRead(key string, rate float64, items int64, edit ...func(*heat.KeyHeat)) heat.Report {
	r := hot(key, rate, items, edit...)
	r.Resources[0].Reads, r.Resources[0].Writes = r.Resources[0].Writes, heat.Flow{}
	return r
}

// but changes a report.
func but(r heat.Report, edit func(*heat.Report)) heat.Report {
	edit(&r)
	return r
}

// in changes the first table of a report.
func in(r heat.Report, edit func(*heat.ResourceReport)) heat.Report {
	edit(&r.Resources[0])
	return r
}

// Pairs of reports on both sides of each limit, and what ExplainChange says of them.
func TestChangesInFull(t *testing.T) {
	var all strings.Builder
	for _, c := range capacityChanges() {
		fmt.Fprintf(&all, "== %s\n%s", c.name, spelt(heat.ExplainChange(c.before, c.after)))
	}
	golden.Text(t, "testdata/findings/changes.txt", all.String(), *rewrite)
}

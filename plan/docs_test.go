package plan_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/plan"
	"github.com/heatsink-go/heatsink/plan/internal/bins"
)

var update = flag.Bool("update", false, "rewrite the figures in docs/plan.md")

const planDoc = "../docs/plan.md"

// documented compares a part of docs/plan.md with what it should be, or rewrites it.
func documented(t *testing.T, part, want string) {
	t.Helper()
	begin := fmt.Sprintf("<!-- %s: written by go test ./plan -update -->\n", part)
	end := fmt.Sprintf("<!-- end of %s -->\n", part)
	doc, err := os.ReadFile(planDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(doc), begin)
	got, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no lines %q and %q", planDoc, begin, end)
	case *update && !t.Failed():
		if err := os.WriteFile(planDoc, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("%s has, for %s:\n%s\nwant:\n%s", planDoc, part, got, want)
	}
}

// The command's output in the documentation is what it prints.
func TestDocumentedOutput(t *testing.T) {
	p := makePlan(t, plan.Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 10})
	var brief strings.Builder
	if err := p.WriteBrief(&brief); err != nil {
		t.Fatal(err)
	}
	documented(t, "brief", "```\n"+brief.String()+"```\n")
	documented(t, "output", "```\n"+p.String()+"```\n")
}

// The figures in the documentation are those of the package.
func TestDocumentedFigures(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("| write units a second | at least | × 1.5 | × 2 | rounded, then doubled | four times " +
		"|\n|---|---|---|---|---|---|\n")
	for _, peak := range []int64{500, 1000, 5000, 10_000, 50_000, 500_000} {
		fmt.Fprintf(&rules, "| %d | %d | %d | %d | %d | %d |\n", peak,
			plan.Shards(peak, 1), plan.Shards(peak, plan.DefaultFactor), plan.Shards(peak, plan.CautiousFactor), plan.Conservative(peak), plan.Generous(peak))
	}
	documented(t, "rules", rules.String())

	partitions := []int{4, 10, 20, 50, 100}
	var spread strings.Builder
	spread.WriteString("| shards |")
	for _, p := range partitions {
		fmt.Fprintf(&spread, " on %d |", p)
	}
	spread.WriteString(" as published |\n|---|" + strings.Repeat("---|", len(partitions)+1) + "\n")
	for _, n := range []int{1, 5, 8, 10, 20, 50, 100, 200} {
		fmt.Fprintf(&spread, "| %d |", n)
		for _, p := range partitions {
			s := bins.Spread{Shards: n, Partitions: p}
			fmt.Fprintf(&spread, " %.1f / %.1f |", s.Sustained(bins.Uniform, 0.99), s.Sustained(bins.Aware, 0.99))
		}
		writes, _ := plan.UpperBound(n)
		fmt.Fprintf(&spread, " %d |\n", writes/1000)
	}
	documented(t, "spread", spread.String())

	var needed strings.Builder
	needed.WriteString("| write units a second |")
	for _, p := range partitions[:4] {
		fmt.Fprintf(&needed, " on %d |", p)
	}
	needed.WriteString(" on a new table |\n|---|" + strings.Repeat("---|", 5) + "\n")
	for _, writes := range []float64{1001, 2000, 5000, 10_000, 20_000, 50_000} {
		fmt.Fprintf(&needed, "| %.0f |", writes)
		for _, n := range partitions[:4] {
			p := makePlan(t, plan.Workload{Writes: writes, Table: plan.Table{Partitions: n}})
			if way := p.Ways[1]; way.Fits {
				fmt.Fprintf(&needed, " %d |", way.Shards)
			} else {
				needed.WriteString(" – |")
			}
		}
		p := makePlan(t, plan.Workload{Writes: writes})
		fmt.Fprintf(&needed, " %d", p.Shards)
		if p.Warm != nil {
			fmt.Fprintf(&needed, ", warmed to %d", p.Warm.WriteUnits)
		}
		needed.WriteString(" |\n")
	}
	documented(t, "needed", needed.String())
}

// 003-12: the published comparison of one key, shards and many keys is in the documentation, with throughputs that are
// called what they are: upper bounds.
func TestThroughputs(t *testing.T) {
	var table strings.Builder
	table.WriteString("| scenario | write units a second, at most | throttling |\n|---|---|---|\n")
	for _, row := range []struct {
		scenario   string
		shards     int
		throttling string
	}{{"hot partition", 1, "frequent"}, {"10 shards", 10, "rare"}, {"100 shards", 100, "very rare"}} {
		writes, _ := plan.UpperBound(row.shards)
		fmt.Fprintf(&table, "| %s | %d | %s |\n", row.scenario, writes, row.throttling)
	}
	table.WriteString("| high-cardinality key | the table's limit | none |\n")
	documented(t, "throughputs", table.String())
}

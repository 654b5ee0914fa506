// Package results writes docs/results.md: what the documents that heatsink began with claim, beside what the lab measures,
// with the reason where they differ.
package results

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/heatsink-go/heatsink/internal/lab/report"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

// claim is a sentence of a document, and what a scenario says to it.
type claim struct {
	scenario string
	document string // its number, and the row of the checklist if there is one
	says     string
	measured func(r runs) string
	verdict  verdict
	holds    func(r runs) bool // the verdict is still true
	why      string            // where they differ, or what else to know
}

// verdict is how a claim fares.
type verdict string

const (
	right  verdict = "right"
	partly verdict = "partly"
	wrong  verdict = "wrong"
)

// runs are those of a scenario, by layout.
type runs map[string]*simulate.Run

// unlisted are scenarios without a claim of a document, or too long for a test.
var unlisted = map[string]string{"million": "it takes minutes: see docs/lab.md"}

// Write runs the scenarios of all claims and writes the page. progress is told what is being run; nil: nobody.
func Write(ctx context.Context, w io.Writer, progress func(name string)) error {
	var b strings.Builder
	b.WriteString(head)
	all := claims()
	for _, name := range scenario.Files() {
		if unlisted[name] != "" {
			continue
		}
		if progress != nil {
			progress(name)
		}
		s, err := scenario.Find(name)
		if err != nil {
			return err
		}
		result, err := simulate.Scenario(ctx, s, simulate.Options{})
		if err != nil {
			return err
		}
		if err := section(&b, &result, all); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const head = `# What the documents claim, and what the lab measures

After this page you know which claims of well-known documents hold. ` + "`heatsink lab results`" + ` prints all of it, and a test fails when it is out of date.
Each section is a scenario of [the lab](lab.md); ` + "`heatsink lab run NAME`" + ` repeats it, with the same figures.

000 and 003 are the pages of a TypeScript library on distributed keys and hot partitions. 001 and 004 are two blog posts, and 002 is an old page
of the AWS developer guide. Figures are of virtual time on simulated partitions, whose limits are those that AWS publishes. Nobody has
measured them on DynamoDB.
`

// section writes a scenario with its claims and its table.
func section(b *strings.Builder, result *simulate.Result, all []claim) error {
	s := &result.Scenario
	fmt.Fprintf(b, "\n## %s\n\n`heatsink lab run %s`\n\n", s.Title, s.Name)
	by := runs{}
	for i := range result.Runs {
		by[result.Runs[i].Layout] = &result.Runs[i]
	}
	first := true
	for _, c := range all {
		if c.scenario != s.Name {
			continue
		}
		if first {
			b.WriteString("| document | says | measured | verdict | why |\n|---|---|---|---|---|\n")
			first = false
		}
		if !c.holds(by) {
			return fmt.Errorf("scenario %s: document %s says %q, measured %s: the verdict %q does not hold any more", s.Name, c.document, c.says, c.measured(by), c.verdict)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", c.document, c.says, c.measured(by), c.verdict, c.why)
	}
	if !first {
		b.WriteString("\n")
	}
	b.WriteString(report.Markdown(result))
	return nil
}

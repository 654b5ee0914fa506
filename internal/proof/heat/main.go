// Heat prints what make proof-heat shows: that findings are right on keys as people write them. It runs the corpus of key
// schemas, of which one half was kept apart while the rules were tuned, and the examples of the documents.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func main() {
	p := &proof{
		Board:   scenario.New(os.Stdout),
		corpus:  scenario.Bubble{Package: "./internal/corpus"},
		command: scenario.Bubble{Package: "./cmd/heatsink"},
	}
	p.Most = 100
	only := flag.String("only", "", "scenarios to run, such as corpus,examples; none: all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok := p.run(ctx, *only)
	stop()
	if !ok {
		os.Exit(1)
	}
}

// proof collects what was shown.
type proof struct {
	corpus  scenario.Bubble // the tests of the corpus: they need a bubble of testing/synctest
	command scenario.Bubble // those of the command, which hands reports to plan

	Differences []string `json:"differences,omitempty"` // findings of the half kept apart that are not as wanted
	scenario.Board
}

var scenarios = []scenario.Scenario[*proof]{
	{Name: "corpus", Title: "findings on key schemas of public documentation", Run: corpus},
	{Name: "examples", Title: "the examples of the documents, as their readers would type them", Run: examples},
	{Name: "agreement", Title: "heat and plan on every report of the corpus", Run: agreement},
}

// run shows the scenarios that were chosen, and reports whether everything holds.
func (p *proof) run(ctx context.Context, only string) bool {
	chosen, err := scenario.Choose(&p.Board, scenarios, only)
	work := ""
	if err == nil {
		work, err = os.MkdirTemp("", "heatsink-proof-")
	}
	p.Check(err == nil, "prepare: %v", err)
	if err == nil {
		defer os.RemoveAll(work)
		p.corpus.Work, p.command.Work = work, work
		for _, s := range chosen {
			scenario.Show(ctx, &p.Board, p, s)
		}
	}
	return p.End(p.Out, p)
}

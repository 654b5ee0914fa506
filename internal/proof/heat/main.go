// Heat prints what make proof-heat shows: that findings are right on keys as people write them, and that they lead to remedies
// that work. It runs the corpus of key schemas, of which one half was kept apart while the rules were tuned. It types in the
// examples of the documents, applies the remedy of every kind of finding, reads copies of an item and measures the recorder.
// It breaks lines of heat and plan at random. It ends with one JSON object, and exits with 1 if a number that must hold does not.
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
		replica: scenario.Bubble{Package: "./replica"},
	}
	p.Most = 160
	only := flag.String("only", "", "scenarios to run, such as corpus,examples; none: all")
	flag.IntVar(&p.breaks, "breaks", 200, "how many random breaks of heat and plan the scenario breaks makes")
	flag.Uint64Var(&p.seed, "seed", 1, "of these")
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
	replica scenario.Bubble // those of the copies of an item

	breaks int    // how many lines to break
	seed   uint64 // which

	Differences []string          `json:"differences,omitempty"` // findings of the half kept apart that are not as wanted
	Breaks      []scenario.Broken `json:"breaks,omitempty"`
	scenario.Board
}

var scenarios = []scenario.Scenario[*proof]{
	{Name: "corpus", Title: "findings on key schemas of public documentation", Run: corpus},
	{Name: "examples", Title: "the examples of the documents, as reports", Run: examples},
	{Name: "agreement", Title: "heat and plan on every report of the corpus", Run: agreement},
	{Name: "documents", Title: "the documents, typed in as their readers would, with the output", Run: documents},
	{Name: "loops", Title: "detect, explain, plan, apply and verify for every kind of finding", Run: loops},
	{Name: "replica", Title: "15,000 reads of one item a second", Run: copies},
	{Name: "overhead", Title: "recorded calls beside the same calls unrecorded", Run: overhead},
	{Name: "breaks", Title: "random breaks of one line of heat and plan", Run: breaks},
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
		p.corpus.Work, p.command.Work, p.replica.Work = work, work, work
		for _, s := range chosen {
			scenario.Show(ctx, &p.Board, p, s)
		}
	}
	return p.End(p.Out, p)
}

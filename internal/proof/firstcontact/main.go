// Firstcontact prints what make proof-first-contact shows: what somebody sees who meets heatsink for the first time. It runs the demo
// in a fresh clone with empty caches, follows the guide, and opens the shop. It compares heatsink with what one would write oneself, in
// virtual time, and the documents' claims with the lab. It runs both modes of the lab side by side, measures the page in a browser, and
// takes the pictures of the documentation.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
//
// To add a scenario, write its function in a file of its own, and its line into the list of scenarios.
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
	p := &proof{Board: scenario.New(os.Stdout), bubble: scenario.Bubble{Package: "./internal/proof/firstcontact"}}
	p.Most = 160
	only := flag.String("only", "", "scenarios to run, such as comparison,demo; none: all")
	flag.BoolVar(&p.write, "write", false, "write the figures and pictures into the documents")
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
	work   string // a directory for everything that is written
	write  bool   // bring the documents up to date
	bubble scenario.Bubble

	scenario.Board
}

var scenarios = []scenario.Scenario[*proof]{
	{Name: "comparison", Title: "one key with hand-made suffixes and with heatsink", Run: comparison},
	{Name: "results", Title: "what the documents claim beside what the lab measures", Run: labResults},
	{Name: "demo", Title: "the demo in a fresh clone with empty caches", Run: demo},
	{Name: "walk", Title: "the guide and the shop, as somebody new uses them", Run: walk},
	{Name: "aggregate", Title: "both modes of the lab, and an hour of a million requests a second", Run: aggregate},
	{Name: "frames", Title: "how long the page keeps a browser busy, with 10,000 keys and an hour of history", Run: frames},
	{Name: "pictures", Title: "the screenshots of the documents: terminal and page, light and dark, on a phone", Run: pictures},
}

// run shows the scenarios that were chosen, and reports whether everything holds.
func (p *proof) run(ctx context.Context, only string) bool {
	chosen, err := scenario.Choose(&p.Board, scenarios, only)
	if err == nil {
		p.work, err = os.MkdirTemp("", "heatsink-proof-")
	}
	p.Check(err == nil, "prepare: %v", err)
	if err == nil {
		defer os.RemoveAll(p.work)
		p.bubble.Work = p.work
		for _, s := range chosen {
			scenario.Show(ctx, &p.Board, p, s)
		}
	}
	return p.End(p.Out, p)
}

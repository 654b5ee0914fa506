// Adaptive prints what make proof-adaptive shows: that the shards of a key follow its load while everything runs, and that
// nothing acknowledged is missed or doubled meanwhile. It steps up the load of a key in virtual time. It changes real processes one
// by one, kills them and stops them. It counts the requests of cold keys, runs the simulator, and repeats the growth on an engine
// that nobody here wrote.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func main() {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case memberMode:
			os.Exit(child(runMember(os.Args[2])))
		case serverMode:
			os.Exit(child(runServer(os.Args[2])))
		}
	}
	p := &proof{Board: scenario.New(os.Stdout), bubble: scenario.Bubble{Package: "./internal/proof/adaptive"}}
	p.Most = 100
	only := flag.String("only", "", "scenarios to run, such as step,roll; none: all")
	flag.IntVar(&p.seeds, "seeds", stepSeeds, "how many seeds the step runs")
	flag.IntVar(&p.simulated, "simulated", simSeeds, "how many seeds the simulator runs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok := p.run(ctx, *only)
	stop()
	if !ok {
		os.Exit(1)
	}
}

// child returns the exit code of a process that the proof has started.
func child(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "adaptive:", err)
		return 1
	}
	return 0
}

// proof collects what was shown.
type proof struct {
	work      string // a directory for everything that is written
	seeds     int
	simulated int
	bubble    scenario.Bubble

	Seeds []stepResult `json:"seeds,omitempty"`
	scenario.Board
}

var scenarios = []scenario.Scenario[*proof]{
	{Name: "sim", Title: "the protocol in a simulator", Run: simulate},
	{Name: "cold", Title: "cold keys beside a hot one", Run: coldBeside},
	{Name: "price", Title: "what a Put of a cold key costs", Run: price},
	{Name: "roll", Title: "a rolling change from 4 to 16 shards, with kills and stops", Run: roll},
	{Name: "peer", Title: "growth on an engine that nobody here wrote", Run: onPeer},
	{Name: "futile", Title: "a table with too few partitions", Run: futile},
	{Name: "step", Title: "a step from 100 to 20,000 write units a second on one key", Run: step},
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

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.3f %%", 100*share) }

var errNoFigure = errors.New("it does not print the figure that is looked for")

// progress tells people that something is going on.
func progress(format string, args ...any) { scenario.Progress(format, args...) }

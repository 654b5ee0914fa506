// Adaptive prints what make proof-adaptive shows: that the shards of a key follow its load while everything runs, and that
// nothing acknowledged is missed or doubled meanwhile. It steps up the load of a key in virtual time. It changes real processes one
// by one, kills them and stops them. It counts the requests of cold keys, runs the simulator, and repeats the growth on an engine
// that nobody here wrote.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
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
	p := &proof{Board: scenario.New(os.Stdout)}
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
	tests     string // the built tests of this package, once there are any

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
		for _, s := range chosen {
			scenario.Show(ctx, &p.Board, p, s)
		}
	}
	return p.End(p.Out, p)
}

// figure notes a number that must hold.
func (p *proof) figure(what, after, want string, holds bool) {
	p.Note(scenario.Figure{What: what, After: after, Want: want, Holds: holds})
	progress("  %s: %s", what, after)
}

// none notes a number of bad things of which there must be none, among so many.
func (p *proof) none(what string, bad, of int) {
	p.figure(what, fmt.Sprintf("%d of %d", bad, of), fmt.Sprintf("0 of %d", of), bad == 0 && of > 0)
}

// tell notes a number that nothing is asked of.
func (p *proof) tell(what, after string) { p.figure(what, after, "", true) }

// buildTests builds the tests of this package once: a bubble of testing/synctest needs a test.
func (p *proof) buildTests(ctx context.Context) error {
	if p.tests != "" {
		return nil
	}
	file := filepath.Join(p.work, "adaptive.test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", file, "./internal/proof/adaptive").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c ./internal/proof/adaptive: %w: %s", err, out)
	}
	p.tests = file
	return nil
}

// bubble runs a test of this package and reads its result. It returns the CPU time that this took.
func (p *proof) bubble(ctx context.Context, into any, test string, args ...string) (cpu time.Duration, err error) {
	if err := p.buildTests(ctx); err != nil {
		return 0, err
	}
	result, err := os.CreateTemp(p.work, "result-")
	if err != nil {
		return 0, err
	}
	file := result.Name()
	if err := result.Close(); err != nil {
		return 0, err
	}
	args = append([]string{"-test.run", "^" + test + "$", "-test.timeout", "60m", "-result", file}, args...)
	cmd := exec.CommandContext(ctx, p.tests, args...)
	cmd.Dir = p.work
	out, failed := cmd.CombinedOutput()
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	text, err := os.ReadFile(file)
	if err == nil && len(text) > 0 { // a test that fails may have a result, which says more
		return cpu, json.Unmarshal(text, into)
	}
	return cpu, errors.Join(err, fmt.Errorf("%s %s: %w:\n%s", test, strings.Join(args, " "), failed, end(string(out))))
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

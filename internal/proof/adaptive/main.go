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
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/verdict"
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
	p := &proof{out: os.Stdout, Figures: []figure{}, Verdict: verdict.New()}
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
	out       io.Writer
	work      string // a directory for everything that is written
	seeds     int
	simulated int
	tests     string // the built tests of this package, once there are any

	Seeds   []stepResult `json:"seeds,omitempty"`
	Figures []figure     `json:"figures"`
	verdict.Verdict
}

// figure is one number: what it was, what it is, and what it must be. Without a want it is only told.
type figure struct {
	Scenario string `json:"scenario"`
	What     string `json:"what"`
	Before   string `json:"before,omitempty"`
	After    string `json:"after"`
	Want     string `json:"want,omitempty"`
	Holds    bool   `json:"holds"`
}

// scenario is one of the things that are shown.
type scenario struct {
	name, title string
	run         func(context.Context, *proof) error
}

var scenarios = []scenario{
	{"sim", "the protocol in a simulator", simulate},
	{"cold", "cold keys beside a hot one", coldBeside},
	{"price", "what a Put of a cold key costs", price},
	{"roll", "a rolling change from 4 to 16 shards, with kills and stops", roll},
	{"peer", "growth on an engine that nobody here wrote", onPeer},
	{"futile", "a table with too few partitions", futile},
	{"step", "a step from 100 to 20,000 write units a second on one key", step},
}

// run shows the scenarios that were chosen, and reports whether everything holds.
func (p *proof) run(ctx context.Context, only string) bool {
	chosen, err := choose(only)
	if err == nil {
		p.work, err = os.MkdirTemp("", "heatsink-proof-")
	}
	p.Check(err == nil, "prepare: %v", err)
	if err == nil {
		defer os.RemoveAll(p.work)
		for _, s := range chosen {
			p.show(ctx, s)
		}
	}
	return p.End(p.out, p)
}

// choose returns the scenarios that a list of names has.
func choose(only string) ([]scenario, error) {
	if only == "" {
		return scenarios, nil
	}
	var chosen []scenario
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == strings.TrimSpace(name) })
		if i < 0 {
			var names []string
			for _, s := range scenarios {
				names = append(names, s.name)
			}
			return nil, fmt.Errorf("-only %q: there is no scenario %q; they are %s", only, name, strings.Join(names, ", "))
		}
		chosen = append(chosen, scenarios[i])
	}
	return chosen, nil
}

// show runs one scenario and prints its figures.
func (p *proof) show(ctx context.Context, s scenario) {
	fmt.Fprintf(p.out, "\n== %s: %s\n", s.name, s.title)
	first, started := len(p.Figures), time.Now()
	err := ctx.Err()
	if err == nil {
		progress("%s: %s", s.name, s.title)
		err = s.run(ctx, p)
	}
	p.Check(err == nil, "%s: %v", s.name, err)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tbefore\tafter\twant\t")
	for i := first; i < len(p.Figures); i++ {
		f := &p.Figures[i]
		f.Scenario = s.name
		missed := ""
		if !f.Holds {
			missed = "MISSED"
			p.Check(false, "%s: %s, want %s", f.What, f.After, f.Want)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.What, f.Before, short(f.After), f.Want, missed)
	}
	w.Flush()
	fmt.Fprintf(p.out, "(%.0f s)\n", time.Since(started).Seconds())
}

// short is a text for a table. The JSON has all of it.
func short(s string) string {
	const most = 100
	line := []rune(strings.ReplaceAll(s, "\n", " "))
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most]) + "…"
}

// figure notes a number that must hold.
func (p *proof) figure(what, after, want string, holds bool) {
	p.Figures = append(p.Figures, figure{What: what, After: after, Want: want, Holds: holds})
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
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

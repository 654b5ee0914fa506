// Moving prints what make proof-moving shows: that items move to another layout while programs read and write them, and that nothing is
// lost, doubled or stale meanwhile. Each shape of a collection moves at its full size, in virtual time, under load. Movers and clients
// are killed, a move turns back, damage is planted, and each rule of the protocol is left out once.
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
	p := &proof{Board: scenario.New(os.Stdout), Shapes: map[string]shapeResult{}}
	p.Most = 100
	only := flag.String("only", "", "scenarios to run, such as id,kills; none: all")
	flag.IntVar(&p.items, "items", 0, "items of each shape; 0: the full sizes")
	flag.IntVar(&p.kills, "kills", mostKills, "how many movers, and how many clients, are killed")
	flag.Uint64Var(&p.seed, "seed", 1, "draws what clients do, and when")
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
	work  string // a directory for everything that is written
	items int
	kills int
	seed  uint64
	tests string // the built tests of this package, once there are any

	Shapes map[string]shapeResult `json:"shapes,omitempty"`
	Kills  *killsResult           `json:"kills,omitempty"`
	scenario.Board
}

var scenarios = []scenario.Scenario[*proof]{
	{Name: "rules", Title: "each rule of the protocol is needed", Run: rules},
	{Name: "damage", Title: "verify finds damage of every kind, and none in a healthy table", Run: damage},
	{Name: "kills", Title: "movers and clients that are killed, and moves that turn back", Run: showKills},
	{Name: "index", Title: "a listing by status, from the bare status to 16 shards", Run: shapes["index"].show},
	{Name: "count", Title: "counters that are attributes, to counters of package counter", Run: shapes["count"].show},
	{Name: "id", Title: "items found by id, from the bare key to 16 shards", Run: shapes["id"].show},
	{Name: "list", Title: "lists that are appended to, from one shard to 8 of another spelling", Run: shapes["list"].show},
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
	scenario.Progress("  %s: %s", what, after)
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
	file := filepath.Join(p.work, "moving.test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", file, "./internal/proof/moving").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c ./internal/proof/moving: %w: %s", err, out)
	}
	p.tests = file
	return nil
}

// bubble runs a test of this package and reads its result. It returns the CPU time that this took.
func (p *proof) bubble(ctx context.Context, into any, test string, args ...string) (cpu time.Duration, err error) {
	if err := p.buildTests(ctx); err != nil {
		return 0, err
	}
	file := filepath.Join(p.work, test+".json")
	args = append([]string{"-test.run", "^" + test + "$", "-test.timeout", "60m", "-result", file, "-seed", fmt.Sprint(p.seed)}, args...)
	cmd := exec.CommandContext(ctx, p.tests, args...)
	cmd.Dir = p.work
	out, failed := cmd.CombinedOutput()
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	written, err := os.ReadFile(file)
	if err == nil && len(written) > 0 { // a test that fails may have a result, which says more
		return cpu, json.Unmarshal(written, into)
	}
	return cpu, errors.Join(err, fmt.Errorf("%s %s: %w:\n%s", test, strings.Join(args, " "), failed, end(string(out))))
}

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"test", "-count=1", "-timeout", "60m"}, args...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	return string(out), err
}

// end returns the last lines of an output.
func end(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

var errNoFigure = errors.New("it does not print the figure that is looked for")

// Moving prints what make proof-moving shows: that items move to another layout while programs read and write them, and that nothing is
// lost, doubled or stale meanwhile. Each shape of a collection moves at its full size, in virtual time, under load. Movers and clients
// are killed, a move turns back, damage is planted, and each rule of the protocol is left out once.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func main() {
	p := &proof{Board: scenario.New(os.Stdout), bubble: scenario.Bubble{Package: "./internal/proof/moving"}, Shapes: map[string]shapeResult{}}
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
	work   string // a directory for everything that is written
	items  int
	kills  int
	seed   uint64
	bubble scenario.Bubble

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
		p.bubble.Work = p.work
		for _, s := range chosen {
			scenario.Show(ctx, &p.Board, p, s)
		}
	}
	return p.End(p.Out, p)
}

// inBubble runs a test of this package with the seed of the proof, and reads its result. It returns the CPU time that this took.
func (p *proof) inBubble(ctx context.Context, into any, test string, args ...string) (time.Duration, error) {
	return p.bubble.Run(ctx, into, test, append([]string{"-seed", fmt.Sprint(p.seed)}, args...)...)
}

// goTest runs go test, and returns what it printed.
func goTest(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"test", "-count=1", "-timeout", "60m"}, args...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	return string(out), err
}

var errNoFigure = errors.New("it does not print the figure that is looked for")

// Engine prints what make proof-engine shows: that the local engine answers as DynamoDB does. The public suite of tests that were
// verified on AWS runs on it, and random requests get the same answers from it as from engines that nobody here wrote.
// It ends with one JSON object, and exits with 1 if a number that must hold does not.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

func main() {
	p := &proof{Board: scenario.New(os.Stdout)}
	p.Most = 100
	only := flag.String("only", "", "scenarios to run, such as suite,differential; none: all")
	flag.StringVar(&p.suite, "suite", "", "`directory` with a checkout of nubo-db/dynamodb-conformance in which npm install has run")
	flag.StringVar(&p.alternator, "alternator", "", "`directory` with a checkout of scylladb/scylladb, of which test/alternator is enough")
	flag.StringVar(&p.dynalite, "dynalite", "", "`directory` with a checkout of architect/dynalite in which npm install has run")
	flag.StringVar(&p.moto, "moto", "", "`directory` with a checkout of getmoto/moto, of which tests is enough")
	flag.StringVar(&p.localStack, "localstack", "", "`directory` with a checkout of localstack/localstack")
	flag.StringVar(&p.electrodb, "electrodb", "", "`directory` with a checkout of tywalch/electrodb")
	flag.StringVar(&p.pynamodb, "pynamodb", "", "`directory` with a checkout of pynamodb/PynamoDB")
	flag.StringVar(&p.python, "python", "python3", "`program` that runs Python with what the suites need, see CONTRIBUTING.md")
	flag.StringVar(&p.peers, "peers", ".peers", "`directory` with the npm package dynalite, where the packages of programs are fetched to")
	flag.IntVar(&p.requests, "requests", 100_000, "`number` of random requests that every engine gets")
	flag.Uint64Var(&p.seed, "seed", 1, "draws the requests")
	flag.BoolVar(&p.explain, "explain", false, "print what each fact explained, with an example of every class")
	flag.IntVar(&p.examples, "examples", 10, "`number` of unknown differences of which the shortest example is looked for")
	flag.IntVar(&p.items, "items", 10_000_000, "`number` of items in the large directory of scale, which needs 600 bytes of disk for each")
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
	suite string

	alternator, dynalite, moto, localStack string // checkouts of suites
	electrodb, pynamodb                    string // checkouts of programs

	python string

	peers    string
	requests int
	seed     uint64
	explain  bool
	examples int
	items    int
	built    *peer.Engine // heatsink, once it is built

	Suite        *suiteResult   `json:"suite,omitempty"`
	Others       []*otherResult `json:"suites,omitempty"`
	Programs     []*otherResult `json:"programs,omitempty"`
	Differential *tally         `json:"differential,omitempty"`
	scenario.Board
}

// scenarios are what is shown. A new one is a line here and a file of its name.
var scenarios = []scenario.Scenario[*proof]{
	{Name: "suite", Title: "the public suite, every test of which was verified on AWS", Run: showSuite},
	{Name: "suites", Title: "other public suites that were run on AWS: every failure has a reason", Run: showSuites},
	{Name: "programs", Title: "third-party programs unmodified, with their own tests or with ours", Run: showPrograms},
	{Name: "scale", Title: "many items: opening their directory, serving them, holding them, reading many at a time", Run: showScale},
	{Name: "differential", Title: "random requests get the same answers from every engine", Run: showDifferential},
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

// heatsink returns the engine that this is all about, which it builds once. Its account is none that the suite takes for somebody
// else's: on AWS no account has the number 000000000000.
func (p *proof) heatsink(ctx context.Context) (peer.Engine, error) {
	if p.built == nil {
		e, err := peer.Heatsink(ctx, p.work, "--account", "123456789012")
		if err != nil {
			return e, err
		}
		p.built = &e
	}
	return *p.built, nil
}

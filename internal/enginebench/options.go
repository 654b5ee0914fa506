package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

type options struct {
	peers     string
	duration  time.Duration
	rounds    int
	conns     int
	json      bool
	growth    bool
	before    *report // an earlier run; nil: none
	engines   []string
	workloads []workload
}

const synopsis = `enginebench measures heatsink's local engine over HTTP beside other engines.

The exit code is 1 if a target was missed, if heatsink could not be measured, or if something broke.

Flags:
`

const examples = `
Examples:
  go run ./internal/enginebench                                     # everything, about three minutes
  go run ./internal/enginebench -only heatsink,empty,get -rounds 9  # one question, answered well
  go run ./internal/enginebench -json | jq '.goals[]'
  go run ./internal/enginebench -json > before.json; go run ./internal/enginebench -before before.json
  go run ./internal/enginebench -growth                             # what a table of 10^6 items costs
`

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	var only, before string
	flags := flag.NewFlagSet("enginebench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.peers, "peers", ".peers", "`directory` with the npm package dynalite")
	flags.DurationVar(&o.duration, "duration", time.Second, "measured `time` per round, engine and workload")
	flags.IntVar(&o.rounds, "rounds", 5, "`number` of rounds that the medians are taken over")
	flags.IntVar(&o.conns, "conns", 16, "`number` of connections, each with one request at a time")
	flags.StringVar(&only, "only", "", "measure only these engines and workloads, a comma-separated `list` of\n"+
		strings.Join(engineNames, ", ")+"; "+strings.Join(names(compared), ", "))
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	flags.StringVar(&before, "before", "", "the JSON of an earlier run, a `file`: whatever is more than a tenth slower now is a missed goal")
	flags.BoolVar(&o.growth, "growth", false, "measure put, get, query and memory at 10^4 and at 10^6 stored items,\n"+
		"on heatsink unless -only names another engine")
	flags.Usage = func() {
		fmt.Fprint(stderr, synopsis)
		flags.PrintDefaults()
		fmt.Fprint(stderr, examples)
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.duration < 10*time.Millisecond:
		return o, fmt.Errorf("-duration %v: must be at least 10ms", o.duration)
	case o.rounds < 1:
		return o, fmt.Errorf("-rounds %d: must be at least 1", o.rounds)
	case o.conns < 1:
		return o, fmt.Errorf("-conns %d: must be at least 1", o.conns)
	}
	if before != "" && o.growth {
		return o, errors.New("-before compares runs without -growth")
	}
	if before != "" {
		var err error
		if o.before, err = readReport(before); err != nil {
			return o, fmt.Errorf("-before: %w", err)
		}
	}
	return o, o.choose(only)
}

// choose applies -only to the engines and workloads of the mode. Naming no engine means all the mode measures, and
// so does naming no workload.
func (o *options) choose(only string) error {
	workloads, engines := compared, engineNames
	if o.growth {
		workloads, engines = grown, engineNames[:1]
	}
	for name := range strings.FieldsFuncSeq(only, func(r rune) bool { return r == ',' || r == ' ' }) {
		i := slices.Index(names(workloads), name)
		switch {
		case i >= 0 && !slices.Contains(names(o.workloads), name):
			o.workloads = append(o.workloads, workloads[i])
		case i < 0 && !slices.Contains(engineNames, name):
			return fmt.Errorf("-only %s: no such engine or workload", name)
		case i < 0 && !slices.Contains(o.engines, name):
			o.engines = append(o.engines, name)
		}
	}
	if len(o.workloads) == 0 {
		o.workloads = workloads
	}
	if len(o.engines) == 0 {
		o.engines = engines
	}
	if o.growth && len(o.engines) > 1 {
		return errors.New("-growth measures one engine at a time")
	}
	return nil
}

// Command enginebench measures heatsink's local engine over HTTP beside dynoxide, dynalite, DynamoDB Local and an empty net/http
// handler, and prints what it found next to what was promised. `make bench-engine` runs it.
//
// Read field.go first: it shows how the machine's noise is kept out of the comparison.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == emptyCommand {
		fmt.Fprintln(os.Stderr, serveEmpty(os.Args[2]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program: 0 if all went well, 1 if something broke or a goal was missed, 2 if the arguments are wrong.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "enginebench:", err)
		return 2
	}
	begin := time.Now()
	r, err := measure(ctx, o, func(format string, args ...any) {
		fmt.Fprintf(stderr, "%4.0fs %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, args...))
	})
	if err == nil && o.json {
		err = r.writeJSON(stdout)
	} else if err == nil {
		err = r.writeText(stdout)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx) // whatever else went wrong followed from it
	}
	if err != nil {
		fmt.Fprintln(stderr, "enginebench:", err)
		return 1
	}
	if r.missed() || r.skipped("heatsink") {
		return 1
	}
	return 0
}

// A logger shows progress.
type logger func(format string, args ...any)

// measure finds the engines asked for and runs them. What cannot be found is reported and left out.
func measure(ctx context.Context, o options, progress logger) (*report, error) {
	dir, err := os.MkdirTemp("", "enginebench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := newReport(o)
	var engines []peer.Engine
	for _, name := range o.engines {
		e, err := findEngine(ctx, name, o.peers, dir)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.skip(name, err)
			continue
		}
		engines = append(engines, e)
	}
	switch {
	case len(engines) == 0:
		return r, nil
	case o.growth:
		return r, grow(ctx, engines[0], o, r, progress)
	default:
		return r, compare(ctx, engines, o, r, progress)
	}
}

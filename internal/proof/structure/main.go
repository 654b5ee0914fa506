// Structure prints what make proof-structure shows: how the source is built, before and now. It counts files, methods, exported
// names, long functions and clones, and runs a Put and a Query to see which files they go through. It ends with one JSON
// object, and exits with 1 if a goal is missed.
//
// What was before is recorded. To record it again, at the commit that testdata/before.json names:
//
//	git worktree add --detach ../before f1b77ff
//	go run ./internal/proof/structure -tree ../before -json >internal/proof/structure/testdata/before.json
//
// The second command reports exit status 1, as that commit misses the goals.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// recorded has before.json, and benchmarks.txt once that is recorded: hence the pattern.
//
//go:embed testdata/be*
var recorded embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 1 if a goal is missed, 2 if the checkout cannot be measured.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("structure", flag.ContinueOnError)
	flags.SetOutput(errOut)
	dir := flags.String("tree", ".", "the root of the checkout to measure")
	onlyJSON := flags.Bool("json", false, "print the figures of the checkout as JSON, and nothing else")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(errOut, "structure: %q is no flag; name another checkout with -tree\n", flags.Arg(0))
		return 2
	}
	r, err := prove(ctx, *dir, *onlyJSON, out)
	if err != nil {
		fmt.Fprintf(errOut, "structure: %v\n", err)
		return 2
	}
	if len(r.Missed) > 0 {
		return 1
	}
	return 0
}

// prove measures a checkout and prints the report.
func prove(ctx context.Context, dir string, onlyJSON bool, out io.Writer) (report, error) {
	started := time.Now()
	before, err := recordedBefore(recorded)
	if err != nil {
		return report{}, err
	}
	benchmarks, err := recordedBenchmarks(recorded)
	if err != nil {
		return report{}, err
	}
	now, err := measure(ctx, dir)
	if err != nil {
		return report{}, err
	}
	r := report{figures: now, Missed: missed(numbers(*before, now))}
	if !onlyJSON { // what is recorded has neither a past nor a duration, so that it is the same each time
		r.Before, r.Seconds = before, time.Since(started).Seconds()
		r.write(out, benchmarks)
	}
	return r, r.writeJSON(out)
}

// Command mutants breaks the program on purpose, one line at a time, and sees whether a test fails. A break that no test
// notices is behaviour that nothing holds.
//
//	go run ./internal/mutants -pkg ./heat -n 50 -seed 1    # random breaks of a package
//	go run ./internal/mutants -rows 000-01,X05             # the written breaks of docs/requirements.md
//
// No file of the repository changes: the go command reads broken files through an overlay. `make mutants` and
// `make row-breaks` run it. Random breaks are woven into one copy of their package, and each process chooses its own; a written break
// is built alone. Go's build cache keeps what was built for some days.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Options are what both kinds of run need.
type options struct {
	dir      string // a directory of the module
	parallel int
	least    time.Duration // the shortest time limit of a broken test run
	progress io.Writer
}

// run is the program: 0 if it did its work, 1 if a row of the requirements has no break or one that no test notices,
// 2 if it could not do its work.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o := options{dir: ".", least: 30 * time.Second, progress: stderr}
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pkg := flags.String("pkg", "", "the package to break, such as ./heat")
	count := flags.Int("n", 50, "how many random breaks")
	seed := flags.Uint64("seed", 1, "the same seed makes the same breaks of the same files")
	byRow := flags.Bool("rows", false, "run the written breaks of docs/requirements.md; arguments name rows, such as 000-01,X05")
	flags.IntVar(&o.parallel, "par", 2, "how many breaks are built and tested at a time")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	code, err := 0, error(nil)
	switch {
	case o.parallel < 1 || *count < 1:
		err = fmt.Errorf("-n %d -par %d: both must be at least 1", *count, o.parallel)
	case *byRow && *pkg != "":
		err = errors.New("-rows and -pkg: give one of them")
	case *byRow:
		code, err = breakRows(ctx, o, wanted(flags.Args()), stdout)
	case *pkg == "" || flags.NArg() > 0:
		err = errors.New("say what to break: -pkg ./heat, or -rows")
	default:
		err = breakPackage(ctx, o, *pkg, *count, *seed, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	return code
}

// wanted splits "000-01,X05 X06".
func wanted(args []string) []string {
	return strings.FieldsFunc(strings.Join(args, ","), func(r rune) bool { return r == ',' || r == ' ' })
}

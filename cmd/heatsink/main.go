// Command heatsink keeps DynamoDB partitions cool. See heatsink --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // the second signal kills as usual
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command without its process, so that tests call it as users do.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if !errors.Is(err, context.Canceled) {
		fmt.Fprintf(stderr, "heatsink: %s\n", printableLines(err.Error())) // it may quote a server, or a file's name
	}
	if verdict := (*badNews)(nil); errors.As(err, &verdict) {
		return 1
	}
	return 2
}

// badNews is a finding that --fail-on asked for. It is no failure of the command, and a script can tell the two apart by the
// exit code.
type badNews struct{ text string }

func (n *badNews) Error() string { return n.text }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "heatsink",
		Short: "Keep DynamoDB partitions cool",
		Long: `heatsink keeps DynamoDB partitions cool. It finds hot keys, explains why they are
hot, and plans how to spread them. It also runs a local DynamoDB whose partitions
throttle: inside your tests (package local), or as a server (heatsink serve).`,
		Example: `  heatsink demo                                  see a hot key throttle, and shards that do not
  heatsink audit orders                          find keys that are hot, or will become hot
  heatsink top orders                            watch the hottest keys, live
  heatsink plan --writes 5000 --item-size 1KB    compute the number of shards
  heatsink ledger ls --table orders              list keys that adaptive layouts have made wider
  heatsink move orders --index byStatus …        move what an index lists to another layout
  heatsink export orders ./dump                  write a table's items into files
  heatsink import ./dump                         write the items of an export into a table
  heatsink serve                                 run a DynamoDB on 127.0.0.1:8000, in memory
  heatsink serve --data ./dynamo                 the same, with its data in a directory`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newServe(), newDemo(), newPlan(), newAudit(), newTop(), newLedger(), newMove(), newExport(), newImport())
	return root
}

// version is the version of the module this binary was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

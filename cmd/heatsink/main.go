// Command heatsink keeps DynamoDB partitions cool. See heatsink --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
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
	out := &printed{Writer: stdout}
	if root.SetOut(out); isTTY(stdout) { // the screen of top wants the terminal itself, which does not become full
		root.SetOut(stdout)
	}
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
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

// printed is where results go. It keeps the first error, so that a disk that is full fails the command, whoever wrote to it.
type printed struct {
	io.Writer
	err error
}

func (p *printed) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("results were not written: %w", err)
	}
	return n, err
}

func isTTY(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
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
throttle: inside your tests (package local), or as a server (heatsink serve).

A shard is one of several keys that a hot key is spread over: ORDERS#SHARD_0, ORDERS#SHARD_1
and so on. Begin with heatsink demo. For a table of your own, begin with heatsink doctor and
heatsink audit: both only read. The commands use the AWS account that the AWS CLI would use,
or with --endpoint a local engine.`,
		Example: `  heatsink demo                                  see a hot key throttle, and shards that do not
  heatsink doctor orders                         check permissions, clock, records and items of a table
  heatsink audit orders                          find keys that are hot, or will become hot
  heatsink top orders                            watch the hottest keys, live
  heatsink plan --writes 5000 --item-size 1KB    compute the number of shards
  heatsink ledger ls --table orders              list keys that adaptive layouts have made wider
  heatsink move orders --to 16 --dry-run         see what a move to 16 shards would do, and cost
  heatsink lab run throughput                    simulate loads and layouts in virtual time
  heatsink export orders ./dump                  write a table's items into files
  heatsink import ./dump                         write the items of an export into a table
  heatsink serve                                 run a DynamoDB on 127.0.0.1:8000, in memory
  heatsink serve --data ./dynamo                 the same, with its data in a directory`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"try", "To try without an AWS account:", []*cobra.Command{newDemo(), newLab(), newPlan(), newServe()}},
		{"look", "To look at a table:", []*cobra.Command{newAudit(), newDoctor(), newTop()}},
		{"change", "To change or copy a table:", []*cobra.Command{newExport(), newImport(), newLedger(), newMove()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, command := range group.commands {
			command.GroupID = group.id
			root.AddCommand(command)
		}
	}
	root.AddCommand(newVersion())
	return root
}

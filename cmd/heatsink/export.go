package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/dump"
)

// export writes a table's items into files.
type export struct {
	account
	connect func(context.Context) (clients, error)

	options dump.ExportOptions
	json    bool
}

func newExport() *cobra.Command {
	x := &export{}
	x.connect = x.clients
	return x.command()
}

func (x *export) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export TABLE DIR",
		Short: "Write the items of a table into files, as an export to S3 has them",
		Long: `Write all items of a table into files, in the layout that DynamoDB's own exports to S3 have:
DIR/AWSDynamoDB/ID with manifests, MD5s and compressed files of DynamoDB JSON. heatsink import
reads them, and so do programs that read the files of DynamoDB's exports. The manifests name no
bucket. Numbers are as DynamoDB returns them: 12.50 is 12.5. The table's keys and indexes are in
table.json beside them.

The table is read by Scan, while programs use it: each item is as of some time between the
beginning and the end. On AWS, ExportTableToPointInTime exports a table as of one moment; for a
local engine, restore a backup and export that table.

It can be stopped at any moment, also by kill -9. Run the same command again, and it goes on
behind the last file that is whole. A second export of the table into the directory is refused
meanwhile. It waits when the table throttles, and keeps to --rcu.

With --json, stdout has one object for each line: {"progress": …} about once a second, and
{"result": …} at the end.`,
		Example: `  heatsink export orders ./dump
  heatsink export orders ./dump --rcu 500 --eventual
  heatsink export orders ./dump --endpoint http://127.0.0.1:8000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("want a table and a directory: use %s TABLE DIR", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			x.options.Table, x.options.Dir = args[0], args[1]
			return x.run(cmd)
		},
	}
	f := cmd.Flags()
	x.flags(f)
	f.Float64Var(&x.options.RCU, "rcu", 0, "largest rate of reads, in units per second (default: without a limit)")
	f.IntVar(&x.options.Segments, "segments", 8, "parts of the table that are read at the same time, 256 at most")
	f.BoolVar(&x.options.Eventual, "eventual", false, "read with eventual consistency, for half the price; changes of the last second may be missing")
	f.BoolVar(&x.json, "json", false, "print a line of JSON for progress and result")
	return cmd
}

func (x *export) run(cmd *cobra.Command) error {
	switch {
	case x.options.RCU < 0 || x.options.RCU == 0 && cmd.Flags().Changed("rcu"):
		return errors.New("--rcu: want a number above 0, or leave the flag out to read without a limit")
	case x.options.Segments < 1 || x.options.Segments > 256:
		return fmt.Errorf("--segments %d: want 1 to 256", x.options.Segments)
	}
	c, err := x.connect(cmd.Context())
	if err != nil {
		return err
	}
	out := newDumpOutput(cmd, "exported", x.json)
	x.options.Progress = out.progress
	result, err := dump.Export(cmd.Context(), c.tables, x.options)
	out.result(result, err, "run the same command again to go on")
	return c.explain(x.options.Table, err)
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/internal/dump"
)

// importing writes the items of an export into a table.
type importing struct {
	account
	connect func(context.Context) (clients, error)

	options dump.ImportOptions
	json    bool
}

func newImport() *cobra.Command {
	m := &importing{}
	m.connect = m.clients
	return m.command()
}

func (m *importing) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import DIR [TABLE]",
		Short: "Write the items of an export into a table",
		Long: `Write the items of an export into a table: one that heatsink export has made, or one of
DynamoDB's own exports to S3 in DynamoDB JSON, copied here with aws s3 cp --recursive. DIR is the
directory of the export, with manifest-summary.json in it, or any above. TABLE is by default the
table of the export.

If there is no such table, it is created on demand: with the keys and indexes that heatsink
export has noted, or with --key and --sort. A table that has items is refused without --replace:
items with the same keys would be replaced.

An incremental export has what has changed: items that are put, and keys of items that are deleted.
It needs the table with the items of before, --replace, and the directory data beside its own. Import
a full export first, then the incremental ones in the order of their times. Amazon Ion is refused.

Each file is compared with its MD5 before any of its items is written, and with the number of
items in the manifest. A file that is damaged, cut off or not DynamoDB JSON ends the import. So do
items without the table's key, and two of one key among 65,536: with a wrong key, such as without
--sort, items would replace each other. The first 10,000 are checked before a table is created.

It can be stopped at any moment, also by kill -9. Run the same command again, and it goes on with
the file that it was at, whose items it writes again. The checkpoint is a file in the export's
directory, or --checkpoint; a file that is none is refused, and a second import with the same one.
It waits when the table throttles or its server has no room, which its progress says. It keeps to
--wcu.

With --json, stdout has one object for each line: {"progress": …} about once a second, and
{"result": …} at the end.`,
		Example: `  heatsink import ./dump --endpoint http://127.0.0.1:8000
  heatsink import ./dump orders-copy --wcu 500
  aws s3 cp --recursive s3://bucket/AWSDynamoDB/01693685827463-2d8752fd ./real
  heatsink import ./real orders --key id:S --sort at:N --endpoint http://127.0.0.1:8000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("want a directory, and a table or none: use %s DIR [TABLE]", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			m.options.Dir = args[0]
			if len(args) == 2 {
				m.options.Table = args[1]
			}
			return m.run(cmd)
		},
	}
	f := cmd.Flags()
	m.flags(f)
	f.StringVar(&m.options.Key, "key", "", "partition key of a table to create, such as id:S (default: as the export says)")
	f.StringVar(&m.options.Sort, "sort", "", "sort key of a table to create, such as at:N")
	f.Float64Var(&m.options.WCU, "wcu", 0, "largest rate of writes, in units per second (default: without a limit)")
	f.IntVar(&m.options.Workers, "workers", 8, "requests at the same time, 64 at most")
	f.BoolVar(&m.options.Replace, "replace", false, "write into a table that has items, and replace those with the same keys")
	f.StringVar(&m.options.Checkpoint, "checkpoint", "", "file that says how far the import has come (default: in the export's directory)")
	f.BoolVar(&m.json, "json", false, "print a line of JSON for progress and result")
	return cmd
}

func (m *importing) run(cmd *cobra.Command) error {
	switch {
	case m.options.WCU < 0 || m.options.WCU == 0 && cmd.Flags().Changed("wcu"):
		return errors.New("--wcu: want a number above 0, or leave the flag out to write without a limit")
	case m.options.Workers < 1 || m.options.Workers > 64:
		return fmt.Errorf("--workers %d: want 1 to 64", m.options.Workers)
	}
	c, err := m.connect(cmd.Context())
	if err != nil {
		return err
	}
	out := newDumpOutput(cmd, "imported", m.json)
	m.options.Progress = out.progress
	result, err := dump.Import(cmd.Context(), c.tables, m.options)
	full := (*dump.NotEmptyError)(nil)
	if errors.As(err, &full) {
		out.result(result, err, "") // nothing was done, and nothing would go on
		return fmt.Errorf("table %q has items: add --replace to replace those with the same keys, or name an empty or new table; "+
			"if this import was finished before, there is nothing to do", full.Table)
	}
	out.result(result, err, "run the same command again to go on")
	return err
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/charter"
)

// ledgerCharter shows the charter of a collection, and replaces it.
type ledgerCharter struct {
	ledger
	from  string
	force bool
}

func newLedgerCharter() *cobra.Command {
	var c ledgerCharter
	cmd := &cobra.Command{
		Use:   "charter --table TABLE",
		Short: "Show or replace the recorded layout of a collection",
		Long: `Show the charter of a collection: the layout that all its processes must have. The first
process writes it. A process with another layout gets the error ErrCharter.

To change the layout of a collection:

  1. Print the charter with --json into a file, and edit the file. Leave the old layout in
     "older" if items are stored under it: those items are missed otherwise. An older layout
     is "not sharded", or "random 16 {key}#SHARD_{shard}" with its own numbers, or
     "calculated 16 xxhash {key}#SHARD_{shard}".
  2. Run charter --from FILE. It prints what changes, and changes nothing.
  3. Stop the processes with the old layout. Those that still run refuse the collection
     within a minute.
  4. Run charter --from FILE --force, and start the processes with the new layout.

In the file, "widths" is "adaptive", "by the program" (Options.Widths), or "fixed 16". The
fields "by", "at" and "frozen" have no effect there. A freeze of the collection stays.

A damaged charter is replaced in the same way. One that a newer version of heatsink wrote is
left alone.`,
		Example: `  heatsink ledger charter --table orders
  heatsink ledger charter --table orders --json > charter.json
  heatsink ledger charter --table orders --from charter.json
  heatsink ledger charter --table orders --from charter.json --force`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case c.force && c.from == "":
				return errors.New("--force replaces the charter, but nothing says by what: add --from FILE, as heatsink ledger charter --help explains")
			case c.from != "":
				return c.replace(cmd)
			}
			return c.show(cmd)
		},
	}
	f := cmd.Flags()
	c.register(f)
	f.StringVar(&c.from, "from", "", "compare with a file in the form of --json, or - for stdin; with --force, replace the charter by it")
	f.BoolVar(&c.force, "force", false, "with --from: replace the charter")
	return cmd
}

func (c *ledgerCharter) show(cmd *cobra.Command) error {
	b, err := c.find(cmd.Context())
	if err != nil {
		return err
	}
	return c.print(cmd, b)
}

func (c *ledgerCharter) print(cmd *cobra.Command, b *book) error {
	if c.json {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(b.charter)
	}
	writeCharter(newScreen(cmd.OutOrStdout()), b)
	return nil
}

func (c *ledgerCharter) replace(cmd *cobra.Command) error {
	wanted, err := c.read(cmd.InOrStdin())
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	b, err := c.find(ctx)
	if err != nil && (b == nil || b.damaged == nil || errors.Is(err, charter.ErrNewer)) {
		return err
	}
	if err := c.check(b, wanted); err != nil {
		return fmt.Errorf("%s: %w", c.from, err)
	}
	screen := newScreen(cmd.ErrOrStderr())
	c.compare(screen, b, wanted)
	if !c.force {
		screen.say("nothing was changed: add --force to replace the charter")
		return nil
	}
	host, _ := os.Hostname() // "" is as good a name as any
	wanted.By, wanted.At = strings.TrimSpace("heatsink ledger charter "+host), time.Now().UnixMilli()
	if err := b.control.Rewrite(ctx, wanted); err != nil {
		return err
	}
	screen.say("the charter was replaced; processes with another layout refuse the collection within a minute")
	if b.charter, _, err = b.control.Charter(ctx); err != nil {
		return err
	}
	return c.print(cmd, b)
}

// maxCharter is more than a charter has: an item has up to 400 KB.
const maxCharter = 1 << 20

// read reads the file of --from.
func (c *ledgerCharter) read(stdin io.Reader) (charter.Charter, error) {
	from := stdin
	if c.from != "-" {
		file, err := os.Open(c.from)
		if err != nil {
			return charter.Charter{}, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxCharter))
	if err != nil {
		return charter.Charter{}, err
	}
	read, err := charter.ParseDocument(text)
	if err != nil {
		return charter.Charter{}, fmt.Errorf("%s: %w", c.from, err)
	}
	return read, nil
}

// check refuses a charter that no process could use.
func (c *ledgerCharter) check(b *book, wanted charter.Charter) error {
	own := b.controlOf(&ledger{table: c.table}, "") // the keys of the table itself
	switch {
	case wanted.PartitionKey != own.PartitionKey || wanted.SortKey != own.SortKey:
		return fmt.Errorf("partition_key is %q and sort_key %q, but table %s has %q and %q", wanted.PartitionKey, wanted.SortKey, c.table, own.PartitionKey, own.SortKey)
	case wanted.Index.Name != "" && !b.hasIndex(wanted.Index.Name):
		return fmt.Errorf("index is %q, but table %s has no global index of that name", wanted.Index.Name, c.table)
	case c.controlTable == "" && wanted.Table != "":
		return fmt.Errorf("table is %q, but the charter is beside the items: leave table out", wanted.Table)
	case wanted.Widths != charter.Adaptive:
		return nil
	}
	options, err := recorded(wanted)
	if err != nil {
		return err
	}
	options.Table, options.Name, options.ControlTable = c.table, b.control.Collection, c.controlTable
	_, err = heatsink.Open[heatsink.Item](b.tables, options)
	return err
}

// compare prints what a replacement changes, and what would be missed.
func (c *ledgerCharter) compare(screen *screen, b *book, wanted charter.Charter) {
	if b.damaged != nil {
		screen.say("the charter is damaged: %s", printable(b.damaged.Error()))
		return
	}
	changes := charter.Changes(b.charter, wanted)
	if len(changes) == 0 {
		screen.say("%s is the layout that is stored", c.from)
	}
	for _, change := range changes {
		screen.say("%s", printable(change))
	}
	for _, warning := range charter.Missed(b.charter, wanted) {
		screen.say("%s: %s", screen.red("warning"), printable(warning))
	}
}

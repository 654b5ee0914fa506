package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// ledger is what the subcommands of heatsink ledger have in common: which collection they are about.
type ledger struct {
	account
	table, name, controlTable string

	at   string // the time of a bucket
	why  string
	json bool
}

func newLedger() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Look at adaptive collections, and change how wide their keys are",
		Long: `Look at the ledgers of a collection with Options.Adaptive, and change them by hand. The
ledger of a key says how many shards it has. The charter says how the collection is laid
out. Both are stored in the table, so the commands need no layout from you. docs/adaptive.md
explains them.

A table may hold several collections. --name says which one is meant. Without --name, the
commands look for the charter that is named "table", and for one with the name of each
global index. They list the names if there are several.

If Options.ControlTable is set in your program, give the same name as --control-table.`,
		Example: `  heatsink ledger ls --table orders
  heatsink ledger show NEW --table orders
  heatsink ledger grow NEW 16 --table orders --why "sale on Friday"
  heatsink ledger freeze --all --table orders --why "incident 7"
  heatsink ledger charter --table orders --endpoint http://127.0.0.1:8000`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q for %q: see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLedgerLs(), newLedgerShow(), newLedgerGrow(), newLedgerFreeze(), newLedgerThaw(), newLedgerRepair(), newLedgerCharter(), newLedgerPolicy())
	cmd.SetFlagErrorFunc(func(of *cobra.Command, err error) error {
		if of != cmd {
			return err
		}
		var names []string
		for _, sub := range cmd.Commands() {
			names = append(names, sub.Name())
		}
		return fmt.Errorf("%w: %s has no flags of its own: give one of its commands first: %s", err, cmd.CommandPath(), strings.Join(names, ", "))
	})
	return cmd
}

// register adds the flags that all subcommands have.
func (l *ledger) register(f *pflag.FlagSet) {
	l.flags(f)
	f.StringVar(&l.table, "table", "", "name or ARN of the table (required)")
	f.StringVar(&l.name, "name", "", "name of the collection (default: the only one that is named table or as a global index)")
	f.StringVar(&l.controlTable, "control-table", "", "table of the control items, if it is not the table itself")
	f.BoolVar(&l.json, "json", false, "print JSON")
}

// registerAt adds the flag for the time of a bucket.
func (l *ledger) registerAt(f *pflag.FlagSet) {
	f.StringVar(&l.at, "at", "", "a time in the bucket that is meant, such as 2026-06-22T01:00:00Z or now; needed if the layout has buckets")
}

func (l *ledger) registerWhy(f *pflag.FlagSet, kept string) {
	f.StringVar(&l.why, "why", "", "the reason, up to 200 bytes, which is kept in the "+kept+" for people")
}

// book is a collection whose charter was read.
type book struct {
	clients
	table   *types.TableDescription
	control *adapt.Control
	charter charter.Charter
	damaged error // why the charter cannot be understood
}

// find reads the charter of the collection that the flags name.
func (l *ledger) find(ctx context.Context) (*book, error) {
	if l.table == "" {
		return nil, errors.New("no table given: add --table NAME")
	}
	c, err := l.clients(ctx)
	if err != nil {
		return nil, err
	}
	b := &book{clients: c}
	out, err := c.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &l.table})
	if err != nil {
		return nil, c.explain(l.table, fmt.Errorf("describe table %s: %w", l.table, err))
	}
	b.table = out.Table
	names := []string{l.name}
	if l.name == "" {
		names = []string{"table"}
		for _, index := range out.Table.GlobalSecondaryIndexes {
			names = append(names, aws.ToString(index.IndexName))
		}
	}
	return b, b.choose(ctx, l, names)
}

// hasIndex reports whether the table has a global index.
func (b *book) hasIndex(name string) bool {
	return slices.ContainsFunc(b.table.GlobalSecondaryIndexes, func(d types.GlobalSecondaryIndexDescription) bool { return aws.ToString(d.IndexName) == name })
}

// choose makes the book that of the only name that has a charter.
func (b *book) choose(ctx context.Context, l *ledger, names []string) error {
	var found []string
	for _, name := range names {
		control := b.controlOf(l, name)
		read, stored, err := control.Charter(ctx)
		if err != nil && !stored {
			return b.explain(control.Table, err)
		}
		if stored {
			found, b.control, b.charter, b.damaged = append(found, name), control, read, err
		}
	}
	switch {
	case len(found) == 0 && l.name != "":
		return fmt.Errorf("no collection is recorded as %q in table %s: check --name; the first process that opens the collection with "+
			"Options.Adaptive or Options.Recorded writes its charter", l.name, l.control())
	case len(found) == 0:
		return fmt.Errorf("no collection is recorded as %s in table %s: give --name if Options.Name is set in your program, and --control-table if "+
			"Options.ControlTable is", strings.Join(names, " or "), l.control())
	case len(found) > 1:
		b.damaged = nil
		return fmt.Errorf("table %s has the collections %s: choose one with --name", l.control(), strings.Join(found, ", "))
	case b.damaged != nil:
		return fmt.Errorf("charter of collection %q in table %s: %w", found[0], l.control(), b.damaged)
	}
	return nil
}

// control returns the table that has the control items.
func (l *ledger) control() string {
	if l.controlTable != "" {
		return l.controlTable
	}
	return l.table
}

// controlOf returns the control items of a collection.
func (b *book) controlOf(l *ledger, name string) *adapt.Control {
	c := &adapt.Control{
		Client: b.tables, Table: l.table, Collection: name,
		Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil),
	}
	for _, key := range b.table.KeySchema {
		if key.KeyType == types.KeyTypeHash {
			c.PartitionKey = aws.ToString(key.AttributeName)
		} else {
			c.SortKey = aws.ToString(key.AttributeName)
		}
	}
	if l.controlTable != "" {
		c.Table, c.PartitionKey, c.SortKey = l.controlTable, adapt.TableKey, ""
	}
	return c
}

// open finds the collection and opens it, so that its ledgers can be used.
func (l *ledger) open(ctx context.Context) (*book, heatsink.Ledgers, error) {
	b, err := l.find(ctx)
	if err != nil {
		return nil, heatsink.Ledgers{}, err
	}
	if b.charter.Widths != charter.Adaptive {
		return nil, heatsink.Ledgers{}, fmt.Errorf("collection %q of table %s has no ledgers: its widths are not adaptive; see heatsink ledger charter --table %s",
			b.control.Collection, l.table, l.table)
	}
	options, err := recorded(b.charter)
	if err != nil {
		return nil, heatsink.Ledgers{}, err
	}
	options.Table, options.Name, options.ControlTable = l.table, b.control.Collection, l.controlTable
	c, err := heatsink.Open[heatsink.Item](b.tables, options)
	if err != nil {
		return nil, heatsink.Ledgers{}, fmt.Errorf("charter of collection %q of table %s: %w", b.control.Collection, l.table, err)
	}
	return b, c.Ledgers(), nil
}

// recorded returns the options of an adaptive collection, as its charter has them.
func recorded(c charter.Charter) (heatsink.Options, error) {
	o := heatsink.Options{
		Layout: c.Layout, Older: c.Older, ShardBy: c.ShardBy, PartitionKey: c.PartitionKey, SortKey: c.SortKey,
		Index: heatsink.Index(c.Index), Version: c.VersionAttribute, Adaptive: &heatsink.Adaptive{},
	}
	if o.Version != "" {
		o.TTL = "time to live" // a version needs one, and nothing that is done with ledgers looks at it
	}
	units := []string{charter.RFC3339, charter.UnixSeconds, charter.UnixMilliseconds}
	if c.EventTime != (charter.EventTime{}) {
		unit := slices.Index(units, c.EventTime.Unit)
		if unit < 0 {
			return o, fmt.Errorf("the charter has the event time in %q: want one of %q", c.EventTime.Unit, units)
		}
		o.EventTime = heatsink.EventTime{Attribute: c.EventTime.Attribute, Unit: heatsink.TimeUnit(unit)}
	}
	return o, nil
}

// moment returns the time that --at gives. It must be there if the layout has buckets, and not otherwise.
func (l *ledger) moment(c charter.Charter) (time.Time, error) {
	buckets := c.EventTime != (charter.EventTime{})
	switch {
	case l.at == "" && !buckets:
		return time.Time{}, nil
	case l.at == "":
		return time.Time{}, fmt.Errorf("the layout has a bucket for every %s, each with a ledger of its own: add --at TIME, or --at now", c.Layout.Bucket)
	case !buckets:
		return time.Time{}, fmt.Errorf("--at %s: the layout has no buckets: leave --at out", l.at)
	case l.at == "now":
		return time.Now(), nil
	}
	for _, form := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(form, l.at); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--at %q: want now, or a time such as 2026-06-22T01:00:00Z or 2026-06-22, which is in UTC", l.at)
}

// oneKey is for commands that are about a key, the only argument.
func oneKey(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("no key given: use %s KEY", cmd.CommandPath())
	case len(args) > 1:
		return fmt.Errorf("one key at a time: use %s %s without %q", cmd.CommandPath(), args[0], args[1:])
	}
	return nil
}

// keyOrAll is for commands that are about a key or, with --all, about every key.
func keyOrAll(all *bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case *all && len(args) > 0:
			return fmt.Errorf("--all is about every key: leave %q out, or --all", args)
		case *all:
			return nil
		case len(args) == 0:
			return fmt.Errorf("no key given: use %s KEY, or --all for the whole collection", cmd.CommandPath())
		}
		return oneKey(cmd, args)
	}
}

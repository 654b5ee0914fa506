package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/move"
)

// mover moves the items of a table: those that an index lists, or those of a movable collection.
type mover struct {
	account
	connect func(context.Context) (clients, error)

	table, index, name, controlTable string

	from      []string
	to        string
	shardBy   []string
	eventTime string
	key       string
	prefix    string // of an index's keys: see moveByID.prefix

	rcu, wcu float64
	segments int
	dryRun   bool
	verify   bool
	yes      bool
	json     bool

	byID    moveByID
	counter moveCounter
}

func newMove() *cobra.Command {
	m := &mover{}
	m.connect = m.clients
	return m.command()
}

func (m *mover) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "move TABLE [--index INDEX --from LAYOUT] --to LAYOUT",
		Short: "Move items to another layout, while programs use them",
		Long: `Move the items of a table to another layout: from one key to shards, to another number of
shards, another spelling, another hash. Programs go on to read and write. docs/moving.md has
the steps. There are two kinds of moves, and counters.

Items that a global index lists (--index): the table has each item once, under its own id, so
a move is one conditional update of each item. Time buckets are possible, too. The programs
come first: all of them must write the new layout and read the old one, with Options.Older.
move notices items that appear in old places behind it, and says so.

Items that are found by id in a table whose own key is spread (Options.Movable): all programs
have Movable set, and nothing else changes in them. The move goes through stages, and three of
them last an hour: split, closed, settling, sweeping, settled. Run the same command again when
it says so, or let it --wait. --stage shows where it stands. --keys moves single keys only,
and --prefix those that begin alike, also those that come later.
While it is split, --back takes the items back. --finish ends the time in which programs may
have the layout of before. An append-only list (Movable and a random layout) moves in the same
way: it waits while it is closed as well, and does not go back. --into moves the items found
by id into another table with the same keys; --finish then makes that the collection's table.

Counters are a third kind (--counter): a number attribute that programs change with ADD is
imported into the counters of package counter. All programs that read must have
counter.Options.Origin first. docs/recipes/counter.md has the steps.

move first prints what it will do: items, read and write units of the table and its indexes,
dollars, and the time. --dry-run stops there. It asks before it starts if the table has no
point-in-time recovery; --yes is the answer for scripts.

It can be stopped at any moment, also by kill -9, and started again with the same flags: it
goes on from a checkpoint in the table. Two movers at once do no harm. It keeps to --rcu and
--wcu, and becomes slower by itself when the table throttles.

A LAYOUT is "unsharded", or a number of shards with what differs from the default:
  16                                  calculated by xxhash, spelt {key}#SHARD_{shard}
  "8 fnv {key}#{shard}"               another hash and spelling
  "random 4"                          shards that were drawn; a list has it without the word
  "8 {key}[#SHARD_{shard}]"           shard 0 is the key itself, as --keys and --prefix need it
  "4 per day"                         4 shards for each day; needs --event-time, except for
                                      items found by id whose sort keys are times as strings
If the collection has a charter (Options.Recorded or Adaptive), the charter is the layout to
move to: leave --to out. --from is then by default what the charter calls older.

To go back with an index, swap --from and --to, in the programs first. --verify moves nothing:
it reads the table with strong consistency, and reports every item that is not where the
layout has it.

The exit code is 1 if --verify finds such items, if some are left that no layout explains, if
--dry-run finds items that keep a move from beginning, and if programs still write an old
layout. It is 2 if the command could not do its work. It is 0 if a move of items found by id
has to wait for its next stage: "done" in the JSON tells.

With --json, stdout has one object for each line: {"forecast": …}, {"progress": …} about once a
second, and {"result": …} or {"report": …} at the end. These two have "complete", and "error" with
the reason if it is false. "listed" is the number of items that --key or --prefix matches.`,
		Example: `  heatsink move orders --index byStatus --from unsharded --to 16 --dry-run
  heatsink move orders --index byStatus --from unsharded --to 16 --wcu 500
  heatsink move orders --index byStatus --from unsharded --to 16 --key OPEN
  heatsink move orders --index byStatus --from unsharded --to 16 --verify
  heatsink move orders --index byStatus --from 16 --to unsharded
  heatsink move orders --index byStatus --endpoint http://127.0.0.1:8000 --yes
  heatsink move users --to 16 --wait
  heatsink move users --keys STATUS#ACTIVE=16
  heatsink move posts --prefix POST#2026=16
  heatsink move users --into people --wait
  heatsink move users --stage
  heatsink move posts --counter views --sort-value META --counters counters
  heatsink move posts --counter views --sort-value META --counters counters --verify`,
		Args: oneTable,
		RunE: func(cmd *cobra.Command, args []string) error {
			m.table = args[0]
			return m.run(cmd)
		},
	}
	f := cmd.Flags()
	m.flags(f)
	m.byID.flags(f)
	m.counter.flags(f)
	f.StringVar(&m.index, "index", "", "global index that lists the items (default: the only one that the table has)")
	f.StringArrayVar(&m.from, "from", nil, "layout that items have now; may be repeated (default: the older layouts of the charter)")
	f.StringVar(&m.to, "to", "", "layout that items will have (default: that of the charter)")
	f.StringSliceVar(&m.shardBy, "shard-by", nil, "attributes that the shard is calculated from, as Options.ShardBy (default: the table's key)")
	f.StringVar(&m.eventTime, "event-time", "", "attribute with the time of an item, for layouts per hour, day and so on: NAME, NAME=seconds or NAME=milliseconds")
	f.StringVar(&m.key, "key", "", "move only this logical key, such as OPEN")
	f.Float64Var(&m.rcu, "rcu", 1000, "largest rate of reads, in units per second")
	f.Float64Var(&m.wcu, "wcu", 1000, "largest rate of writes, in units per second, those of indexes included")
	f.IntVar(&m.segments, "segments", 8, "parts of the table that are read at the same time, 64 at most")
	f.BoolVar(&m.dryRun, "dry-run", false, "print what would be done and what it would cost, and stop")
	f.BoolVar(&m.verify, "verify", false, "move nothing, and report the items that are not where the layout has them")
	f.BoolVar(&m.yes, "yes", false, "start even if the table has no point-in-time recovery")
	f.StringVar(&m.name, "name", "", "name of the collection, if Options.Name is set in your program")
	f.StringVar(&m.controlTable, "control-table", "", "table of the control items, if it is not the table itself")
	f.BoolVar(&m.json, "json", false, "print a line of JSON for each forecast, progress and result")
	return cmd
}

func (m *mover) run(cmd *cobra.Command) error {
	if m.dryRun && m.verify {
		return errors.New("--dry-run and --verify: both change nothing: leave one of them out")
	}
	switch { // in move.Options, 0 is the default
	case m.rcu == 0:
		return errors.New("--rcu 0: nothing would be read: want 1 to 1,000,000 units per second, or leave the flag out for 1,000")
	case m.wcu == 0:
		return errors.New("--wcu 0: nothing would be moved: want 1 to 1,000,000 units per second, or leave the flag out for 1,000")
	case m.segments == 0:
		return errors.New("--segments 0: nothing would be read: want 1 to 64, or leave the flag out for 8")
	}
	for name, empty := range map[string]bool{"key": m.key == "", "prefix": slices.Contains(m.byID.prefixes, "")} {
		if cmd.Flags().Changed(name) && empty {
			return fmt.Errorf("--%s is empty: leave it out to move all keys", name)
		}
	}
	if counters, err := m.counter.given(cmd.Flags()); err != nil {
		return err
	} else if counters {
		return m.runCounters(cmd)
	}
	ctx := cmd.Context()
	c, err := m.connect(ctx)
	if err != nil {
		return err
	}
	options, err := m.options(ctx, c)
	if err != nil {
		return c.explain(m.table, err)
	}
	screen := newScreen(cmd.ErrOrStderr())
	out := moveOutput{screen: screen, results: newScreen(cmd.OutOrStdout())}
	if m.json {
		out.json = json.NewEncoder(cmd.OutOrStdout())
	}
	options.Progress = out.progress
	options.Logger = slog.New(slog.NewTextHandler(warnings{screen}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	mover, err := move.New(c.tables, options)
	if err != nil {
		return err
	}
	if options.Collection.Movable {
		return m.runByID(cmd, c, mover, options, &out)
	}
	if m.verify {
		return m.check(ctx, mover, &out)
	}
	forecast, err := mover.Plan(ctx)
	if err != nil {
		return c.explain(m.table, err)
	}
	out.forecast(m, options, forecast)
	if forecast.Exact && forecast.Listed == 0 {
		out.nothing(m)
	}
	if m.dryRun {
		return nil
	}
	if err := m.ask(ctx, cmd.InOrStdin(), screen, forecast); err != nil {
		return err
	}
	result, err := mover.Run(ctx)
	screen.clear()
	out.result(result, err)
	if err == nil && result.Listed == 0 && !forecast.Exact {
		out.nothing(m)
	}
	if errors.Is(err, move.ErrDamage) || errors.Is(err, move.ErrOldWriters) {
		return &badNews{err.Error()}
	}
	return err
}

// check verifies, and is bad news if something is not where it belongs.
func (m *mover) check(ctx context.Context, mover *move.Mover, out *moveOutput) error {
	report, err := mover.Verify(ctx)
	out.screen.clear()
	out.report(report, err)
	if err != nil {
		return err
	}
	if report.Listed == 0 {
		out.nothing(m)
	}
	if n := report.Damaged(); n > 0 {
		return &badNews{fmt.Sprintf("%s not where the layout has them", are(int(n), "item"))}
	}
	return nil
}

// ask asks whether to go on with a table that cannot be restored.
func (m *mover) ask(ctx context.Context, in io.Reader, screen *screen, f move.Forecast) error {
	if m.yes || f.PointInTimeRecovery == "on" {
		return nil
	}
	why := "point-in-time recovery of the table is off"
	if f.PointInTimeRecovery != "off" {
		why = "nothing says whether the table has point-in-time recovery (dynamodb:DescribeContinuousBackups)"
	}
	return confirm(ctx, in, screen, why, "turn it on, or add --yes to go on without")
}

// options returns what is to be moved: from the flags, the table's description and the charter.
func (m *mover) options(ctx context.Context, c clients) (move.Options, error) {
	described, err := c.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &m.table})
	if err != nil {
		return move.Options{}, fmt.Errorf("describe table %s: %w", m.table, err)
	}
	if m.index == "" {
		if o, found, err := m.movable(ctx, c, described.Table); err != nil || found {
			return o, err
		}
	}
	if err := m.byID.unused(); err != nil {
		return move.Options{}, err
	}
	if m.prefix, err = m.byID.prefix(); err != nil {
		return move.Options{}, err
	}
	index, err := m.chooseIndex(described.Table)
	if err != nil {
		return move.Options{}, err
	}
	o := move.Options{Key: m.key, Prefix: m.prefix, RCU: m.rcu, WCU: m.wcu, Segments: m.segments}
	for i, text := range m.from {
		l, err := parseLayoutFlag(text)
		if err != nil {
			return o, fmt.Errorf("--from %q: %w", m.from[i], err)
		}
		o.From = append(o.From, l)
	}
	name := m.name
	if name == "" {
		name = index.Name
	}
	b := &book{clients: c, table: described.Table}
	control := b.controlOf(&ledger{table: m.table, controlTable: m.controlTable}, name)
	written, stored, err := charter.Charter{}, false, error(nil)
	if m.controlTable != "" || stringKey(described.Table) {
		written, stored, err = control.Charter(ctx)
	}
	switch {
	case err != nil:
		return o, fmt.Errorf("charter of collection %q: %w", name, err)
	case stored:
		o.Collection, err = m.chartered(written, index)
		o.Collection.Name, o.Collection.ControlTable = name, m.controlTable
	case m.name != "":
		return o, fmt.Errorf("--name %s: collection %q has no charter: name it as Options.Name has it in your program, or leave --name out if the collection has no charter", m.name, m.name)
	default:
		o.Collection, err = m.told(described.Table, index)
	}
	o.Collection.Table = m.table
	if err == nil && len(o.From) == 0 && len(o.Collection.Older) == 0 {
		err = errors.New("nothing says which layout the items have now: add --from LAYOUT, such as --from unsharded")
	}
	return o, err
}

// chooseIndex returns the index that --index names, or the only one.
func (m *mover) chooseIndex(table *types.TableDescription) (heatsink.Index, error) {
	var names []string
	for _, x := range table.GlobalSecondaryIndexes {
		name := aws.ToString(x.IndexName)
		if names = append(names, name); m.index != name && (m.index != "" || len(table.GlobalSecondaryIndexes) > 1) {
			continue
		}
		index := heatsink.Index{Name: name}
		for _, k := range x.KeySchema {
			switch attribute := aws.ToString(k.AttributeName); {
			case k.KeyType == types.KeyTypeRange && index.SortKey == "":
				index.SortKey = attribute
			case k.KeyType == types.KeyTypeHash && index.PartitionKey == "":
				index.PartitionKey = attribute
			case k.KeyType == types.KeyTypeHash && index.ShardAttribute == "":
				index.ShardAttribute = attribute
			}
		}
		return index, nil
	}
	switch {
	case len(names) == 0:
		return heatsink.Index{}, fmt.Errorf("%w: table %s has no global index, and no movable collection: set Options.Movable in all programs and start them, before its own keys can be moved; give --name if Options.Name is set", move.ErrUnsupported, m.table)
	case m.index == "":
		return heatsink.Index{}, fmt.Errorf("table %s has the indexes %s: choose one with --index", m.table, strings.Join(names, ", "))
	}
	return heatsink.Index{}, fmt.Errorf("--index %s: table %s has %s", m.index, m.table, strings.Join(names, ", "))
}

// stringKey reports whether the table takes control items.
func stringKey(table *types.TableDescription) bool {
	for _, k := range table.KeySchema {
		for _, a := range table.AttributeDefinitions {
			if k.KeyType == types.KeyTypeHash && aws.ToString(k.AttributeName) == aws.ToString(a.AttributeName) {
				return a.AttributeType == types.ScalarAttributeTypeS
			}
		}
	}
	return false
}

// chartered returns the collection as its charter has it.
func (m *mover) chartered(c charter.Charter, index heatsink.Index) (heatsink.Options, error) {
	o, err := recorded(c)
	o.Recorded = true
	switch {
	case err != nil:
		return o, err
	case m.to != "" || len(m.shardBy) > 0 || m.eventTime != "":
		return o, errors.New("the collection has a charter, which says how items are laid out: leave --to, --shard-by and --event-time out; see heatsink ledger charter")
	case o.Index.Name == "":
		return o, fmt.Errorf("%w: the charter says that the table's own key is spread, without Options.Movable: set it in all programs, or give --index and --name", move.ErrUnsupported)
	case o.Index != index:
		return o, fmt.Errorf("the charter is of index %s with the keys %q, %q: choose it with --index", o.Index.Name, o.Index.PartitionKey, o.Index.SortKey)
	case c.Widths == charter.ByProgram:
		return o, errors.New("the charter leaves the widths of keys to the program (Options.Widths): move with package move, in a program that has them")
	case c.Widths == charter.Fixed:
		o.Adaptive = nil
	}
	return o, nil
}

// told returns the collection as the flags have it.
func (m *mover) told(table *types.TableDescription, index heatsink.Index) (heatsink.Options, error) {
	o := heatsink.Options{Index: index, ShardBy: m.shardBy}
	for _, k := range table.KeySchema {
		if k.KeyType == types.KeyTypeHash {
			o.PartitionKey = aws.ToString(k.AttributeName)
		} else {
			o.SortKey = aws.ToString(k.AttributeName)
		}
	}
	if m.to == "" {
		return o, errors.New("nothing says where items are moved to: add --to LAYOUT, such as --to 16; a collection with a charter needs none, but --name if Options.Name is set")
	}
	var err error
	if o.Layout, err = parseLayoutFlag(m.to); err != nil {
		return o, fmt.Errorf("--to %q: %w", m.to, err)
	}
	if o.EventTime, err = parseEventTime(m.eventTime); err != nil {
		return o, err
	}
	return o, nil
}

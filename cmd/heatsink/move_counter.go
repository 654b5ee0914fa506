package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/move"
)

// moveCounter has the flags of counters that are attributes of items.
type moveCounter struct {
	attribute, table, sortValue string
}

func (b *moveCounter) flags(f *pflag.FlagSet) {
	f.StringVar(&b.attribute, "counter", "", "import this number attribute into counters of package counter, instead of moving items")
	f.StringVar(&b.table, "counters", "", "with --counter: table of the counters (default: the table itself)")
	f.StringVar(&b.sortValue, "sort-value", "", "with --counter: sort key of the items that have the attribute, such as META")
}

// given reports whether counters are to be imported, and refuses flags that do not go together.
func (b *moveCounter) given(f *pflag.FlagSet) (bool, error) {
	if !f.Changed("counter") {
		for _, name := range []string{"counters", "sort-value"} {
			if f.Changed(name) {
				return false, fmt.Errorf("--%s is for counters: add --counter ATTRIBUTE, or leave it out", name)
			}
		}
		return false, nil
	}
	if b.attribute == "" {
		return true, errors.New("--counter is empty: name the attribute that has the counts, such as --counter views")
	}
	for _, name := range []string{"index", "from", "to", "shard-by", "event-time", "key", "prefix", "name", "keys", "wait", "back", "finish", "stage"} {
		if f.Changed(name) {
			return true, fmt.Errorf("--counter and --%s: an import of counters has no layouts and no stages: leave --%s out", name, name)
		}
	}
	return true, nil
}

// runCounters imports counters, or says what that would cost, or compares.
func (m *mover) runCounters(cmd *cobra.Command) error {
	ctx := cmd.Context()
	c, err := m.connect(ctx)
	if err != nil {
		return err
	}
	options, err := m.counterOptions(ctx, c)
	if err != nil {
		return err
	}
	screen := newScreen(cmd.ErrOrStderr())
	out := moveOutput{screen: screen, results: newScreen(cmd.OutOrStdout())}
	if m.json {
		out.json = json.NewEncoder(cmd.OutOrStdout())
	}
	options.Progress = out.progress
	options.Logger = slog.New(slog.NewTextHandler(warnings{screen}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	counters, err := move.NewCounters(c.tables, options)
	if err != nil {
		return err
	}
	if m.verify {
		report, err := counters.Verify(ctx)
		screen.clear()
		out.counterReport(m, report, err)
		if err != nil {
			return c.explain(m.table, err)
		}
		if n := report.Damaged(); n > 0 {
			return &badNews{fmt.Sprintf("%s not as they were imported: import them with the same command without --verify", are(int(n), "attribute"))}
		}
		return m.someCounter(report.Listed > 0)
	}
	forecast, err := counters.Plan(ctx)
	if err != nil {
		return c.explain(m.table, err)
	}
	out.counterForecast(m, options, forecast)
	if m.dryRun {
		return m.someCounter(!forecast.Exact || forecast.Listed > 0)
	}
	result, err := counters.Run(ctx)
	screen.clear()
	out.counterResult(m, result, err)
	if errors.Is(err, move.ErrDamage) || errors.Is(err, move.ErrOldWriters) {
		return &badNews{err.Error()}
	}
	if err != nil {
		return err
	}
	return m.someCounter(result.Listed > 0)
}

// someCounter returns an error unless there is a counter: whoever has mistyped an attribute must not go on as if it were imported.
func (m *mover) someCounter(found bool) error {
	if found {
		return nil
	}
	b, where := &m.counter, ""
	if b.sortValue != "" {
		where = " with the sort key " + quote.Text(b.sortValue)
	}
	return &badNews{fmt.Sprintf("no item of table %s%s has the attribute %s: check --counter and --sort-value", m.table, where, quote.Text(b.attribute))}
}

// counterOptions returns what is to be imported, from the flags and the tables' descriptions.
func (m *mover) counterOptions(ctx context.Context, c clients) (move.CounterOptions, error) {
	b := &m.counter
	into := cmp.Or(b.table, m.table)
	origin := &counter.Origin{Table: m.table, SortValue: b.sortValue, Attribute: b.attribute}
	o := move.CounterOptions{
		Counter: counter.Options{Table: into, Origin: origin}, ControlTable: m.controlTable, RCU: m.rcu, WCU: m.wcu, Segments: m.segments,
	}
	var kind types.ScalarAttributeType
	var err error
	if origin.PartitionKey, origin.SortKey, kind, err = keysOfTable(ctx, c, m.table); err != nil {
		return o, err
	}
	switch {
	case origin.SortKey == "" && b.sortValue != "":
		return o, fmt.Errorf("--sort-value %s: table %s has no sort key: leave it out", b.sortValue, m.table)
	case origin.SortKey != "" && kind != types.ScalarAttributeTypeS:
		return o, fmt.Errorf("%w: the sort key %q of table %s has the type %s: use package move in a program, with counter.Origin.Key", move.ErrUnsupported, origin.SortKey, m.table, kind)
	case origin.SortKey != "" && b.sortValue == "":
		return o, fmt.Errorf("table %s has the sort key %q: say which items have the attribute, with --sort-value, such as --sort-value META", m.table, origin.SortKey)
	}
	o.Counter.PartitionKey, o.Counter.SortKey, _, err = keysOfTable(ctx, c, into)
	if err == nil && o.Counter.SortKey == "" {
		err = fmt.Errorf("table %s has no sort key, which counters need: name the table of the counters with --counters", into)
	}
	return o, err
}

// keysOfTable returns the names of a table's key attributes, and the type of the sort key.
func keysOfTable(ctx context.Context, c clients, table string) (partition, sort string, kind types.ScalarAttributeType, err error) {
	out, err := c.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return "", "", "", c.explain(table, fmt.Errorf("describe table %s: %w", table, err))
	}
	for _, k := range out.Table.KeySchema {
		if k.KeyType == types.KeyTypeHash {
			partition = aws.ToString(k.AttributeName)
		} else {
			sort = aws.ToString(k.AttributeName)
		}
	}
	for _, a := range out.Table.AttributeDefinitions {
		if aws.ToString(a.AttributeName) == sort {
			kind = a.AttributeType
		}
	}
	return partition, sort, kind, nil
}

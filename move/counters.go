package move

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan"
)

// CounterClient is the part of *dynamodb.Client that Counters use.
type CounterClient interface {
	Client
	counter.Client
}

// CounterOptions say which counters are imported, and how fast.
type CounterOptions struct {
	// Counter are the counters as all programs open them now, with an Origin.
	Counter counter.Options

	// Name returns the key of the counter of an item, and false if the item is of no counter. The item has its key
	// attributes and the attribute of the Origin. It is required if the Origin has a Key, whose inverse it is. Default: the
	// partition key of items whose sort key is Origin.SortValue.
	Name func(item heatsink.Item) (key string, ok bool)

	// ControlTable is a table for the checkpoint. Default: the table of the items, if its partition key is a string.
	ControlTable string

	// RCU and WCU are the most read and write units to use per second. Default: 1,000 each.
	RCU, WCU float64

	// Segments is the number of parts of the table that are read at the same time, 64 at most. Default: 8.
	Segments int

	// Prices are those of the Forecast's dollars. Default: plan.USEast1.
	Prices plan.Prices

	// Progress is called about once a second while Run and Verify work, never concurrently. Default: nobody is told.
	Progress func(Progress)

	// Logger receives warnings: older programs that still count, and a checkpoint that is ignored. Default: no logging.
	Logger *slog.Logger
}

// Counters imports counters that are attributes of items into those of package counter: all that a table has. Programs
// count and read meanwhile. Create it with NewCounters. Its methods may be called concurrently, also in several
// processes.
//
// In a Report, Listed are the counters, Right those whose import is equal to the attribute, and Old those whose is not.
// Others are items with the attribute that are of no counter. In a Result, Moved are the imports.
type Counters struct {
	client  CounterClient
	options CounterOptions
	origin  *counter.Origin
	mover   *Mover // of the items' table: its rates, passes and checkpoint
}

// NewCounters returns what imports counters. It sends nothing. Errors wrap heatsink.ErrOptions.
func NewCounters(client CounterClient, options CounterOptions) (*Counters, error) {
	o := options
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", heatsink.ErrOptions)
	}
	if o.Counter.Origin == nil {
		return nil, fmt.Errorf("%w: Counter.Origin is nil: it says which attribute has the counts of before", heatsink.ErrOptions)
	}
	o.Counter.Retry.Attempts = 1 // the passes decide how fast they try again
	c, err := counter.Open(client, o.Counter)
	if err != nil {
		return nil, err
	}
	m := &Counters{client: client, options: o, origin: c.Origin()}
	if err := c.Close(context.Background()); err != nil {
		return nil, err
	}
	switch {
	case o.Name == nil && o.Counter.Origin.Key != nil:
		return nil, fmt.Errorf("%w: Counter.Origin has a Key, and Name is nil: set Name to the inverse of Key", heatsink.ErrOptions)
	case o.Name == nil:
		m.options.Name = m.name
	}
	full := Options{
		Collection: heatsink.Options{
			Table: m.origin.Table, PartitionKey: m.origin.PartitionKey, SortKey: m.origin.SortKey, Name: checkpointName(m.origin, o.Counter.Table),
			ControlTable: o.ControlTable, Index: heatsink.Index{Name: "none"}, Older: []layout.Layout{{}}, Layout: layout.Layout{Shards: 1},
		},
		RCU: o.RCU, WCU: o.WCU, Segments: o.Segments, Prices: o.Prices, Progress: o.Progress,
		Logger: cmp.Or(o.Logger, o.Counter.Logger),
	}.withDefaults()
	if err := full.validate(); err != nil { // of the rates and segments: all else is as it has to be
		return nil, err
	}
	full.Collection.Index, full.From, full.Collection.Older = heatsink.Index{}, nil, nil
	m.mover = &Mover{client: timed{client, full.Collection.Retry.Timeout}, options: full}
	return m, nil
}

// checkpointName returns the name of the checkpoint of an import: each attribute has its own.
func checkpointName(g *counter.Origin, table string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", g.Attribute, g.SortValue, table))
	return "counter-" + hex.EncodeToString(sum[:8])
}

// name returns the key of the counter of an item, for an Origin without a Key.
func (m *Counters) name(item heatsink.Item) (string, bool) {
	if m.origin.SortKey != "" {
		if sort, ok := item[m.origin.SortKey].(*types.AttributeValueMemberS); !ok || sort.Value != m.origin.SortValue {
			return "", false
		}
	}
	key, ok := item[m.origin.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return key.Value, !layout.IsControl(key.Value)
}

// Plan says what Run will do and what that costs. It describes the tables and reads a random sample of about 5,000 items,
// or all items if there are no more. It changes nothing. It takes it that nothing is imported yet.
func (m *Counters) Plan(ctx context.Context) (Forecast, error) {
	f, err := m.plan(ctx)
	if err != nil {
		return f, fmt.Errorf("plan the import of counters of table %s: %w", m.origin.Table, err)
	}
	m.mover.mu.Lock()
	defer m.mover.mu.Unlock()
	m.mover.forecast = &f
	return f, nil
}

// Run imports all counters. A first pass over the table imports them, and goes on from the checkpoint of an earlier run.
// Further passes compare all imports with the attributes, with strongly consistent reads from the beginning, until one
// finds no difference. Run returns when that is so, or with an error that wraps ErrOldWriters after the third: older
// programs still count. Processes with an Origin count what these add.
//
// Run can be stopped at any moment, by ctx or by killing the process, and started again. Any number may run at a time. Its
// error wraps ErrDamage if there are attributes that cannot be imported; all others have been.
//
// Each pass reads the whole table. Each counter costs a strongly consistent read of its item and a write, and in further
// passes a read of its item and one of its base.
func (m *Counters) Run(ctx context.Context) (Result, error) {
	result, err := m.run(ctx)
	if err != nil {
		return result, fmt.Errorf("import counters of table %s: %w", m.origin.Table, err)
	}
	return result, nil
}

// Verify reads the whole table with strong consistency, and compares all attributes with what was imported from them. It
// changes nothing. An attribute that differs was not imported, or an older program has counted since.
func (m *Counters) Verify(ctx context.Context) (Report, error) {
	report, err := m.verify(ctx)
	if err != nil {
		return report, fmt.Errorf("verify counters of table %s: %w", m.origin.Table, err)
	}
	return report, nil
}

// admit describes the items' table, and refuses tables that are not what the options say.
func (m *Counters) admit(ctx context.Context) (*types.TableDescription, error) {
	table, err := m.mover.describeTable(ctx, m.mover.options.Collection.Table)
	if err != nil {
		return nil, err
	}
	if n := len(table.Replicas); n > 0 {
		return nil, fmt.Errorf("%w: it is a global table with %s: conditions hold in one region only, and counters rely on them", ErrUnsupported, figure.Count(n, "replica"))
	}
	want := []string{m.origin.PartitionKey}
	if m.origin.SortKey != "" {
		want = append(want, m.origin.SortKey)
	}
	if got := keysOf(table.KeySchema); !equal(got, want) {
		return nil, fmt.Errorf("%w: the table has the key %q, but Counter.Origin has %q: name the table's keys as they are", heatsink.ErrOptions, got, want)
	}
	return table, m.admitCounters(ctx)
}

// admitCounters refuses a table of counters that is not there, or has other keys.
func (m *Counters) admitCounters(ctx context.Context) error {
	o := &m.options.Counter
	want := []string{cmp.Or(o.PartitionKey, "pk"), cmp.Or(o.SortKey, "sk")}
	var out *dynamodb.DescribeTableOutput
	_, err := dispatch.New(dispatch.Retry{}, nil, nil).Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
		out, err = m.mover.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(o.Table)}, dispatch.Once)
		return err
	}})
	if err != nil {
		return fmt.Errorf("DescribeTable %s: %w", o.Table, err)
	}
	if got := keysOf(out.Table.KeySchema); !equal(got, want) {
		return fmt.Errorf("%w: the table of the counters, %s, has the key %q, want %q: name its keys as they are, or create a table with counter.Setup", heatsink.ErrOptions, o.Table, got, want)
	}
	return nil
}

// open returns the counters. They are closed before the method that needs them returns.
func (m *Counters) open() (*counter.Counter, error) { return counter.Open(m.client, m.options.Counter) }

func (m *Counters) plan(ctx context.Context) (Forecast, error) {
	table, err := m.admit(ctx)
	if err != nil {
		return Forecast{}, err
	}
	w := m.newImport(table, nil)
	w.work.weigh = w.weigh
	s, err := m.mover.sampleWith(ctx, w.work)
	if err != nil {
		return Forecast{}, err
	}
	f := m.mover.infer(table, s)
	w.complete(&f, s)
	f.PointInTimeRecovery = m.mover.recovery(ctx)
	segments, ignored, err := newCheckpoint(m.mover.client, &m.mover.options, table).load(ctx, m.mover.options.Segments)
	if err != nil {
		return f, err
	}
	f.Resumes = segments != nil
	if ignored != "" {
		f.Notes = append(f.Notes, "there is a checkpoint, but it is not used: "+ignored)
	}
	return f, nil
}

func (m *Counters) run(ctx context.Context) (Result, error) {
	m.mover.mu.Lock()
	forecast := m.mover.forecast
	m.mover.mu.Unlock()
	if forecast == nil {
		f, err := m.plan(ctx)
		if err != nil {
			return Result{Forecast: f}, err
		}
		forecast = &f
	}
	table, err := m.admit(ctx)
	if err != nil {
		return Result{Forecast: *forecast}, err
	}
	counters, err := m.open()
	if err != nil {
		return Result{Forecast: *forecast}, err
	}
	w := m.newImport(table, counters)
	w.of, w.result.Forecast = forecast.Items, *forecast
	checkpoint := newCheckpoint(m.mover.client, &m.mover.options, table)
	segments, ignored, err := checkpoint.load(ctx, m.mover.options.Segments)
	if err != nil {
		return w.end(), errors.Join(err, counters.Close(context.WithoutCancel(ctx)))
	}
	if ignored != "" {
		m.mover.options.Logger.WarnContext(ctx, "the checkpoint is not used: the import begins at the beginning", "table", m.origin.Table, "why", ignored)
	}
	w.result.Resumed = segments != nil
	if segments == nil {
		segments = newSegments(m.mover.options.Segments)
	}
	err = w.tell(ctx, func(ctx context.Context) error { return w.passes(ctx, segments, checkpoint) })
	closed := counters.Close(context.WithoutCancel(ctx)) // nothing is left to be stored
	switch {
	case errors.Is(err, ErrOldWriters):
		return w.end(), errors.Join(err, checkpoint.remove(ctx), closed)
	case err != nil:
		return w.end(), errors.Join(err, closed)
	}
	return w.end(), errors.Join(checkpoint.remove(ctx), w.damage(), closed)
}

func (m *Counters) verify(ctx context.Context) (Report, error) {
	table, err := m.admit(ctx)
	if err != nil {
		return Report{}, err
	}
	counters, err := m.open()
	if err != nil {
		return Report{}, err
	}
	w := m.newImport(table, counters)
	err = w.tell(ctx, func(ctx context.Context) error {
		return w.doPass(ctx, newSegments(m.mover.options.Segments), verifyAll, nil)
	})
	return *w.report, errors.Join(err, counters.Close(context.WithoutCancel(ctx)))
}

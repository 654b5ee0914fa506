package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// Adaptive makes the shards of a collection's keys follow their load. A key begins with one shard, which is the bare key, so
// that a cold key costs what it costs without heatsink. A key that gets too many writes grows, within seconds and in all
// processes. The zero Adaptive is right for most:
//
//	orders, err := heatsink.Open[Order](client, heatsink.Options{
//		Table: "orders", PartitionKey: "status", SortKey: "id",
//		Adaptive: &heatsink.Adaptive{},
//	})
//
// How wide a key is stands in its ledger, a control item in the same table. Growth is one conditional write to it. Nobody
// coordinates, no clock is compared, and no process has to know of another. Items never move: a read covers all shards that
// were ever written.
//
// What reads promise:
//
//   - A strong read (Query.Consistent) returns every item that was acknowledged before it began. It reads the ledger beside
//     the shards, for 1 RCU and no further round trip.
//   - A causal read (Query.AtLeast) does so for the writes that it is told of, and reads the ledger only if it must.
//   - Any other read uses what the process knows of the ledger, for up to Keep. It may miss items of shards that were added in
//     that time, in addition to DynamoDB's own replica lag.
//
// A layout is Random or Calculated. A Random one takes appended items. A Calculated one also finds an item by its key, in one
// request for each width that the key has had. Each item must then be put only once: a Put of the same key after growth adds a
// second item. Items that are changed by id belong under a key of their own, with an Index. Its key is spread, and every Put
// and Update lists the item anew, where the width now puts it.
//
// Refused with an error: a condition of a Put and transactions by key, because an item may be in a shard that the process does
// not know of yet (ErrScattered). Version, OnePerShard, Widths and a table without a sort key are refused by Open, except that
// Version and such a table are possible with an Index. Global tables are not supported: their replicas do not see each other's
// conditional writes.
type Adaptive struct {
	// MaxWidth is the largest number of shards of a key, 1,024 at most. Every read of a key pays for each. Default: 256.
	MaxWidth int

	// Target is how many write units a second a shard is to take after growth. A partition takes 1,000. Default: 500.
	Target float64

	// PerMinute is how many growths this process makes in a minute, of all keys. Default: 10.
	PerMinute int

	// Keep is how long reads that are not strong use what the process knows of a ledger. Default: 30 s.
	Keep time.Duration

	// DryRun decides and tells, but grows nothing.
	DryRun bool

	// Frozen keeps this process from growing keys. Ledgers.Freeze keeps all processes from growing one, and Ledgers.FreezeAll
	// keeps them from growing any.
	Frozen bool

	// WarmPrice is what your region charges once for a write unit of warm throughput, in dollars, for the advice to warm a
	// table. Default: the advice says no price.
	WarmPrice float64

	// Decided is called with each growth, and with each other decision about a hot key when its reason is a new one. It runs
	// beside a write of the collection, which waits for it.
	Decided func(context.Context, Decision)
}

// Decision is what was decided about the width of a key.
type Decision struct {
	Table    string
	Index    string  // the index whose key is spread, if there is one
	Key      string  // with the bucket, if there are buckets
	Reason   string  // grow, dry run, futility, at maximum, budget, frozen, not stored, not key range; calm after one of these
	From, To int     // the width before, and the one that was decided
	Rate     float64 // of all processes, in write units a second, as offered
	// Throttled is the share of the rate that was throttled because of its partitions.
	Throttled float64
	Text      string // the decision in a sentence, with what to do if anything is
}

// Errors about ledgers and charters.
var (
	// ErrLedger is wrapped when a ledger or a charter cannot be read, is damaged or was lost. Reads that must be exact fail
	// with it. Writes and other reads go on with what the process knows.
	ErrLedger = adapt.ErrLedger
	// ErrLedgerLost is wrapped, with ErrLedger, when a ledger was deleted or restored from a backup. Shards with items may be
	// missing from it: see Ledgers.Repair.
	ErrLedgerLost = ledger.ErrLost
	// ErrFrozen is wrapped when a key is to grow whose width is frozen.
	ErrFrozen = ledger.ErrFrozen
	// ErrCharter is wrapped when a collection is recorded with another layout than this process has.
	ErrCharter = charter.ErrIncompatible
	// ErrNewer is wrapped when a ledger or a charter was written by a newer version of heatsink, whose rules this one does not
	// know. Upgrade this process.
	ErrNewer = ledger.ErrNewer
)

// checkAdaptive reports what is wrong with Adaptive, Recorded and what goes with them.
func (o *Options) checkAdaptive(wrong func(format string, args ...any)) {
	if !o.recorded() {
		if o.Name != "" || o.ControlTable != "" {
			wrong("Name is %q and ControlTable %q, but neither Adaptive nor Movable nor Recorded is set, which need them: leave them out", o.Name, o.ControlTable)
		}
		return
	}
	for _, name := range slices.Concat(o.ShardBy, []string{
		o.PartitionKey, o.SortKey, o.Index.PartitionKey, o.Index.SortKey, o.Index.ShardAttribute, o.EventTime.Attribute, o.TTL, o.Version,
	}) {
		if strings.HasPrefix(name, ledger.Prefix) {
			wrong("attribute %q begins with %s, which is for control items: name another attribute", name, ledger.Prefix)
		}
	}
	if err := (layout.ControlKey{Role: layout.RoleCharter, Collection: o.collectionName()}).Validate(); err != nil {
		wrong("Name: %w", err)
	}
	if o.Adaptive == nil {
		return
	}
	switch {
	case o.Widths != nil:
		wrong("Adaptive and Widths are both set, but only one can say how wide a key is: leave Widths out")
	case o.Layout.Shards > 0:
		wrong("Layout.Shards is %d, but Adaptive decides how many shards a key has: leave Shards out, and list the layout in Older if items are stored under it", o.Layout.Shards)
	}
	if o.OnePerShard {
		wrong("OnePerShard is set, but with Adaptive an item of a shard would stay there while its key grows: leave one of the two out")
	}
	if o.Index.Name == "" && o.SortKey == "" {
		wrong("Adaptive needs a SortKey or an Index: a table without a sort key holds one item for each shard")
	}
	if o.Index.Name == "" && o.Version != "" {
		wrong("Adaptive and Version are both set, but the version of an item is not compared with copies in shards of later growth: store items by a key of their own, with an Index")
	}
	if n := o.Adaptive.MaxWidth; o.Layout.Strategy == layout.Calculated && n > 0 && n&(n-1) != 0 {
		wrong("Adaptive.MaxWidth is %d, but a Calculated layout needs powers of two: take %d", n, 1<<(bits.Len(uint(n))-1))
	}
	if t := o.Adaptive.Target; t > 1000 {
		wrong("Adaptive.Target is %v, but a partition takes 1,000 write units a second: choose less", t)
	}
	if o.Adaptive.Keep < 0 {
		wrong("Adaptive.Keep is %v, want 0 or more", o.Adaptive.Keep)
	}
	if o.Adaptive.WarmPrice < 0 {
		wrong("Adaptive.WarmPrice is %v, want 0 or more", o.Adaptive.WarmPrice)
	}
}

// recorded reports whether the collection has a charter.
func (o *Options) recorded() bool { return o.Adaptive != nil || o.Movable || o.Recorded }

// collectionName returns the name of the collection in its control items.
func (o *Options) collectionName() string { return cmp.Or(o.Name, o.Index.Name, "table") }

// newControl returns the control items of the collection, nil if it has none.
func newControl(client Client, o *Options, draw func(n uint64) uint64) *adapt.Control {
	if !o.recorded() {
		return nil
	}
	retry := dispatch.Retry(o.Retry)
	control := &adapt.Control{
		Client: client, Table: o.Table, PartitionKey: o.PartitionKey, SortKey: o.SortKey, Collection: o.collectionName(),
		Writes: dispatch.New(patient(retry), nil, draw),
		// A limit of its own: a read of a shard may have to read a record again, and must not wait for one that waits for it.
		Reads: dispatch.New(retry, dispatch.NewLimiter(o.MaxConcurrency), draw),
	}
	if o.ControlTable != "" {
		control.Table, control.PartitionKey, control.SortKey = o.ControlTable, controlTableKey, ""
	}
	return control
}

// patient returns how writes of control items are repeated. A ledger may lie in the very partition that its key makes hot. It is written
// seldom, so many attempts cost little, and each has a chance: where four of five writes are throttled, six attempts fail once in four
// times and twenty once in ninety. Then the key would stay hot until its next report.
func patient(r dispatch.Retry) dispatch.Retry {
	r = r.WithDefaults()
	r.Attempts = max(r.Attempts, 20)
	r.Max = min(r.Max, 160*time.Millisecond)
	return r
}

// newBook returns what a process knows of the collection's ledgers and its charter: nil if it has neither.
func newBook(client Client, o *Options, control *adapt.Control, draw func(n uint64) uint64) (*adapt.Book, error) {
	if control == nil {
		return nil, nil
	}
	written, err := o.charter()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	options := adapt.Options{
		Control: control, Layout: o.Layout, Charter: written, Data: o.Table, Index: o.Index.Name, Logger: o.Logger,
	}
	if d, ok := client.(describer); ok {
		options.Describe = func(ctx context.Context, table string) (*types.TableDescription, error) {
			out, err := d.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table}, dispatch.Once)
			if err != nil {
				return nil, err
			}
			return out.Table, nil
		}
	}
	if a := o.Adaptive; a != nil {
		options.Adaptive, options.Keep, options.WarmPrice = true, a.Keep, a.WarmPrice
		options.Law = ledger.LawOptions{Target: a.Target, MaxWidth: a.MaxWidth, PerMinute: a.PerMinute, DryRun: a.DryRun, Frozen: a.Frozen}
		if a.Target > 0 { // grow well before a shard takes all that a partition can
			options.Law.High = max(a.Target, min(1.4*a.Target, 900))
			options.Law.Futile = 0.4 * a.Target
		}
		if a.Decided != nil {
			options.Decided = func(ctx context.Context, d ledger.Decision) {
				a.Decided(ctx, Decision{
					Table: o.Table, Index: o.Index.Name, Key: d.Key, Reason: string(d.Reason), From: d.Width, To: d.To, Rate: d.Rate, Throttled: d.Throttled, Text: d.Text,
				})
			}
		}
		phase := 5 * time.Second // of the law, drawn so that processes do not report together
		options.Law.Phase = time.Duration(1 + draw(uint64(phase)))
	}
	book, err := adapt.NewBook(options)
	if err != nil {
		return nil, fmt.Errorf("%w: Adaptive: %w", ErrOptions, err)
	}
	return book, nil
}

// describer is the part of *dynamodb.Client that tells whether a table is a global one. A client need not have it.
type describer interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// charter returns the layout as it is written down.
func (o *Options) charter() (charter.Charter, error) {
	c := charter.Charter{
		Layout: o.Layout, Older: o.Older, ShardBy: o.ShardBy,
		PartitionKey: o.PartitionKey, SortKey: o.SortKey, Index: charter.Index(o.Index), VersionAttribute: o.Version,
		Movable: o.Movable,
	}
	if o.ControlTable != "" {
		c.Table = o.Table
	}
	switch {
	case o.Adaptive != nil:
		c.Widths = charter.Adaptive
	case o.Widths != nil:
		c.Widths = charter.ByProgram
	}
	if o.Layout.Bucket != layout.NoBucket {
		units := [...]string{charter.RFC3339, charter.UnixSeconds, charter.UnixMilliseconds}
		c.EventTime = charter.EventTime{Attribute: o.EventTime.Attribute, Unit: units[o.EventTime.Unit]}
	}
	return charter.New(c)
}

// ledgers adapts a book to package place.
type ledgers struct{ *adapt.Book }

func (l ledgers) Write(ctx context.Context, key string, bucket time.Time, choose func(width int) int) (place.Writing, error) {
	w, err := l.Book.Write(ctx, key, bucket, choose)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrItem, err)
	}
	return w, nil
}

// watch follows a write for the law. The nil watch follows nothing.
type watch struct {
	adapt.Watch
	index string
}

// watcher follows writes to keys with ledgers, so that they grow. Without ledgers it follows none.
type watcher struct {
	ledgers *adapt.Book // nil without ledgers
	schema  *place.Schema
}

// watch begins to follow a write to a key, and makes the request report what it consumes. If the item is known, its size says
// enough about a cold key: the report would make the Put dearer.
func (w *watcher) watch(ctx context.Context, k *place.Key, known bool, report *types.ReturnConsumedCapacity) *watch {
	if w.ledgers == nil || k.Text == "" {
		return nil
	}
	x := &watch{w.ledgers.Watch(ctx, k.Text, k.Bucket), w.schema.Index}
	if known && !x.Hot() {
		return x
	}
	if *report == "" || *report == types.ReturnConsumedCapacityTotal { // the total has the indexes in it
		*report = types.ReturnConsumedCapacityIndexes
	}
	return x
}

// failed takes the error of an attempt, nil if it succeeded.
func (x *watch) failed(err error) {
	if x != nil {
		x.Failed(err)
	}
}

// end takes what the write has consumed, nil if it did not say. Then the item's size tells. An index that is not mentioned beside
// the table was not written to.
func (x *watch) end(consumed *types.ConsumedCapacity, item Item) {
	switch {
	case x == nil:
	case consumed == nil || consumed.Table == nil || consumed.Table.CapacityUnits == nil:
		x.End(writeUnits(item))
	case x.index == "":
		x.End(*consumed.Table.CapacityUnits)
	default:
		x.End(aws.ToFloat64(consumed.GlobalSecondaryIndexes[x.index].CapacityUnits))
	}
}

// writeUnits returns what a write of an item takes.
func writeUnits(item Item) float64 {
	return max(1, math.Ceil(float64(attribute.SizeOf(item).Bytes)/1024))
}

// hint makes a time bucket that follows on wide ones begin wide. An item that has no bucket is refused when it is placed.
func (w *watcher) hint(ctx context.Context, item Item) {
	if w.ledgers == nil || w.schema.Layout.Bucket == layout.NoBucket || !w.schema.Listed(item) {
		return
	}
	k, err := w.schema.KeyIn(ctx, item)
	if err != nil {
		return
	}
	if at, err := w.schema.EventTime.Of(item); err == nil {
		w.ledgers.Hint(ctx, k.Text, k.Bucket, at)
	}
}

// throttled makes this process look whether others have made a key wider.
func (w *watcher) throttled(ctx context.Context, k *place.Key) {
	if w.ledgers != nil && k.Text != "" {
		w.ledgers.Throttled(ctx, k.Text, k.Bucket)
	}
}

// batchWatch follows the puts of one batch, each with its own key. The nil batchWatch follows nothing.
type batchWatch map[*batchItem]*watch

// watch begins to follow the items of a batch.
func (b *batch) watch(ctx context.Context, items []*batchItem) batchWatch {
	if b.watcher.ledgers == nil || b.deletes {
		return nil
	}
	all := make(batchWatch, len(items))
	for _, e := range items {
		report := types.ReturnConsumedCapacityIndexes // of the whole batch, so it is not asked for
		all[e] = b.watcher.watch(ctx, &e.Key, true, &report)
	}
	return all
}

// failed takes the error of an attempt to write an item. What a batch leaves unprocessed has no reason, so that no key grows by it:
// see adapt.Reason.
func (w batchWatch) failed(e *batchItem, err error) { w[e].failed(err) }

// end takes the items' sizes for what they consumed.
func (w batchWatch) end() {
	for e, watch := range w {
		watch.end(nil, e.item)
	}
}

// Ledger is how wide a key is, and how it came to be.
type Ledger struct {
	Key    string
	Bucket time.Time // the start of the bucket; the zero time without buckets

	Width      layout.Width
	Generation int64 // how often it has changed; 0: it is not stored, and the key has one shard
	Frozen     bool

	// Why, By and At are of the last change. At is by the clock of that process.
	Why, By string
	At      time.Time

	// History has the last 8 widths before, the oldest first. A freeze and a thaw are no widths.
	History []layout.Width
}

// Ledgers are the ledgers of a collection with Adaptive: see Collection.Ledgers.
type Ledgers struct{ core *core }

// Ledgers returns the collection's ledgers, to look at them and to change them by hand. Without Options.Adaptive its methods
// return ErrOptions, except for Rewrite.
func (c *Collection[T]) Ledgers() Ledgers { return Ledgers{c.core} }

// book returns the ledgers of the collection, if it has any.
func (l Ledgers) book() (*adapt.Book, error) {
	if l.core.options.Adaptive == nil {
		return nil, fmt.Errorf("%w: the collection has no ledgers: set Options.Adaptive", ErrOptions)
	}
	return l.core.book, nil
}

// bucket returns the start of the bucket of at, and refuses keys that have no ledger.
func (l Ledgers) bucket(key string, at time.Time) (time.Time, error) {
	b := l.core.options.Layout.Bucket
	switch {
	case key == "":
		return at, fmt.Errorf("%w: the key is empty", ErrItem)
	case layout.IsControl(key):
		return at, fmt.Errorf("%w: %q is the key of a control item", ErrItem, key)
	case b == layout.NoBucket:
		return time.Time{}, nil
	}
	return b.Start(at), nil
}

// Show returns the ledger of a key, in the bucket of a time if the layout has buckets. It reads it with strong consistency.
func (l Ledgers) Show(ctx context.Context, key string, at time.Time) (Ledger, error) {
	return l.do(key, at, func(book *adapt.Book, bucket time.Time) (ledger.Record, error) {
		if err := book.Ready(ctx); err != nil {
			return ledger.Record{}, err
		}
		return book.Show(ctx, key, bucket)
	})
}

// Grow makes a key at least width shards wide, 1,024 at most, in the bucket of a time if the layout has buckets. A key never
// becomes narrower. why is kept in the ledger for people. The error wraps ErrFrozen if the key or the collection is frozen.
func (l Ledgers) Grow(ctx context.Context, key string, at time.Time, width int, why string) (Ledger, error) {
	return l.change(ctx, key, at, ledger.Growth{To: width, Why: why})
}

// Freeze keeps all processes from making a key wider, from this moment on. Thaw allows it again.
func (l Ledgers) Freeze(ctx context.Context, key string, at time.Time, why string) (Ledger, error) {
	return l.change(ctx, key, at, ledger.Growth{To: 1, Freeze: ledger.Freeze, Why: why})
}

// Thaw allows a key to grow again.
func (l Ledgers) Thaw(ctx context.Context, key string, at time.Time, why string) (Ledger, error) {
	return l.change(ctx, key, at, ledger.Growth{To: 1, Freeze: ledger.Thaw, Why: why})
}

// FreezeAll keeps all processes from making any key of the collection wider. It holds at once, except for a growth that is
// being stored at this moment: a process reads the charter before each growth, for 1 RCU. A new time bucket still begins wide,
// but no wider than the one before it. why is kept in the charter for people.
func (l Ledgers) FreezeAll(ctx context.Context, why string) error {
	book, err := l.book()
	if err != nil {
		return err
	}
	return book.Freeze(ctx, why)
}

// ThawAll ends what FreezeAll began. Keys that Freeze has frozen by themselves stay so.
func (l Ledgers) ThawAll(ctx context.Context) error {
	book, err := l.book()
	if err != nil {
		return err
	}
	return book.Thaw(ctx)
}

func (l Ledgers) change(ctx context.Context, key string, at time.Time, g ledger.Growth) (Ledger, error) {
	if g.To < 1 || g.To > ledger.HardWidth {
		return Ledger{}, fmt.Errorf("%w: width %d: a key has 1 to %d shards, because every read pays for each, and no key becomes narrower", ErrOptions, g.To, ledger.HardWidth)
	}
	if l.core.options.Layout.Strategy == layout.Calculated && g.To&(g.To-1) != 0 {
		return Ledger{}, fmt.Errorf("%w: width %d: a Calculated layout needs powers of two", ErrOptions, g.To)
	}
	g.Why = ledger.Audit(g.Why)
	return l.do(key, at, func(book *adapt.Book, bucket time.Time) (ledger.Record, error) {
		r, _, err := book.Grow(ctx, key, bucket, g)
		return r, err
	})
}

func (l Ledgers) do(key string, at time.Time, do func(*adapt.Book, time.Time) (ledger.Record, error)) (Ledger, error) {
	book, err := l.book()
	if err != nil {
		return Ledger{}, err
	}
	bucket, err := l.bucket(key, at)
	if err != nil {
		return Ledger{}, err
	}
	r, err := do(book, bucket)
	if err != nil {
		return Ledger{}, err
	}
	return newLedger(key, bucket, r), nil
}

func newLedger(key string, bucket time.Time, r ledger.Record) Ledger {
	l := Ledger{
		Key: key, Bucket: bucket, Width: layout.Width{Write: r.Write, Read: r.Read}, Generation: r.Generation,
		Frozen: r.Frozen, Why: r.Why, By: r.By,
	}
	if r.At > 0 {
		l.At = time.UnixMilli(r.At).UTC()
	}
	for _, p := range r.Widths() {
		l.History = append(l.History, layout.Width{Write: p.Write, Read: p.Read})
	}
	return l
}

// Repair writes the ledger of a key anew that was deleted, damaged or restored from a backup, and returns it. It looks for items
// in the first 256 shards, or in width of them if that is more, with one strongly consistent request each. The ledger then
// covers every shard that has an item, and width shards at least. Nothing is written if there is no ledger, width is 0 or 1, and
// only shard 0 has items.
//
// A process that still knows the old ledger may go on to write to shards that were empty. Give the width that the key had, if
// you know it, or restart the writers first. A damaged ledger has to be deleted before. To see what Repair would do, use
// PlanRepair.
func (l Ledgers) Repair(ctx context.Context, key string, at time.Time, width int, why string) (Ledger, error) {
	if err := checkProbe(width); err != nil {
		return Ledger{}, err
	}
	return l.do(key, at, func(book *adapt.Book, bucket time.Time) (ledger.Record, error) {
		record, _, err := book.Repair(ctx, key, bucket, repairing(width, why), func(ctx context.Context, to int) (int, int64, error) {
			return l.core.probe(ctx, key, bucket, to)
		})
		return record, err
	})
}

func repairing(width int, why string) ledger.Repairing {
	return ledger.Repairing{To: max(width, defaultProbe), AtLeastWidth: width, Why: ledger.Audit(why)}
}

// RepairPlan is what Ledgers.Repair would do.
type RepairPlan struct {
	Stored   Ledger // what is stored; its Generation is 0 if nothing is
	Repaired Ledger // what would be stored then; of the same Generation if Repair would write nothing

	// Largest and Generation are what was found in the shards: see Ledgers.Probe.
	Largest    int
	Generation int64
}

// PlanRepair does all that Repair does, and writes nothing. It takes the same read units.
func (l Ledgers) PlanRepair(ctx context.Context, key string, at time.Time, width int, why string) (plan RepairPlan, err error) {
	if err := checkProbe(width); err != nil {
		return plan, err
	}
	plan.Repaired, err = l.do(key, at, func(book *adapt.Book, bucket time.Time) (ledger.Record, error) {
		stored, planned, err := book.PlanRepair(ctx, key, bucket, repairing(width, why), func(ctx context.Context, to int) (_ int, _ int64, err error) {
			plan.Largest, plan.Generation, err = l.core.probe(ctx, key, bucket, to)
			return plan.Largest, plan.Generation, err
		})
		plan.Stored = newLedger(key, bucket, stored)
		return planned, err
	})
	return plan, err
}

// defaultProbe is how many shards are searched for items if nobody says more: the default of Adaptive.MaxWidth.
const defaultProbe = 256

func checkProbe(width int) error {
	if width < 0 || width > layout.MaxShards {
		return fmt.Errorf("%w: width %d: there are 0 to %d shards", ErrOptions, width, layout.MaxShards)
	}
	return nil
}

// Probe looks for items of a key as Repair does, and writes nothing. It returns the largest shard that has an item, -1 if none
// has, and the largest generation that these items carry. Each shard takes one request and, without an Index, 1 RCU at least.
func (l Ledgers) Probe(ctx context.Context, key string, at time.Time, width int) (largest int, generation int64, err error) {
	if err := checkProbe(width); err != nil {
		return -1, 0, err
	}
	_, err = l.do(key, at, func(book *adapt.Book, bucket time.Time) (ledger.Record, error) {
		if err := book.Ready(ctx); err != nil {
			return ledger.Record{}, err
		}
		largest, generation, err = l.core.probe(ctx, key, bucket, max(width, defaultProbe))
		return ledger.Record{}, err
	})
	return largest, generation, err
}

// probe returns the largest shard of a key below to that has an item, -1 if none has, and the largest stamp of those items.
func (c *core) probe(ctx context.Context, key string, bucket time.Time, to int) (largest int, stamp int64, err error) {
	q := Query{Key: key, Consistent: c.schema.Index == "", IncludeExpired: true, Limit: 1, Reverse: true} // the last item is mostly the youngest, with the largest stamp
	if !bucket.IsZero() {
		q.From, q.To = bucket, c.options.Layout.Bucket.Next(bucket)
	}
	r, err := c.prepare(ctx, q)
	if err != nil {
		return -1, 0, err
	}
	shards, err := scope{r}.shardsOf(0, c.schema.LayoutAt(to), bucket)
	if err != nil {
		return -1, 0, err
	}
	found, failed := make([]*dynamodb.QueryOutput, len(shards)), make([]error, len(shards))
	inParallel(len(shards), func(i int) { found[i], failed[i] = shards[i].send(ctx, shards[i].input(1)) })
	largest = -1
	for i, out := range found {
		if failed[i] != nil {
			return -1, 0, failed[i]
		}
		for _, item := range out.Items {
			largest, stamp = i, max(stamp, place.StampOf(item))
		}
	}
	return largest, stamp, nil
}

// All returns the ledgers that are stored, in no particular order, with the read units of a scan of the table. An error about one
// ledger, for example that it is damaged, comes in its place, with its key, and the loop may continue. Any other error is the last.
func (l Ledgers) All(ctx context.Context, client Scanner) iter.Seq2[Ledger, error] {
	return func(yield func(Ledger, error) bool) {
		book, err := l.book()
		if err != nil {
			yield(Ledger{}, err)
			return
		}
		for found, err := range book.All(ctx, client) {
			stored := Ledger{Key: found.Key.Text, Bucket: found.Key.Bucket}
			if err == nil {
				stored = newLedger(found.Key.Text, found.Key.Bucket, found.Record)
			}
			if !yield(stored, err) {
				return
			}
		}
	}
}

// Rewrite replaces the charter of a collection with Adaptive or Recorded by the layout of this process. Do it when no process
// with the layout before runs any more. One that does refuses the collection, within a minute.
func (l Ledgers) Rewrite(ctx context.Context) error {
	if l.core.book == nil {
		return fmt.Errorf("%w: the collection has no charter: set Options.Recorded or Options.Adaptive", ErrOptions)
	}
	return l.core.book.Rewrite(ctx)
}

// Scanner is the part of *dynamodb.Client that lists control items.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// ControlFilter returns a filter for your own Scans that leaves out heatsink's control items, with its names and values. The
// partition key is the table's. Streams and exports have no filters: test their items with layout.IsControl.
func ControlFilter(partitionKey string) (expression string, names map[string]string, values Item) {
	return "NOT begins_with(#hs_pk, :hs_control)", map[string]string{"#hs_pk": partitionKey},
		Item{":hs_control": &types.AttributeValueMemberS{Value: layout.ControlPrefix}}
}

// controlTableKey is the partition key of a table for control items alone.
const controlTableKey = adapt.TableKey

// SetupControlTable creates a table for control items, on demand, unless there is one. It waits until the table is active.
// Set Options.ControlTable to it where the data's own table cannot hold control items: its partition key is a number, or IAM
// policies restrict its leading keys.
func SetupControlTable(ctx context.Context, client TableClient, name string) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(controlTableKey), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String(controlTableKey), KeyType: types.KeyTypeHash}},
	})
	if there := (*types.ResourceInUseException)(nil); err != nil && !errors.As(err, &there) {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return awaitControlTable(ctx, client, name)
}

func awaitControlTable(ctx context.Context, client TableClient, name string) error {
	for {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return fmt.Errorf("describe table %s: %w", name, err)
		}
		if out.Table.TableStatus == types.TableStatusActive {
			key := out.Table.KeySchema
			if len(key) != 1 || aws.ToString(key[0].AttributeName) != controlTableKey || !isString(out.Table, controlTableKey) {
				return fmt.Errorf("%w: table %s exists, and its key is not the string %q alone: name another table", ErrOptions, name, controlTableKey)
			}
			return nil
		}
		if err := dispatch.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// isString reports whether a key attribute of a table is a string.
func isString(table *types.TableDescription, name string) bool {
	return slices.ContainsFunc(table.AttributeDefinitions, func(a types.AttributeDefinition) bool {
		return aws.ToString(a.AttributeName) == name && a.AttributeType == types.ScalarAttributeTypeS
	})
}

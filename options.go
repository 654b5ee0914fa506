package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// Item is an item or a key in the form of the AWS SDK.
type Item = map[string]types.AttributeValue

// Client is the part of *dynamodb.Client that a collection uses. Pass the SDK's client, a wrapper or a fake.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// TableClient is the part of *dynamodb.Client that creates and checks tables. The Setup functions of counter,
// leaderboard, ratelimit, session and eventlog take one.
type TableClient interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// Options describe a collection: where it is stored, how its keys are spread, and how requests are retried. Table and
// PartitionKey are required. Layout determines how keys are spread, and the zero Layout does not spread them. All other
// fields are optional.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// PartitionKey and SortKey name the key attributes of the table. SortKey is empty if the table has none. Without an Index
	// the partition key is the one that is spread, and must be a string.
	PartitionKey, SortKey string

	// Index is the global secondary index that lists the items. Its partition key is spread then, and the table's key is
	// stored as it is. Default: no index.
	Index Index

	// Layout maps the logical key to the stored keys.
	Layout layout.Layout

	// Widths returns the current number of shards of a key, for keys that differ or change. It is a Width for all keys, a
	// WidthTable, LiveWidths, or your own type. Layout.Shards then has no effect, and a key has a suffix even at width 1,
	// unless the format has BareZero. Default: always Layout.Shards.
	Widths layout.Widths

	// Adaptive makes the shards of each key follow its load: see Adaptive. Layout has no Shards then, and its format has
	// BareZero. Default: widths do not change by themselves.
	Adaptive *Adaptive

	// Movable lets the items of a Calculated layout be moved to another one while programs use them: more shards or fewer, of all
	// keys or of one, another format or another hash. Package move and heatsink move do that; docs/moving.md has the steps. Each
	// Get, Put, Update, Delete and transaction acts on the one item with its key, before, during and after a move, and so do
	// conditions.
	//
	// With a Random layout, the items are a list: they are put once and read by Query, and operations by id are refused. Each item of
	// a key then needs a sort key of its own.
	//
	// Where items are stands in the collection's record, a control item. A process that uses the collection reads it every 45 seconds, for
	// 1 RCU, and the charter once a minute, for another one. Layout
	// must be the one in the record, or the one before or after: a process need not be restarted for a move. Every write has a
	// condition in addition, which costs nothing. While items move into another table, and until that move is finished, Table may be
	// either of the two. BatchPut sends a PutItem for each item. Attributes that begin with _hs_ belong to
	// heatsink.
	//
	// A Calculated layout may have buckets if EventTime is the sort key, because an item is found by that alone. Its sort keys then are
	// numbers, or begin with a time in UTC. A query needs EventTime, From and To from the beginning of a move to buckets on.
	//
	// All programs that read or write the table must set Movable before the first move. The client must sign its requests, as the
	// SDK's does. A sort key is required. Open refuses Movable together with an Index, whose items move without it, and with
	// Adaptive, Widths, Older, Version, TTL, OnePerShard, ShardBy and other buckets. A movable collection is always recorded.
	Movable bool

	// Recorded writes the layout down in the table, in the collection's charter. A process that opens the collection with a
	// layout that contradicts it gets ErrCharter from its first operation, instead of missing items. The charter is read once a
	// minute, for 1 RCU. A collection with Adaptive or Movable is always recorded.
	Recorded bool

	// Name is the name of the collection in its control items, which tells collections of one table apart: 1 to 64 letters,
	// digits, "_", "." and "-". Default: the name of the Index, or "table".
	Name string

	// ControlTable is the table of the control items, as SetupControlTable creates it. Default: Table, whose partition key must
	// be a string then.
	ControlTable string

	// Older lists layouts under which items were stored before. Query, Count and the reads that build on them also read
	// the shards of these layouts. Get, Update and Delete look there if Layout's shards do not have the item. For a
	// formerly unsharded key, set Older: []layout.Layout{{}}.
	//
	// Put never writes to an Older layout. Without an Index, an item that is put again therefore exists twice, unless it
	// is deleted first, and Put refuses conditions with ErrScattered. Older layouts cannot have buckets, and each of them
	// must accept the keys that are written. docs/layouts.md has a table of what each operation does to older items.
	Older []layout.Layout

	// OnePerShard states that a key has at most one item in each shard. Examples are the parts that GetMerged merges, and
	// the parts of a sum. Put replaces the item of its shard. A table without a sort key requires it to spread a key,
	// because a second item of a shard replaces the first there. The layout must then be Calculated, from ShardBy.
	OnePerShard bool

	// ShardBy names the attributes that a Calculated layout hashes to find the shard. Default: the sort key, or with an
	// Index, the table's key. A single attribute is hashed as its text; a number has no trailing zeros and no exponent.
	// Of several attributes, each contributes its type (S, N or B), its length as a varint, and its text.
	ShardBy []string

	// EventTime names the attribute with the time that determines an item's bucket.
	EventTime EventTime

	// Encode and Decode change how items of the collection's type become attributes and back: the key of struct tags, the
	// format of times, the treatment of null and empty values. They are attributevalue's own options. Every operation uses
	// them, and they are called for each item, also concurrently. Raw items (Item) are not converted. Default: the SDK's
	// defaults.
	//
	// Set both, so that Decode reads what Encode writes.
	Encode func(*attributevalue.EncoderOptions)
	Decode func(*attributevalue.DecoderOptions)

	// TTL names the table's time-to-live attribute. Reads leave out expired items that DynamoDB has not deleted yet. A
	// time more than five years ago does not count, because DynamoDB takes it for a mistake. Writes still see expired
	// items, as in DynamoDB: a condition may fail because of one, and an Update may change one.
	//
	// If TTLAfter is not zero, Put sets the attribute to now plus TTLAfter in items that lack it or have 0 in it.
	TTL      string
	TTLAfter time.Duration

	// Version names an attribute in which heatsink keeps a version of every item: a string that grows with each write.
	// Nothing else may use the attribute. Set it for collections whose writes must neither be undone by a late attempt
	// nor be done twice: see "Guarantees" in the package documentation. Version requires TTL. Items that were stored
	// before have no version until their next write.
	//
	// Every program that reads or writes the table must set Version before the first delete. Others would mistake the
	// tombstone that a delete leaves for an item.
	//
	// A write consumes the same units for about 40 more bytes, and takes a second request if another writer's clock is
	// ahead. Update checks whether a lost attempt happened, so it can retry even an ADD. It cannot do so if ReturnValues
	// asks for old or updated values: ask for none, or for ALL_NEW. Update changes only existing items, and returns
	// ErrNotFound otherwise.
	//
	// Delete leaves a tombstone, a small item that expires after an hour. Until DynamoDB removes it, reads skip it but
	// pay for it. If an item may be in several places, Get reads all of them and returns the copy that was written last.
	// BatchPut sends a PutItem for each item. Transactions are refused.
	//
	// When an item expires, its version goes with it. A late attempt with a later TTL can then bring the item back. To
	// prevent that, delete such items instead of shortening their TTL.
	Version string

	// TokenKeys sign page tokens, so that tokens can be given to clients. The first key signs, and all keys verify. To
	// rotate keys, first append the new key wherever tokens are read, and then move it to the front. Remove the old key
	// when its tokens are no longer in use. Each key has at least 16 bytes. Default: tokens are protected against damage,
	// but not against forgery.
	//
	// Tokens are signed, not encrypted. A token reveals the sort key of the page's last item and, with an Index, its key
	// in the table.
	TokenKeys [][]byte

	// Retry configures how requests are retried.
	Retry Retry

	// MaxConcurrency is the maximum number of requests that the reads of a collection have in flight. Below it, the limit
	// follows throttling. Default: 256. The SDK's HTTP client keeps only ten idle connections: for wide layouts, pass one
	// with more MaxIdleConnsPerHost.
	MaxConcurrency int

	// ReadMemory is the maximum memory, in bytes, that one read uses for items it has not returned yet. An item takes its
	// names and values, and about 100 bytes of Go's overhead for each attribute. Default: 64 MB. The items that a Page is
	// about to return do not count, and neither does the SDK's memory for decoding a response.
	//
	// The bound holds for items of any size in any number of shards. heatsink sends a request only when the largest
	// possible response fits: 1.4 MB, or 400 KB for each requested item if that is less. The default allows 45 full pages
	// at a time, and more memory allows more. If one item of each shard does not fit, heatsink drops the items that are
	// needed last and reads them again. Such a read consumes more read units.
	//
	// A read can exceed the bound in two cases, and only with items larger than those that the collection has read
	// recently. First, heatsink requests the first pages of up to 128 shards at once if they are likely to fit, which can
	// bring up to 178 MB. A read with a Limit assumes 64 KB for an item until it has read one. Second, a ReadMemory of
	// less than 23 MB bounds the likely size, but up to 23 MB may arrive.
	ReadMemory int

	// Rand makes random choices reproducible. Default: the process's own random generator.
	Rand rand.Source

	// Logger receives, at debug level, each retry and each time that items are read again because of ReadMemory. At
	// warning level it receives uneven layouts that Open accepts, and items that a write returned but queries do not
	// read: see ErrTooNarrow. Default: no logging.
	Logger *slog.Logger

	// Tracer is told of operations and of their requests as they happen. Package heat/heatotel has one that makes spans of
	// OpenTelemetry. Default: none, which costs nothing.
	Tracer Tracer
}

// Retry configures how requests are retried. heatsink retries instead of the SDK, because only heatsink knows whether
// another shard can take a write.
type Retry struct {
	// Attempts is the maximum number of times that one request is sent. Default: 6.
	Attempts int

	// Budget is the average number of retries allowed for each request. When everything is throttled, attempts are at
	// most (1 + Budget) × requests + Burst. Burst is the number of retries in reserve at the start, and the most that can
	// be saved up. Defaults: 0.2 and 100, separately for reads and for writes. With a negative Budget, only an explicit
	// Burst allows retries.
	Budget float64
	Burst  int

	// The nth retry waits for a random time of up to Base × 2ⁿ⁻¹, and at most Max. Defaults: 20 ms and 2 s.
	Base, Max time.Duration

	// Timeout is the maximum time of one attempt. After that, the attempt counts as unanswered. Default: as long as ctx
	// allows.
	Timeout time.Duration
}

const (
	defaultMaxConcurrency = 256
	defaultReadMemory     = 64 << 20
)

// withDefaults fills in what the caller left out.
func (o Options) withDefaults() Options {
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, defaultMaxConcurrency)
	o.ReadMemory = cmp.Or(o.ReadMemory, defaultReadMemory)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.TokenKeys = slices.Clone(o.TokenKeys)
	for i, key := range o.TokenKeys {
		o.TokenKeys[i] = slices.Clone(key)
	}
	return o
}

// schema returns where a collection with these options stores its items.
func (o *Options) schema(book *adapt.Book) *place.Schema {
	return place.New(place.Schema{
		Keys:      o.keys(),
		Spread:    o.spreading(book),
		ShardBy:   o.ShardBy,
		EventTime: o.EventTime.placed(),
	})
}

// spreading returns how keys are spread, in the words of package place. book is nil without ledgers and a charter.
func (o *Options) spreading(book *adapt.Book) place.Spread {
	s := place.Spread{Layout: o.Layout, Older: o.Older, Widths: o.Widths}
	if book != nil {
		s.Ready = book.Ready
	}
	if o.Adaptive != nil {
		s.Ledgers = ledgers{book}
	}
	return s
}

// keys returns which attributes are keys, in the words of package place.
func (o *Options) keys() place.Keys {
	if o.Index.Name == "" {
		return place.Keys{PartitionKey: o.PartitionKey, SortKey: o.SortKey, Stamped: o.Adaptive != nil}
	}
	table := []string{o.PartitionKey}
	if o.SortKey != "" {
		table = append(table, o.SortKey)
	}
	return place.Keys{
		PartitionKey: o.Index.PartitionKey, SortKey: o.Index.SortKey,
		Index: o.Index.Name, TableKey: table, ShardAttribute: o.Index.ShardAttribute,
		Stamped: o.Adaptive != nil,
	}
}

// validate returns everything that is wrong at once.
func (o Options) validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	if o.Table == "" {
		wrong("Table is empty")
	}
	if o.PartitionKey == "" {
		wrong("PartitionKey is empty: name the partition key of the table")
	}
	if o.PartitionKey != "" && o.PartitionKey == o.SortKey {
		wrong("PartitionKey and SortKey are both %q: name the two key attributes of the table", o.SortKey)
	}
	if err := o.Layout.Validate(); err != nil {
		errs = append(errs, err)
	}
	for i, l := range o.Older {
		if err := l.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%w: Older[%d]: %w", ErrOptions, i, err))
		}
		if l.Bucket != layout.NoBucket {
			wrong("Older[%d] has buckets, but an older layout cannot have buckets: move its items, or read it with a collection of its own", i)
		}
	}
	if len(o.Older) > pagetoken.MaxOlder {
		wrong("there are %d Older layouts, want at most %d", len(o.Older), pagetoken.MaxOlder)
	}
	o.checkIndex(wrong)
	checkKey := o.Layout.CheckKey
	if o.Index.ShardAttribute != "" { // keys are stored as they are, and may look like shard keys
		checkKey = nil
	}
	if err := layout.CheckWidths(o.Widths, o.Layout.Strategy, checkKey); err != nil {
		errs = append(errs, fmt.Errorf("%w: Widths: %w", ErrOptions, err))
	}
	if o.Index.Name == "" && o.SortKey == "" {
		errs = append(errs, o.validateWithoutSortKey()...)
	} else if o.OnePerShard {
		wrong("OnePerShard is set, but items are told apart by a sort key or by the key of the table: leave OnePerShard out")
	}
	if o.Layout.Bucket != layout.NoBucket && o.EventTime.Attribute == "" {
		wrong("a layout with a bucket for every %v needs EventTime: name the attribute that holds an item's time", o.Layout.Bucket)
	}
	o.checkRoles(wrong)
	if o.EventTime.Unit > UnixMilliseconds {
		wrong("EventTime.Unit is %d, want RFC3339, UnixSeconds or UnixMilliseconds", o.EventTime.Unit)
	}
	o.checkVersion(wrong)
	o.checkAdaptive(wrong)
	o.checkMovable(wrong)
	if o.TTLAfter != 0 && o.TTL == "" {
		wrong("TTLAfter is %v, but TTL is empty: name the time-to-live attribute", o.TTLAfter)
	}
	if o.TTLAfter < 0 {
		wrong("TTLAfter is %v, want 0 or more", o.TTLAfter)
	}
	for i, key := range o.TokenKeys {
		if n := len(key); n < 16 {
			wrong("TokenKeys[%d] has %d bytes, want 16 or more", i, n)
		}
	}
	if math.IsNaN(o.Retry.Budget) {
		wrong("Retry.Budget is NaN, want a number")
	}
	if o.Retry.Attempts < 0 || o.Retry.Burst < 0 || o.Retry.Base < 0 || o.Retry.Max < 0 || o.Retry.Timeout < 0 {
		wrong("Retry is %+v, want no negative values except for Budget", o.Retry)
	}
	if o.MaxConcurrency < 0 {
		wrong("MaxConcurrency is %d, want 0 or more", o.MaxConcurrency)
	}
	if o.ReadMemory < 0 {
		wrong("ReadMemory is %d, want 0 or more", o.ReadMemory)
	}
	return errors.Join(errs...)
}

// checkRoles reports attributes with two roles that exclude each other, and names that are empty or repeated.
func (o *Options) checkRoles(wrong func(format string, args ...any)) {
	for i, name := range o.ShardBy {
		if name == "" || slices.Contains(o.ShardBy[:i], name) {
			wrong("ShardBy is %q, want names that are not empty and differ from each other", o.ShardBy)
		}
	}
	heatsinks := []struct{ name, attribute string }{{"Index.ShardAttribute", o.Index.ShardAttribute}}
	if o.Layout.Shards > 0 || o.varies() || o.Layout.Bucket != layout.NoBucket {
		field, attribute := o.spread()
		heatsinks = append(heatsinks, struct{ name, attribute string }{field, attribute})
	}
	if o.TTLAfter != 0 && o.TTL != "" { // Put sets it where it is missing, after the caller has
		switch {
		case o.TTL == o.EventTime.Attribute:
			wrong("EventTime and TTL are both %q, but Put sets it to the expiry with TTLAfter: name another attribute", o.TTL)
		case slices.Contains(o.ShardBy, o.TTL):
			wrong("TTL %q is in ShardBy, but Put sets it with TTLAfter, so Get could not calculate the shard: name another attribute", o.TTL)
		case o.TTL == o.SortKey:
			wrong("SortKey and TTL are both %q, but Put sets it with TTLAfter, so Get could not find the item: leave TTLAfter out", o.TTL)
		}
	}
	for _, own := range heatsinks { // heatsink overwrites these attributes, so they cannot hold anything else
		switch {
		case own.attribute == "":
		case own.attribute == o.EventTime.Attribute:
			wrong("%s and EventTime are both %q, but heatsink overwrites it, and the item's time would be lost: name another attribute", own.name, own.attribute)
		case own.attribute == o.TTL:
			wrong("%s and TTL are both %q, but heatsink overwrites it, and the time to live would be lost: name another attribute", own.name, own.attribute)
		case slices.Contains(o.ShardBy, own.attribute):
			wrong("%s %q is in ShardBy, but heatsink overwrites it, so the shard cannot be calculated from it: name another attribute", own.name, own.attribute)
		}
	}
}

// checkMovable reports what is wrong with Options.Movable and what goes with it.
func (o *Options) checkMovable(wrong func(format string, args ...any)) {
	if !o.Movable {
		return
	}
	refuse := func(given bool, format string, args ...any) {
		if given {
			wrong("Movable is set, but "+format, args...)
		}
	}
	refuse(o.Index.Name != "", "index %q lists the items, whose place in the table never changes: leave Movable out; heatsink move moves what an index lists", o.Index.Name)
	refuse(o.Adaptive != nil, "Adaptive decides how many shards a key has: leave one of the two out")
	refuse(o.Widths != nil, "Widths decides how many shards a key has, and the record does: leave Widths out")
	refuse(len(o.Older) > 0, "there are Older layouts, whose items would be found in several places: move them first, or leave Movable out")
	refuse(o.Version != "", "Version %q is set, and the versions of an item are not compared across its homes: leave one of the two out", o.Version)
	refuse(o.TTL != "", "TTL %q is set, and DynamoDB would delete what a move relies on: leave one of the two out", o.TTL)
	refuse(o.SortKey == "", "there is no SortKey, which tells the items of a key apart: leave Movable out")
	refuse(o.OnePerShard, "OnePerShard is set, and such an item belongs to its shard: leave one of the two out")
	refuse(len(o.ShardBy) > 0 && !slices.Equal(o.ShardBy, []string{o.SortKey}), "ShardBy is %q, and an item is found by its sort key: leave ShardBy out", o.ShardBy)
	bucket := o.Layout.Bucket
	refuse(bucket != layout.NoBucket && o.EventTime.Attribute != o.SortKey, "the layout has a bucket for every %v and EventTime is %q, but an item is found by its sort key alone: "+
		"name the sort key %q in EventTime, if it begins with the time; else leave Movable or the bucket out", bucket, o.EventTime.Attribute, o.SortKey)
	refuse(bucket != layout.NoBucket && o.Layout.Strategy == layout.Random, "the layout is Random and has a bucket for every %v: "+
		"only items that are found by id move in buckets; use a Calculated layout, or leave Movable or the bucket out", bucket)
}

// varies reports whether keys have widths of their own.
func (o *Options) varies() bool { return o.Widths != nil || o.Adaptive != nil }

// warn logs a warning about options that are valid but perform badly.
func (o *Options) warn() {
	if l := &o.Layout; l.Strategy == layout.Calculated && l.Hash == layout.Product && (l.Shards > 1 || o.varies()) {
		o.Logger.Warn("the hash Product is uneven: it puts most ids in a few shards, and all ids of some kinds in one; use XXHash, or, if "+
			"Product has placed items already, XXHash with this layout in Older; see docs/layouts.md and Layout.Evenness",
			"table", o.Table, "layout", l.String())
	}
}

// validateWithoutSortKey reports what is wrong with options for a table that has no sort key. A shard of a key then holds
// one item, which the next Put to that shard replaces.
func (o *Options) validateWithoutSortKey() (errs []error) {
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	spread := fmt.Sprintf("%d shards", o.Layout.Shards)
	if o.Widths != nil {
		spread = "Widths"
	}
	switch {
	case o.Layout.Shards < 2 && o.Widths == nil:
	case o.Layout.Strategy == layout.Random:
		wrong("a Random layout with %s needs a SortKey: without one, a shard holds one item, and Put would replace other items; "+
			"store the items by a key of their own, and spread an Index", spread)
	case !o.OnePerShard:
		wrong("a Calculated layout with %s needs a SortKey: without one, a shard holds one item, and Put would replace items with "+
			"other ids; set OnePerShard if that is intended, as for the parts of one item", spread)
	case len(o.ShardBy) == 0:
		wrong("a Calculated layout without a sort key needs ShardBy: name the attributes to calculate the shard from")
	}
	for i, l := range o.Older {
		if l.Strategy == layout.Calculated && l.Shards > 1 && len(o.ShardBy) == 0 {
			wrong("Older[%d] is Calculated and has no sort key, so it needs ShardBy: name the attributes to calculate the shard from", i)
		}
	}
	return errs
}

// checkVersion reports what is wrong with Options.Version.
func (o *Options) checkVersion(wrong func(format string, args ...any)) {
	if o.Version == "" {
		return
	}
	keys := []string{o.PartitionKey, o.SortKey, o.Index.PartitionKey, o.Index.SortKey, o.Index.ShardAttribute}
	if slices.Contains(slices.Concat(keys, o.ShardBy, []string{o.TTL, o.EventTime.Attribute}), o.Version) {
		wrong("Version %q is also used for something else: name an attribute that only heatsink writes", o.Version)
	}
	switch {
	case o.TTL == "":
		wrong("Version needs TTL: a delete leaves a tombstone, which has to expire")
	case o.TTL == o.PartitionKey, o.TTL == o.SortKey:
		wrong("Version needs a TTL that is not a key attribute, but %q is one: a tombstone has the item's key and an expiry of its own", o.TTL)
	}
}

// EventTime names the attribute that holds an item's event time, and its format.
//
// A string may continue after the time with a '#' and any text, as sort keys often do. DynamoDB orders sort keys as text.
// Times in sort keys should therefore be in UTC and have the same number of digits.
//
// A number may have a fraction or an exponent. It is rounded down to the nanosecond. The number 0 is refused, because a
// struct whose field was not set writes 0, which would select a bucket of 1970.
//
// Query.From and Query.To are compared with this attribute, unless they include the whole bucket. An item without the
// attribute is in no time range, as with a DynamoDB filter. In a bucket every item must have a time, so a missing one is
// a *DecodeError. An invalid time is a *DecodeError anywhere. With an Index, an item without the attribute ends the read
// with ErrQuery, because the index probably does not project it.
type EventTime struct {
	Attribute string
	Unit      TimeUnit
}

// TimeUnit is the format of a time.
type TimeUnit uint8

// The formats of times. The zero value is RFC3339.
const (
	RFC3339          TimeUnit = iota // a string such as 2026-06-22T01:00:00Z, with or without fractions
	UnixSeconds                      // seconds since 1970, as a number or a string
	UnixMilliseconds                 // milliseconds since 1970, as a number or a string
)

// placed converts an event time to that of package place, which has the same units in the same order.
func (e EventTime) placed() place.EventTime {
	return place.EventTime{Attribute: e.Attribute, Unit: place.TimeUnit(e.Unit)}
}

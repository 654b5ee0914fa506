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

	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// Item is an item or a key as the AWS SDK has it.
type Item = map[string]types.AttributeValue

// Client is the part of *dynamodb.Client that a collection uses: wrap it, fake it, or pass the SDK's.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// TableClient is the part of *dynamodb.Client that creates and checks tables: the Setup functions of counter, leaderboard,
// ratelimit, session and eventlog take one.
type TableClient interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
}

// Options describe a collection: where it is, how its keys are spread, and how hard to try. Table, PartitionKey and Layout
// matter to everybody; the rest can wait.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// PartitionKey and SortKey name the key attributes of the table. SortKey is empty if the table has none. Without an Index
	// the partition key is the one that is spread, and must be a string.
	PartitionKey, SortKey string

	// Index is the global secondary index that lists the items. Its partition key is spread then, and the table's key is
	// stored as it is. Default: no index.
	Index Index

	// Layout says how the logical key becomes the stored one.
	Layout layout.Layout

	// Widths says how many shards a key has right now, for keys that differ or change: a Width for all keys, a WidthTable,
	// LiveWidths, or your own. Layout.Shards then has no effect, and the key has a suffix even at a width of 1, unless the
	// format has BareZero. Default: Layout.Shards, always.
	Widths layout.Widths

	// Older lists layouts under which items were stored before. Query, Count and what builds on them read their shards as
	// well. Get, Update and Delete look there if the item is not where Layout puts it. Nothing is put there: with a Random
	// or a Calculated layout, an item that is put again is there twice, unless it is deleted first. A conditional Put is
	// ErrScattered. The unsharded past is Older: []Layout{{}}. Older layouts have no buckets, and every one must take the
	// keys that are written. docs/layouts.md has a table of what happens to items that were written before.
	Older []layout.Layout

	// OnePerShard says that a key has at most one item in each shard: the parts of an item that GetMerged puts together, or
	// the parts of a sum. Put replaces what its shard has. Only with it can a key be spread in a table that has no sort
	// key, where a second item of a shard replaces the first; the layout must be Calculated, from ShardBy.
	OnePerShard bool

	// ShardBy names the attributes from which a Calculated layout works out the shard. Default: the sort key; with an
	// Index, the table's key. The id that is hashed is the text of a single attribute, a number's without trailing zeros
	// or exponent; of several, each is its type (S, N or B), its length as a varint, and its text.
	ShardBy []string

	// EventTime says where an item keeps the time that decides its bucket.
	EventTime EventTime

	// Encode and Decode change how items of the collection's type become attributes, and back: the key of struct tags, how
	// times are written, what becomes of null and empty values. They are attributevalue's own options, so that items are those
	// of the rest of the program. Every operation heeds them, and they are called for each item, also concurrently. Raw items
	// (Item) are taken as they are. Default: the SDK's defaults.
	//
	// Change both together: items that the one writes must be read by the other.
	Encode func(*attributevalue.EncoderOptions)
	Decode func(*attributevalue.DecoderOptions)

	// TTL names the table's time-to-live attribute. Items whose time has come are left out of reads although DynamoDB
	// has not yet deleted them, unless it came more than five years ago, which DynamoDB takes for a mistake. Writes see them
	// until then, as in DynamoDB: a condition may fail because of one, and an Update may change one. Put gives
	// items without the attribute, or with 0 in it, TTLAfter from now to live, if TTLAfter is not zero.
	TTL      string
	TTLAfter time.Duration

	// Version names an attribute that nothing else uses, in which heatsink keeps a version of every item, a string that grows with each write. It is
	// for collections whose writes must neither be undone by an attempt that arrives late nor be done twice: see "What it
	// promises" in the package documentation. Every program that writes or reads the table must have it before the first
	// delete: others would take what a delete leaves behind for an item. It needs TTL. Items from before have no version until
	// they are written next.
	//
	// A write costs the same units, for about 40 bytes more, and a second request where another writer's clock is ahead.
	// Update finds out whether a lost attempt was done, so that even an ADD is repeated, unless it is to return old or updated
	// values: ask for none, or for all new ones. It changes only what is there, and is ErrNotFound otherwise. Delete leaves a small item behind that expires after an hour; until DynamoDB has removed it,
	// reads pass over it and pay for it. Where an item may be in several places, Get reads all of them, and the copy that was
	// written last counts. BatchPut sends a PutItem for each item. Transactions are refused.
	//
	// The time to live takes the version away with the item. A late attempt of a write with a later TTL can bring back an
	// item that a shorter TTL has ended: delete such items instead.
	Version string

	// TokenKeys sign page tokens, so that they can be handed to people: the first signs, and all verify. To rotate keys, add
	// the new one behind the others wherever tokens are read, then put it first, and drop the old one when its tokens are no
	// longer in use. Each has 16 bytes or more. Default: tokens are checked for damage, not for forgery.
	//
	// Tokens are signed, not encrypted: whoever has one can read the sort key of the page's last item and, with an Index, its
	// key in the table.
	TokenKeys [][]byte

	// Retry says how requests are repeated.
	Retry Retry

	// MaxConcurrency is the most requests one collection's reads have under way. Below it, throttling decides. Default: 256.
	// The SDK's own HTTP client keeps ten connections open: for wide layouts, pass one with more MaxIdleConnsPerHost.
	MaxConcurrency int

	// ReadMemory is the most memory that one read fills with items it has not returned yet, in bytes: their names and
	// values, and about 100 for each attribute, which is what Go adds. Default: 64 MB. What a Page is about to return
	// does not count, nor does what the SDK needs while it decodes an answer.
	//
	// It holds for items of any size in any number of shards, because a request is sent when there is room for the most
	// that DynamoDB may answer: 1.4 MB, or 400 KB for each item asked for if that is less. By default that is 45 full
	// pages at a time; more memory allows more of them. Where not even one item of each shard fits, those that are
	// needed last are dropped and read again, so that such a read takes more read units.
	//
	// Only items that are larger than those the collection has read lately can exceed it, in two cases. The first pages
	// of up to 128 shards are asked for at once if they are likely to fit, so that 178 MB may come; a read with a Limit
	// takes 64 KB to be likely for an item where none has been read. And a ReadMemory of less than 23 MB holds for what
	// is likely, while up to 23 MB may come.
	ReadMemory int

	// Rand makes random choices repeatable. Default: a source of its own.
	Rand rand.Source

	// Logger is told at debug level about what callers do not see: each request that is repeated, and items that are read
	// again for want of ReadMemory. At warning level it is told about a layout that Open accepts although it is uneven, and
	// about items that writes return and that queries do not read: see ErrTooNarrow. Default: nobody.
	Logger *slog.Logger
}

// Retry says how requests are repeated. heatsink does it instead of the SDK, because only where the shard is chosen is it
// known whether another will do.
type Retry struct {
	// Attempts is the most times one request is sent. Default: 6.
	Attempts int

	// Budget is how many retries there may be for each request, on average: when everything is throttled, attempts come
	// to (1 + Budget) × requests and no more. Burst retries are there to begin with, and are saved up again. Defaults:
	// 0.2 and 100, for reads and for writes. With a negative Budget there are no retries, except for a Burst that is given.
	Budget float64
	Burst  int

	// The nth retry waits for a random part of Base × 2ⁿ⁻¹, at most Max. Defaults: 20 ms and 2 s.
	Base, Max time.Duration

	// Timeout is how long one attempt may take before it counts as unanswered. Default: as long as ctx allows.
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
func (o *Options) schema() *place.Schema {
	return place.New(place.Schema{
		Keys:      o.keys(),
		Spread:    place.Spread{Layout: o.Layout, Older: o.Older, Widths: o.Widths},
		ShardBy:   o.ShardBy,
		EventTime: o.EventTime.placed(),
	})
}

// keys returns which attributes are keys, in the words of package place.
func (o *Options) keys() place.Keys {
	if o.Index.Name == "" {
		return place.Keys{PartitionKey: o.PartitionKey, SortKey: o.SortKey}
	}
	table := []string{o.PartitionKey}
	if o.SortKey != "" {
		table = append(table, o.SortKey)
	}
	return place.Keys{
		PartitionKey: o.Index.PartitionKey, SortKey: o.Index.SortKey,
		Index: o.Index.Name, TableKey: table, ShardAttribute: o.Index.ShardAttribute,
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
			wrong("Older[%d] has buckets: only layouts without can be read along", i)
		}
	}
	if len(o.Older) > pagetoken.MaxOlder {
		wrong("%d Older layouts: %d are the most", len(o.Older), pagetoken.MaxOlder)
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
		wrong("OnePerShard is set, but the items of a shard have sort keys or a key of their own: leave it out")
	}
	if o.Layout.Bucket != layout.NoBucket && o.EventTime.Attribute == "" {
		wrong("a layout by %v needs EventTime: name the attribute that holds an item's time", o.Layout.Bucket)
	}
	o.checkRoles(wrong)
	if o.EventTime.Unit > UnixMilliseconds {
		wrong("EventTime.Unit is %d", o.EventTime.Unit)
	}
	o.checkVersion(wrong)
	if o.TTLAfter != 0 && o.TTL == "" {
		wrong("TTLAfter is set without TTL")
	}
	if o.TTLAfter < 0 {
		wrong("TTLAfter is negative: %v", o.TTLAfter)
	}
	for i, key := range o.TokenKeys {
		if n := len(key); n < 16 {
			wrong("TokenKeys[%d] has %d bytes; 16 are the least that protect anything", i, n)
		}
	}
	if math.IsNaN(o.Retry.Budget) {
		wrong("Retry.Budget is not a number")
	}
	if o.Retry.Attempts < 0 || o.Retry.Burst < 0 || o.Retry.Base < 0 || o.Retry.Max < 0 || o.Retry.Timeout < 0 {
		wrong("Retry has negative values: %+v", o.Retry)
	}
	if o.MaxConcurrency < 0 || o.ReadMemory < 0 {
		wrong("MaxConcurrency and ReadMemory cannot be negative")
	}
	return errors.Join(errs...)
}

// checkRoles reports attributes that have two roles of which one would spoil the other, and names that are no names.
func (o *Options) checkRoles(wrong func(format string, args ...any)) {
	for i, name := range o.ShardBy {
		if name == "" || slices.Contains(o.ShardBy[:i], name) {
			wrong("ShardBy is %q: each attribute has a name of its own", o.ShardBy)
		}
	}
	heatsinks := []struct{ name, attribute string }{{"Index.ShardAttribute", o.Index.ShardAttribute}}
	if o.Layout.Shards > 0 || o.Widths != nil || o.Layout.Bucket != layout.NoBucket {
		field, attribute := o.spread()
		heatsinks = append(heatsinks, struct{ name, attribute string }{field, attribute})
	}
	for _, own := range heatsinks { // what heatsink writes, so that nothing else can be kept there
		switch {
		case own.attribute == "":
		case own.attribute == o.EventTime.Attribute:
			wrong("%s and EventTime are both %q: heatsink writes the one, and the item's time would be lost", own.name, own.attribute)
		case own.attribute == o.TTL:
			wrong("%s and TTL are both %q: heatsink writes the one, and the time to live would be lost", own.name, own.attribute)
		case slices.Contains(o.ShardBy, own.attribute):
			wrong("%s %q is in ShardBy: heatsink writes it, so that the shard cannot be worked out from it", own.name, own.attribute)
		}
	}
}

// warn tells the Logger about options that work, but not well.
func (o *Options) warn() {
	if l := &o.Layout; l.Strategy == layout.Calculated && l.Hash == layout.Product && (l.Shards > 1 || o.Widths != nil) {
		o.Logger.Warn("the hash Product is uneven: it puts most ids in a few shards, and of some ids all in one; use XXHash, or for "+
			"items that Product has placed, XXHash with this layout among Older; see docs/layouts.md and Layout.Evenness",
			"table", o.Table, "layout", l.String())
	}
}

// validateWithoutSortKey returns what is wrong with options for a table whose items have only a partition key. A shard of a
// key is then one item, which the next put there replaces.
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
		wrong("a Random layout with %s needs a SortKey: without one a shard holds one item, and Put would replace others; "+
			"store the items by a key of their own and spread an Index", spread)
	case !o.OnePerShard:
		wrong("a Calculated layout with %s needs a SortKey: without one a shard holds one item, and Put would replace those of "+
			"other ids; set OnePerShard if that is meant, as for the parts of one item", spread)
	case len(o.ShardBy) == 0:
		wrong("a Calculated layout needs ShardBy: there is no sort key to calculate from")
	}
	for i, l := range o.Older {
		if l.Strategy == layout.Calculated && l.Shards > 1 && len(o.ShardBy) == 0 {
			wrong("Older[%d] is Calculated and needs ShardBy: there is no sort key to calculate from", i)
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
		wrong("Version %q is an attribute with another purpose: name one that heatsink alone writes", o.Version)
	}
	switch {
	case o.TTL == "":
		wrong("Version needs TTL: what a delete leaves behind has to go some time")
	case o.TTL == o.PartitionKey, o.TTL == o.SortKey:
		wrong("Version needs a TTL that is no key: what a delete leaves behind has the item's key and a time of its own")
	}
}

package heatsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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

// Options describe a collection: where it is, how its keys are spread, and how hard to try. Table, PartitionKey and Layout
// matter to everybody; the rest can wait.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// PartitionKey and SortKey name the key attributes of the table, or of the Index if there is one. The partition key
	// must be a string. SortKey is empty if the table has none.
	PartitionKey, SortKey string

	// Index makes this a collection that is listed by a global secondary index, with items that are stored under a
	// key of their own, TableKey. Writing an item keeps the index's partition key spread, so the layout must be
	// Calculated, and is calculated from the table's key unless ShardBy says otherwise. Get, Update and Delete go to
	// the table, Query and what builds on it to the index.
	Index string

	// TableKey names the table's key attributes if Index is set, the partition key first.
	TableKey []string

	// ShardAttribute, if set, is a second HASH attribute of the Index, a number: it takes the shard, and PartitionKey
	// keeps the logical key as it is.
	ShardAttribute string

	// Layout says how the logical key becomes the stored one.
	Layout Layout

	// Widths says how many shards a key has right now, for keys that differ or change. Default: Layout.Shards, always.
	Widths Widths

	// Older lists layouts under which items were stored before: they are read along with Layout and never written. The
	// unsharded past of a bucketed collection is Older: []Layout{{}}. They have no buckets. Put does not know of them: an
	// item that is put again is there twice, unless it is deleted first.
	Older []Layout

	// ShardBy names the attributes from which a Calculated layout works out the shard. Default: the sort key; with an
	// Index, the table's key. The id that is hashed is the text of a single attribute, a number's without trailing zeros
	// or exponent; of several, each is its type (S, N or B), its length as a varint, and its text.
	ShardBy []string

	// EventTime says where an item keeps the time that decides its bucket.
	EventTime EventTime

	// TTL names the table's time-to-live attribute. Items whose time has come are left out of reads although DynamoDB
	// has not yet deleted them, unless it came more than five years ago, which DynamoDB takes for a mistake. Put gives
	// items without the attribute, or with 0 in it, TTLAfter from now to live, if TTLAfter is not zero.
	TTL      string
	TTLAfter time.Duration

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
	// again for want of ReadMemory. Default: nobody.
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

// Width is how many shards a key has: those that are written to, and those that may hold items. 1 ≤ Write ≤ Read.
type Width struct{ Write, Read int }

// Widths says how wide a key is. It is asked before every operation, from many goroutines, and should answer from memory.
// At all times every reader's Read must be at least every writer's Write, so it never shrinks and grows before Write does.
//
// With a Calculated layout all widths are powers of two. Get, Update and Delete then look for an item where narrower widths
// have put it, too. Put does not: an item that is put again after its key has grown may be there twice, so change such items
// with Update.
type Widths interface {
	Width(ctx context.Context, key string, bucket time.Time) (Width, error)
}

// fixed is the width of a layout that does not change.
type fixed int

func (n fixed) Width(context.Context, string, time.Time) (Width, error) {
	return Width{Write: int(n), Read: int(n)}, nil
}

const (
	defaultAttempts       = 6
	defaultBudget         = 0.2
	defaultBurst          = 100
	defaultBackoff        = 20 * time.Millisecond
	defaultMaxBackoff     = 2 * time.Second
	defaultMaxConcurrency = 256
	defaultReadMemory     = 64 << 20
)

// withDefaults fills in what the caller left out.
func (o Options) withDefaults() Options {
	o.Retry.Attempts = orDefault(o.Retry.Attempts, defaultAttempts)
	if o.Retry.Budget >= 0 {
		o.Retry.Burst = orDefault(o.Retry.Burst, defaultBurst)
	}
	o.Retry.Budget = max(orDefault(o.Retry.Budget, defaultBudget), 0)
	o.Retry.Base = orDefault(o.Retry.Base, defaultBackoff)
	o.Retry.Max = orDefault(o.Retry.Max, defaultMaxBackoff)
	o.MaxConcurrency = orDefault(o.MaxConcurrency, defaultMaxConcurrency)
	o.ReadMemory = orDefault(o.ReadMemory, defaultReadMemory)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.TokenKeys = slices.Clone(o.TokenKeys)
	for i, key := range o.TokenKeys {
		o.TokenKeys[i] = slices.Clone(key)
	}
	if o.Widths == nil {
		o.Widths = fixed(max(o.Layout.Shards, 1))
	}
	if len(o.ShardBy) == 0 {
		switch {
		case o.Index != "":
			o.ShardBy = o.TableKey
		case o.SortKey != "":
			o.ShardBy = []string{o.SortKey}
		}
	}
	return o
}

func orDefault[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
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
		wrong("PartitionKey is empty: name the attribute that holds the key")
	}
	if o.PartitionKey != "" && o.PartitionKey == o.SortKey {
		wrong("PartitionKey and SortKey are both %q", o.SortKey)
	}
	if err := o.Layout.Validate(); err != nil {
		errs = append(errs, err)
	}
	for i, l := range o.Older {
		if err := l.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%w: Older[%d]: %w", ErrOptions, i, err))
		}
		if l.Bucket != NoBucket {
			wrong("Older[%d] has buckets: only layouts without can be read along", i)
		}
	}
	if len(o.Older) > maxOlder {
		wrong("%d Older layouts: %d are the most", len(o.Older), maxOlder)
	}
	if o.Index == "" {
		if len(o.TableKey) > 0 {
			wrong("TableKey is set without an Index: the table's key is PartitionKey and SortKey")
		}
		if o.ShardAttribute != "" {
			wrong("ShardAttribute is set without an Index: only an index has keys of several attributes")
		}
	} else {
		if len(o.TableKey) < 1 || len(o.TableKey) > 2 {
			wrong("an Index needs the one or two attributes of TableKey, not %d", len(o.TableKey))
		}
		if slices.Contains(o.TableKey, o.PartitionKey) {
			wrong("PartitionKey %q is part of TableKey: heatsink would have to change the table's own key", o.PartitionKey)
		}
		if slices.Contains(slices.Concat(o.TableKey, []string{o.PartitionKey, o.SortKey}), o.ShardAttribute) && o.ShardAttribute != "" {
			wrong("ShardAttribute %q is another key attribute", o.ShardAttribute)
		}
		if o.ShardAttribute != "" && len(o.Older) > 0 {
			wrong("Older layouts have no ShardAttribute: they cannot be read through the same index")
		}
		if o.ShardAttribute != "" && o.Layout.Bucket != NoBucket {
			wrong("ShardAttribute has no place for the bucket of a layout by %v", o.Layout.Bucket)
		}
		if (o.Layout.Shards > 0 || o.Widths != nil) && o.Layout.Strategy != Calculated {
			wrong("an Index needs a Calculated layout, so that every write of an item finds the shard it is in")
		}
	}
	if o.Layout.Shards > 0 && o.Layout.Strategy == Calculated && len(o.ShardBy) == 0 && o.Index == "" && o.SortKey == "" {
		wrong("a Calculated layout needs ShardBy: there is no sort key to calculate from")
	}
	if o.Layout.Bucket != NoBucket && o.EventTime.Attribute == "" {
		wrong("a layout by %v needs EventTime: name the attribute that holds an item's time", o.Layout.Bucket)
	}
	if o.EventTime.Unit > UnixMilliseconds {
		wrong("EventTime.Unit is %d", o.EventTime.Unit)
	}
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
	if o.Retry.Attempts < 0 || o.Retry.Burst < 0 || o.Retry.Base < 0 || o.Retry.Max < 0 || o.Retry.Timeout < 0 {
		wrong("Retry has negative values: %+v", o.Retry)
	}
	if o.MaxConcurrency < 0 || o.ReadMemory < 0 {
		wrong("MaxConcurrency and ReadMemory cannot be negative")
	}
	return errors.Join(errs...)
}

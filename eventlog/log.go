package eventlog

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// Client is the part of *dynamodb.Client that a log uses. Pass the SDK's client, or a wrapper of it.
type Client = heatsink.Client

// Log appends events with bodies of type T and reads them. It serves any number of logs in one table, each with a name.
// T is a struct with dynamodbav tags, or heatsink.Item. Its methods may be called concurrently.
type Log[T any] struct {
	core *core
}

// Open returns the logs that options describe. It does no I/O and needs no closing.
func Open[T any](client Client, options Options) (*Log[T], error) {
	if client == nil {
		return nil, fmt.Errorf("%w: the client is nil", ErrOptions)
	}
	c, err := newCore(client, options)
	if err != nil {
		return nil, fmt.Errorf("open event log: %w", err)
	}
	return &Log[T]{c}, nil
}

// items is a collection of items as they are stored.
type items = heatsink.Collection[heatsink.Item]

// core is a Log without its type. It speaks to DynamoDB through collections of raw items, all of the same table:
//
//   - shards is the log as it is written and read, with every event in a shard that is drawn at random;
//   - known is the table itself, for events that come with an id. Such an event has one shard, which the sort key and
//     Options.Shards say;
//   - along is shards together with the older layouts, and nil if there are none. With Adaptive it is shards itself;
//   - index is the log in the index, and nil if there is none.
type core struct {
	options Options  // with defaults
	names   []string // of the attributes that are the log's own
	stamps  stamps
	ids     *ids
	late    atomic.Int64
	wide    *widened

	shards *items
	known  *direct.Table
	along  *items
	index  *items
}

func newCore(client Client, options Options) (*core, error) {
	o := options.withDefaults()
	c := &core{
		options: o,
		names:   append(o.attributes(), ledger.StampName),
		stamps:  newStamps(o.Prefix, o.Precision),
		ids:     newIDs(),
		wide:    newWidened(),
	}
	errs := []error{o.validate()}
	open := func(edit func(*heatsink.Options)) *items {
		options := c.collection()
		edit(&options)
		collection, err := heatsink.Open[heatsink.Item](c.queries(client), options)
		errs = append(errs, err)
		return collection
	}
	c.shards = open(func(options *heatsink.Options) {
		if o.Adaptive != nil { // one collection, as its charter names the older layouts
			options.Older = o.Older
		}
	})
	if errors.Join(errs...) != nil { // the others would say the same
		return nil, errors.Join(errs...)
	}
	var err error
	c.known, err = direct.Open(client, direct.Options{
		Table: o.Table, PartitionKey: o.PartitionKey, SortKey: o.SortKey, Retry: o.Retry, Logger: o.Logger,
	})
	errs = append(errs, err)
	switch {
	case len(o.Older) > 0 && o.Adaptive != nil:
		c.along = c.shards
	case len(o.Older) > 0:
		c.along = open(func(options *heatsink.Options) { options.Older = o.Older })
	}
	if o.Index.Name != "" {
		c.index = open(func(options *heatsink.Options) {
			options.Index = heatsink.Index{Name: o.Index.Name, PartitionKey: o.Index.PartitionKey, SortKey: o.Index.SortKey}
			options.Layout, options.EventTime = layout.Layout{}, heatsink.EventTime{}
			options.Adaptive, options.Name, options.Older = nil, "", nil
		})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// collection returns the options of the collection shards.
func (c *core) collection() heatsink.Options {
	o := &c.options
	options := heatsink.Options{
		Table: o.Table, PartitionKey: o.PartitionKey, SortKey: o.SortKey, TTL: o.TTL,
		Layout:         o.layout(),
		TokenKeys:      o.TokenKeys, // only for their lengths to be checked
		Retry:          o.Retry,
		MaxConcurrency: o.MaxConcurrency,
		Logger:         o.Logger,
	}
	if o.Adaptive != nil {
		options.Adaptive, options.Name, options.Layout.Shards = o.Adaptive, o.Name, 0
	}
	if o.Bucket != layout.NoBucket {
		options.EventTime.Attribute = c.timeAttribute()
	}
	return options
}

// timeAttribute returns the attribute that collections read an event's time from: the sort key, unless that begins with
// something else.
func (c *core) timeAttribute() string {
	if c.options.Prefix == "" {
		return c.options.SortKey
	}
	return c.options.Time
}

// Ledgers returns the ledgers of the logs: how many shards each log has, in each bucket. Logs open without
// Options.Adaptive have none, and the methods return heatsink.ErrOptions.
func (l *Log[T]) Ledgers() heatsink.Ledgers { return l.core.shards.Ledgers() }

// LateAppends returns the number of appends of this Log that were acknowledged later than Options.Settle after the
// event's time.
func (l *Log[T]) LateAppends() int64 { return l.core.late.Load() }

// oldest returns the first time that is not over, the zero time if all are kept.
func (c *core) oldest(now time.Time) time.Time {
	if c.options.Retention == 0 {
		return time.Time{}
	}
	return c.stamps.floor(now.Add(-c.options.Retention)).Add(c.options.Precision)
}

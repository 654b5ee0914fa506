package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
	"github.com/heatsink-go/heatsink/layout"
)

// Options describe logs: the table they are in, how they are spread, how long they are kept. Only Table is needed, but
// a log of any size wants a Bucket, and a busy one Shards. All processes that use a table must agree on everything down
// to Format, as it says where events are; and on Settle, if there are tails.
type Options struct {
	// Table is the table's name.
	Table string

	// PartitionKey, SortKey and TTL name the attributes that hold the spread name of the log, the time and id, and the
	// time of expiry in seconds since 1970. Defaults: pk, sk, and ttl if there is a Retention, else none. Events with a
	// TTL that is over are not returned, whoever set it.
	PartitionKey, SortKey, TTL string

	// Time, if set, names an attribute that holds the time once more, as a text. It has to be there, and is "at" unless
	// it is named otherwise, if there are both a Prefix and a Bucket.
	Time string

	// Mark, if set, names an attribute that Append gives to events with an id of the caller's: 15 bytes that no other
	// append has. By it an append whose answer was lost knows its own event from an equal one of another process, so
	// that Receipt.Duplicate is always right. Default: none: such a receipt is Unsure.
	Mark string

	// Prefix is what sort keys have before the time, such as "ALERT#". Default: nothing.
	Prefix string

	// Precision says how many digits of a second are kept: time.Nanosecond, Microsecond, Millisecond or Second. The
	// rest is cut off, and the ids order what is left with the same time. An adopted log must have as many. Default:
	// time.Nanosecond.
	Precision time.Duration

	// Bucket is the stretch of time that shares partition keys. Default: none: a log is one ever-growing list, and only
	// spread over its Shards.
	Bucket layout.Bucket

	// Shards is over how many partition keys the events of a bucket are spread: one for every 500 to 1,000 write units
	// a second. Default: none: the log's name and bucket are the key. Without buckets it may be raised, at those who
	// read first; with buckets, see Growth.
	Shards int

	// Growth lists the numbers of shards that followed on Shards, the oldest first. It needs a Bucket.
	Growth []Growth

	// Format says how partition keys are spelt. Default: OPS_LOG#2026-06-22 for shard 0, and a #SHARD_1 behind that for
	// the next, so that a log without shards can get some. For #SHARD_0, spell it out: layout.Format{ShardPrefix:
	// "#SHARD_"}.
	Format layout.Format

	// Retention is how long events are kept, from their time on. Then they are no longer returned, and DynamoDB deletes
	// them by their TTL. Default: forever.
	Retention time.Duration

	// Begin is when the oldest event may have happened; older ones are refused. Queries without From begin here, or
	// where the Retention does. Default: with buckets and without a Retention, such queries are refused.
	Begin time.Time

	// Settle is how long after its time an event may be acknowledged and still be sure to be returned by tails: it has
	// to cover retries and the difference of clocks, and tails are that much behind. Default: 10 s.
	Settle time.Duration

	// Index is a global secondary index that lists each log under one key, as a way out when the shards cannot be read.
	Index Index

	// Older lists layouts that the log had before and that still hold events: they are read along, and not written. The
	// past of a log whose name alone was the partition key is []layout.Layout{{}}. They have no buckets. Sort keys
	// must be as the log's own are, but need no id.
	Older []layout.Layout

	// OlderUntil is a time that all events of the Older layouts are before: reads from then on leave them alone.
	// Default: all reads ask for them.
	OlderUntil time.Time

	// TokenKeys sign page tokens and positions, so that they can be handed to people: the first signs, and all verify, so
	// that keys can be rotated. Each has 16 bytes or more. Tokens are not encrypted: the time and id of the last event can
	// be read. Default: they are checked for damage, not for forgery.
	TokenKeys [][]byte

	// Retry says how requests are repeated, as heatsink has it.
	Retry heatsink.Retry

	// MaxConcurrency is the most requests that reads have under way. Default: 256.
	MaxConcurrency int

	// Logger is told, at warning level, when the index is read instead of the shards, when a tail's poll fails, and
	// when an append took too long for tails; and at debug level of requests that are repeated, and of events that were
	// too old for tails to begin with. Default: nobody.
	Logger *slog.Logger
}

// Index describes a global secondary index that has all of a log under one key, in order of time: one request reads
// what otherwise takes one for every shard of every bucket.
//
// That key is as hot as the log is busy. DynamoDB refuses writes to the table that the index has no capacity for, so a
// log with an Index takes 1,000 write units a second and no more, however many Shards it has. And the index is a moment
// behind: what it returns may lack the newest events.
type Index struct {
	// Name is the name of the index. Default: there is none.
	Name string

	// PartitionKey and SortKey name its key attributes, both strings. Defaults: GSI1PK and GSI1SK.
	PartitionKey, SortKey string

	// Key returns the index's partition key for a log, such as BRAND#abc for THREAT#abc. Default: the log's name.
	Key func(log string) string

	// Prefix is what the index's sort keys have before the time. Default: nothing.
	Prefix string

	// MaxRequests is the most requests that one read sends to the shards. A read that needs more for certain goes to
	// the index at once, another as soon as it would send more, and goes on there. Default: no limit: reads go to the
	// index when a shard cannot be read.
	MaxRequests int

	// Older says that events of Older layouts are in the index, too. Unless they are, reads that need them do not go
	// there.
	Older bool
}

// withDefaults fills in what the caller left out, and copies what the caller may change.
func (o Options) withDefaults() Options {
	o.PartitionKey = cmp.Or(o.PartitionKey, "pk")
	o.SortKey = cmp.Or(o.SortKey, "sk")
	if o.Retention > 0 {
		o.TTL = cmp.Or(o.TTL, "ttl")
	}
	if o.Prefix != "" && o.Bucket != layout.NoBucket {
		o.Time = cmp.Or(o.Time, "at")
	}
	o.Precision = cmp.Or(o.Precision, time.Nanosecond)
	o.Begin = o.Begin.Truncate(o.Precision) // as the times of events are
	o.Format = cmp.Or(o.Format, layout.Format{BareZero: true})
	o.Settle = cmp.Or(o.Settle, 10*time.Second)
	if o.Index.Name != "" {
		o.Index.PartitionKey = cmp.Or(o.Index.PartitionKey, "GSI1PK")
		o.Index.SortKey = cmp.Or(o.Index.SortKey, "GSI1SK")
		if o.Index.Key == nil {
			o.Index.Key = func(log string) string { return log }
		}
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Growth, o.Older, o.TokenKeys = slices.Clone(o.Growth), slices.Clone(o.Older), slices.Clone(o.TokenKeys)
	for i, key := range o.TokenKeys {
		o.TokenKeys[i] = slices.Clone(key)
	}
	return o
}

// layout returns how the log is spread, before it grew.
func (o *Options) layout() layout.Layout {
	return layout.Layout{Shards: o.Shards, Bucket: o.Bucket, Format: o.Format}
}

// attributes returns the names of the attributes that the log gives to every item.
func (o *Options) attributes() []string {
	names := []string{o.PartitionKey, o.SortKey}
	for _, name := range []string{o.TTL, o.Time, o.Mark, o.Index.PartitionKey, o.Index.SortKey} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// validate returns everything that is wrong at once, in options that have their defaults. What is wrong with keys,
// layouts and retries the collections say.
func (o *Options) validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	names := o.attributes()
	if err := schema.CheckNames(names...); err != nil {
		wrong("%w", err)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			wrong("two attributes are named %q", name)
		}
	}
	if _, ok := precisions[o.Precision]; !ok {
		wrong("Precision is %v: want a second, millisecond, microsecond or nanosecond", o.Precision)
	}
	for name, prefix := range map[string]string{"Prefix": o.Prefix, "Index.Prefix": o.Index.Prefix} {
		if !utf8.ValidString(prefix) || len(prefix) > maxSortKey/2 {
			wrong("%s has %d bytes: want valid UTF-8 of %d at most", name, len(prefix), maxSortKey/2)
		}
	}
	if o.Retention < 0 {
		wrong("Retention is negative: %v", o.Retention)
	}
	if o.Settle < 0 {
		wrong("Settle is negative: %v", o.Settle)
	}
	for name, at := range map[string]time.Time{"Begin": o.Begin, "OlderUntil": o.OlderUntil} {
		if err := checkTime(at); err != nil && !at.IsZero() {
			wrong("%s: %w", name, err)
		}
	}
	if !o.OlderUntil.IsZero() && len(o.Older) == 0 {
		wrong("OlderUntil is set without Older")
	}
	o.validateGrowth(wrong)
	o.validateIndex(wrong)
	return errors.Join(errs...)
}

func (o *Options) validateGrowth(wrong func(format string, args ...any)) {
	if len(o.Growth) == 0 {
		return
	}
	if o.Bucket == layout.NoBucket {
		wrong("Growth needs a Bucket: without, raise Shards")
	}
	if o.Shards < 1 && !o.Format.BareZero {
		wrong("Growth from no Shards needs a Format with BareZero, so that shard 0 has the key that there is")
	}
	last := Growth{Shards: max(o.Shards, 1)}
	for i, g := range o.Growth {
		if err := checkTime(g.From); err != nil {
			wrong("Growth[%d].From: %w", i, err)
		} else if i > 0 && !g.From.After(last.From) {
			wrong("Growth[%d].From is %v: want a time after the one before, %v", i, g.From, last.From)
		}
		if g.Shards <= last.Shards {
			wrong("Growth[%d].Shards is %d: want more than the %d before", i, g.Shards, last.Shards)
		}
		last = g
	}
}

func (o *Options) validateIndex(wrong func(format string, args ...any)) {
	index := o.Index
	if index.Key = nil; index.Name == "" && !reflect.ValueOf(index).IsZero() {
		wrong("Index has no Name")
	}
	if o.Index.Name == "" && o.Index.Key != nil {
		wrong("Index.Key is set without a Name")
	}
	if o.Index.MaxRequests < 0 {
		wrong("Index.MaxRequests is negative: %d", o.Index.MaxRequests)
	}
}

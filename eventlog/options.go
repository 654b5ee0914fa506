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

// Options describe logs: their table, how they are spread and how long they are kept. Only Table is required, but a
// large log needs a Bucket, and a busy one needs Adaptive or Shards. All processes that use a table must use the same values for
// all fields up to Format, because they determine where events are stored. With tails, they must also use the same
// Settle.
type Options struct {
	// Table is the table's name.
	Table string

	// PartitionKey, SortKey and TTL are attribute names. They hold the name of the log with its bucket and shard, the
	// time and id, and the expiry in seconds since 1970. Defaults: pk, sk, and ttl if there is a Retention. Events
	// whose TTL is over are not returned, even if another program set it.
	PartitionKey, SortKey, TTL string

	// Time, if set, names an attribute that holds the time again, as text. It is required if there are both a Prefix
	// and a Bucket, and then its default is "at".
	Time string

	// Mark, if set, names an attribute with 15 unique bytes that Append adds to events whose id comes from the caller.
	// After a lost answer, an append recognises its own event by them, so that Receipt.Duplicate is always right.
	// Default: none; such a receipt is Unsure.
	Mark string

	// Prefix is what sort keys have before the time, such as "ALERT#". Default: nothing.
	Prefix string

	// Precision is the unit to which times are stored: time.Nanosecond, Microsecond, Millisecond or Second. The rest is
	// cut off, and events of equal time are ordered by id. It must match the events of an existing log. Default:
	// time.Nanosecond.
	Precision time.Duration

	// Bucket is the period of time whose events share partition keys. Default: none; a log is one growing list that is
	// spread only over its Shards.
	Bucket layout.Bucket

	// Shards is the number of partition keys over which the events of a bucket are spread: one for every 500 to 1,000
	// write units per second. Default: none; the key is the name of the log and the bucket. It may be raised, in
	// readers first. Older buckets then cost as many requests to read. An event that is appended again with its id may
	// then be stored in two shards: reads return it once, but Count counts both.
	//
	// With Adaptive, Shards is for events with ids from the caller alone, which must be found again. They are spread over
	// this number for ever. Default: none; such events share the first key.
	Shards int

	// Adaptive makes the number of shards follow the load of each log, in each bucket. Events whose ids Append makes go
	// to all shards, see heatsink.Adaptive. Default: none; there are always Shards.
	Adaptive *heatsink.Adaptive

	// Name is the name of the logs in the control items of Adaptive. Logs of one table that are opened with other Options
	// need another. Default: "table".
	Name string

	// Format is the spelling of partition keys. Default: OPS_LOG#2026-06-22 for shard 0, with the suffix #SHARD_1 for
	// shard 1, so that a log without shards can get some later. For #SHARD_0, set layout.Format{ShardPrefix:
	// "#SHARD_"}.
	Format layout.Format

	// Retention is how long events are kept, counted from their time. Then reads no longer return them, and DynamoDB
	// deletes them by their TTL. Default: forever.
	Retention time.Duration

	// Begin is the time of the oldest possible event; older events are refused. Queries without From begin here, or at
	// the start of the Retention. Default: none; with buckets and without a Retention, such queries are refused.
	Begin time.Time

	// Settle is the longest time between the time of an event and its acknowledgement for which tails are guaranteed to
	// return it. It must cover retries and the difference of clocks. Tails are behind by this time. Default: 10 s.
	Settle time.Duration

	// Index is a global secondary index that lists each log under one key. Reads use it if the shards cannot be read.
	Index Index

	// Older lists former layouts of the log that still hold events. They are read, but not written. If the partition
	// key was only the name of the log, use []layout.Layout{{}}. Older layouts have no buckets. Their sort keys must
	// have the log's format, but need no id.
	Older []layout.Layout

	// OlderUntil is a time after all events of the Older layouts. Reads that begin there or later skip those layouts,
	// except with Adaptive. Default: all reads include them.
	OlderUntil time.Time

	// TokenKeys sign page tokens and positions, so that they can be handed to users. The first key signs and all keys
	// verify, so that keys can be rotated. Each has 16 bytes or more. Tokens are not encrypted: a user can read the
	// time and id of the last event. Default: they are checked for damage, not for forgery.
	TokenKeys [][]byte

	// Retry configures retries, as in heatsink.
	Retry heatsink.Retry

	// MaxConcurrency is the largest number of concurrent requests of reads. Default: 256.
	MaxConcurrency int

	// Logger gets a warning if a read uses the index instead of the shards, if a tail's poll fails, or if an append is
	// late for tails. It gets a debug message for each retry, and for each event that was already too old for tails.
	// Default: none.
	Logger *slog.Logger
}

// Index describes a global secondary index that holds a whole log under one key, in order of time. One request to it
// replaces one request to every shard of every bucket.
//
// That key is as hot as the log is busy. DynamoDB throttles table writes for which the index has no capacity. A log
// with an Index therefore accepts at most 1,000 write units per second, however many Shards it has. The index is also
// eventually consistent: its results may lack the newest events.
type Index struct {
	// Name is the name of the index. Default: no index.
	Name string

	// PartitionKey and SortKey name its key attributes, both strings. Defaults: GSI1PK and GSI1SK.
	PartitionKey, SortKey string

	// Key returns the index's partition key for a log, such as BRAND#abc for THREAT#abc. Default: the name of the log.
	Key func(log string) string

	// Prefix is what the index's sort keys have before the time. Default: nothing.
	Prefix string

	// MaxRequests is the largest number of requests that one read sends to the shards. A read that certainly needs more
	// uses the index from the start. Any other read continues in the index when it would exceed the number. Default: no
	// limit; a read uses the index only if a shard cannot be read.
	MaxRequests int

	// Older says that the index also holds events of Older layouts. Otherwise reads that need those events do not use
	// the index.
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
	o.Older, o.TokenKeys = slices.Clone(o.Older), slices.Clone(o.TokenKeys)
	for i, key := range o.TokenKeys {
		o.TokenKeys[i] = slices.Clone(key)
	}
	return o
}

// layout returns how events with ids are spread, and all others unless there is Adaptive.
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
		wrong("Precision is %v, want a second, millisecond, microsecond or nanosecond", o.Precision)
	}
	for name, prefix := range map[string]string{"Prefix": o.Prefix, "Index.Prefix": o.Index.Prefix} {
		if !utf8.ValidString(prefix) || len(prefix) > maxSortKey/2 {
			wrong("%s has %d bytes, want valid UTF-8 of at most %d bytes", name, len(prefix), maxSortKey/2)
		}
	}
	if o.Retention < 0 {
		wrong("Retention is %v, want 0 or more", o.Retention)
	}
	if o.Settle < 0 {
		wrong("Settle is %v, want 0 or more", o.Settle)
	}
	for name, at := range map[string]time.Time{"Begin": o.Begin, "OlderUntil": o.OlderUntil} {
		if err := checkTime(at); err != nil && !at.IsZero() {
			wrong("%s: %w", name, err)
		}
	}
	if !o.OlderUntil.IsZero() && len(o.Older) == 0 {
		wrong("OlderUntil is set without Older")
	}
	o.validateAdaptive(wrong)
	o.validateIndex(wrong)
	return errors.Join(errs...)
}

func (o *Options) validateAdaptive(wrong func(format string, args ...any)) {
	if o.Adaptive == nil {
		if o.Name != "" {
			wrong("Name is %q without Adaptive, which alone needs it: leave it out", o.Name)
		}
		return
	}
	if !o.Format.BareZero {
		wrong("Format has no BareZero, but with Adaptive the key of shard 0 is the name of the log and the bucket: " +
			"set BareZero, or keep a fixed number of Shards if events are stored in a shard 0 with a number")
	}
}

func (o *Options) validateIndex(wrong func(format string, args ...any)) {
	index := o.Index
	if index.Key = nil; index.Name == "" && !reflect.ValueOf(index).IsZero() {
		wrong("Index.Name is empty")
	}
	if o.Index.Name == "" && o.Index.Key != nil {
		wrong("Index.Key is set without a Name")
	}
	if o.Index.MaxRequests < 0 {
		wrong("Index.MaxRequests is %d, want 0 or more", o.Index.MaxRequests)
	}
}

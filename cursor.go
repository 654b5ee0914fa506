package heatsink

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ordinal is a shard's place among those of its bucket: the layout's shards first, then those of Options.Older. It
// orders items with the same sort key, and does not depend on how many shards there are.
type ordinal uint32

const (
	shardBits           = 17
	lastOrdinal         = 1<<(shardBits+8) - 1
	maxOlder            = 255
	shardMask   ordinal = 1<<shardBits - 1
)

func newOrdinal(layout, shard int) ordinal { return ordinal(layout<<shardBits | shard) }

func (o ordinal) shard() int { return int(o & shardMask) }

// layout returns 0 for the collection's own, and n for the nth of Options.Older, counted from 1.
func (o ordinal) layout() int { return int(o >> shardBits) }

// entry is an item that has been read and not returned.
type entry struct {
	sort sortValue
	item Item // nil in a hollow cursor
	size int
	bad  error // what is wrong with the item itself
}

// cursor reads one shard.
type cursor struct {
	source    ordinal
	shardKey  string
	partition types.AttributeValue // the value of the partition key attribute
	number    types.AttributeValue // the value of the shard attribute, if there is one

	bucketed bool // all items have a time, which is in the bucket
	timed    bool // items have to be compared with the query's range of time

	left  interval  // what to read
	skip  sortValue // has been returned already, if skips
	skips bool
	start Item // where the next page starts
	done  bool // there is no next page
	begun bool // there was a first page
	empty bool // the last page had no entries
	err   *ShardError

	buffer  []entry
	head    int // of buffer
	page    int // how many entries the last page had that had any
	emitted int

	hollow   bool      // the only entry of the buffer is a place in the order, the item is to be read again
	last     sortValue // of what was returned last, if returned
	returned bool

	stage    *stage
	round    int  // counts the requests; what an older one brings is no longer wanted
	fetching bool // a request is under way
	hedged   bool // a second one was sent
	flights  int  // how many of the two are under way
	since    time.Time
	asked    demand // of the last request
}

func (cu *cursor) buffered() int { return len(cu.buffer) - cu.head }

func (cu *cursor) first() *entry { return &cu.buffer[cu.head] }

func (cu *cursor) pop() entry {
	e := cu.buffer[cu.head]
	cu.buffer[cu.head] = entry{}
	cu.head++
	cu.last, cu.returned = e.sort, true
	return e
}

func (cu *cursor) push(entries []entry) {
	if cu.buffered() == 0 {
		cu.buffer, cu.head = entries, 0
		return
	}
	cu.buffer = append(cu.buffer[cu.head:], entries...)
	cu.head = 0
}

// cursors returns the cursors of a bucket's shards, or of the only ones without buckets: of a sample of them if the query
// asks for one.
func (r *reading) cursors(ctx context.Context, bucket time.Time) ([]*cursor, error) {
	c := r.core
	width, err := c.width(ctx, r.query.Key, bucket)
	if err != nil {
		return nil, err
	}
	cursors, err := r.cursorsOf(0, c.layout(width.Read), bucket)
	if err != nil {
		return nil, err
	}
	return r.sampled(cursors), nil
}

// olderCursors returns the cursors of the layouts that are read along.
func (r *reading) olderCursors() ([]*cursor, error) {
	var all []*cursor
	for i, layout := range r.core.options.Older {
		cursors, err := r.cursorsOf(i+1, layout, time.Time{})
		if err != nil {
			return nil, err
		}
		all = append(all, cursors...)
	}
	return without(all, nil), nil
}

func (r *reading) cursorsOf(source int, layout Layout, bucket time.Time) ([]*cursor, error) {
	cursors := make([]*cursor, max(layout.Shards, 1))
	for shard := range cursors {
		cu := &cursor{source: newOrdinal(source, shard), left: r.interval, bucketed: !bucket.IsZero(), timed: r.timedIn(bucket)}
		if r.core.options.ShardAttribute != "" && source == 0 {
			cu.shardKey = r.query.Key
			cu.partition, cu.number = r.key, &types.AttributeValueMemberN{Value: strconv.Itoa(shard)}
		} else {
			var err error
			if cu.shardKey, err = layout.shardKey(r.query.Key, bucket, shard); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrQuery, err)
			}
			cu.partition = &types.AttributeValueMemberS{Value: cu.shardKey}
		}
		cursors[shard] = cu
	}
	return cursors, nil
}

// without returns the older layouts' shards that are neither there twice nor, such as the bare key, among the layout's
// own: each is read once.
func without(older, own []*cursor) []*cursor {
	seen := make(map[string]bool, len(older)+len(own))
	for _, cu := range own {
		seen[cu.shardKey] = true
	}
	return slices.DeleteFunc(older, func(cu *cursor) bool {
		twice := seen[cu.shardKey]
		seen[cu.shardKey] = true
		return twice
	})
}

// resume makes a cursor go on behind a position, at which its shard was source. Of the items with the position's own sort
// key, those of shards that come first in the order have all been returned and those of shards that come later have not.
func (r *reading) resume(cu *cursor, source ordinal, p position) {
	reverse := r.query.Reverse
	passed := source < p.source
	if reverse {
		passed = source > p.source
	}
	same := source == p.source
	o := r.core.options
	switch {
	case o.SortKey == "" && o.Index == "":
		cu.done = passed || same // a shard is one item
	case o.Index == "":
		// The bound is closed, so that it can be a BETWEEN; a sort key is there once in a shard.
		cu.left = cu.left.from(p.sort, false, reverse)
		cu.skip, cu.skips = p.sort, passed || same
	case same:
		cu.start = r.startKey(cu, p.sort, attributes(o.TableKey, p.table))
		cu.last, cu.returned = p.sort, true
	case o.SortKey == "":
		cu.done = passed
	default:
		cu.left = cu.left.from(p.sort, passed, reverse)
	}
	cu.done = cu.done || cu.left.empty()
}

// startKey returns the key of an item as a place to go on behind it: the sort key and the table's own, if this is an
// index, in the cursor's shard. It keeps table.
func (r *reading) startKey(cu *cursor, sort sortValue, table Item) Item {
	o := r.core.options
	table[o.PartitionKey] = cu.partition
	if cu.number != nil {
		table[o.ShardAttribute] = cu.number
	}
	if o.SortKey != "" {
		table[o.SortKey] = sort.attribute()
	}
	return table
}

// fetched is what a cursor's request brought.
type fetched struct {
	entries []entry
	size    int  // of the entries
	start   Item // of the next page, if not done
	done    bool
	scanned int // items read for them
}

// fetch reads a page of at most as many items as asked for. All of them may be filtered out, so that a page without
// entries is not the end unless it is done.
func (r *reading) fetch(ctx context.Context, cu *cursor, start Item, items int) (fetched, error) {
	out, err := r.send(ctx, cu, r.input(cu, start, items))
	if err != nil {
		return fetched{}, err
	}
	if err := r.checkShape(cu, out); err != nil {
		return fetched{}, err
	}
	f := fetched{start: out.LastEvaluatedKey, done: len(out.LastEvaluatedKey) == 0, scanned: int(out.ScannedCount)}
	if err := r.take(cu, out.Items, &f); err != nil {
		return fetched{}, err
	}
	if err := r.checkProgress(cu, start, f.start); err != nil {
		return fetched{}, err
	}
	if !f.done && r.beyond(cu, f.start) {
		f.start, f.done = nil, true
	}
	return f, nil
}

// checkShape refuses what a table without a sort key cannot answer: a shard of more than one item.
func (r *reading) checkShape(cu *cursor, out *dynamodb.QueryOutput) error {
	o := &r.core.options
	if o.SortKey != "" || o.Index != "" || out.ScannedCount < 2 && len(out.LastEvaluatedKey) < 2 {
		return nil
	}
	return fmt.Errorf("%w: query %s shard %q has more than one item, so the table has a sort key: name it as SortKey", ErrOptions, o.Table, cu.shardKey)
}

// checkProgress refuses a page that ends where it starts: there would be no end.
func (r *reading) checkProgress(cu *cursor, start, next Item) error {
	if len(start) == 0 || len(next) == 0 || !sameItem(start, next) {
		return nil
	}
	return fmt.Errorf("query %s shard %q: a page ends where it starts", r.core.options.Table, cu.shardKey)
}

// beyond reports whether a page ends behind what is left to read, which the condition could not say. Its items may all
// have been filtered out, so only its end tells.
func (r *reading) beyond(cu *cursor, end Item) bool {
	sort, err := sortValueOf(end[r.core.options.SortKey])
	return err == nil && r.where(cu, sort) > 0
}

// where returns 0 if a sort key is in what a cursor has left to read, else whether it comes before that, -1, or behind, 1,
// in the query's direction.
func (r *reading) where(cu *cursor, sort sortValue) int {
	if r.query.Reverse {
		return -cu.left.compare(sort)
	}
	return cu.left.compare(sort)
}

// take turns the items of a page into entries, without those that are not asked for.
func (r *reading) take(cu *cursor, items []Item, f *fetched) error {
	sortKey := r.core.options.SortKey
	mortal, now := r.sortedByTTL(), time.Now()
	var page pageWeight
	defer func() {
		if !r.light {
			r.core.sizes.saw(page)
		}
	}()
	f.entries = make([]entry, 0, len(items))
	for _, item := range items {
		e := entry{item: item, size: page.add(item)}
		if sortKey != "" {
			var err error
			if e.sort, err = sortValueOf(item[sortKey]); err != nil {
				return fmt.Errorf("shard %q: sort key %s: %w", cu.shardKey, sortKey, err)
			}
			where := r.where(cu, e.sort)
			if where > 0 { // the condition could not say where to stop
				f.done, f.start = true, nil
				return nil
			}
			if where < 0 || cu.skips && e.sort == cu.skip {
				continue
			}
		}
		if mortal && r.core.expired(item, now) {
			continue
		}
		if cu.timed {
			in, err := r.inTime(cu, &e)
			if err != nil {
				return err
			}
			if !in {
				continue
			}
		}
		f.entries = append(f.entries, e)
		f.size += e.size
	}
	return nil
}

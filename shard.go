package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// found is an item that was read but not returned yet. The entry holds its sort key.
type found struct {
	item Item
	kind attr.Kind // of the sort key
	bad  error     // what is wrong with the item itself

	// In a movable collection.
	state   forward.State // of the item in its shard
	role    passage.Role  // of the shard
	dropped bool          // the caller's filter drops the item
}

// entry is a found item with its sort key and its size in memory.
type entry = gather.Entry[found]

// sortOf returns the sort key of an entry.
func sortOf(e entry) sortkey.Value { return sortkey.Value{Kind: e.Value.kind, Text: e.Sort} }

// shard is the part of one shard that a read has left. It adapts DynamoDB to package gather, which requests pages of
// entries: each page is one Query request. A shard does not change once reading has begun.
type shard struct {
	read      *reading
	ordinal   pagetoken.Ordinal
	key       string
	table     string               // that has the shard, if it is not that of the options
	partition types.AttributeValue // the value of the partition key attribute
	number    types.AttributeValue // the value of the shard attribute, if there is one

	cover *adapt.Cover // of the key's ledger; nil without ledgers

	bucket time.Time     // the start of the bucket, in which every item must have an event time; zero without buckets
	timed  bool          // items must be compared with From and To
	period layout.Bucket // of bucket, in a movable collection
	both   bool          // it has old and new homes of a movable collection

	left   sortkey.Interval // the sort keys to read
	skip   sortkey.Value    // the sort key of an item that was returned already, if skips is set
	skips  bool
	start  Item           // where the page starts, if not with the first item
	behind *sortkey.Value // the sort key of start's item, if a token says where to start
	done   bool           // nothing is left
}

// Fetch reads a page of at most n items. The filter may drop all of them, so a page without entries is not the end unless
// it has no Next.
func (s *shard) Fetch(ctx context.Context, n int) (gather.Page[found], error) {
	out, err := s.send(ctx, s.input(n))
	if err != nil {
		return gather.Page[found]{}, err
	}
	if err := s.checkShape(out); err != nil {
		return gather.Page[found]{}, err
	}
	page := gather.Page[found]{Scanned: int(out.ScannedCount)}
	end, err := s.take(out.Items, &page)
	if err != nil {
		return gather.Page[found]{}, err
	}
	if err := s.stamps(ctx, out.Items); err != nil {
		return gather.Page[found]{}, err
	}
	start := out.LastEvaluatedKey
	if err := s.checkProgress(start); err != nil {
		return gather.Page[found]{}, err
	}
	if !end && len(start) > 0 && !s.beyond(start) {
		page.Next = s.at(start)
	}
	return page, nil
}

// stamps compares the generations that items carry with the ledger, which is lost if it is older.
func (s *shard) stamps(ctx context.Context, items []Item) error {
	if s.cover == nil {
		return nil
	}
	newest := int64(0)
	for _, item := range items {
		newest = max(newest, place.StampOf(item))
	}
	return s.cover.Saw(ctx, s.ordinal.Shard(), newest)
}

// at returns the shard after a start key.
func (s *shard) at(start Item) *shard {
	next := *s
	next.start = start
	return &next
}

// From returns the shard from the sort key of an entry on.
func (s *shard) From(e entry) gather.Shard[found] {
	from := s.at(nil)
	if s.read.core.schema.SortKey != "" {
		from.left = s.left.From(sortOf(e), false, s.read.query.Reverse)
	}
	return from
}

// Behind returns the shard after an entry.
func (s *shard) Behind(e entry) gather.Shard[found] {
	table := make(Item, 4)
	for _, name := range s.read.core.schema.TableKey {
		table[name] = e.Value.item[name]
	}
	return s.at(s.startKey(sortOf(e), table))
}

// resume makes the shard continue after a position, at which the shard had this ordinal. Several shards may have items
// with the sort key of the position. Shards that come first in the order have returned theirs, and shards that come later
// have not.
func (s *shard) resume(ordinal pagetoken.Ordinal, p pagetoken.Position) {
	reverse := s.read.query.Reverse
	passed := ordinal < p.Ordinal
	if reverse {
		passed = ordinal > p.Ordinal
	}
	same := ordinal == p.Ordinal
	keys := &s.read.core.schema.Keys
	switch {
	case keys.SortKey == "" && keys.Index == "":
		s.done = passed || same // a shard is one item
	case keys.Index == "":
		// The bound is closed, so that it can be a BETWEEN; a sort key is there once in a shard.
		s.left = s.left.From(p.Sort, false, reverse)
		s.skip, s.skips = p.Sort, passed || same
	case same:
		s.start = s.startKey(p.Sort, sortkey.Attributes(keys.TableKey, p.Table))
		s.behind = &p.Sort
	case keys.SortKey == "":
		s.done = passed
	default:
		s.left = s.left.From(p.Sort, passed, reverse)
	}
	s.done = s.done || s.left.Empty()
}

// startKey returns the key of an item to start after, in this shard. For an index, it contains the sort key and the
// item's key in the table. It modifies and returns table.
func (s *shard) startKey(sort sortkey.Value, table Item) Item {
	keys := &s.read.core.schema.Keys
	table[keys.PartitionKey] = s.partition
	if s.number != nil {
		table[keys.ShardAttribute] = s.number
	}
	if keys.SortKey != "" {
		table[keys.SortKey] = sort.Attribute()
	}
	return table
}

// input returns the request for a page.
func (s *shard) input(limit int) *dynamodb.QueryInput {
	r, o := s.read, &s.read.core.options
	values := make(Item, len(r.values)+4)
	maps.Copy(values, r.values)
	condition := "#hs_pk = :hs_pk"
	values[":hs_pk"] = s.partition
	if s.number != nil {
		condition += " AND #hs_sh = :hs_sh"
		values[":hs_sh"] = s.number
	}
	names := r.names
	if sort := s.left.Condition(r.query.Reverse, values); sort != "" {
		condition += " AND " + sort
		names = r.namesWithSort()
	}
	in := &dynamodb.QueryInput{
		TableName:                 &o.Table,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
		FilterExpression:          r.filter,
		ProjectionExpression:      r.projection,
		ExclusiveStartKey:         s.start,
		ReturnConsumedCapacity:    r.meters.Wanted(),
	}
	if s.table != "" {
		in.TableName = &s.table
	}
	if limit > 0 {
		in.Limit = aws.Int32(int32(min(limit, 1<<30)))
	}
	if o.Index.Name != "" {
		in.IndexName = &o.Index.Name
	}
	if r.query.Reverse {
		in.ScanIndexForward = aws.Bool(false)
	}
	if r.query.Consistent || r.query.AtLeast > 0 {
		in.ConsistentRead = aws.Bool(true)
	}
	return in
}

// send sends a request, and retries it.
func (s *shard) send(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	r, c := s.read, s.read.core
	var out *dynamodb.QueryOutput
	query := &request{operation: "Query", Home: place.Home{ShardKey: s.key, Shard: s.ordinal.Shard()}, in: s.table}
	err := r.send(ctx, query, func(ctx context.Context, options ...func(*dynamodb.Options)) (err error) {
		out, err = c.sender.client.Query(ctx, in, options...)
		if dispatch.TooFast(err) {
			r.throttled.Store(true)
		}
		return err
	})
	if err != nil {
		if failed, ok := errors.AsType[*ShardError](err); ok {
			failed.Index = c.schema.Index
			if dispatch.Invalid(failed.Err) {
				failed.Err = fmt.Errorf("%w: %w", ErrQuery, failed.Err)
			}
		}
		return nil, err
	}
	meter.Read(ctx, int(out.ScannedCount), out.ConsumedCapacity)
	return out, nil
}

// take converts the items of a page to entries, without those that the query does not select. It reports whether the page
// reaches the end of what is left.
func (s *shard) take(items []Item, page *gather.Page[found]) (end bool, err error) {
	r := s.read
	sortKey := r.core.schema.SortKey
	mortal, now := r.sortedByTTL(), time.Now()
	page.Entries = make([]entry, 0, len(items))
	for _, item := range items {
		w := attribute.SizeOf(item)
		if !r.light {
			addSize(&page.Weight, w)
		}
		e := entry{Size: w.Total(), Value: found{item: item}}
		if sortKey != "" {
			sort, err := sortkey.Of(item[sortKey])
			if item[sortKey] == nil {
				return false, fmt.Errorf("%w: shard %q: an item has no attribute %q, which the collection has as its sort key: "+
					"name the sort key in Options.SortKey, or of an index in Options.Index.SortKey", ErrOptions, s.key, sortKey)
			}
			if err != nil {
				return false, fmt.Errorf("shard %q: sort key %s: %w", s.key, sortKey, err)
			}
			e.Sort, e.Value.kind = sort.Text, sort.Kind
			side := s.compare(sort)
			if side > 0 { // the condition could not say where to stop
				return true, nil
			}
			if side < 0 || s.skips && sort == s.skip {
				continue
			}
		}
		if r.course != nil {
			here, err := s.meet(&e, page)
			if err != nil {
				return false, err
			}
			if !here {
				continue
			}
		}
		if mortal && r.core.ttl.Expired(item, now) {
			continue
		}
		if s.timed && r.course == nil {
			in, err := s.inTime(&e.Value)
			if err != nil {
				return false, err
			}
			if !in {
				continue
			}
		}
		page.Entries = append(page.Entries, e)
		page.Size += e.Size
	}
	return false, nil
}

// meet takes what the shard has of an id. It reports false if that says nothing about any item.
func (s *shard) meet(e *entry, page *gather.Page[found]) (bool, error) {
	r, f := s.read, &e.Value
	f.role = r.course.Role(forward.Home(s.ordinal.Layout()), s.key, sortOf(*e).Written())
	slot, err := r.core.movable.table.Take(f.item)
	if err != nil {
		return false, err
	}
	f.state, f.item = slot.State, slot.Content
	if f.role == passage.NoHome && f.state == forward.Live && s.outside(sortOf(*e)) {
		r.outsider.CompareAndSwap(nil, &outsider{shelf{s.table, s.key}, sortOf(*e)})
		return false, nil
	}
	switch {
	case f.role == passage.OnlyHome && f.state == forward.Dead:
		return false, nil
	case f.role == passage.NoHome && f.state != forward.Live:
		return false, nil // left by a move from or to here
	case f.item == nil:
		page.Dropped++
		return true, nil
	}
	keeps := true
	if s.timed { // as a filter: only both homes together tell what an item is
		if keeps, err = s.inTime(f); err != nil {
			return false, err
		}
	}
	if r.sift != nil && keeps {
		if keeps, err = r.sift.Keeps(f.item); err != nil {
			return false, fmt.Errorf("query %s shard %q: %w", r.core.options.Table, s.key, err)
		}
	}
	if f.dropped = !keeps; f.dropped {
		page.Dropped++
		f.item = nil
		return true, nil
	}
	if r.sift != nil {
		f.item = r.sift.Project(f.item)
	}
	return true, nil
}

// outside reports whether the time of an id is not in the bucket of the shard.
func (s *shard) outside(sort sortkey.Value) bool {
	if s.bucket.IsZero() {
		return false
	}
	at, err := s.read.course.Clock.Ordered(sort.Written())
	return err != nil || !s.period.Start(at).Equal(s.bucket)
}

// inTime reports whether the item's time is in the query's range. If its time is invalid, or missing where every item
// must have one, the item is marked as bad and returned. An index without times ends the read.
func (s *shard) inTime(f *found) (bool, error) {
	o, q := &s.read.core.options, &s.read.query
	name := o.EventTime.Attribute
	_, null := f.item[name].(*types.AttributeValueMemberNULL)
	switch missing := f.item[name] == nil || null; {
	case missing && o.Index.Name != "":
		return false, fmt.Errorf("%w: query %s/%s shard %q: an item has no attribute %q to compare with From and To: "+
			"project the attribute into the index, give it to all items, or leave From and To out", ErrQuery, o.Table, o.Index.Name, s.key, name)
	case missing && s.bucket.IsZero():
		return false, nil
	}
	at, err := s.read.core.schema.EventTime.Of(f.item)
	if err != nil {
		f.bad = err
		return true, nil
	}
	return !at.Before(q.From) && at.Before(q.To), nil
}

// count counts all items that are left. DynamoDB transfers no item.
func (s *shard) count(ctx context.Context) (n int, err error) {
	for {
		in := s.input(0)
		in.Select = types.SelectCount
		out, err := s.send(ctx, in)
		if err != nil {
			return n, err
		}
		if err := s.checkShape(out); err != nil {
			return n, err
		}
		n += int(out.Count)
		if err := s.checkProgress(out.LastEvaluatedKey); err != nil {
			return n, err
		}
		if len(out.LastEvaluatedKey) == 0 {
			return n, nil
		}
		s = s.at(out.LastEvaluatedKey)
	}
}

// checkShape refuses a shard with more than one item in a table that has no sort key according to the options.
func (s *shard) checkShape(out *dynamodb.QueryOutput) error {
	o := &s.read.core.options
	if o.SortKey != "" || o.Index.Name != "" || out.ScannedCount < 2 && len(out.LastEvaluatedKey) < 2 {
		return nil
	}
	return fmt.Errorf("%w: query %s shard %q has more than one item, so the table has a sort key: name it as SortKey", ErrOptions, o.Table, s.key)
}

// checkProgress refuses a page that ends where it starts, because such a read would never end.
func (s *shard) checkProgress(next Item) error {
	if len(s.start) == 0 || len(next) == 0 || !attribute.Same(s.start, next) {
		return nil
	}
	return fmt.Errorf("query %s shard %q: DynamoDB returned a page that ends where it starts, so the read would never end", s.read.core.options.Table, s.key)
}

// beyond reports whether a page ends after the sort keys that are left, where the key condition could not stop it. The
// filter may have dropped all items, so only the end of the page shows that.
func (s *shard) beyond(end Item) bool {
	sort, err := sortkey.Of(end[s.read.core.schema.SortKey])
	return err == nil && s.compare(sort) > 0
}

// compare returns 0 if a sort key is among those that are left. In the query's direction, it returns -1 before them and 1
// after them.
func (s *shard) compare(sort sortkey.Value) int {
	if s.read.query.Reverse {
		return -s.left.Compare(sort)
	}
	return s.left.Compare(sort)
}

// addSize adds an item's size to that of its page.
func addSize(page *gather.Weight, s attribute.Size) {
	page.Entries++
	page.Bytes += s.Bytes
	page.Extra += s.Extra
	page.Largest = max(page.Largest, s.Total())
}

package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/sift"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/internal/version"
	"github.com/heatsink-go/heatsink/layout"
)

// reading is a Query that was checked, with everything that its requests have in common.
type reading struct {
	core      *core
	query     Query
	key       types.AttributeValue // the logical key, to put back into items
	interval  sortkey.Interval
	meters    *meter.List
	throttled atomic.Bool // some request was throttled

	names      map[string]string // without the sort key's
	sortNames  map[string]string // with it: see namesWithSort
	sortOnce   sync.Once
	values     Item
	filter     *string
	projection *string
	added      []string // attributes that only heatsink asked for
	light      bool     // items come without the caller's attributes, so their sizes do not represent other reads

	course *passage.Course // where items are, in a movable collection, else nil
	sift   *sift.Sift      // the filter and the projection, if this process evaluates them

	outsider atomic.Pointer[outsider] // the first item that was met in a wrong bucket
}

// prepare checks a query and converts it to a reading.
func (c *core) prepare(ctx context.Context, q Query) (*reading, error) {
	r := &reading{core: c, query: q, key: &types.AttributeValueMemberS{Value: q.Key}, meters: meter.Of(ctx)}
	if err := r.check(); err != nil {
		return nil, err
	}
	var err error
	if r.interval, err = q.Sort.interval(c.options.Encode); err != nil {
		return nil, err
	}
	r.copyPlaceholders()
	r.addFilter()
	if err := r.addProjection(); err != nil {
		return nil, err
	}
	return r, nil
}

// copyPlaceholders makes the caller's names and values part of all requests, and adds those of the key.
func (r *reading) copyPlaceholders() {
	schema := r.core.schema
	r.names = maps.Clone(r.query.Names)
	if r.names == nil {
		r.names = make(map[string]string, 4)
	}
	r.names["#hs_pk"] = schema.PartitionKey
	if schema.ShardAttribute != "" {
		r.names["#hs_sh"] = schema.ShardAttribute
	}
	r.values = maps.Clone(r.query.Values)
	if r.values == nil {
		r.values = make(Item, 4)
	}
}

func (r *reading) check() error {
	q, o := r.query, r.core.options
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrQuery}, args...)...)
	}
	switch {
	case q.Key == "":
		return wrong("Key is empty")
	case q.Limit < 0:
		return wrong("Limit is %d, want 0 or more", q.Limit)
	case q.Prefetch < 0:
		return wrong("Prefetch is %d, want 0 or more", q.Prefetch)
	case q.Sample < 0:
		return wrong("Sample is %d, want 0 or more", q.Sample)
	case q.Sample > 0 && len(o.Older) > 0:
		return wrong("Sample is %d, but the collection has Older layouts, whose shards hold an unknown part of the items: leave Sample out", q.Sample)
	case q.Sample > 0 && r.core.movable != nil:
		return wrong("Sample is %d, but the collection is Movable, so that an item may be in either of two shards: leave Sample out", q.Sample)
	case q.Sort.op != sortkey.Everything && o.Index.Name != "" && o.Index.SortKey == "":
		return wrong("Sort is set, but index %s has no sort key: leave Sort out, or name the sort key as Options.Index.SortKey", o.Index.Name)
	case q.Sort.op != sortkey.Everything && o.Index.Name == "" && o.SortKey == "":
		return wrong("Sort is set, but the collection has no SortKey: leave Sort out, or name the sort key as Options.SortKey")
	case q.Consistent && o.Index.Name != "":
		return wrong("Consistent is set, but an index such as %s has no strongly consistent reads: leave Consistent out", o.Index.Name)
	case layout.IsControl(q.Key):
		return wrong("Key %q is that of a control item: see Collection.Ledgers", q.Key)
	case q.AtLeast < 0:
		return wrong("AtLeast is %d, want 0 or more", q.AtLeast)
	case q.AtLeast > 0 && (o.Adaptive == nil || o.Index.Name != "" || o.Layout.Bucket != layout.NoBucket):
		return wrong("AtLeast is %d, but only a collection with Adaptive and without an Index and buckets has one generation for a key: leave AtLeast out", q.AtLeast)
	case q.From.IsZero() != q.To.IsZero():
		return wrong("only one of From and To is set, want both or none")
	case q.From.IsZero() && o.Layout.Bucket != layout.NoBucket:
		return wrong("From and To are not set, but the layout has a bucket for every %v: set both", o.Layout.Bucket)
	case !q.From.IsZero() && o.EventTime.Attribute == "":
		return wrong("From and To are set, but the collection has no EventTime to compare them with: name Options.EventTime, or leave them out")
	case q.To.Before(q.From):
		return wrong("To is %v, want a time that is not before From, %v", q.To, q.From)
	case o.Layout.Bucket.Count(q.From, q.To) > layout.MaxShardKeys:
		return wrong("%w: there are more than %d buckets from %v to %v: shorten From to To, or read in steps", ErrTooManyRequests, layout.MaxShardKeys, q.From, q.To)
	}
	if q.From.Before(q.To) { // before the buckets between are read
		for name, at := range map[string]time.Time{"From": q.From, "To": q.To.Add(-1)} {
			if _, err := o.Layout.Bucket.Text(at); err != nil {
				return wrong("%s: %w", name, err)
			}
		}
	}
	if !compose.Balanced(q.Filter) {
		return wrong("Filter %q has unbalanced parentheses", q.Filter)
	}
	for _, expression := range []string{q.Filter, q.Projection} {
		if strings.Contains(expression, "#"+compose.Placeholder) || strings.Contains(expression, ":"+compose.Placeholder) {
			return wrong("%q has a name that begins with %s, which heatsink reserves: use another name", expression, compose.Placeholder)
		}
	}
	if err := compose.CheckPlaceholders(q.Names, q.Values); err != nil {
		return wrong("%w", err)
	}
	return nil
}

// addFilter adds a filter for items that have not expired and were not deleted.
func (r *reading) addFilter() {
	c := r.core
	var parts []string
	if c.options.TTL != "" && !r.query.IncludeExpired && !r.sortedByTTL() {
		c.ttl.AddAlive(r.names, r.values)
		parts = append(parts, expiry.Alive)
	}
	if c.options.Version != "" && c.schema.Index == "" { // no index lists tombstones
		c.versions.AddUnburied(r.names, r.values)
		parts = append(parts, version.Unburied)
	}
	switch filter := r.query.Filter; {
	case filter == "" && len(parts) == 0:
		return
	case filter != "" && len(parts) == 0:
		parts = append(parts, filter)
	case filter != "":
		parts = slices.Insert(parts, 0, compose.Group(filter))
	}
	filter := strings.Join(parts, " AND ")
	r.filter = &filter
}

// sortedByTTL reports whether the sort key is the time to live. A filter cannot name a key attribute, so shard.take
// leaves out expired items.
func (r *reading) sortedByTTL() bool {
	ttl := r.core.options.TTL
	return ttl != "" && ttl == r.core.schema.SortKey && !r.query.IncludeExpired
}

// addProjection adds the attributes that the merge needs to the caller's projection.
func (r *reading) addProjection() error {
	if r.query.Projection == "" {
		return nil
	}
	asked := compose.TopLevel(r.query.Projection, r.query.Names)
	needed := r.needed()
	if err := checkParts(r.query.Projection, r.query.Names, needed); err != nil {
		return err
	}
	projection := r.query.Projection
	for _, name := range needed {
		if !slices.Contains(asked, name) && !slices.Contains(r.added, name) {
			projection += ", " + r.add(name)
		}
	}
	r.projection = &projection
	return nil
}

// checkParts refuses a projection of only a part of an attribute that the read needs.
func checkParts(projection string, names map[string]string, needed []string) error {
	if path, whole, ok := compose.PartOf(projection, names, needed); ok {
		return fmt.Errorf("%w: Projection has %q, a part of %q, but the read needs the whole attribute: project all of it", ErrQuery, path, whole)
	}
	return nil
}

// projectKeys projects only the attributes that the merge needs, for reads that do not return items.
func (r *reading) projectKeys() {
	needed := r.needed()
	if len(needed) == 0 {
		needed = append(needed, r.core.schema.PartitionKey)
	}
	var aliases []string
	for _, name := range needed {
		if !slices.Contains(r.added, name) {
			aliases = append(aliases, r.add(name))
		}
	}
	projection := strings.Join(aliases, ", ")
	r.projection, r.light = &projection, true
}

// needed returns the attributes that the merge needs.
func (r *reading) needed() []string {
	s := r.core.schema
	needed := slices.Clone(s.TableKey)
	if s.SortKey != "" {
		needed = append(needed, s.SortKey)
	}
	if r.timed() {
		needed = append(needed, s.EventTime.Attribute)
	}
	if s.Stamped {
		needed = append(needed, ledger.StampName)
	}
	if r.course != nil {
		needed = append(needed, express.Marks()[:2]...)
	}
	return needed
}

// add returns a placeholder for an attribute that only heatsink asks for.
func (r *reading) add(name string) string {
	alias := "#hs_p" + strconv.Itoa(len(r.added))
	r.names[alias] = name
	r.added = append(r.added, name)
	return alias
}

// timed reports whether some items must be compared with From and To one by one.
func (r *reading) timed() bool {
	q, o := r.query, r.core.options
	if q.From.IsZero() {
		return false
	}
	b := o.Layout.Bucket
	return b == layout.NoBucket || len(o.Older) > 0 || !b.Start(q.From).Equal(q.From) || !b.Start(q.To).Equal(q.To)
}

// namesWithSort returns the names including that of the sort key, for requests that refer to it. DynamoDB refuses unused
// names. The map is made when the first request needs it.
func (r *reading) namesWithSort() map[string]string {
	r.sortOnce.Do(func() {
		r.sortNames = maps.Clone(r.names)
		r.sortNames[sortkey.Name] = r.core.schema.SortKey
	})
	return r.sortNames
}

// checked returns a reading of a movable collection that knows no course yet.
func (c *core) checked(ctx context.Context, q Query) (*reading, error) {
	r := &reading{core: c, query: q, key: &types.AttributeValueMemberS{Value: q.Key}, meters: meter.Of(ctx)}
	if err := r.check(); err != nil {
		return nil, err
	}
	err := c.movable.table.CheckQuery(&dynamodb.QueryInput{
		FilterExpression: &q.Filter, ProjectionExpression: &q.Projection,
		ExpressionAttributeNames: q.Names, ExpressionAttributeValues: q.Values,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	r.interval, err = q.Sort.interval(c.options.Encode)
	return r, err
}

// along returns a reading along a course. A light one returns items without the caller's attributes.
//
// Where all items have one home, DynamoDB evaluates the filter and the projection. It also returns what has moved on, because that
// shows that the course is out of date. Where an item may have two homes, each of them counts whatever the filter says of it: only both
// together tell what the item is. So this process evaluates the filter and the projection.
func (r *reading) along(c *passage.Course, light bool) (*reading, error) {
	q := r.query
	to := &reading{core: r.core, query: q, key: r.key, interval: r.interval, meters: r.meters, course: c}
	if err := checkParts(q.Projection, q.Names, to.needed()); err != nil {
		return nil, err
	}
	if c.Phase != forward.Settled {
		return to, to.siftHere(light)
	}
	to.copyPlaceholders()
	if q.Filter != "" {
		to.names["#hs_f"] = express.Marks()[0]
		filter := compose.Group(q.Filter) + " OR attribute_exists(#hs_f)"
		to.filter = &filter
	}
	if light {
		to.projectKeys()
		return to, nil
	}
	return to, to.addProjection()
}

// siftHere makes this process evaluate the filter and the projection. Requests ask for the attributes that it needs.
func (r *reading) siftHere(light bool) error {
	var err error
	if r.sift, err = r.newSift(light); err != nil {
		return err
	}
	r.names, r.values, r.light = map[string]string{"#hs_pk": r.core.schema.PartitionKey}, Item{}, light
	wanted := r.sift.Needs()
	if wanted == nil {
		return nil
	}
	for _, name := range r.needed() {
		if !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	aliases := make([]string, len(wanted))
	for i, name := range wanted {
		aliases[i] = r.add(name)
	}
	r.added = nil // the projection leaves them out
	projection := strings.Join(aliases, ", ")
	r.projection = &projection
	return nil
}

// newSift returns the filter and the projection. A light reading projects the sort key alone.
func (r *reading) newSift(light bool) (*sift.Sift, error) {
	q, schema := &r.query, r.core.schema
	names, projection := q.Names, q.Projection
	if light {
		names, projection = maps.Clone(q.Names), "#hs_sk"
		if names == nil {
			names = make(map[string]string, 1)
		}
		names[projection] = schema.SortKey
	}
	parsed, err := sift.New(q.Filter, projection, names, q.Values)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	for _, name := range []string{schema.PartitionKey, schema.SortKey} {
		if parsed.Filters(name) {
			return nil, fmt.Errorf("%w: Filter %q names the key attribute %q, but DynamoDB filters by other attributes only: restrict Sort instead", ErrQuery, q.Filter, name)
		}
	}
	return parsed, nil
}

// send sends a request of the read, and retries it. In a movable collection each attempt is bound by the lease on the generation that the
// read knows. The error is a *ShardError, or errMoved, or says why nothing is known of the record.
func (r *reading) send(ctx context.Context, what *request, once func(context.Context, ...func(*dynamodb.Options)) error) error {
	sender := r.core.sender
	if r.course == nil {
		return sender.read(ctx, what, func(ctx context.Context, _ int) error { return once(ctx, dispatch.Once) })
	}
	var stop error
	err := sender.read(ctx, what, func(ctx context.Context, _ int) (err error) {
		if stop, err = r.leased(ctx, once); stop != nil {
			return &dispatch.RejectedError{Err: stop}
		}
		return err
	})
	if stop != nil {
		return stop
	}
	return err
}

// leased makes one attempt of a request within a lease. If it was not made, stop says why.
func (r *reading) leased(ctx context.Context, once func(context.Context, ...func(*dynamodb.Options)) error) (stop, err error) {
	view, stop := r.core.movable.book.View(ctx)
	for range 3 {
		if stop != nil {
			return stop, nil
		}
		if view.Record.Generation != r.course.Generation {
			return errMoved, nil
		}
		if err = once(ctx, dispatch.Once, view.Lease().Bind); !errors.Is(err, lease.ErrOver) {
			return nil, err
		}
		view, stop = r.core.movable.book.Renew(ctx, view) // the clocks of this machine disagree
	}
	return fmt.Errorf("query %s key %q: each lease on the record of the move is over as soon as it is read: check this machine's clock: %w",
		r.core.options.Table, r.query.Key, err), nil
}

// row is an item that a read returns, with what names it in a DecodeError.
type row struct {
	read  *reading
	item  Item
	sort  sortkey.Value
	table Item  // the item's key in the table, if this is an index and the projection lacks the key
	bad   error // what is wrong with the item itself
}

// row converts an entry to the item that the caller put, with the attributes that the caller asked for.
func (r *reading) row(e entry) row {
	w := row{read: r, sort: sortOf(e), bad: e.Value.bad, item: e.Value.item}
	if len(r.added) > 0 && r.core.schema.Index != "" {
		w.table = attribute.Pick(w.item, r.core.schema.TableKey)
	}
	r.core.schema.Restore(w.item, r.key)
	for _, name := range r.added {
		delete(w.item, name)
	}
	return w
}

// key returns the known key attributes of the row, with the logical partition key.
func (w row) key() Item {
	keys := &w.read.core.schema.Keys
	key := attribute.Pick(w.item, keys.TableKey)
	maps.Copy(key, w.table)
	key[keys.PartitionKey] = w.read.key
	if keys.SortKey != "" {
		key[keys.SortKey] = w.sort.Attribute()
	}
	return key
}

// decodeRow returns a row as a T. Its error is a *DecodeError.
func decodeRow[T any](w row) (T, error) {
	if w.bad != nil {
		var none T
		return none, &DecodeError{Key: w.key(), Item: w.item, Err: w.bad}
	}
	v, err := decode[T](w.read.core.options.Decode, w.item)
	if failed, ok := err.(*DecodeError); ok {
		failed.Key = w.key()
	}
	return v, err
}

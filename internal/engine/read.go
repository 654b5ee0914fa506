package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// maxPageBytes is how much of a table one Query or Scan evaluates: the item that
// reaches it is the page's last.
const maxPageBytes = 1 << 20

// read is a Query or Scan on its way: what was asked for, the range of keys it
// comes to, and the page as far as it has been read.
type read struct {
	in         *ReadInput
	key        *expr.KeyCondition // Query
	terms      expr.KeyTerms      // that it consists of
	filter     *expr.Condition
	projection *expr.Projection

	statement bool // of PartiQL: its filter may be about the key

	table *table
	index *index // nil: the table itself
	fetch bool   // a local index lacks attributes asked for: the item itself is read

	within  store.Range
	reverse bool

	out     ReadOutput
	bytes   int    // evaluated
	first   []byte // key of the first item evaluated, and of the last; with physics
	last    []byte
	fetched bill

	fetchedBytes int
}

// Query returns items of one collection in the order of their sort key.
func (e *Engine) Query(ctx context.Context, in *ReadInput) (*ReadOutput, error) {
	var c constraints
	if in.Limit != nil && *in.Limit < 1 {
		// The one constraint that is worded differently for Query.
		return nil, invalid("1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")
	}
	if err := in.constrain(&c, withoutQuery); err != nil {
		return nil, err
	}
	r := &read{in: in, reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward}
	if err := cmp.Or(r.parseFilter(), r.parseProjection(), asError(in.BadStart)); err != nil {
		return nil, err
	}
	if in.KeyCondition == nil && (in.Legacy == nil || in.Legacy.KeyConditions == nil) {
		return nil, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if err := r.parse(withoutQuery); err != nil {
		return nil, err
	}
	if err := r.parseKey(); err != nil {
		return nil, err
	}
	if err := r.checkSelect(); err != nil {
		return nil, invalid("1 validation error detected: %s", err.Message) // no Scan says so
	}
	var err error
	if r.terms, err = r.key.Terms(); err != nil {
		return nil, asError(err)
	}
	return e.read(ctx, r, (*read).boundQuery)
}

// Scan returns items of a whole table or index, or of a segment of it.
func (e *Engine) Scan(ctx context.Context, in *ReadInput) (*ReadOutput, error) {
	var c constraints
	c.atLeast("limit", in.Limit, 1)
	c.atLeast("totalSegments", in.TotalSegments, 1)
	c.atMost("totalSegments", in.TotalSegments, 1_000_000)
	c.atLeast("segment", in.Segment, 0)
	c.atMost("segment", in.Segment, 999_999)
	if err := in.constrain(&c, withoutScan); err != nil {
		return nil, err
	}
	r := &read{in: in}
	if err := cmp.Or(r.parseProjection(), r.parseFilter(), asError(in.BadStart), in.checkSegment()); err != nil {
		return nil, err
	}
	if err := r.parse(withoutScan); err != nil {
		return nil, err
	}
	if err := r.checkSelect(); err != nil {
		return nil, err
	}
	return e.read(ctx, r, (*read).boundScan)
}

func (in *ReadInput) checkSegment() error {
	switch {
	case in.Segment != nil && in.TotalSegments == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment parameter is present")
	case in.Segment == nil && in.TotalSegments != nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter TotalSegments is present")
	case in.Segment != nil && *in.Segment >= *in.TotalSegments:
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: %d is not less than TotalSegments: %d",
			*in.Segment, *in.TotalSegments)
	}
	return nil
}

// What is said of values without an expression that could use them.
const (
	withoutQuery = "FilterExpression and KeyConditionExpression are null"
	withoutScan  = "FilterExpression is null"
)

func (in *ReadInput) constrain(c *constraints, without string) error {
	c.tableName(in.TableName)
	c.indexName(in.IndexName)
	c.enum("select", in.Select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	c.consumedCapacity(in.ConsumedCapacity)
	c.legacy(in.Legacy, "")
	if err := c.err(); err != nil {
		return err
	}
	if err := in.check(&in.Expressions); err != nil {
		return err
	}
	return cmp.Or(in.checkReferred(without), in.Legacy.checkOperator(in.BadValue))
}

// parse reads the expressions, that of the key first.
func (r *read) parse(withoutExpressions string) error {
	x := &r.in.Expressions
	if r.in.BadValue != nil {
		return asError(r.in.BadValue)
	}
	scope, err := x.scope(withoutExpressions)
	if err != nil {
		return err
	}
	if x.KeyCondition != nil {
		if r.key, err = expr.ParseKeyCondition(*x.KeyCondition, scope); err != nil {
			return asError(err)
		}
	}
	if x.Filter != nil {
		if r.filter, err = expr.ParseCondition(expr.FilterExpression, *x.Filter, scope); err != nil {
			return asError(err)
		}
	}
	if x.Projection != nil {
		if r.projection, err = expr.ParseProjection(*x.Projection, scope); err != nil {
			return asError(err)
		}
	}
	return asError(scope.Unused())
}

// parseFilter, parseProjection and parseKey do the same for the parameters that
// expressions replaced.
func (r *read) parseFilter() (err error) {
	l := r.in.Legacy
	if l == nil {
		return nil
	}
	filter := l.QueryFilter
	if filter == nil {
		filter = l.ScanFilter
	}
	if filter != nil && r.in.BadValue != nil {
		return asError(r.in.BadValue)
	}
	r.filter, err = l.condition(filter)
	return err
}

func (r *read) parseProjection() (err error) {
	r.projection, err = r.in.Legacy.projection()
	return err
}

func (r *read) parseKey() (err error) {
	if r.key != nil {
		return nil
	}
	if r.in.BadKey != nil {
		return asError(r.in.BadKey)
	}
	r.key, err = r.in.Legacy.keyCondition()
	return err
}

// checkSelect checks Select against the request's other parameters.
func (r *read) checkSelect() *Error {
	switch in := r.in; {
	case in.Select == "ALL_PROJECTED_ATTRIBUTES" && in.IndexName == nil && r.projection == nil:
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName") // says a Scan, too
	case in.Select == "SPECIFIC_ATTRIBUTES" && r.projection == nil:
		return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case r.projection == nil:
	case in.Select == "COUNT":
		return invalid("Cannot specify the %s when choosing to get only the Count", in.projectedBy())
	case in.Select == "ALL_ATTRIBUTES" || in.Select == "ALL_PROJECTED_ATTRIBUTES":
		return invalid("Cannot specify the %s when choosing to get %s", in.projectedBy(), in.Select)
	}
	return nil
}

// projectedBy names the parameter that says which attributes are wanted.
func (in *ReadInput) projectedBy() string {
	if in.Projection == nil {
		return "AttributesToGet"
	}
	return "ProjectionExpression"
}

// read reads a page, in memory that is borrowed.
func (e *Engine) read(ctx context.Context, r *read, bound func(*read) error) (*ReadOutput, error) {
	t, err := e.openTable(ctx, nameOf(*r.in.TableName))
	if err != nil {
		return nil, err
	}
	defer t.release()
	r.out.borrow()
	out, err := e.readTable(ctx, t, r, bound)
	if err != nil {
		r.out.Release()
	}
	return out, err
}

// readTable reads a page of a table that is held.
func (e *Engine) readTable(ctx context.Context, t *table, r *read, bound func(*read) error) (*ReadOutput, error) {
	r.table = t
	if err := r.findIndex(); err != nil {
		return nil, err
	}
	if err := bound(r); err != nil {
		return nil, err
	}
	if r.projection != nil {
		if err := t.checkPaths(r.projection.TopLevelAttributes()); err != nil {
			return nil, err
		}
	}
	if err := r.checkFilterKeys(); err != nil {
		return nil, err
	}
	if err := r.checkAll(); err != nil {
		return nil, err
	}
	if r.filter != nil {
		if err := t.checkPaths(r.filter.TopLevelAttributes()); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(r.checkFilter(), r.bindIndex()); err != nil {
		return nil, err
	}
	if throttle := e.admitPage(ctx, r); throttle != nil {
		return nil, throttled(throttle)
	}
	if bytes.Compare(r.within.Lower, r.within.Upper) < 0 {
		if err := e.readPage(ctx, r); err != nil {
			return nil, err
		}
	}
	e.settlePage(ctx, r, r.finish())
	if r.in.ConsistentRead {
		if err := e.store.AwaitDurable(); err != nil {
			return nil, err
		}
	}
	return &r.out, nil
}

// findIndex finds the index that the request names.
func (r *read) findIndex() error {
	if r.in.IndexName == nil {
		return nil
	}
	t, name := r.table, *r.in.IndexName
	switch x := t.known(name); {
	case x == nil, x == t.idle && t.record.Work.Removing:
		return invalid("The table does not have the specified index: %s", name)
	case x == t.idle, x.filling:
		return invalid("Cannot read from backfilling global secondary index: %s", name)
	default:
		r.index = x
	}
	if r.in.ConsistentRead && !r.index.local {
		return invalid("Consistent reads are not supported on global secondary indexes")
	}
	return nil
}

// checkAll checks that the index has all attributes, if they are asked for.
func (r *read) checkAll() error {
	if x := r.index; x != nil && !x.local && r.in.Select == "ALL_ATTRIBUTES" && !x.all {
		return invalidParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", x.name)
	}
	return nil
}

// bindIndex checks the request against the index it names.
func (r *read) bindIndex() error {
	x := r.index
	if x == nil {
		return nil
	}
	var wanted []string // that the index does not have
	if r.projection != nil {
		wanted = x.lacks(r.projection.TopLevelAttributes())
	}
	if x.local {
		r.fetch = len(wanted) > 0 || r.in.Select == "ALL_ATTRIBUTES" && !x.all
		return nil
	}
	if len(wanted) > 0 {
		return invalidParameter("Global secondary index %s does not project [%s]", x.name, strings.Join(wanted, ", "))
	}
	return nil
}

// setOrder puts up to a dozen names into the order in which a Java HashSet has
// them, which is how DynamoDB lists them.
func setOrder(names []string) []string {
	bucket := func(name string) int {
		var hash uint32
		for i := range len(name) {
			hash = 31*hash + uint32(name[i])
		}
		return int((hash ^ hash>>16) % 16)
	}
	slices.SortStableFunc(names, func(a, b string) int { return bucket(a) - bucket(b) })
	return names
}

// keys is the key schema of what is read.
func (r *read) keys() keySchema {
	if r.index != nil {
		return r.index.keys
	}
	return r.table.keys
}

// prefix is what all keys of what is read start with.
func (r *read) prefix() []byte {
	return store.AppendIndex(make([]byte, 0, 96), r.table.record.ID, r.indexID())
}

// indexID is the number of the index that is read.
func (r *read) indexID() uint16 {
	if r.index != nil {
		return r.index.id
	}
	return store.BaseIndex
}

// position returns the attributes that make up an item's position.
func (r *read) position(it attr.Item) attr.Item {
	if r.index != nil {
		return r.index.positionKeys(it)
	}
	return r.table.keys.of(it)
}

// boundQuery turns the key condition into a range of keys.
func (r *read) boundQuery() error {
	hash, sort, err := r.match()
	if err != nil {
		return err
	}
	for _, t := range slices.Concat(hash, sort) {
		for _, v := range [...]attr.Value{t.Value, t.Upper} {
			if empty := emptyKey(v); empty != "" {
				return errEmptyKey(empty, t.Name)
			}
		}
	}
	if err := r.checkTermSizes(hash, sort); err != nil {
		return err
	}
	r.within = r.rangeOf(hash, sort)
	return r.resume()
}

// checkTermSizes checks that the conditions of a Query name no key that is too large to exist. A statement
// that names one finds nothing.
func (r *read) checkTermSizes(hash, sort expr.KeyTerms) error {
	if r.statement {
		return nil
	}
	size := func(terms expr.KeyTerms) (n int) {
		for _, t := range terms {
			n += max(t.Value.Size(), t.Upper.Size())
		}
		return n
	}
	return checkSizes(size(hash), size(sort))
}

// match assigns conditions to the key. A start is checked on the way: of each
// attribute it comes first.
func (r *read) match() (hash, sort expr.KeyTerms, err error) {
	keys := r.keys()
	hash, sort, err = r.terms.Match(keys.hash, keys.sort)
	if !r.in.HasStartKey {
		return hash, sort, asError(err)
	}
	part, start := r.checkStart(r.in.ExclusiveStartKey)
	matched := 0
	if len(hash) > 0 {
		matched = len(keys.hash)
	}
	if err != nil && (start == nil || part > matched) {
		return nil, nil, asError(err)
	}
	return hash, sort, start
}

// checkFilter checks that the index of a Query has what the filter is about.
func (r *read) checkFilter() error {
	if r.key == nil || r.index == nil || r.filter == nil {
		return nil
	}
	if lacking := r.index.lacks(r.filter.TopLevelAttributes()); len(lacking) > 0 {
		return invalidParameter("Secondary index %s does not project one or more filter attributes: [%s]", r.index.name, strings.Join(setOrder(lacking), ", "))
	}
	return nil
}

// rangeOf is the range of keys that conditions on the key attributes leave.
func (r *read) rangeOf(hash, sort expr.KeyTerms) store.Range {
	var collection []attr.Field
	for _, t := range hash {
		collection = append(collection, attr.Field{Name: t.Name, Value: t.Value})
	}
	prefix := appendHash(r.prefix(), r.keys().hash, attr.NewItem(collection...))
	within := store.Range{Lower: prefix, Upper: store.After(prefix)}
	for _, t := range sort {
		within = bound(prefix, t)
		prefix = within.Lower // of equalities; only the last may be another
	}
	return within
}

// checkFilterKeys checks that the filter of a Query leaves the key alone.
func (r *read) checkFilterKeys() error {
	if r.key == nil || r.filter == nil || r.statement {
		return nil
	}
	parameter := "Filter Expression"
	if r.in.Filter == nil {
		parameter = "QueryFilter"
	}
	filtered := maps.Collect(r.filter.TopLevelAttributes())
	for _, p := range r.keys().parts {
		if _, ok := filtered[p.Name]; ok {
			return invalid("%s can only contain non-primary key attributes: Primary key attribute: %s", parameter, p.Name)
		}
	}
	return nil
}

// bound is the range of the keys under prefix that a sort key's condition
// selects.
func bound(prefix []byte, t expr.KeyTerm) store.Range {
	at := attr.AppendKey(bytes.Clone(prefix), t.Value)
	after := store.After(at)
	all := store.Range{Lower: prefix, Upper: store.After(prefix)}
	switch t.Op {
	case expr.Equal:
		return store.Range{Lower: at, Upper: after}
	case expr.Less:
		return store.Range{Lower: all.Lower, Upper: at}
	case expr.LessOrEqual:
		return store.Range{Lower: all.Lower, Upper: after}
	case expr.Greater:
		return store.Range{Lower: after, Upper: all.Upper}
	case expr.GreaterOrEqual:
		return store.Range{Lower: at, Upper: all.Upper}
	case expr.Between:
		return store.Range{Lower: at, Upper: store.After(attr.AppendKey(bytes.Clone(prefix), t.Upper))}
	default: // BeginsWith
		begin := attr.AppendKeyPrefix(bytes.Clone(prefix), t.Value.Str)
		return store.Range{Lower: begin, Upper: store.After(begin)}
	}
}

// boundScan is the range of a segment: an even share of the hashes.
func (r *read) boundScan() error {
	if r.in.HasStartKey {
		part, err := r.checkStart(r.in.ExclusiveStartKey)
		if err != nil && part >= len(r.keys().parts) { // the table's key comes later than that of an index
			err = cmp.Or(r.checkAll(), err)
		}
		if err != nil {
			return err
		}
	}
	prefix := r.prefix()
	r.within = store.Range{Lower: prefix, Upper: store.After(prefix)}
	if r.in.Segment != nil {
		segment, total := uint64(*r.in.Segment), uint64(*r.in.TotalSegments)
		r.within.Lower = binary.BigEndian.AppendUint64(bytes.Clone(prefix), share(segment, total))
		if segment+1 < total {
			r.within.Upper = binary.BigEndian.AppendUint64(bytes.Clone(prefix), share(segment+1, total))
		}
	}
	return r.resume()
}

// share returns part/whole of all 64-bit hashes, rounded up.
func share(part, whole uint64) uint64 {
	quotient, remainder := bits.Div64(part, 0, whole)
	if remainder > 0 {
		quotient++
	}
	return quotient
}

// resume cuts what lies before ExclusiveStartKey off the range.
func (r *read) resume() error {
	if !r.in.HasStartKey {
		return nil
	}
	start := r.in.ExclusiveStartKey
	at := r.keyOf(start)
	if !inRange(at, r.within) {
		return r.errOutside(start)
	}
	if r.reverse {
		r.within.Upper = at
	} else {
		r.within.Lower = append(at, 0)
	}
	return nil
}

// keyOf is where an item lies in what is read.
func (r *read) keyOf(it attr.Item) []byte {
	if r.index != nil {
		return r.index.entryKey(it)
	}
	return r.table.itemKey(it)
}

func inRange(key []byte, in store.Range) bool {
	return bytes.Compare(key, in.Lower) >= 0 && bytes.Compare(key, in.Upper) < 0
}

// errOutside is the error of a start that is not among what is read.
func (r *read) errOutside(start attr.Item) error {
	if r.key == nil {
		return invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
			*r.in.TotalSegments, *r.in.Segment)
	}
	if keys := r.keys(); len(keys.parts) == 2 && len(r.terms) == 2 {
		moved := slices.Clone(start) // into the collection that is read
		for i := range moved {
			if moved[i].Name == keys.hash[0].Name {
				moved[i].Value = r.terms[slices.IndexFunc(r.terms, func(t expr.KeyTerm) bool { return t.Name == moved[i].Name })].Value
			}
		}
		if !inRange(r.keyOf(moved), r.within) {
			return invalid("The provided starting key does not match the range key predicate")
		}
		return invalid("The query can return at most one row and cannot be restarted")
	}
	return invalid("The provided starting key is outside query boundaries based on provided conditions")
}

// checkStart checks a start. part is how many key attributes of what is read it has rightly.
func (r *read) checkStart(start attr.Item) (part int, err error) {
	parts := slices.Clone(r.keys().parts) // of what is read, then of the table
	for _, p := range r.table.keys.parts {
		if !r.keys().has(p.Name) {
			parts = append(parts, p)
		}
	}
	if part, err := r.matchStart(start, parts); err != nil {
		return part, err
	}
	for _, f := range start {
		if empty := emptyKey(f.Value); empty != "" {
			return len(parts), errEmptyKey(empty, f.Name)
		}
	}
	if r.single() {
		return len(parts), invalid("The provided exclusive start key is invalid: ExclusiveStartKey: {%s=%s}", start[0].Name, expr.Describe(&start[0].Value))
	}
	return len(parts), nil
}

// single reports whether there is one item at most to be read, and so nothing to
// go on with.
func (r *read) single() bool { return r.key != nil && r.index == nil && len(r.table.keys.sort) == 0 }

// matchStart checks that a start has the attributes that it must have, of their
// kinds, and no others.
func (r *read) matchStart(start attr.Item, parts []expr.KeyPart) (part int, err error) {
	const invalidStart = "The provided starting key is invalid"
	errMismatch := func() error { return invalid(invalidStart + ": The provided key element does not match the schema") }
	ofTable := r.key == nil && r.index == nil // a Scan of a table has words of its own
	if len(start) != len(parts) {
		if ofTable {
			return -1, errMismatch()
		}
		return -1, invalid(invalidStart)
	}
	for i, p := range parts {
		switch kind := start.Get(p.Name).Kind; {
		case kind == p.Kind:
		case ofTable || !r.keys().has(p.Name):
			return i, errMismatch()
		case kind == attr.Invalid:
			return i, invalid(invalidStart)
		default:
			return i, errKeySchema()
		}
	}
	return len(parts), nil
}

// readPage walks the range until the page is full or the range ends.
func (e *Engine) readPage(ctx context.Context, r *read) (err error) {
	view := e.store.View
	var m *moment
	if e.past != nil && !r.in.ConsistentRead {
		since := r.table.whole // before that it was half a table
		if r.index != nil && r.index.whole.After(since) {
			since = r.index.whole
		}
		view, m = e.past.look(view, since)
		defer func() { err = errors.Join(err, e.past.looked(m)) }()
	}
	if r.fetch && m == nil {
		snapshot := e.store.Snapshot() // index and items as of one moment
		defer func() { err = errors.Join(err, snapshot.Close()) }()
		view = snapshot.View
	}
	it, err := view.Read(r.within)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	move, ok := it.Next, false
	if r.reverse {
		move, ok = it.Prev, it.Last()
	} else {
		ok = it.First()
	}
	for ; ok && err == nil; ok = move() {
		if r.out.ScannedCount%256 == 255 && ctx.Err() != nil {
			err = ctx.Err()
			break
		}
		if e.account != nil {
			if r.first == nil {
				r.first = bytes.Clone(it.Key())
			}
			r.last = append(r.last[:0], it.Key()...)
		}
		var full bool
		if full, err = r.take(view, it.Value()); full {
			break
		}
	}
	return err
}

// take evaluates one item. full means that it was the page's last.
func (r *read) take(view store.View, raw attr.Raw) (full bool, err error) {
	entry := raw
	r.out.ScannedCount++
	r.bytes += entry.Size()
	if r.fetch {
		if raw, err = r.fetchItem(view, entry); err != nil {
			return true, err
		}
	}
	full = r.bytes+r.fetchedBytes >= maxPageBytes || r.in.Limit != nil && int64(r.out.ScannedCount) == *r.in.Limit
	if full && !r.single() {
		last, err := entry.Decode()
		if err != nil {
			return true, err
		}
		r.out.LastEvaluatedKey = r.position(last)
	}
	if r.filter == nil && r.projection == nil {
		r.out.Count++
		r.keep(raw)
		return full, nil
	}
	it, err := raw.Decode()
	if err != nil {
		return full, err
	}
	if r.filter != nil && !r.filter.Eval(it) {
		return full, nil
	}
	r.out.Count++
	if r.projection != nil {
		raw = attr.NewRaw(r.projection.Apply(it))
	}
	r.keep(raw)
	return full, nil
}

func (r *read) keep(raw attr.Raw) {
	if r.in.Select != "COUNT" {
		r.out.keep(raw)
	}
}

// fetchItem reads the item behind a local index's entry, at its own cost.
func (r *read) fetchItem(view store.View, entry attr.Raw) (attr.Raw, error) {
	it, err := entry.Decode()
	if err != nil {
		return nil, err
	}
	raw, _, err := view.Get(nil, r.table.itemKey(it))
	r.fetchedBytes += attr.Raw(raw).Size()
	r.fetched.table += readUnits(attr.Raw(raw).Size(), r.in.ConsistentRead)
	return raw, err
}

// finish completes the answer and returns what the page cost, fetches aside.
func (r *read) finish() float64 {
	r.out.CountOnly = r.in.Select == "COUNT"
	spent := r.fetched
	units := readUnits(r.bytes, r.in.ConsistentRead)
	if r.key == nil {
		units = max(units, float64(r.visited())*readUnits(0, r.in.ConsistentRead))
	}
	if r.index != nil {
		spent.charge(r.index, units)
	} else {
		spent.table += units
	}
	r.out.ConsumedCapacity = spent.consumed(r.table.name, r.in.ConsumedCapacity, undirected)
	return units
}

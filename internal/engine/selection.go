package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/partiql"
)

// selection is a SELECT on its way: the reads that it consists of, and the page as
// far as it has been read.
type selection struct {
	*statement
	index      *index // nil: the table itself
	where      *expr.Condition
	projection *expr.Projection
	reads      []partiql.Read // none: a Scan
	reverse    bool

	out   StatementOutput
	spent *ConsumedCapacity
	bytes int   // returned
	left  int64 // of Limit
}

// selects reads a page of what a SELECT selects.
func (e *Engine) selects(ctx context.Context, s *statement) (*StatementOutput, error) {
	q := &selection{statement: s}
	if err := q.prepare(); err != nil {
		return nil, statementError(err)
	}
	at, err := q.start()
	if err != nil {
		return nil, err
	}
	return e.selectPage(ctx, q, at)
}

// prepare finds out which reads a SELECT consists of.
func (q *selection) prepare() (err error) {
	if q.index, err = q.findIndex(q.in.ConsistentRead); err != nil {
		return err
	}
	if err := q.Check(); err != nil {
		return err
	}
	if q.projection, err = q.Projection(); err != nil {
		return err
	}
	if q.where, err = q.Where(); err != nil {
		return err
	}
	if q.reads, err = q.plan(q.index); err != nil {
		return err
	}
	return q.arrange()
}

// findIndex finds the index that a statement names. DynamoDB reads none whose key
// has several hash or sort attributes.
func (s *statement) findIndex(consistent bool) (*index, error) {
	if !s.HasIndex {
		return nil, nil
	}
	x := s.table.index(s.Index)
	switch {
	case x == nil:
		return nil, s.refusedBefore(invalid("The table does not have the specified index"))
	case len(x.keys.hash) > 1 || len(x.keys.sort) > 1:
		return nil, invalid("PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.")
	case !x.local && consistent:
		return nil, s.refusedBefore(invalid("Strongly consistent read is not supported on Global Secondary Indexes"))
	}
	return x, nil
}

// plan returns the reads of a SELECT, in the order of the keys that they read.
// Reads of one partition must not overlap.
func (s *statement) plan(x *index) ([]partiql.Read, error) {
	r := &read{table: s.table, index: x}
	keys := r.keys()
	schema := partiql.Schema{Hash: keys.hash[0]}
	if len(keys.sort) > 0 {
		schema.Sort = &keys.sort[0]
	}
	reads, err := s.Plan(schema)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(reads, func(a, b partiql.Read) int { return bytes.Compare(r.lower(&a), r.lower(&b)) })
	for i := 1; i < len(reads); i++ {
		if bytes.Compare(r.rangeOf(termsOf(&reads[i-1])).Upper, r.lower(&reads[i])) > 0 {
			return nil, invalid("Overlapping conditions with range keys are not supported in where clause")
		}
	}
	return reads, nil
}

// lower is where the range of a read begins.
func (r *read) lower(of *partiql.Read) []byte { return r.rangeOf(termsOf(of)).Lower }

// termsOf are the conditions of a read on the hash and the sort attribute.
func termsOf(r *partiql.Read) (hash, sort expr.KeyTerms) {
	if r.Sort != nil {
		sort = expr.KeyTerms{*r.Sort}
	}
	return expr.KeyTerms{r.Hash}, sort
}

// arrange puts the reads into the order that ORDER BY asks for.
func (q *selection) arrange() error {
	order := q.Order()
	if len(order) == 0 {
		return nil
	}
	if !q.HasWhere() {
		return invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
	}
	keys := (&read{table: q.table, index: q.index}).keys()
	var byHash *partiql.Order
	q.reverse = true // unless the sort key is to ascend, as on DynamoDB
	for i := range order {
		switch name := order[i].Name; {
		case !keys.has(name):
			return invalid("Attribute %s in ORDER BY clause must be part of the primary key", name)
		case name == keys.hash[0].Name:
			byHash = &order[i]
		default:
			q.reverse = order[i].Descending
		}
	}
	if len(q.reads) == 0 {
		return invalid("Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.")
	}
	several := slices.ContainsFunc(q.reads, func(r partiql.Read) bool { return !r.Hash.Value.Equal(q.reads[0].Hash.Value) })
	if several && byHash == nil {
		return invalid("Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.")
	}
	if q.reverse {
		slices.Reverse(q.reads)
	}
	if byHash != nil {
		slices.SortStableFunc(q.reads, func(a, b partiql.Read) int {
			order, _ := a.Hash.Value.Compare(b.Hash.Value)
			if byHash.Descending {
				return -order
			}
			return order
		})
	}
	return nil
}

// position is where a page of a SELECT begins: at a read, behind a key of it.
type position struct {
	read int
	key  attr.Item // nil: at its beginning
}

// start is where the page begins that the request asks for.
func (q *selection) start() (position, error) {
	if q.in.NextToken == nil {
		return position{}, nil
	}
	at, err := q.in.position(*q.in.NextToken)
	if err == nil && at.read > max(0, len(q.reads)-1) {
		err = errNextToken()
	}
	return at, err
}

// selectPage does the reads of a page, one after another. The page ends where one
// of them does not come to its end, and after a megabyte.
func (e *Engine) selectPage(ctx context.Context, q *selection, at position) (*StatementOutput, error) {
	if q.in.Limit != nil {
		q.left = *q.in.Limit
	}
	for first := at.read; at.read < max(1, len(q.reads)); at = (position{read: at.read + 1}) {
		if q.full() {
			q.out.NextToken = q.in.token(at)
			break
		}
		out, err := e.selectRead(ctx, q, at)
		if ranIntoLimit(err) && at.read > first { // what was read so far is paid for
			q.out.NextToken = q.in.token(at)
			break
		}
		if err != nil {
			return nil, err
		}
		if q.take(out); out.LastEvaluatedKey != nil {
			q.out.LastEvaluatedKey = out.LastEvaluatedKey
			q.out.NextToken = q.in.token(position{at.read, out.LastEvaluatedKey})
			break
		}
	}
	q.out.ConsumedCapacity = q.spent
	return &q.out, nil
}

// full reports whether the page has what it may have.
func (q *selection) full() bool {
	return q.bytes >= maxPageBytes || q.in.Limit != nil && q.left <= 0
}

// take adds what a read returned.
func (q *selection) take(out *ReadOutput) {
	q.left -= int64(out.ScannedCount)
	for _, raw := range out.Items {
		q.bytes += raw.Size()
	}
	q.out.Items = append(q.out.Items, out.Items...)
	q.spent = q.spent.plus(out.ConsumedCapacity)
}

func ranIntoLimit(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Throttling != nil
}

// selectRead does one of the reads of a SELECT, from a position on.
func (e *Engine) selectRead(ctx context.Context, q *selection, at position) (*ReadOutput, error) {
	in := &ReadInput{
		TableName: &q.table.name, ConsistentRead: q.in.ConsistentRead, ConsumedCapacity: q.in.ConsumedCapacity,
		ExclusiveStartKey: at.key, HasStartKey: at.key != nil,
	}
	if q.index != nil {
		in.IndexName = &q.index.name
	}
	if q.in.Limit != nil {
		in.Limit = &q.left
	}
	r := &read{in: in, statement: true, projection: q.projection, filter: q.where, reverse: q.reverse}
	if len(q.reads) == 0 {
		return e.readTable(ctx, q.table, r, (*read).boundScan)
	}
	of := &q.reads[at.read]
	hash, sort := termsOf(of)
	r.filter, r.terms = of.Filter, slices.Concat(hash, sort)
	r.key = expr.KeyConditionOf(r.terms)
	return e.readTable(ctx, q.table, r, (*read).boundQuery)
}

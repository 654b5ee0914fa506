package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partiql"
)

// batchStatement is one statement of a batch, and what becomes of it.
type batchStatement struct {
	*statement        // nil: it cannot be read
	write      *write // or a get
	get        get
	err        error
	named      bool // it is about a table that the answer names
	item       attr.Raw
	spent      bill
}

// BatchExecuteStatement does up to 25 statements, each by itself, that all read or
// all write one item.
func (e *Engine) BatchExecuteStatement(ctx context.Context, in *StatementsInput) (*BatchStatementOutput, error) {
	if err := in.validateBatch(); err != nil {
		return nil, err
	}
	list, err := in.batch()
	if err != nil {
		return nil, err
	}
	statements := make([]*statement, len(list))
	for i := range list {
		statements[i] = list[i].statement
	}
	tables, err := e.openKnown(ctx, statements)
	if err != nil {
		return nil, err
	}
	defer tables.release()
	var keys [][]byte
	for i := range list {
		if key := list[i].prepare(tables); key != nil {
			keys = append(keys, key)
		}
	}
	if hasDuplicates(keys) {
		return nil, invalid("Provided list of item keys contains duplicates")
	}
	if err := e.runStatements(ctx, in, list); err != nil {
		return nil, err
	}
	return in.answerBatch(list), nil
}

// runStatements does the statements of a batch, as long as there is room for what
// they return.
func (e *Engine) runStatements(ctx context.Context, in *StatementsInput, list []batchStatement) error {
	size, room := 0, in.More == nil
	for i := range list {
		b := &list[i]
		if b.err != nil {
			continue
		}
		if size > unaskedBytes && !room {
			if room = in.More(ctx); !room {
				refuseAll(list[i:])
				return nil
			}
		}
		if err := e.runStatement(ctx, b); err != nil {
			return err
		}
		size += len(b.item)
	}
	return nil
}

func (in *StatementsInput) validateBatch() error {
	var c constraints
	in.constrain(&c, "statements", "BatchStatementRequest", maxBatchStatement)
	if err := c.err(); err != nil {
		return err
	}
	return in.check()
}

func (in *StatementsInput) constrain(c *constraints, list, element string, most int) {
	if c.required(list, in.HasStatements) {
		c.length(list, element, len(in.Statements), 1, most)
	}
	for i := range in.Statements {
		in.Statements[i].constrain(c, statementAt(list, i))
	}
	c.consumedCapacity(in.ConsumedCapacity)
}

// batch reads the statements. One that cannot be read fails alone, but reads and
// writes do not go together.
func (in *StatementsInput) batch() ([]batchStatement, error) {
	list := make([]batchStatement, len(in.Statements))
	reads, writes := 0, 0
	for i := range list {
		b := &list[i]
		of := &in.Statements[i]
		if b.err = asError(of.BadValue); b.err != nil {
			continue
		}
		s, err := of.parse()
		switch {
		case err != nil:
			b.err = err
			continue
		case s.Kind == partiql.Exists:
			b.err = errExists()
			continue
		case s.Kind == partiql.Expression:
			b.err = asError(s.Check())
			continue
		case s.Reads():
			reads++
		default:
			writes++
		}
		b.statement = s
	}
	if reads > 0 && writes > 0 {
		return nil, invalid("Read and write requests together in the same batch is not supported.")
	}
	return list, nil
}

// prepare finds out which item a statement is about, and returns its key, nil if
// it is refused.
func (b *batchStatement) prepare(tables openTables) []byte {
	if b.err != nil {
		return nil
	}
	if b.table = tables[nameOf(b.Table)]; b.table == nil {
		b.err = b.refusedBefore(tableNotFound())
		b.named = b.Check() == nil
		return nil
	}
	if !b.Reads() {
		if b.write, b.err = b.statement.write(); b.err != nil {
			b.named = errors.As(b.err, new(*unfitError))
			return nil
		}
		return b.write.key
	}
	if _, b.err = b.findIndex(b.in.ConsistentRead); b.err == nil {
		b.err = b.Check()
	}
	if b.err == nil {
		b.get, b.err = b.getter("Select statements within BatchExecuteStatement must specify the primary key in the where clause.")
	}
	return b.get.key
}

// refuseAll refuses statements whose answers the server has no room for.
func refuseAll(list []batchStatement) {
	for i := range list {
		if list[i].err == nil {
			list[i].err = errorf(TypeThrottling, "The server has no room for what this statement may return; send it again")
		}
	}
}

// runStatement does one statement. An error that is no answer ends the batch.
func (e *Engine) runStatement(ctx context.Context, b *batchStatement) error {
	b.named = true
	if b.write == nil {
		b.item, b.spent, b.err = e.getItem(ctx, b.table, b.get.item, b.get.projection, b.in.ConsistentRead)
	} else {
		b.err = e.run(ctx, b.write)
		b.spent = b.write.bill
		if b.err == nil {
			b.item = b.write.returned(b.Returning)
		}
	}
	if b.err != nil && ErrorOf(b.err) == nil {
		return b.err
	}
	return nil
}

// answerBatch answers a batch. What a failed condition cost is in its table's
// total, if another statement of it succeeded, but in no part of it.
func (in *StatementsInput) answerBatch(list []batchStatement) *BatchStatementOutput {
	out := &BatchStatementOutput{Responses: make([]StatementResponse, len(list))}
	var spent tableBills
	failed := map[string]float64{}
	for i := range list {
		b := &list[i]
		r := &out.Responses[i]
		if b.named {
			r.TableName = b.Table
		}
		switch {
		case b.err != nil:
			r.Code, r.Message = statementCode(b.err)
			if isConditionFailure(b.err) {
				failed[b.table.name] += b.spent.total()
			}
		default:
			r.Item = b.item
			spent.add(b.table.name, b.spent)
		}
	}
	out.ConsumedCapacity = spent.consumed(in.ConsumedCapacity, undirected)
	for _, c := range out.ConsumedCapacity {
		c.Units += failed[c.TableName]
	}
	return out
}

// statementCode is how a batch tells an error of one of its statements.
func statementCode(err error) (code, message string) {
	e := ErrorOf(statementError(err))
	switch e.Type {
	case TypeValidation:
		return "ValidationError", e.Message
	case TypeThrottling:
		return "ThrottlingError", e.Message
	case TypeInternal, TypeUnavailable:
		return "InternalServerError", e.Message
	}
	return strings.TrimSuffix(e.Type, "Exception"), e.Message
}

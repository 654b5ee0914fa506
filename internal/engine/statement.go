package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/partiql"
)

const (
	maxStatement      = 8192
	maxStatementToken = 32768
	maxBatchStatement = 25
)

// statement is a PartiQL statement on its way to the operation that it is: a
// write, a read by key, or a page of Query or Scan.
type statement struct {
	*partiql.Statement
	in    *StatementInput
	table *table
}

// ExecuteStatement does what a PartiQL statement says.
func (e *Engine) ExecuteStatement(ctx context.Context, in *StatementInput) (*StatementOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	s, err := in.parse()
	if err != nil {
		return nil, err
	}
	if s.Kind == partiql.Exists {
		return nil, errExists()
	}
	t, err := e.openTable(ctx, nameOf(s.Table))
	if err != nil {
		return nil, s.refusedBefore(err)
	}
	defer t.release()
	s.table = t
	if s.Reads() {
		return e.selects(ctx, s)
	}
	w, err := s.write()
	if err != nil {
		return nil, statementError(err)
	}
	out, err := e.runWrite(ctx, w, &Returns{ReturnValues: s.Returning, ConsumedCapacity: in.ConsumedCapacity})
	if err != nil {
		return nil, err
	}
	answer := &StatementOutput{ConsumedCapacity: out.ConsumedCapacity}
	if out.Attributes != nil {
		answer.Items = []attr.Raw{out.Attributes}
	}
	return answer, nil
}

func errExists() *Error {
	return invalid("EXISTS can only be used in ExecuteTransaction write requests.")
}

func (in *StatementInput) validate() error {
	var c constraints
	in.constrain(&c, "")
	c.atLeast("limit", in.Limit, 1)
	c.text("nextToken", in.NextToken, 1, maxStatementToken, false)
	c.consumedCapacity(in.ConsumedCapacity)
	if err := c.err(); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	return asError(in.BadValue)
}

// constrain checks the parameters that all statements have. within is where in the
// request they are, with a dot.
func (in *StatementInput) constrain(c *constraints, within string) {
	if c.required(within+"statement", in.Statement != nil) {
		c.text(within+"statement", in.Statement, 1, maxStatement, false)
	}
	if in.HasParameters {
		c.length(within+"parameters", "AttributeValue", len(in.Parameters), 1, len(in.Parameters))
	}
	c.enum(within+"returnValuesOnConditionCheckFailure", in.OnConditionFailure, "ALL_OLD", "NONE")
}

// parse reads the statement and puts its parameters in place.
func (in *StatementInput) parse() (*statement, error) {
	s, err := partiql.Parse(*in.Statement)
	if err == nil {
		err = s.Bind(in.Parameters)
	}
	return &statement{Statement: s, in: in}, asError(err)
}

// refusedBefore returns the fault of the statement itself, which comes before the
// one of its table.
func (s *statement) refusedBefore(err error) error {
	if fault := s.Check(); fault != nil {
		return asError(fault)
	}
	return err
}

// statementError turns a fault of a statement into the exception that answers it.
func statementError(err error) error {
	if isKeyFault(err) {
		return invalid("%s", err.Error())
	}
	return asError(err)
}

// isKeyFault reports whether a statement does not name an item of its table.
func isKeyFault(err error) bool {
	return errors.As(err, new(partiql.TargetError)) || errors.As(err, new(partiql.KeyTypeError))
}

// write returns the write that a statement is, and makes sure that it fits the
// table.
func (s *statement) write() (*write, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if _, err := s.Where(); err != nil { // whatever its parts are used for
		return nil, err
	}
	var w *write
	var err error
	switch s.Kind {
	case partiql.Insert:
		w, err = s.insert()
	case partiql.Exists:
		w, err = s.exists()
	default:
		w, err = s.change()
	}
	if err != nil {
		return nil, err
	}
	w.statement, w.onFailure = true, s.in.OnConditionFailure
	return w, unfit(w.bind(s.table))
}

func (s *statement) insert() (*write, error) {
	it, err := s.Item()
	if err != nil {
		return nil, err
	}
	w := &write{kind: put, item: it, after: attr.NewRaw(it)}
	if w.after.Size() > maxItemSize {
		return nil, errItemSize()
	}
	w.condition, err = partiql.Absent(s.table.keys.hash[0].Name)
	return w, err
}

// change is an UPDATE or a DELETE of the item that the WHERE clause names.
func (s *statement) change() (w *write, err error) {
	w = &write{kind: remove}
	if s.Kind == partiql.Update {
		w.kind = update
		if w.update, err = s.Statement.Update(); err != nil {
			return nil, err
		}
	}
	var rest *partiql.Condition
	if w.item, rest, err = s.target(false); err != nil {
		return nil, err
	}
	hash := s.table.keys.hash[0].Name
	if w.kind == update {
		w.condition, err = rest.OfExisting(hash)
	} else {
		w.condition, err = rest.UnlessMissing(hash)
	}
	return w, err
}

// exists is the condition check of a transaction.
func (s *statement) exists() (w *write, err error) {
	if s.HasIndex {
		return nil, invalid("Operations on indices are not supported in transactions")
	}
	w = &write{kind: check}
	var rest *partiql.Condition
	if w.item, rest, err = s.target(true); errors.As(err, new(partiql.TargetError)) || err == nil && rest.Empty() {
		return nil, invalid("EXISTS() must contain a single item read with additional condition")
	}
	if err != nil {
		return nil, err
	}
	w.condition, err = rest.Alone()
	return w, err
}

// target returns the key of the item that a statement names.
func (s *statement) target(first bool) (attr.Item, *partiql.Condition, error) {
	key, rest, err := s.Target(s.table.keys.parts, first)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range s.table.keys.parts {
		if key.Get(p.Name).Kind != p.Kind {
			return nil, nil, partiql.KeyTypeError{Name: p.Name}
		}
	}
	return key, rest, nil
}

// worded gives an error of a statement the words that it has there.
func (w *write) worded(err error) error {
	var e *Error
	if w.statement && errors.As(err, &e) && e.Message == tooDeep {
		return invalid("Nesting Levels have exceeded supported limits")
	}
	return err
}

// getter returns the read by key that a SELECT of a batch or a transaction is.
// refusal is what is said of a SELECT that is none.
func (s *statement) getter(refusal string) (get, error) {
	if _, err := s.Where(); err != nil {
		return get{}, err
	}
	projection, err := s.Projection()
	if err != nil {
		return get{}, err
	}
	reads, err := s.plan(nil)
	if err != nil {
		return get{}, err
	}
	keys := s.table.keys
	if len(reads) != 1 || reads[0].Filter != nil || s.HasIndex || len(s.Order()) > 0 ||
		len(keys.sort) > 0 && (reads[0].Sort == nil || reads[0].Sort.Op != expr.Equal) {
		return get{}, invalid("%s", refusal)
	}
	fields := []attr.Field{{Name: keys.hash[0].Name, Value: reads[0].Hash.Value}}
	if len(keys.sort) > 0 {
		fields = append(fields, attr.Field{Name: keys.sort[0].Name, Value: reads[0].Sort.Value})
	}
	g := get{item: attr.NewItem(fields...), projection: projection}
	return g, unfit(g.bind(s.table))
}

// unfitError is the error of a statement that does not fit its table. In a
// transaction it is the reason of a cancellation.
type unfitError struct{ err error }

func (u *unfitError) Error() string { return u.err.Error() }
func (u *unfitError) Unwrap() error { return u.err }

func unfit(err error) error {
	if err == nil {
		return nil
	}
	return &unfitError{err}
}

// openKnown opens those of the named tables that there are, each once, in the
// order of their names.
func (e *Engine) openKnown(ctx context.Context, statements []*statement) (openTables, error) {
	names := map[string]bool{}
	for _, s := range statements {
		if s != nil {
			names[nameOf(s.Table)] = true
		}
	}
	return e.openThose(ctx, names)
}

// statementAt is where a statement is in a request that has several.
func statementAt(list string, i int) string { return fmt.Sprintf("%s.%d.member.", list, i+1) }

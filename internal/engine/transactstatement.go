package engine

import (
	"context"
	"errors"

	"github.com/heatsink-go/heatsink/internal/partiql"
)

// ExecuteTransaction does up to a hundred statements, all of them or none, that
// all read or all write one item.
func (e *Engine) ExecuteTransaction(ctx context.Context, in *StatementsInput) (*TransactStatementsOutput, error) {
	if err := in.validateTransaction(); err != nil {
		return nil, err
	}
	statements, err := in.transaction()
	if err != nil {
		return nil, err
	}
	tables, err := e.openKnown(ctx, statements)
	if err != nil {
		return nil, err
	}
	defer tables.release()
	if statements[0].Reads() {
		return e.transactSelects(ctx, in, statements, tables)
	}
	return e.transactChanges(ctx, in, statements, tables)
}

func (in *StatementsInput) validateTransaction() error {
	var c constraints
	in.constrain(&c, "transactStatements", "ParameterizedStatement", maxTransaction)
	c.text("clientRequestToken", in.ClientRequestToken, 1, 36, false)
	if err := c.err(); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	if in.BadValue != nil {
		return asError(in.BadValue)
	}
	size := 0
	for i := range in.Statements {
		s := &in.Statements[i]
		size += len(*s.Statement)
		for _, v := range s.Parameters {
			size += v.Size()
		}
	}
	if size > maxTransactionBytes {
		return errTransactionSize(size)
	}
	return nil
}

// transaction reads the statements.
func (in *StatementsInput) transaction() ([]*statement, error) {
	list := make([]*statement, len(in.Statements))
	reads := 0
	for i := range list {
		s, err := in.Statements[i].parse()
		if err == nil && s.Kind == partiql.Expression {
			err = asError(s.Check())
		}
		if err != nil {
			return nil, inStatement(i, err)
		}
		if s.Reads() {
			reads++
		}
		list[i] = s
	}
	if reads > 0 && reads < len(list) {
		return nil, invalid("ExecuteTransaction API does not support both read and write operations in the same request.")
	}
	return list, nil
}

// inStatement is the error of one statement that refuses the whole transaction.
func inStatement(i int, err error) error {
	var e *Error
	if err = statementError(err); errors.As(err, &e) && e.Type == TypeValidation {
		return invalid("Validation failed in TransactStatements[%d]: %s", i, e.Message)
	}
	return err
}

// bindAll prepares each statement that has a table. A statement that names no item
// of its table cancels the transaction; one that is wrong by itself refuses it.
func bindAll(statements []*statement, tables openTables, prepare func(*statement) error) error {
	var c cancellation
	for i, s := range statements {
		if s.table = tables[nameOf(s.Table)]; s.table == nil {
			if err := s.Check(); err != nil {
				return inStatement(i, err)
			}
			c.set(i, len(statements), CancellationReason{Code: "ResourceNotFound", Message: tableNotFound().Message})
			continue
		}
		var unfit *unfitError
		switch err := s.bindIn(prepare); {
		case err == nil:
		case isKeyFault(err):
			c.add(i, len(statements), statementError(err))
		case errors.As(err, &unfit):
			c.add(i, len(statements), unfit.err)
		default:
			return inStatement(i, err)
		}
	}
	return c.err()
}

// bindIn prepares a statement of a transaction.
func (s *statement) bindIn(prepare func(*statement) error) error {
	switch {
	case s.Returning != "":
		return invalid("RETURNING clause is not supported in ExecuteTransaction.")
	case s.Reads() && s.HasIndex:
		return invalid("Reads on indices are not supported within transactions.")
	}
	if err := s.Check(); err != nil {
		return err
	}
	return prepare(s)
}

// transactSelects reads items as of one moment.
func (e *Engine) transactSelects(ctx context.Context, in *StatementsInput, statements []*statement, tables openTables) (*TransactStatementsOutput, error) {
	var gets []get
	err := bindAll(statements, tables, func(s *statement) error {
		g, err := s.getter("Select statements within ExecuteTransaction must specify the primary key in the where clause.")
		gets = append(gets, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	out, err := e.getTogether(ctx, &TransactGetItemsInput{ConsumedCapacity: in.ConsumedCapacity}, gets)
	if err != nil {
		return nil, err
	}
	return &TransactStatementsOutput{Items: out.Items, ConsumedCapacity: out.ConsumedCapacity}, nil
}

// transactChanges does writes and condition checks together.
func (e *Engine) transactChanges(ctx context.Context, in *StatementsInput, statements []*statement, tables openTables) (*TransactStatementsOutput, error) {
	as := &TransactWriteItemsInput{ClientRequestToken: in.ClientRequestToken, Returns: Returns{ConsumedCapacity: in.ConsumedCapacity}}
	if token := in.ClientRequestToken; token != nil {
		earlier, err := e.tokens.begin(*token, in.fingerprint())
		if err != nil {
			return nil, err
		}
		if earlier != nil {
			return &TransactStatementsOutput{ConsumedCapacity: earlier.replay(as).ConsumedCapacity}, nil
		}
		defer e.tokens.end(*token)
	}
	var writes []*write
	err := bindAll(statements, tables, func(s *statement) error {
		w, err := s.write()
		writes = append(writes, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	if hasDuplicateItems(writes) {
		return nil, errSameItem()
	}
	if err := e.runTransaction(ctx, writes, in.ClientRequestToken); err != nil {
		return nil, err
	}
	out, err := e.answerTransaction(as, writes)
	if err != nil {
		return nil, err
	}
	return &TransactStatementsOutput{ConsumedCapacity: out.ConsumedCapacity}, nil
}

// fingerprint tells transactions of statements apart that bear the same token, and
// from those of actions.
func (in *StatementsInput) fingerprint() uint64 {
	var f fingerprint
	f.Reset()
	f.text(new("statements"))
	for i := range in.Statements {
		f.statement(&in.Statements[i])
	}
	return f.Sum64()
}

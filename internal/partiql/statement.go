package partiql

import "github.com/heatsink-go/heatsink/internal/attr"

// Kind is what a statement does.
type Kind uint8

// The kinds of statements.
const (
	Select Kind = iota
	Insert
	Update
	Delete
	Exists     // EXISTS(SELECT …), the condition check of a transaction
	Expression // an expression alone, which Check refuses: it neither reads nor writes
)

// Statement is one statement. Its parameters are in place once Bind was called.
type Statement struct {
	Kind     Kind
	Table    string
	Index    string
	HasIndex bool

	// Returning is the ReturnValues of the RETURNING clause; empty: there is none.
	Returning string

	columns []*node // SELECT; nil: *
	where   *node   // nil: none
	order   []Order
	item    *node // INSERT
	sets    []assignment
	params  []*node
	fault   error // what is wrong with it, though it can be read
}

// Order is a term of ORDER BY.
type Order struct {
	Name       string
	Descending bool
}

// assignment is one change of a SET or REMOVE clause.
type assignment struct {
	target path
	value  *node // nil: REMOVE
}

// Parse reads a statement. A fault that shows only later is Check's.
func Parse(statement string) (*Statement, error) {
	list, err := tokens(statement)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: list}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	s.params = p.params
	if s.fault == nil {
		s.fault = p.fault
	}
	return s, nil
}

// Bind puts the parameters into their places. There must be one for each.
func (s *Statement) Bind(params []attr.Value) error {
	if len(params) != len(s.params) {
		return attr.Fault("Number of parameters in request and statement don't match.")
	}
	for i, n := range s.params {
		n.value = params[i]
	}
	return nil
}

// Check returns what DynamoDB refuses of a statement that can be read.
func (s *Statement) Check() error { return s.fault }

// Reads reports whether the statement is a SELECT.
func (s *Statement) Reads() bool { return s.Kind == Select }

// HasWhere reports whether there is a WHERE clause.
func (s *Statement) HasWhere() bool { return s.where != nil }

// Order returns the terms of ORDER BY.
func (s *Statement) Order() []Order { return s.order }

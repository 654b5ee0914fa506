package partiql

import "strings"

// The grammar of statements:
//
//	statement = select | insert | update | delete | fromFirst | "EXISTS" "(" select ")"
//	select    = "SELECT" columns "FROM" source [ where ] [ "ORDER" "BY" terms ]
//	insert    = "INSERT" "INTO" source "VALUE" expression
//	update    = "UPDATE" source changes [ where ] [ returning ]
//	delete    = "DELETE" "FROM" source [ where ] [ returning ]
//	fromFirst = "FROM" source [ where ] changes [ returning ]
//	changes   = { "SET" path "=" expression { "," … } | "REMOVE" path { "," … } }

// statement reads a whole statement.
func (p *parser) statement() (s *Statement, err error) {
	switch {
	case p.accept("select"):
		s, err = p.selects()
	case p.accept("insert"):
		s, err = p.insert()
	case p.accept("update"):
		s, err = p.update()
	case p.accept("delete"):
		s, err = p.remove()
	case p.accept("from"):
		s, err = p.fromFirst()
	default:
		s, err = p.other()
	}
	if err != nil {
		return nil, err
	}
	return s, p.finish()
}

// other reads what begins like no statement. Only EXISTS(SELECT …) may.
func (p *parser) other() (*Statement, error) {
	for _, t := range p.tokens {
		if t.is("from") && p.peek().kind == name {
			return nil, malformed("Expected data manipulation")
		}
	}
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	if n.op == opCall && n.text == "exists" && len(n.args) == 1 && n.args[0].op == opSelect {
		s := n.args[0].query
		s.Kind = Exists
		return s, nil
	}
	s := &Statement{Kind: Expression}
	p.refuse("Unsupported operation: %s", n.class())
	return s, nil
}

// class names a kind of expression as faults do.
func (n *node) class() string {
	switch n.op {
	case opPath:
		if len(n.path) > 1 {
			return "Path"
		}
		return "VariableReference"
	case opValue:
		if n.param > 0 {
			return "Parameter"
		}
		return "Literal"
	case opMissing:
		return "LiteralMissing"
	case opIs:
		return "IsType"
	case opList, opSeq, opBag:
		return "Seq"
	case opTuple:
		return "Struct"
	case opSelect:
		return "Select"
	}
	return "NAry"
}

func (p *parser) selects() (*Statement, error) {
	s := &Statement{Kind: Select}
	switch {
	case p.accept("distinct"):
		p.refuse("Unsupported token in expression: DISTINCT")
	case p.accept("value"), p.accept("pivot"):
		p.refuse("Select projection doesn't support value or pivot keywords")
	}
	if err := p.columns(s); err != nil {
		return nil, err
	}
	if !p.accept("from") {
		return nil, malformed("Expected FROM")
	}
	if err := p.source(s); err != nil {
		return nil, err
	}
	if p.accept(",") {
		if _, err := p.expression(); err != nil {
			return nil, err
		}
		p.refuse("Only select from a single table or index is supported.")
	}
	if err := p.wheres(s); err != nil {
		return nil, err
	}
	if err := p.unsupported("group", "GROUP BY"); err != nil {
		return nil, err
	}
	if err := p.unsupported("having", "HAVING"); err != nil {
		return nil, err
	}
	if err := p.orderBy(s); err != nil {
		return nil, err
	}
	return s, p.unsupported("limit", "LIMIT")
}

// unsupported reads a clause that DynamoDB has not.
func (p *parser) unsupported(word, clause string) error {
	if !p.accept(word) {
		return nil
	}
	p.accept("by")
	for more := true; more; more = p.accept(",") {
		n, err := p.right(p.expression)
		if err != nil {
			return err
		}
		p.refuse("Unsupported clause: %s%s", clause, n.at)
	}
	return nil
}

// columns reads what is selected: * or paths.
func (p *parser) columns(s *Statement) error {
	star := false
	for {
		if p.accept("*") {
			star = true
		} else {
			n, err := p.expression()
			if err != nil {
				return err
			}
			if n.op != opPath {
				p.refuse("Unexpected path component%s", n.at)
			}
			s.columns = append(s.columns, n)
			p.alias()
		}
		if !p.accept(",") {
			break
		}
	}
	if star && s.columns != nil {
		p.refuse("Other attributes should not be present in the projection when '*' is used.")
	}
	return nil
}

// alias reads another name for what comes before, which DynamoDB refuses.
func (p *parser) alias() {
	t := p.peek()
	switch {
	case p.accept("as"):
		p.advance()
	case t.kind == name && !strings.EqualFold(t.text, "returning"), t.kind == quoted:
		p.advance()
	default:
		return
	}
	p.refuse("Aliasing is not supported")
}

// source reads the table, or the index, that a statement is about.
func (p *parser) source(s *Statement) error {
	steps, err := p.path()
	if err != nil {
		return err
	}
	switch {
	case len(steps) > 2:
		p.refuse("A path may contain at most 2 components in the FROM clause")
	case len(steps) == 2 && steps[1].index >= 0:
		p.refuse("Invalid list expression in source.")
	case len(steps) == 2:
		s.Index, s.HasIndex = steps[1].name, true
	}
	s.Table = steps[0].name
	p.alias()
	return nil
}

// target is source for a statement that writes, which no index can be.
func (p *parser) target(s *Statement) error {
	if t := p.peek(); t.kind != name && t.kind != quoted {
		return malformed("Expected identifier for simple path")
	}
	if err := p.source(s); err != nil {
		return err
	}
	if s.HasIndex {
		p.refuse("This operation is not supported on an index")
	}
	return nil
}

func (p *parser) wheres(s *Statement) (err error) {
	if p.accept("where") {
		s.where, err = p.expression()
	}
	return err
}

func (p *parser) orderBy(s *Statement) error {
	if !p.accept("order") {
		return nil
	}
	if !p.accept("by") {
		return malformed("Expected BY after ORDER")
	}
	for {
		n, err := p.right(p.expression)
		if err != nil {
			return err
		}
		if n.op != opPath || len(n.path) > 1 {
			p.refuse("Argument to ORDER BY must be of type VariableReference. Type: %s", n.class())
		} else {
			s.order = append(s.order, Order{Name: n.path[0].name})
		}
		if p.accept("desc") && n.op == opPath && len(n.path) == 1 {
			s.order[len(s.order)-1].Descending = true
		} else {
			p.accept("asc")
		}
		if !p.accept(",") {
			return nil
		}
	}
}

func (p *parser) insert() (*Statement, error) {
	s := &Statement{Kind: Insert}
	if !p.accept("into") {
		return nil, malformed("Expected INTO after INSERT")
	}
	table := p.peek()
	steps, err := p.path()
	if err != nil {
		return nil, err
	}
	if s.Table = steps[0].name; len(steps) > 1 {
		p.refuse("FROM clause may only contain a single table name in data manipulation statements%s", table.at)
	}
	if !p.accept("value") {
		if _, err := p.expression(); err != nil {
			return nil, err
		}
		p.refuse("Unsupported operation: Inserting multiple items in a single statement is not supported, " +
			"use \"INSERT INTO tableName VALUE item\" instead")
		return s, nil
	}
	if s.item, err = p.right(p.expression); err != nil {
		return nil, err
	}
	if s.item.op != opTuple {
		p.refuse("Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.")
	}
	if p.word("returning") {
		p.refuse("RETURNING is not supported in INSERT")
		return s, p.returning(&Statement{})
	}
	return s, nil
}

func (p *parser) update() (*Statement, error) {
	s := &Statement{Kind: Update}
	if err := p.target(s); err != nil {
		return nil, err
	}
	if err := p.changes(s); err != nil {
		return nil, err
	}
	if err := p.wheres(s); err != nil {
		return nil, err
	}
	return s, p.optReturning(s)
}

func (p *parser) fromFirst() (*Statement, error) {
	s := &Statement{Kind: Update}
	if err := p.target(s); err != nil {
		return nil, err
	}
	if err := p.wheres(s); err != nil {
		return nil, err
	}
	if err := p.changes(s); err != nil {
		return nil, err
	}
	return s, p.optReturning(s)
}

func (p *parser) remove() (*Statement, error) {
	s := &Statement{Kind: Delete}
	if !p.accept("from") {
		return nil, malformed("Expected FROM after DELETE")
	}
	if err := p.target(s); err != nil {
		return nil, err
	}
	if err := p.wheres(s); err != nil {
		return nil, err
	}
	if err := p.optReturning(s); err != nil {
		return nil, err
	}
	if s.Returning != "" && s.Returning != "ALL_OLD" {
		p.refuse("Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
			returningText[s.Returning])
	}
	return s, nil
}

// changes reads SET and REMOVE clauses.
func (p *parser) changes(s *Statement) error {
	for {
		switch {
		case p.accept("set"):
			if err := p.assignments(s); err != nil {
				return err
			}
		case p.accept("remove"):
			if err := p.removals(s); err != nil {
				return err
			}
		case len(s.sets) == 0:
			return malformed("Expected data manipulation")
		default:
			return nil
		}
	}
}

func (p *parser) assignments(s *Statement) error {
	for more := true; more; more = p.accept(",") {
		target, err := p.path()
		if err != nil {
			return err
		}
		if !p.accept("=") {
			return malformed("Expected = after path in SET")
		}
		value, err := p.right(p.expression)
		if err != nil {
			return err
		}
		s.sets = append(s.sets, assignment{target, value})
	}
	return nil
}

func (p *parser) removals(s *Statement) error {
	for more := true; more; more = p.accept(",") {
		target, err := p.path()
		if err != nil {
			return err
		}
		s.sets = append(s.sets, assignment{target: target})
	}
	return nil
}

// returningText has the words of RETURNING by the ReturnValues that they ask for.
var returningText = map[string]string{
	"ALL_OLD": "ALL OLD", "ALL_NEW": "ALL NEW", "UPDATED_OLD": "MODIFIED OLD", "UPDATED_NEW": "MODIFIED NEW",
}

func (p *parser) optReturning(s *Statement) error {
	if p.word("returning") {
		return p.returning(s)
	}
	return nil
}

// returning reads what an update or a delete is to return.
func (p *parser) returning(s *Statement) error {
	values := ""
	switch {
	case p.word("all"):
		values = "ALL_"
	case p.word("modified"):
		values = "UPDATED_"
	default:
		return malformed("Expected ALL or MODIFIED in a returning clause.")
	}
	switch {
	case p.word("old"):
		values += "OLD"
	case p.word("new"):
		values += "NEW"
	default:
		return malformed("Expected OLD or NEW in a returning clause.")
	}
	s.Returning = values
	if !p.accept("*") {
		if _, err := p.right(p.expression); err != nil {
			return err
		}
		p.refuse("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")
	}
	if p.accept(",") {
		p.refuse("Invalid syntax with multiple returning elements in RETURNING clause")
		return p.returning(s)
	}
	return nil
}

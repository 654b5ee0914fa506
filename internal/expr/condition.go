package expr

import (
	"iter"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Condition is a ConditionExpression or a FilterExpression: true or false of an
// item.
type Condition struct {
	root  *node
	arena arena
}

// ParseCondition reads a condition. The role is ConditionExpression or
// FilterExpression; they differ in faults only.
func ParseCondition(role Role, src string, s *Scope) (*Condition, error) {
	c := new(Condition)
	var err error
	if c.root, err = parseCondition(role, src, s, &c.arena); err != nil {
		return nil, err
	}
	return c, nil
}

// Eval reports whether the condition holds for an item, nil if there is none.
// There is no item that a condition cannot be asked about: a comparison with
// something that is missing or of another type is false, but for <>.
func (c *Condition) Eval(it attr.Item) bool { return c.root.holds(it) }

// TopLevelAttributes returns the attributes that the condition looks at, as
// often as it does, each with whether it looks into it (a.b, a[0]).
func (c *Condition) TopLevelAttributes() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		c.root.paths(func(p path) bool { return yield(p[0].name, p.nested()) })
	}
}

// parseCondition reads what has the form of a condition.
func parseCondition(role Role, src string, s *Scope, a *arena) (*node, error) {
	p, err := newParser(role, src, s, a)
	if err != nil {
		return nil, err
	}
	root, err := p.or(false)
	if err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if err := p.shape(root, placeCondition); err != nil {
		return nil, err
	}
	return root, p.bind(root)
}

// The grammar, from what binds least to what binds most:
//
//	or        = and { "OR" and }
//	and       = not { "AND" not }
//	not       = "NOT" not | primary
//	primary   = operand comparator operand
//	          | operand "BETWEEN" operand "AND" operand
//	          | operand "IN" "(" operand { "," operand } ")"
//	          | function | "(" or ")"
//	operand   = path | value | function | "(" operand ")"
//
// An opening parenthesis can begin a condition or an operand, and only what
// follows the closing one tells. So that nothing is ever read twice, what is
// inside is read as a condition that may turn out to be an operand: that is
// what group is for. It holds for the first thing in parentheses alone.

func (p *parser) or(group bool) (*node, error) {
	left, err := p.and(group)
	for err == nil && p.tok.Kind == token.Or {
		p.advance()
		var right *node
		if right, err = p.and(false); err == nil {
			left = p.operator(opOr, left, right)
		}
	}
	return left, err
}

func (p *parser) and(group bool) (*node, error) {
	left, err := p.not(group)
	for err == nil && p.tok.Kind == token.And {
		p.advance()
		var right *node
		if right, err = p.not(false); err == nil {
			left = p.operator(opAnd, left, right)
		}
	}
	return left, err
}

func (p *parser) not(group bool) (*node, error) {
	if p.tok.Kind != token.Not {
		return p.primary(group)
	}
	p.advance()
	n, err := p.not(false)
	if err != nil {
		return nil, err
	}
	return p.operator(opNot, n), nil
}

func (p *parser) primary(group bool) (*node, error) {
	left, err := p.operandOrGroup()
	if err != nil {
		return nil, err
	}
	if left.op.isCondition() && !left.op.isFunction() {
		return left, nil
	}
	if o, ok := comparator(p.tok.Kind); ok {
		p.advance()
		right, err := p.operand()
		if err != nil {
			return nil, err
		}
		return p.operator(o, left, right), nil
	}
	switch {
	case p.tok.Kind == token.Between:
		return p.between(left)
	case p.tok.Kind == token.In:
		p.advance()
		n := p.operator(opIn, left)
		return n, p.list(n, &left.next)
	case left.op.isFunction():
		return left, nil
	case group && p.tok.Kind == token.Close:
		return left, nil // an operand, after all
	}
	return nil, p.unexpected()
}

// operandOrGroup reads what a primary begins with: an operand, or a condition
// in parentheses.
func (p *parser) operandOrGroup() (*node, error) {
	if p.tok.Kind != token.Open {
		return p.operand()
	}
	p.advance()
	n, err := p.or(true)
	if err != nil {
		return nil, err
	}
	if err := p.expect(token.Close); err != nil {
		return nil, err
	}
	return n, p.parenthesize(n)
}

func (p *parser) between(left *node) (*node, error) {
	p.advance()
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect(token.And); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	return p.operator(opBetween, left, low, high), nil
}

func comparator(k token.Kind) (op, bool) {
	if token.Equal <= k && k <= token.GreaterOrEqual {
		return opEqual + op(k-token.Equal), true
	}
	return 0, false
}

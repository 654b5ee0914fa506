package expr

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// place is where a node stands, which decides what it may be.
type place uint8

const (
	placeCondition  place = iota // something true or false is expected
	placeOperand                 // a value is expected
	placeSet                     // the value of a SET is expected
	placeSetOperand              // an operand of such a value is
)

// shape makes sure of what can be told without the request's names and values,
// in the order in which it is written.
func (p *parser) shape(n *node, at place) error {
	if n.op == opPath {
		return p.pathShape(n.path)
	}
	if n.op.isFunction() {
		if err := p.functionShape(n, at); err != nil {
			return err
		}
	}
	inside := placeOperand
	switch {
	case at == placeSet || at == placeSetOperand:
		inside = placeSetOperand
	case n.op == opAnd || n.op == opOr || n.op == opNot:
		inside = placeCondition
	}
	for c := n.first; c != nil; c = c.next {
		if err := p.shape(c, inside); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) functionShape(n *node, at place) error {
	inUpdate := at == placeSet || at == placeSetOperand
	switch ofUpdate := n.op == opIfNotExists || n.op == opListAppend; {
	case n.op == opUnknown:
		return p.role.fault("Invalid function name; function: " + n.text)
	case inUpdate && !ofUpdate:
		return p.role.fault("The function is not allowed in an update expression; function: " + n.text)
	case !inUpdate && ofUpdate:
		return p.role.fault("The function is not allowed in a condition expression; function: " + n.text)
	case !inUpdate && n.op.isCondition() != (at == placeCondition),
		n.op == opListAppend && at != placeSet:
		return p.role.fault("The function is not allowed to be used this way in an expression; function: " + n.text)
	}
	return nil
}

func (p *parser) pathShape(steps path) error {
	for _, s := range steps {
		switch {
		case s.index == outOfRange:
			return p.role.fault("List index is not within the allowable range; index: [" + s.name + "]")
		case !s.isIndex() && !s.ref && isReserved(s.name):
			return p.role.fault("Attribute name is a reserved keyword; reserved keyword: " + s.name)
		}
	}
	return nil
}

// bind replaces the placeholders in a node by what they stand for, and makes
// sure that operators and functions can do with the operands they got.
func (p *parser) bind(n *node) (err error) {
	switch n.op {
	case opPath:
		return p.bindPath(n.path)
	case opValue:
		n.value, err = p.scope.value(p.role, n.text)
		return err
	}
	for c := n.first; c != nil; c = c.next {
		if err := p.bind(c); err != nil {
			return err
		}
	}
	return p.operands(n)
}

func (p *parser) bindPath(steps path) (err error) {
	for i := range steps {
		if s := &steps[i]; s.ref {
			if s.name, err = p.scope.name(p.role, s.name); err != nil {
				return err
			}
			s.ref = false
		}
	}
	if len(steps) > maxPathDepth {
		return p.role.fault("The document path has too many nesting levels; nesting levels: " + strconv.Itoa(len(steps)))
	}
	return nil
}

// operands makes sure of a bound node's children.
func (p *parser) operands(n *node) error {
	switch n.op {
	case opAnd, opOr, opNot:
		return nil
	case opPlus, opMinus:
		return p.operandKinds(n, attr.N)
	case opIn:
		if count := int(n.count) - 1; count > maxInOperands {
			return p.role.fault("The IN operator is provided with too many operands; number of operands: " + strconv.Itoa(count))
		}
	}
	if n.op.isFunction() {
		if int(n.count) != n.op.operands() {
			return p.role.fault("Incorrect number of operands for operator or function; operator or function: " + n.text +
				", number of operands: " + strconv.Itoa(int(n.count)))
		}
		if n.op.needsPath() && n.first.op != opPath {
			return p.role.fault("Operator or function requires a document path; operator or function: " + n.text)
		}
	}
	if n.op != opListAppend {
		if err := p.distinctOperands(n); err != nil {
			return err
		}
	}
	switch n.op {
	case opLess, opLessOrEqual, opGreater, opGreaterOrEqual:
		return p.operandKinds(n, attr.S, attr.N, attr.B)
	case opBetween:
		if err := p.operandKinds(n, attr.S, attr.N, attr.B); err != nil {
			return err
		}
		return p.bounds(n)
	case opBeginsWith:
		return p.operandKinds(n, attr.S, attr.B)
	case opSize:
		return p.operandKinds(n, attr.S, attr.B, attr.SS, attr.NS, attr.BS, attr.M, attr.L)
	case opType:
		return p.typeName(n)
	case opListAppend:
		return p.operandKinds(n, attr.L)
	}
	return nil
}

// distinctOperands makes sure that a path is not compared with itself.
func (p *parser) distinctOperands(n *node) error {
	if n.first.op != opPath {
		return nil
	}
	for c := n.first.next; c != nil; c = c.next {
		if c.op == opPath && slices.Equal(c.path, n.first.path) {
			return p.role.fault("The first operand must be distinct from the remaining operands for this operator or function; " +
				"operator: " + n.op.String() + ", first operand: " + c.path.String())
		}
	}
	return nil
}

// operandKinds makes sure that no operand is certain to be of another kind.
func (p *parser) operandKinds(n *node, allowed ...attr.Kind) error {
	for c := n.first; c != nil; c = c.next {
		if k := c.static(); k != attr.Invalid && !slices.Contains(allowed, k) {
			return p.operandFault(n, k.String())
		}
	}
	return nil
}

func (p *parser) operandFault(n *node, kind string) error {
	return p.role.fault("Incorrect operand type for operator or function; operator or function: " + n.op.String() +
		", operand type: " + kind)
}

// typeName makes sure that attribute_type asks for a type there is.
func (p *parser) typeName(n *node) error {
	name := n.first.next
	switch {
	case name.op == opPath:
		return p.operandFault(n, "{S,SS,N,NS,B,BS,BOOL,NULL,L,M,HD,DOUBLE,FLOAT,HDS,FS,DOUBLESET,DICT,DECIMAL,INT,DECIMALSET,INTSET}")
	case name.static() != attr.S:
		return p.operandFault(n, name.static().String())
	case name.value.Str == "" || attr.KindOf(name.value.Str) == attr.Invalid:
		valid := "{S,SS,N,NS,B,BS,BOOL,NULL,L,M}"
		if p.role == Statement {
			valid = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"
		}
		return p.role.fault("Invalid attribute type name found; type: " + name.value.Str + ", valid types: " + valid)
	}
	return nil
}

// bounds makes sure that BETWEEN has a lower and an upper bound.
func (p *parser) bounds(n *node) error {
	low, high := n.first.next, n.first.next.next
	if low.op != opValue || high.op != opValue {
		return nil
	}
	var wrong string
	if order, ok := low.value.Compare(*high.value); !ok {
		wrong = "requires same data type for lower and upper bounds"
	} else if order > 0 {
		wrong = "requires upper bound to be greater than or equal to lower bound"
	} else {
		return nil
	}
	return p.role.fault("The BETWEEN operator " + wrong + "; lower bound operand: " + Describe(low.value) +
		", upper bound operand: " + Describe(high.value))
}

// Describe writes a scalar value as faults do.
func Describe(v *attr.Value) string {
	text := v.Str
	switch v.Kind {
	case attr.N:
		text = v.Number().String()
	case attr.B:
		text = base64.StdEncoding.EncodeToString([]byte(v.Str))
	}
	return "AttributeValue: {" + v.Kind.String() + ":" + text + "}"
}

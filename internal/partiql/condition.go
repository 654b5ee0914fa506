package partiql

import (
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// functions are those that a WHERE clause may have.
var functions = []string{"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size"}

// Where returns the condition that the WHERE clause is; nil: there is none.
func (s *Statement) Where() (*expr.Condition, error) { return condition(s.where) }

// condition makes a condition of a part of a WHERE clause; nil: of nothing.
func condition(n *node) (*expr.Condition, error) {
	if n == nil {
		return nil, nil
	}
	t := translator{builder: new(expr.Builder)}
	part, err := t.condition(n)
	if err != nil {
		return nil, err
	}
	return t.builder.Condition(part)
}

// translator makes parts of expressions of nodes.
type translator struct {
	builder *expr.Builder
	copies  int // how often what is being made will be there twice
}

// maxCopies bounds what conditions grow to that are compared with conditions.
const maxCopies = 4

// isCondition reports whether a node is true or false of an item.
func (n *node) isCondition() bool {
	switch n.op {
	case opAnd, opOr, opNot, opIs, opIn, opBetween, opCompare:
		return true
	case opCall:
		return n.text != "size" && slices.Contains(functions, n.text)
	}
	return false
}

// mayCondition reports whether a node may stand where a condition is expected. A
// function that there is not is told as such.
func (n *node) mayCondition() bool { return n.isCondition() || n.op == opOther || n.op == opCall }

func (t *translator) condition(n *node) (expr.Part, error) {
	switch n.op {
	case opAnd, opOr:
		return t.join(n)
	case opNot:
		if !n.args[0].mayCondition() {
			return expr.Part{}, attr.Fault("The argument to NOT must be a Type or Expression")
		}
		part, err := t.condition(n.args[0])
		return t.builder.Operator("NOT", part), err
	case opIs:
		return t.is(n)
	case opIn:
		return t.in(n)
	case opBetween, opCompare:
		return t.compare(n)
	case opCall:
		if n.text == "size" {
			break
		}
		return t.call(n)
	case opOther:
		return expr.Part{}, attr.Faultf("Unsupported operator in Condition Expression. Operator: %s", n.text)
	}
	return expr.Part{}, attr.Fault("WHERE clause must contain an expression that resolves to a boolean")
}

// join joins conditions. It halves them, so that many of them make no deep tree.
func (t *translator) join(n *node) (expr.Part, error) {
	parts := make([]expr.Part, len(n.args))
	for i, c := range n.args {
		if !c.mayCondition() {
			return expr.Part{}, attr.Fault("The arguments to AND/OR must be Expressions")
		}
		var err error
		if parts[i], err = t.condition(c); err != nil {
			return expr.Part{}, err
		}
	}
	word := "AND"
	if n.op == opOr {
		word = "OR"
	}
	return t.halves(word, parts), nil
}

func (t *translator) halves(word string, parts []expr.Part) expr.Part {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2
	return t.builder.Operator(word, t.halves(word, parts[:half]), t.halves(word, parts[half:]))
}

// is makes a function of IS.
func (t *translator) is(n *node) (expr.Part, error) {
	left := n.args[0]
	if left.op != opPath && left.op != opValue {
		return expr.Part{}, attr.Fault("The left hand side argument to IS must be a Variable Reference, Literal, or Path")
	}
	operand, err := t.operand(left)
	if err != nil {
		return expr.Part{}, err
	}
	if n.text == "missing" {
		return t.builder.Operator("attribute_not_exists", operand), nil
	}
	descriptor := types[n.text]
	if descriptor == "" {
		return expr.Part{}, attr.Faultf("Unsupported data type for IS operator: %s. "+
			"Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]", strings.ToUpper(n.text))
	}
	return t.builder.Operator("attribute_type", operand, t.builder.Value(attr.String(descriptor))), nil
}

// elements returns what a value may be one of; false: the node is no sequence.
func (n *node) elements() ([]*node, bool) {
	switch n.op {
	case opList, opSeq, opBag:
		return n.args, len(n.args) > 0
	}
	return []*node{n}, n.grouped
}

func (t *translator) in(n *node) (expr.Part, error) {
	list, ok := n.args[1].elements()
	if left := n.args[0]; !ok || left.op != opPath && !left.isCondition() {
		return expr.Part{}, attr.Fault("IN operator must have a left hand argument of type Variable Reference " +
			"and right hand argument of type Seq with at least one member")
	}
	if n.args[0].isCondition() {
		return t.anyTruth(n.args[0], list)
	}
	return t.operator("IN", append([]*node{n.args[0]}, list...))
}

// operator makes an operator or a function of operands.
func (t *translator) operator(word string, operands []*node) (expr.Part, error) {
	parts := make([]expr.Part, len(operands))
	for i, c := range operands {
		var err error
		if parts[i], err = t.operand(c); err != nil {
			return expr.Part{}, err
		}
	}
	return t.builder.Operator(word, parts...), nil
}

// compare makes a comparison, also of a condition with what it is to be.
func (t *translator) compare(n *node) (expr.Part, error) {
	if i := slices.IndexFunc(n.args, (*node).isCondition); i >= 0 && n.op == opCompare {
		return t.truth(n, n.args[i], n.args[1-i])
	}
	return t.operator(strings.ToUpper(n.text), n.args)
}

// truth makes a condition of a comparison of one with true or false. Compared with
// any other value it is never equal.
func (t *translator) truth(n, left, right *node) (expr.Part, error) {
	if n.text != "=" && n.text != "<>" {
		return expr.Part{}, attr.Faultf("Incorrect operand type for operator or function; operator or function: %s, operand type: BOOL", n.text)
	}
	if right.op != opValue {
		return t.sameTruth(n, left, right)
	}
	part, err := t.condition(left)
	if err != nil {
		return expr.Part{}, err
	}
	if right.value.Kind != attr.Bool {
		part = t.never(part)
	}
	if (right.value.Kind == attr.Bool && !right.value.Bool) != (n.text == "<>") {
		part = t.builder.Operator("NOT", part)
	}
	return part, nil
}

// sameTruth makes a condition of a comparison of one with another, or with what a
// path leads to: both are true, or both are false.
func (t *translator) sameTruth(n, left, right *node) (expr.Part, error) {
	if t.copies++; t.copies > maxCopies {
		return expr.Part{}, attr.Faultf("Conditions are compared with each other more than %d levels deep; write them out with AND, OR and NOT", maxCopies)
	}
	defer func() { t.copies-- }()
	var both [2]expr.Part
	for i, truth := range []bool{true, false} {
		a, err := t.isTrue(left, truth)
		if err != nil {
			return expr.Part{}, err
		}
		b, err := t.isTrue(right, truth)
		if err != nil {
			return expr.Part{}, err
		}
		both[i] = t.builder.Operator("AND", a, b)
	}
	same := t.builder.Operator("OR", both[0], both[1])
	if n.text == "<>" {
		same = t.builder.Operator("NOT", same)
	}
	return same, nil
}

// isTrue makes the condition that a condition or an operand is true, or false.
func (t *translator) isTrue(n *node, truth bool) (expr.Part, error) {
	if !n.isCondition() {
		operand, err := t.operand(n)
		if err != nil {
			return expr.Part{}, err
		}
		return t.builder.Operator("=", operand, t.builder.Value(attr.Boolean(truth))), nil
	}
	part, err := t.condition(n)
	if err == nil && !truth {
		part = t.builder.Operator("NOT", part)
	}
	return part, err
}

// never returns what holds of no item, and still is checked with the part.
func (t *translator) never(part expr.Part) expr.Part {
	yes, no := t.builder.Value(attr.Boolean(true)), t.builder.Value(attr.Boolean(false))
	return t.builder.Operator("AND", t.builder.Operator("=", yes, no), part)
}

// anyTruth makes a condition of one that is to be any of several values.
func (t *translator) anyTruth(left *node, list []*node) (expr.Part, error) {
	var either [2]bool
	for _, c := range list {
		if c.op == opValue && c.value.Kind == attr.Bool {
			if c.value.Bool {
				either[1] = true
			} else {
				either[0] = true
			}
		}
	}
	part, err := t.condition(left)
	switch {
	case err != nil:
	case either == [2]bool{true, true}:
		part = t.builder.Operator("NOT", t.never(part))
	case either[0]:
		part = t.builder.Operator("NOT", part)
	case !either[1]:
		part = t.never(part)
	}
	return part, err
}

func (t *translator) call(n *node) (expr.Part, error) {
	if !slices.Contains(functions, n.text) {
		return expr.Part{}, attr.Faultf("Unrecognized function: %s%s", n.text, n.at)
	}
	return t.operator(n.text, n.args)
}

// operand makes a path, a value or a size.
func (t *translator) operand(n *node) (expr.Part, error) {
	switch n.op {
	case opPath:
		return t.path(n.path), nil
	case opCall:
		if n.text == "size" || !slices.Contains(functions, n.text) {
			return t.call(n)
		}
	case opMissing:
		return expr.Part{}, attr.Fault("MISSING must be compared using IS operator")
	case opValue, opList, opBag, opTuple, opIon:
		v, err := n.literal("root", 1)
		return t.builder.Value(v), err
	}
	text := n.text
	if text == "" {
		text = n.class()
	}
	return expr.Part{}, attr.Faultf("Unsupported operator in Condition Expression. Operator: %s", text)
}

func (t *translator) path(p path) expr.Part {
	steps := make([]expr.Step, len(p))
	for i, s := range p {
		steps[i] = expr.Step{Name: s.name, Index: s.index}
	}
	return t.builder.Path(steps...)
}

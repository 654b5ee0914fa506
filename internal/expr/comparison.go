package expr

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Comparison is a condition on one attribute as the parameters have it that
// expressions replaced: Expected, KeyConditions, QueryFilter and ScanFilter.
type Comparison struct {
	Name     string // of the attribute, which is not a path
	Operator string // one of Operators
	Values   []attr.Value
}

// Operators are the operators of comparisons, in the order in which DynamoDB
// lists them.
var Operators = []string{
	"IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH", "GE", "CONTAINS",
}

const (
	errSameTypes = attr.Fault("One or more parameter values were invalid: AttributeValues inside AttributeValueList must be of same type")
	errBounds    = attr.Fault("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")
)

// comparisonOps are the operators that have an operator or function of
// expressions of their own.
var comparisonOps = map[string]op{
	"EQ": opEqual, "NE": opNotEqual, "LT": opLess, "LE": opLessOrEqual, "GT": opGreater, "GE": opGreaterOrEqual,
	"BETWEEN": opBetween, "IN": opIn, "NULL": opNotExists, "NOT_NULL": opExists,
	"BEGINS_WITH": opBeginsWith, "CONTAINS": opContains,
}

// Check returns what is wrong with the number and the types of the values.
func (c *Comparison) Check() error {
	least, most := c.arity()
	if n := len(c.Values); n < least || n > most {
		return attr.Fault("One or more parameter values were invalid: Invalid number of argument(s) for the " + c.Operator + " ComparisonOperator")
	}
	for i := range c.Values {
		if c.Values[i].Kind != c.Values[0].Kind {
			return errSameTypes
		}
	}
	if len(c.Values) > 0 && !c.takes(c.Values[0].Kind) {
		return attr.Fault("One or more parameter values were invalid: ComparisonOperator " + c.Operator +
			" is not valid for " + c.Values[0].Kind.String() + " AttributeValue type")
	}
	if c.Operator == "BETWEEN" && ordered(&c.Values[0], opGreater, &c.Values[1]) {
		return errBounds
	}
	return nil
}

// arity returns how many values the operator takes.
func (c *Comparison) arity() (least, most int) {
	switch c.Operator {
	case "NULL", "NOT_NULL":
		return 0, 0
	case "BETWEEN":
		return 2, 2
	case "IN":
		return 1, len(c.Values)
	}
	return 1, 1
}

// takes reports whether the operator takes values of a kind.
func (c *Comparison) takes(k attr.Kind) bool {
	switch c.Operator {
	case "EQ", "NE":
		return true
	case "BEGINS_WITH":
		return k == attr.S || k == attr.B
	}
	return k == attr.S || k == attr.N || k == attr.B
}

// Compare returns the condition that all comparisons hold, or with any that at
// least one of them does. There must be one, and Check must have found nothing.
func Compare(list []Comparison, any bool) *Condition {
	c := new(Condition)
	o := opAnd
	if any {
		o = opOr
	}
	c.root = c.arena.compareAll(list, o)
	return c
}

// compareAll joins comparisons. It halves them, so that thousands of them make
// no deep tree.
func (a *arena) compareAll(list []Comparison, o op) *node {
	if len(list) == 1 {
		return a.compare(&list[0])
	}
	half := len(list) / 2
	return a.newNode(o, a.compareAll(list[:half], o), a.compareAll(list[half:], o))
}

// compare returns the node that a comparison is in an expression.
func (a *arena) compare(c *Comparison) *node {
	if c.Operator == "NOT_CONTAINS" { // unlike NE it is false of an attribute that is not there
		contains := a.newNode(opContains, a.attribute(c.Name), a.valueNode(&c.Values[0]))
		return a.newNode(opAnd, a.newNode(opExists, a.attribute(c.Name)), a.newNode(opNot, contains))
	}
	operands := []*node{a.attribute(c.Name)}
	for i := range c.Values {
		operands = append(operands, a.valueNode(&c.Values[i]))
	}
	return a.newNode(comparisonOps[c.Operator], operands...)
}

// attribute returns the operand that an attribute is, whatever its name.
func (a *arena) attribute(name string) *node {
	n := a.newNode(opPath)
	n.path = a.attributePath(name)
	return n
}

// attributePath returns the path to an attribute, whatever its name.
func (a *arena) attributePath(name string) path {
	return a.endPath(a.startPath(step{name: name, index: byName}))
}

// valueNode returns the operand that a value is.
func (a *arena) valueNode(v *attr.Value) *node {
	n := a.newNode(opValue)
	n.value = v
	return n
}

// CompareKeys returns the key condition that all comparisons hold. Check must
// have found nothing.
func CompareKeys(list []Comparison) *KeyCondition {
	terms := make(KeyTerms, 0, len(list))
	for i := range list {
		c := &list[i]
		t := KeyTerm{Name: c.Name, Op: notIndexable}
		if o := comparisonOps[c.Operator]; slices.Contains(keyOps, o) {
			t.Op, t.Value = keyOp(o), c.Values[0]
			if o == opBetween {
				t.Upper = c.Values[1]
			}
		}
		terms = append(terms, t)
	}
	return &KeyCondition{terms: terms}
}

// keyOps are the operators and functions that a key condition may have.
var keyOps = []op{opEqual, opLess, opLessOrEqual, opGreater, opGreaterOrEqual, opBetween, opBeginsWith}

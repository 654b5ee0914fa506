package expr

import "github.com/heatsink-go/heatsink/internal/attr"

// op says what a node is.
type op uint8

const (
	opPath  op = iota // an operand: what a path leads to
	opValue           // an operand: a value of the request

	// Conditions on conditions.
	opAnd
	opOr
	opNot

	// Conditions on operands.
	opEqual
	opNotEqual
	opLess
	opLessOrEqual
	opGreater
	opGreaterOrEqual
	opBetween
	opIn

	// Operands of an update.
	opPlus
	opMinus

	// Functions.
	opUnknown
	opExists
	opNotExists
	opType
	opBeginsWith
	opContains
	opSize
	opIfNotExists
	opListAppend
)

// opNames are the operators and functions as faults name them.
var opNames = [...]string{
	opAnd: "AND", opOr: "OR", opNot: "NOT",
	opEqual: "=", opNotEqual: "<>", opLess: "<", opLessOrEqual: "<=", opGreater: ">", opGreaterOrEqual: ">=",
	opBetween: "BETWEEN", opIn: "IN",
	opPlus: "+", opMinus: "-",
	opExists: "attribute_exists", opNotExists: "attribute_not_exists", opType: "attribute_type",
	opBeginsWith: "begins_with", opContains: "contains", opSize: "size",
	opIfNotExists: "if_not_exists", opListAppend: "list_append",
}

// function returns the function of that name, which is case sensitive.
func function(name string) op {
	for o := opUnknown + 1; int(o) < len(opNames); o++ {
		if opNames[o] == name {
			return o
		}
	}
	return opUnknown
}

func (o op) String() string { return opNames[o] }

func (o op) isFunction() bool { return o >= opUnknown }

// isCondition reports whether the operator or function is true or false of an
// item. The others are operands.
func (o op) isCondition() bool {
	return opAnd <= o && o <= opIn || opExists <= o && o <= opContains
}

// operands returns how many operands a function takes.
func (o op) operands() int {
	switch o {
	case opExists, opNotExists, opSize:
		return 1
	}
	return 2
}

// needsPath reports whether a function's first operand must be a path.
func (o op) needsPath() bool {
	return o == opExists || o == opNotExists || o == opIfNotExists
}

// node is a part of an expression: an operand, or an operator or function with
// its operands as children.
type node struct {
	op     op
	parens bool        // in parentheses of its own
	count  int16       // of children
	first  *node       // child
	next   *node       // sibling
	path   path        // of opPath
	text   string      // of opValue: the placeholder; of functions: the name as written
	value  *attr.Value // of opValue, once bound
}

// static returns the kind of value that an operand has for every item, and
// Invalid if that depends on the item.
func (n *node) static() attr.Kind {
	switch n.op {
	case opValue:
		return n.value.Kind
	case opSize:
		return attr.N
	}
	return attr.Invalid
}

// result is static for what a SET may assign.
func (n *node) result() attr.Kind {
	switch n.op {
	case opPlus, opMinus:
		return attr.N
	case opListAppend:
		return attr.L
	}
	return n.static()
}

// paths calls yield for all paths in the node, in the order they are written,
// until it returns false.
func (n *node) paths(yield func(path) bool) bool {
	if n.op == opPath {
		return yield(n.path)
	}
	for c := n.first; c != nil; c = c.next {
		if !c.paths(yield) {
			return false
		}
	}
	return true
}

// arena is where the nodes and steps of an expression are. The first few need
// no memory of their own.
type arena struct {
	nodes    []node // the latest block of them, cut to those in use
	steps    []step
	fewNodes [6]node
	fewSteps [4]step
}

// newNode returns a node with the given children.
func (a *arena) newNode(o op, children ...*node) *node {
	switch {
	case a.nodes == nil:
		a.nodes = a.fewNodes[:0]
	case len(a.nodes) == cap(a.nodes):
		a.nodes = make([]node, 0, 2*cap(a.nodes))
	}
	a.nodes = append(a.nodes, node{op: o, count: int16(len(children))})
	n := &a.nodes[len(a.nodes)-1]
	for i := len(children) - 1; i >= 0; i-- {
		children[i].next = n.first
		n.first = children[i]
	}
	return n
}

// startPath begins a path, which addStep continues, until endPath returns it.
func (a *arena) startPath(first step) (start int) {
	if a.steps == nil {
		a.steps = a.fewSteps[:0]
	}
	a.steps = append(a.steps, first)
	return len(a.steps) - 1
}

func (a *arena) addStep(s step) { a.steps = append(a.steps, s) }

func (a *arena) endPath(start int) path { return path(a.steps[start:len(a.steps):len(a.steps)]) }

package partiql

import (
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// op says what a node is.
type op uint8

const (
	opPath  op = iota // a document path
	opValue           // a scalar literal or a parameter
	opIon             // a literal of Ion, which DynamoDB refuses
	opMissing
	opList  // [a, b]
	opSeq   // (a, b)
	opBag   // <<a, b>>
	opTuple // {'k': v}: keys and values take turns
	opStar  // *
	opSelect

	opCall // of a function
	opAnd
	opOr
	opNot
	opIs
	opIn
	opBetween
	opCompare
	opArithmetic
	opOther // an operator that DynamoDB has not
)

// node is a part of a statement.
type node struct {
	op    op
	text  string // of operators as written, functions in lower case, types, numbers
	args  []*node
	path  path
	value attr.Value // of opValue
	param int        // of a parameter: its number from 1
	at    place
	query *Statement // of opSelect

	grouped bool // it stands alone in parentheses
}

// path leads to an attribute, or into it.
type path []step

// step is a name, or the index of a list.
type step struct {
	name  string
	index int // -1: by name
}

// attribute returns the name of the attribute that a path is, if it does not
// lead into it.
func (p path) attribute() string {
	if len(p) != 1 {
		return ""
	}
	return p[0].name
}

func (p path) equal(q path) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != q[i] {
			return false
		}
	}
	return true
}

// column is how a selected path is called in an answer: its last name with the
// indexes that follow it.
func (p path) column() string {
	last := len(p) - 1
	for p[last].index >= 0 {
		last--
	}
	var out strings.Builder
	out.WriteString(p[last].name)
	for _, s := range p[last+1:] {
		out.WriteString("[" + strconv.Itoa(s.index) + "]")
	}
	return out.String()
}

// mentions reports whether a node looks at an attribute.
func (n *node) mentions(attribute string) bool {
	if n.op == opPath {
		return n.path[0].name == attribute
	}
	for _, c := range n.args {
		if c.mentions(attribute) {
			return true
		}
	}
	return false
}

// and returns the conjunction of conditions; nil if there are none.
func and(list []*node) *node {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &node{op: opAnd, args: list}
}

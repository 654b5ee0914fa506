package expr

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// KeyCondition is a KeyConditionExpression: which items of a table or index a
// Query reads.
type KeyCondition struct {
	root  *node
	terms KeyTerms // instead of a root, if it is not from an expression
	arena arena
}

// KeyTerms are the conditions that a KeyCondition consists of; all must hold.
type KeyTerms []KeyTerm

// KeyTerm is the condition on one key attribute.
type KeyTerm struct {
	Name  string
	Op    KeyOp
	Value attr.Value
	Upper attr.Value // the upper bound of Between
}

// KeyOp is how a KeyTerm compares the attribute with its value.
type KeyOp uint8

// The comparisons that there can be with a key attribute.
const (
	Equal KeyOp = iota
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	Between
	BeginsWith

	notIndexable // what KeyConditions can say but no key condition can be
)

// KeyPart is an attribute of a key schema.
type KeyPart struct {
	Name string
	Kind attr.Kind // S, N or B
}

// What keeps a key condition from being a query of a table or index.
const (
	errKeyCondition = attr.Fault("Query key condition not supported")
	errKeyTerms     = attr.Fault("Conditions can be of length 1 or 2 only")
	errNotIndexable = attr.Fault("Attempted conditional constraint is not an indexable operation")
	errKeyType      = attr.Fault("One or more parameter values were invalid: Condition parameter type does not match schema type")
)

// ParseKeyCondition reads a key condition as the condition that it is. Whether
// it can be one on keys is a later question, which Terms answers: the faults of
// a request's other expressions come in between.
func ParseKeyCondition(src string, s *Scope) (*KeyCondition, error) {
	k := new(KeyCondition)
	var err error
	if k.root, err = parseCondition(KeyConditionExpression, src, s, &k.arena); err != nil {
		return nil, err
	}
	return k, nil
}

// Terms returns the conditions on single attributes, in the order they are
// written. No attribute has more than one.
func (k *KeyCondition) Terms() (KeyTerms, error) {
	if k.root == nil {
		return k.terms, nil
	}
	return appendTerms(nil, k.root)
}

func appendTerms(terms KeyTerms, n *node) (KeyTerms, error) {
	switch n.op {
	case opAnd:
		terms, err := appendTerms(terms, n.first)
		if err != nil {
			return nil, err
		}
		return appendTerms(terms, n.first.next)
	case opEqual, opLess, opLessOrEqual, opGreater, opGreaterOrEqual:
	case opBetween, opBeginsWith:
		if n.first.op != opPath {
			return nil, attr.Fault("Invalid condition in KeyConditionExpression: " + n.op.String() +
				" operator must have the key attribute as its first operand")
		}
	default:
		return nil, attr.Fault("Invalid operator used in KeyConditionExpression: " + n.op.String())
	}
	t, err := newTerm(n)
	if err != nil {
		return nil, err
	}
	if terms.find(t.Name) != nil {
		return nil, attr.Fault("KeyConditionExpressions must only contain one condition per key")
	}
	return append(terms, t), nil
}

// newTerm returns the term that a comparison is.
func newTerm(n *node) (t KeyTerm, err error) {
	value := &t.Value
	for c := n.first; c != nil; c = c.next {
		switch {
		case c.op == opSize:
			return t, attr.Fault("KeyConditionExpressions cannot contain nested operations")
		case c.op == opValue:
			*value, value = *c.value, &t.Upper
		case t.Name != "":
			return t, attr.Fault("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")
		case c.path.nested():
			return t, attr.Fault("KeyConditionExpressions cannot have conditions on nested attributes")
		default:
			t.Name = c.path[0].name
		}
	}
	if t.Name == "" {
		return t, attr.Fault("Invalid condition in KeyConditionExpression: No key attribute specified")
	}
	o := n.op
	if n.first.op != opPath {
		o = mirrored(o)
	}
	t.Op = keyOp(o)
	return t, nil
}

// mirrored returns the comparison that holds if o does with its operands
// exchanged.
func mirrored(o op) op {
	switch o {
	case opLess:
		return opGreater
	case opLessOrEqual:
		return opGreaterOrEqual
	case opGreater:
		return opLess
	case opGreaterOrEqual:
		return opLessOrEqual
	}
	return o
}

func keyOp(o op) KeyOp {
	switch o {
	case opEqual:
		return Equal
	case opBetween:
		return Between
	case opBeginsWith:
		return BeginsWith
	}
	return Less + KeyOp(o-opLess)
}

// Match assigns the terms to the key schema of a table or index: an equality to each
// hash attribute, and terms to the first few range attributes, all but the last
// of them equalities. The results are in the order of the schema.
func (terms KeyTerms) Match(hash, ranges []KeyPart) (hashTerms, rangeTerms KeyTerms, err error) {
	if len(terms) == 0 || len(terms) > 2 && len(hash) == 1 && len(ranges) <= 1 {
		return nil, nil, errKeyTerms
	}
	if len(ranges) == 0 && len(terms) > len(hash) {
		return nil, nil, errKeyCondition
	}
	for _, part := range hash {
		t := terms.find(part.Name)
		switch {
		case t == nil:
			return nil, nil, missed(part)
		case t.Op == notIndexable:
			return nil, nil, errNotIndexable
		case !t.fits(part):
			return nil, nil, errKeyType
		case t.Op != Equal:
			return nil, nil, errKeyCondition
		}
		hashTerms = append(hashTerms, *t)
	}
	for _, part := range ranges {
		t := terms.find(part.Name)
		switch n := len(rangeTerms); {
		case len(hashTerms)+n == len(terms):
			return hashTerms, rangeTerms, nil
		case t == nil:
			return nil, nil, missed(part)
		case t.Op == notIndexable:
			return nil, nil, errNotIndexable
		case !t.fits(part):
			return nil, nil, errKeyType
		case n > 0 && rangeTerms[n-1].Op != Equal:
			return nil, nil, errKeyCondition
		}
		rangeTerms = append(rangeTerms, *t)
	}
	if len(hashTerms)+len(rangeTerms) < len(terms) {
		return nil, nil, errKeyCondition
	}
	return hashTerms, rangeTerms, nil
}

func missed(part KeyPart) error {
	return attr.Fault("Query condition missed key schema element: " + part.Name)
}

func (terms KeyTerms) find(name string) *KeyTerm {
	i := slices.IndexFunc(terms, func(t KeyTerm) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &terms[i]
}

// fits reports whether the term's values are of the attribute's kind.
func (t *KeyTerm) fits(part KeyPart) bool {
	return t.Value.Kind == part.Kind && (t.Op != Between || t.Upper.Kind == part.Kind)
}

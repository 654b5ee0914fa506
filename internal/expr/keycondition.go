package expr

import (
	"fmt"
	"slices"
	"strings"

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
		return nil, KeyConditionExpression.fault("KeyConditionExpressions must only contain one condition per key")
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
// of them equalities. The results are in the order of the schema. With an error
// about a range attribute come the terms of the hash attributes.
func (terms KeyTerms) Match(hash, ranges []KeyPart) (hashTerms, rangeTerms KeyTerms, err error) {
	switch parts := len(hash) + len(ranges); {
	case len(terms) == 0:
		return nil, nil, errKeyTerms
	case len(terms) > max(parts, 2):
		return nil, nil, attr.Fault(fmt.Sprintf("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)", len(terms), parts))
	case len(terms) > parts:
		return nil, nil, errKeyCondition
	}
	if hashTerms, err = terms.matchHash(hash); err != nil {
		return nil, nil, err
	}
	if err := terms.unequal(ranges); err != nil {
		return hashTerms, nil, err
	}
	for _, part := range ranges {
		if len(hashTerms)+len(rangeTerms) == len(terms) {
			break
		}
		t := terms.find(part.Name)
		if err := t.check(part); err != nil {
			return hashTerms, nil, err
		}
		rangeTerms = append(rangeTerms, *t)
	}
	return hashTerms, rangeTerms, nil
}

// matchHash assigns terms to hash attributes.
func (terms KeyTerms) matchHash(hash []KeyPart) (matched KeyTerms, err error) {
	var unequal []string
	for _, part := range hash {
		t := terms.find(part.Name)
		if len(hash) > 1 && (t == nil || t.fits(part) && t.Op != Equal) {
			unequal = append(unequal, part.Name)
			continue
		}
		if err := t.check(part); err != nil {
			return nil, err
		}
		if t.Op != Equal {
			return nil, errKeyCondition
		}
		matched = append(matched, *t)
	}
	if unequal != nil {
		return nil, attr.Fault("HASH key attributes " + strings.Join(unequal, ", ") + " must have equality conditions specified in the query")
	}
	return matched, nil
}

// unequal returns an error for range attributes without an equality before the
// last one that has a term.
func (terms KeyTerms) unequal(ranges []KeyPart) error {
	last := len(ranges) - 1
	for last >= 0 && terms.find(ranges[last].Name) == nil {
		last--
	}
	var unequal []string
	for i := range max(last, 0) {
		if t := terms.find(ranges[i].Name); t == nil || t.Op != Equal {
			unequal = append(unequal, ranges[i].Name)
		}
	}
	if unequal == nil {
		return nil
	}
	return attr.Fault("RANGE key attributes " + strings.Join(unequal, ", ") + " must have equality conditions specified in the query " +
		"because a condition is present on key attribute " + ranges[last].Name)
}

// check returns what keeps the term, nil if there is none, from being one on an
// attribute.
func (t *KeyTerm) check(part KeyPart) error {
	switch {
	case t == nil:
		return missed(part)
	case t.Op == notIndexable:
		return errNotIndexable
	case !t.fits(part):
		return errKeyType
	}
	return nil
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

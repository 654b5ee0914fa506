package partiql

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// Target returns the key of the item that a write is about, and the condition on
// it; nil: there is none. With first, a second equality on a key attribute is a
// condition; otherwise it must be with the same value.
func (s *Statement) Target(keys []expr.KeyPart, first bool) (key attr.Item, rest *Condition, err error) {
	var fields []attr.Field
	var conditions []*node
	p := planner{}
	for _, n := range conjuncts(s.where) {
		name, v, ok := p.equality(n, keys)
		if !ok {
			conditions = append(conditions, n)
			continue
		}
		i := slices.IndexFunc(fields, func(f attr.Field) bool { return f.Name == name })
		switch {
		case i < 0:
			fields = append(fields, attr.Field{Name: name, Value: v})
		case first:
			conditions = append(conditions, n)
		case !fields[i].Value.Equal(v):
			return nil, nil, TargetError("Multiple conditions on same key " + name + ". Only single item Update/Insert/Delete are supported")
		}
	}
	if len(fields) < len(keys) {
		return nil, nil, TargetError("Where clause does not contain a mandatory equality on all key attributes")
	}
	return attr.NewItem(fields...), &Condition{and(conditions)}, nil
}

// TargetError is the fault of a write whose WHERE clause does not name one item.
type TargetError string

func (e TargetError) Error() string { return string(e) }

// equality returns the key attribute and the value that a condition equals it to.
func (p planner) equality(n *node, keys []expr.KeyPart) (name string, v attr.Value, ok bool) {
	for _, k := range keys {
		p.schema.Hash = k
		if t, ok := p.term(n); ok {
			return k.Name, t.Value, true
		}
	}
	return "", attr.Value{}, false
}

// conjuncts returns the conditions that all must hold.
func conjuncts(n *node) []*node {
	if n == nil {
		return nil
	}
	if n.op != opAnd {
		return []*node{n}
	}
	var out []*node
	for _, c := range n.args {
		out = append(out, conjuncts(c)...)
	}
	return out
}

// Condition is what a WHERE clause asks for besides a key.
type Condition struct{ rest *node }

// Empty reports whether it asks for nothing.
func (c *Condition) Empty() bool { return c.rest == nil }

// OfExisting is the condition of an UPDATE: there must be an item, as DynamoDB makes
// none.
func (c *Condition) OfExisting(key string) (*expr.Condition, error) {
	return condition(and(slices.Concat([]*node{exists("attribute_exists", key)}, conjuncts(c.rest))))
}

// UnlessMissing is the condition of a DELETE: it need not hold if there is no item.
func (c *Condition) UnlessMissing(key string) (*expr.Condition, error) {
	if c.rest == nil {
		return nil, nil
	}
	return condition(&node{op: opOr, args: []*node{exists("attribute_not_exists", key), c.rest}})
}

// Alone is the condition by itself; nil: there is none.
func (c *Condition) Alone() (*expr.Condition, error) { return condition(c.rest) }

// Absent is the condition of an INSERT: there is no item with its key.
func Absent(key string) (*expr.Condition, error) {
	return condition(exists("attribute_not_exists", key))
}

func exists(function, attribute string) *node {
	return &node{op: opCall, text: function, args: []*node{{op: opPath, path: path{{attribute, -1}}}}}
}

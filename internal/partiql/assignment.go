package partiql

import (
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// Update returns what an UPDATE does to its item.
func (s *Statement) Update() (*expr.Update, error) {
	t := translator{builder: new(expr.Builder)}
	list := make([]expr.Assignment, len(s.sets))
	for i := range s.sets {
		var err error
		if list[i], err = t.assignment(&s.sets[i]); err != nil {
			return nil, err
		}
	}
	return t.builder.Update(list)
}

func (t *translator) assignment(a *assignment) (expr.Assignment, error) {
	out := expr.Assignment{Target: t.path(a.target), Clause: "REMOVE"}
	if a.value == nil {
		return out, nil
	}
	var err error
	switch {
	case a.value.op == opCall && a.value.text == "set_add":
		out.Clause = "ADD"
		out.Value, err = t.setChange(a)
	case a.value.op == opCall && a.value.text == "set_delete":
		out.Clause = "DELETE"
		out.Value, err = t.setChange(a)
	default:
		out.Clause = "SET"
		out.Value, err = t.assigned(a.value)
	}
	return out, err
}

// setChange returns the set that set_add or set_delete adds or takes away.
func (t *translator) setChange(a *assignment) (expr.Part, error) {
	f := a.value
	word := strings.ToUpper(f.text)
	if len(f.args) != 2 {
		return expr.Part{}, attr.Faultf("%s must have exactly two arguments%s", word, f.at)
	}
	if f.args[0].op != opPath || !f.args[0].path.equal(a.target) {
		return expr.Part{}, attr.Faultf("The first argument to %s must equal the assignment value%s", word, f.at)
	}
	if o := f.args[1].op; o == opValue || o == opList || o == opBag || o == opTuple || o == opSeq {
		v, err := f.args[1].literal("root", 1)
		if err != nil {
			return expr.Part{}, err
		}
		if v.Kind.IsSet() {
			return t.builder.Value(v), nil
		}
	}
	return expr.Part{}, attr.Faultf("The second argument to %s must be a value with type SET%s", word, f.args[0].at)
}

// assigned makes the value of a SET: a path, a value, a sum or list_append.
func (t *translator) assigned(n *node) (expr.Part, error) {
	switch n.op {
	case opArithmetic:
		return t.assignedAll(n.text, n.args)
	case opCall:
		if n.text != "list_append" {
			return expr.Part{}, attr.Faultf("Unrecognized function: %s%s", n.text, n.at)
		}
		return t.assignedAll(n.text, n.args)
	case opIs:
		return expr.Part{}, attr.Fault("IS operator is not supported in update expressions")
	case opPath, opValue, opList, opBag, opTuple, opIon, opMissing:
		return t.operand(n)
	}
	text := n.text
	if text == "" {
		text = n.class()
	}
	return expr.Part{}, attr.Faultf("Unsupported operator in Update Expression. Operator: %s", text)
}

func (t *translator) assignedAll(word string, operands []*node) (expr.Part, error) {
	parts := make([]expr.Part, len(operands))
	for i, c := range operands {
		var err error
		if parts[i], err = t.assigned(c); err != nil {
			return expr.Part{}, err
		}
	}
	return t.builder.Operator(word, parts...), nil
}

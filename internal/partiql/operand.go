package partiql

import "github.com/heatsink-go/heatsink/internal/attr"

// Operand is a value as a statement has it: a literal, or a parameter.
type Operand struct {
	Value attr.Value // of a literal
	Param int        // the number of a parameter, from 1; 0: it is a literal
}

// Operands returns what a statement says of attributes, by their names: of an INSERT the item that it writes, of any other
// statement what its WHERE clause equals them to, where nothing else may hold. Values that are neither literals nor parameters
// are left out, and whole is false then, or if it is no INSERT. It needs no Bind.
func (s *Statement) Operands() (all map[string]Operand, whole bool) {
	all = make(map[string]Operand)
	if s.Kind == Insert {
		return all, s.item != nil && s.item.operands(all)
	}
	for _, n := range conjuncts(s.where) {
		if n.op != opCompare || n.text != "=" || len(n.args) != 2 {
			continue
		}
		at, to := n.args[0], n.args[1]
		if at.op != opPath {
			at, to = to, at
		}
		if at.op != opPath || at.path.attribute() == "" {
			continue
		}
		if o, ok := to.operand(); ok {
			all[at.path.attribute()] = o
		}
	}
	return all, false
}

// operands adds what an item has, and reports whether that is all of it.
func (n *node) operands(all map[string]Operand) bool {
	if n.op != opTuple || len(n.args)%2 != 0 {
		return false
	}
	whole := true
	for i := 0; i < len(n.args); i += 2 {
		name, value := n.args[i], n.args[i+1]
		o, ok := value.operand()
		if !ok || name.op != opValue || name.param > 0 {
			whole = false
			continue
		}
		all[name.value.Str] = o
	}
	return whole
}

// operand returns a node that is a literal of its own, or a parameter.
func (n *node) operand() (Operand, bool) {
	if n.op != opValue {
		return Operand{}, false
	}
	if n.param > 0 {
		return Operand{Param: n.param}, true
	}
	v, err := n.literal("root", 1)
	return Operand{Value: v}, err == nil
}

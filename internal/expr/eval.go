package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// holds reports whether a condition is true of an item.
func (n *node) holds(it attr.Item) bool {
	switch n.op {
	case opAnd:
		return n.first.holds(it) && n.first.next.holds(it)
	case opOr:
		return n.first.holds(it) || n.first.next.holds(it)
	case opNot:
		return !n.first.holds(it)
	case opExists:
		return n.first.path.find(it) != nil
	case opNotExists:
		return n.first.path.find(it) == nil
	}
	var made [3]attr.Value // for operands that are not lying around somewhere
	a := n.first.operand(it, &made[0])
	if n.op == opIn {
		return n.holdsIn(it, a)
	}
	b := n.first.next.operand(it, &made[1])
	if a == nil || b == nil {
		return n.op == opNotEqual
	}
	switch n.op {
	case opEqual:
		return equal(a, b)
	case opNotEqual:
		return !equal(a, b)
	case opBetween:
		c := n.first.next.next.operand(it, &made[2])
		return c != nil && ordered(b, opLessOrEqual, a) && ordered(a, opLessOrEqual, c)
	case opLess, opLessOrEqual, opGreater, opGreaterOrEqual:
		return ordered(a, n.op, b)
	case opType:
		return a.Kind == attr.KindOf(b.Str)
	case opBeginsWith:
		return beginsWith(a, b)
	case opContains:
		return contains(a, b)
	}
	return false
}

func (n *node) holdsIn(it attr.Item, a *attr.Value) bool {
	if a == nil {
		return false
	}
	for c := n.first.next; c != nil; c = c.next {
		var made attr.Value
		if b := c.operand(it, &made); b != nil && equal(a, b) {
			return true
		}
	}
	return false
}

// operand returns the value of an operand of a condition, nil if it has none
// for this item. A value that has to be made is made in the given place.
func (n *node) operand(it attr.Item, made *attr.Value) *attr.Value {
	switch n.op {
	case opPath:
		return n.path.find(it)
	case opValue:
		return n.value
	}
	v := n.first.operand(it, made)
	if v == nil {
		return nil
	}
	size, ok := sizeOf(v)
	if !ok {
		return nil
	}
	number, err := attr.ParseNumber(strconv.Itoa(size))
	if err != nil {
		return nil // there is no such size
	}
	*made = attr.Num(number)
	return made
}

// sizeOf is the function size: strings count in UTF-16 units, as in Java.
func sizeOf(v *attr.Value) (size int, ok bool) {
	switch v.Kind {
	case attr.S:
		for _, r := range v.Str {
			size++
			if r > 0xFFFF {
				size++
			}
		}
		return size, true
	case attr.B:
		return len(v.Str), true
	case attr.SS, attr.NS, attr.BS, attr.L:
		return len(v.List), true
	case attr.M:
		return len(v.Map), true
	}
	return 0, false
}

func equal(a, b *attr.Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case attr.S, attr.N, attr.B:
		return a.Str == b.Str
	}
	return a.Equal(*b)
}

// ordered reports whether two values are of the same scalar kind and stand in
// the order that the comparison o wants.
func ordered(a *attr.Value, o op, b *attr.Value) bool {
	order, ok := a.Compare(*b)
	if !ok {
		return false
	}
	switch o {
	case opLess:
		return order < 0
	case opLessOrEqual:
		return order <= 0
	case opGreater:
		return order > 0
	}
	return order >= 0
}

func beginsWith(a, b *attr.Value) bool {
	return a.Kind == b.Kind && (a.Kind == attr.S || a.Kind == attr.B) && strings.HasPrefix(a.Str, b.Str)
}

func contains(a, b *attr.Value) bool {
	switch {
	case a.Kind.IsSet() && a.Kind.Elem() == b.Kind:
		_, found := slices.BinarySearchFunc(a.List, b.Str, func(elem attr.Value, s string) int { return strings.Compare(elem.Str, s) })
		return found
	case a.Kind == attr.L:
		for i := range a.List {
			if equal(&a.List[i], b) {
				return true
			}
		}
	case a.Kind == b.Kind && (a.Kind == attr.S || a.Kind == attr.B):
		return strings.Contains(a.Str, b.Str)
	}
	return false
}

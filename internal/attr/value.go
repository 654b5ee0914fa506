// Package attr holds DynamoDB's attribute values: what they are, how they
// compare, how many bytes they count, and how they are stored.
//
// Everything is kept in one canonical form: an item's fields are sorted by
// name, a set's elements are sorted and a number is its order-preserving
// encoding. Two values are therefore equal exactly when they look the same,
// and "less than" on keys is less than on bytes.
package attr

import (
	"slices"
	"strings"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds, in the order of DynamoDB's type descriptors. The zero Kind is no
// value at all.
const (
	Invalid Kind = iota
	S
	N
	B
	SS
	NS
	BS
	M
	L
	Null
	Bool
)

var kindNames = [...]string{"", "S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"}

// String returns the kind's type descriptor, as used on the wire and by the
// attribute_type function.
func (k Kind) String() string { return kindNames[k] }

// KindOf returns the kind whose type descriptor is name, or Invalid.
func KindOf(name string) Kind {
	return Kind(max(0, slices.Index(kindNames[:], name)))
}

// IsSet reports whether values of this kind are sets.
func (k Kind) IsSet() bool { return k == SS || k == NS || k == BS }

// Elem returns the kind of a set's elements, and Invalid for other kinds.
func (k Kind) Elem() Kind {
	switch k {
	case SS:
		return S
	case NS:
		return N
	case BS:
		return B
	}
	return Invalid
}

// SetOf returns the kind of a set of values of this kind, or Invalid.
func (k Kind) SetOf() Kind {
	switch k {
	case S:
		return SS
	case N:
		return NS
	case B:
		return BS
	}
	return Invalid
}

// Value is one attribute value. Values are immutable once built: code that
// changes an item copies what it changes.
type Value struct {
	Kind Kind
	Bool bool    // Bool: the value
	Str  string  // S: the text, B: the bytes, N: the Number
	List []Value // L: the elements; sets: the elements, sorted and distinct
	Map  Item    // M: the fields
}

// Field is one named attribute of an item or map.
type Field struct {
	Name  string
	Value Value
}

// Item is a whole item, or the contents of a map: its fields sorted by name,
// each name once.
type Item []Field

// String returns a value of kind S.
func String(s string) Value { return Value{Kind: S, Str: s} }

// Binary returns a value of kind B with the given bytes.
func Binary(b string) Value { return Value{Kind: B, Str: b} }

// Num returns a value of kind N.
func Num(n Number) Value { return Value{Kind: N, Str: string(n)} }

// Boolean returns a value of kind Bool.
func Boolean(b bool) Value { return Value{Kind: Bool, Bool: b} }

// List returns a value of kind L.
func List(elems ...Value) Value { return Value{Kind: L, List: elems} }

// Map returns a value of kind M.
func Map(fields Item) Value { return Value{Kind: M, Map: fields} }

// Set returns the set of the given elements, which must all be of the set's
// element kind. Duplicates are dropped. The slice is taken over.
func Set(kind Kind, elems []Value) Value {
	slices.SortFunc(elems, func(a, b Value) int { return strings.Compare(a.Str, b.Str) })
	elems = slices.CompactFunc(elems, func(a, b Value) bool { return a.Str == b.Str })
	return Value{Kind: kind, List: elems}
}

// Number returns the number of a value of kind N.
func (v Value) Number() Number { return Number(v.Str) }

// Equal reports whether two values are the same: same kind, same contents.
func (v Value) Equal(w Value) bool {
	return v.Kind == w.Kind && v.Bool == w.Bool && v.Str == w.Str &&
		slices.EqualFunc(v.List, w.List, Value.Equal) && v.Map.Equal(w.Map)
}

// Compare orders two values of the same scalar kind, S, N or B, as DynamoDB
// does: strings by their UTF-8 bytes, binaries by unsigned bytes, numbers by
// magnitude. Values of other or different kinds have no order: ok is false.
func (v Value) Compare(w Value) (order int, ok bool) {
	if v.Kind != w.Kind || v.Kind.SetOf() == Invalid {
		return 0, false
	}
	return strings.Compare(v.Str, w.Str), true
}

// NewItem returns the item with the given fields, in any order. The slice is
// taken over. Of fields with the same name the last one stands.
func NewItem(fields ...Field) Item {
	if slices.IsSortedFunc(fields, compareStrictly) {
		return fields
	}
	slices.SortStableFunc(fields, compareNames)
	kept := fields[:0]
	for i, f := range fields {
		if i+1 == len(fields) || fields[i+1].Name != f.Name {
			kept = append(kept, f)
		}
	}
	return kept
}

func compareNames(a, b Field) int { return strings.Compare(a.Name, b.Name) }

// compareStrictly makes equal names look out of order, so that IsSortedFunc
// also finds duplicates.
func compareStrictly(a, b Field) int {
	if a.Name == b.Name {
		return -1
	}
	return compareNames(a, b)
}

func (it Item) search(name string) (int, bool) {
	return slices.BinarySearchFunc(it, name, func(f Field, name string) int {
		return strings.Compare(f.Name, name)
	})
}

// Get returns the field called name. A missing field is the zero Value, whose
// kind is Invalid.
func (it Item) Get(name string) Value {
	if i, ok := it.search(name); ok {
		return it[i].Value
	}
	return Value{}
}

// With returns a copy of the item in which name is v.
func (it Item) With(name string, v Value) Item {
	i, ok := it.search(name)
	if ok {
		out := slices.Clone(it)
		out[i].Value = v
		return out
	}
	out := make(Item, 0, len(it)+1)
	out = append(out, it[:i]...)
	out = append(out, Field{name, v})
	return append(out, it[i:]...)
}

// Equal reports whether two items have the same fields with the same values.
func (it Item) Equal(other Item) bool {
	return slices.EqualFunc(it, other, func(f, g Field) bool {
		return f.Name == g.Name && f.Value.Equal(g.Value)
	})
}

package expr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// path leads from an item to a value in it, or to where one could be. Its first
// step is a name.
type path []step

// step goes into a map, or from the item itself, by name; or into a list by
// index.
type step struct {
	name  string
	index int  // byName: not an index; outOfRange: name has its digits
	ref   bool // name is a placeholder still to be replaced
}

const (
	byName     = -1
	outOfRange = -2
)

func (s step) isIndex() bool { return s.index != byName }

// find returns the value that the path leads to in an item, nil if there is
// none.
func (p path) find(it attr.Item) *attr.Value {
	v := field(it, p[0].name)
	for _, s := range p[1:] {
		if v == nil {
			return nil
		}
		v = s.from(v)
	}
	return v
}

// from returns where the step leads from a value, nil if nowhere.
func (s step) from(v *attr.Value) *attr.Value {
	switch {
	case !s.isIndex() && v.Kind == attr.M:
		return field(v.Map, s.name)
	case s.isIndex() && v.Kind == attr.L && s.index < len(v.List):
		return &v.List[s.index]
	}
	return nil
}

// field is attr.Item.Get without the copy: it returns nil for a missing field.
func field(it attr.Item, name string) *attr.Value {
	if i, ok := search(it, name); ok {
		return &it[i].Value
	}
	return nil
}

// search returns where a field is in an item, or would be.
func search(it attr.Item, name string) (at int, found bool) {
	low, high := 0, len(it)
	for low < high {
		mid := int(uint(low+high) / 2)
		switch order := strings.Compare(it[mid].Name, name); {
		case order == 0:
			return mid, true
		case order < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

// nested reports whether the path leads into an attribute rather than to it.
func (p path) nested() bool { return len(p) > 1 }

// compare orders paths such that those with the same beginning stand together,
// names in the order of an item's fields and indexes in that of a list.
func (p path) compare(q path) int {
	return slices.CompareFunc(p, q, func(a, b step) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.index, b.index))
	})
}

// String writes the path as faults do: [a, b, [0]].
func (p path) String() string {
	var out strings.Builder
	out.WriteByte('[')
	for i, s := range p {
		if i > 0 {
			out.WriteString(", ")
		}
		if s.isIndex() {
			out.WriteString("[" + strconv.Itoa(s.index) + "]")
		} else {
			out.WriteString(s.name)
		}
	}
	out.WriteByte(']')
	return out.String()
}

// checkDistinct makes sure that no path leads to what another one leads to or
// into, and that none takes for a list what another takes for a map. Of several
// such pairs the last one is reported, as DynamoDB does.
func checkDistinct(role Role, paths []path) error {
	for i := len(paths) - 2; i >= 0; i-- {
		for _, q := range paths[i+1:] {
			if how := paths[i].clash(q); how != "" {
				return role.fault("Two document paths " + how + " with each other; " +
					"must remove or rewrite one of these paths; path one: " + paths[i].String() + ", path two: " + q.String())
			}
		}
	}
	return nil
}

// clash says how two paths are at odds, or nothing.
func (p path) clash(q path) string {
	for i := range min(len(p), len(q)) {
		if p[i].isIndex() != q[i].isIndex() {
			return "conflict"
		}
		if p[i] != q[i] {
			return ""
		}
	}
	return "overlap"
}

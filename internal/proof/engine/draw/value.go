package draw

import (
	"maps"
	"slices"
)

// attributes are the names of attributes that are no keys of their table. Some of them are keys of an index.
var attributes = []string{"a", "a", "b", "b", "c", "m", "l", "size", "gp", "gs", "ls"}

// reserved are those of them that an expression may not have as they are.
var reserved = map[string]bool{"size": true}

func text(s string) Body { return Body{"S": s} }

// number draws a number in one of its spellings.
func (d *Drawer) number() string {
	return pick(d, []string{
		"0", "1", "2", "3", "-1", "10", "1.5", "1.50", "1e2", "100", "-0", "0.001", "1E-3", "007", "+5",
		"99999999999999999999999999999999999999", "1e125", "1e-130", "12345678901234567890.123",
	})
}

var (
	texts    = []string{"a", "b", "ab", "abc", "", "B", "é", "€", "1", "x y"}
	binaries = []string{"AA==", "AP8=", "YQ==", "YWI=", ""}
)

// any draws a value of any type.
func (d *Drawer) any() any {
	if d.chance(0.004) {
		return d.wrong()
	}
	return d.nested(2)
}

func (d *Drawer) nested(depth int) any {
	n := 11
	if depth == 0 {
		n = 8
	}
	switch d.r.IntN(n) {
	case 0, 1:
		return text(pick(d, texts))
	case 2, 3:
		return Body{"N": d.number()}
	case 4:
		return Body{"BOOL": d.chance(0.5)}
	case 5:
		return Body{"B": pick(d, binaries)}
	case 6:
		return Body{"NULL": true}
	case 7:
		return d.set()
	case 8, 9:
		m := Body{}
		for range d.r.IntN(3) {
			m[pick(d, []string{"a", "b", "n"})] = d.nested(depth - 1)
		}
		return Body{"M": m}
	}
	l := []any{}
	for range d.r.IntN(4) {
		l = append(l, d.nested(depth-1))
	}
	return Body{"L": l}
}

// set draws a set without equal elements.
func (d *Drawer) set() any {
	kind, from := "SS", []string{"a", "b", "ab", "é"}
	switch d.r.IntN(3) {
	case 0:
		kind, from = "NS", []string{"1", "2", "-1", "1.5", "100"}
	case 1:
		kind, from = "BS", []string{"AA==", "YQ==", "AP8="}
	}
	var elements []any
	for _, i := range d.r.Perm(len(from))[:1+d.r.IntN(3)] {
		elements = append(elements, from[i])
	}
	return Body{kind: elements}
}

// wrong draws a value that is none.
func (d *Drawer) wrong() any {
	return pick(d, []any{
		Body{},
		Body{"S": "a", "N": "1"},
		Body{"N": "x"},
		Body{"N": ""},
		Body{"N": "1e126"},
		Body{"N": "1e-131"},
		Body{"N": "123456789012345678901234567890123456789"},
		Body{"SS": []any{}},
		Body{"SS": []any{"a", "a"}},
		Body{"NS": []any{"1", "1.0"}},
		Body{"NULL": false},
		Body{"B": "no base64!"},
		Body{"NS": []any{"x"}},
		Body{"BS": []any{"YQ==", "YQ=="}},
		Body{"N": " 1"},
		Body{"N": "1 "},
		Body{"N": "0x1"},
		Body{"SS": []any{""}},
		Body{"BS": []any{""}},
	})
}

// attribute draws the value of an attribute: mostly of a few types, so that later requests find what they can work with.
func (d *Drawer) attribute(name string) any {
	if d.chance(0.25) {
		return d.any()
	}
	switch name {
	case "gp", "ls":
		return text(pick(d, []string{"a", "b"}))
	case "a", "gs", "size":
		return Body{"N": d.number()}
	case "b":
		return text(pick(d, texts))
	case "m":
		return Body{"M": Body{"a": d.nested(1), "n": Body{"N": d.number()}}}
	case "l":
		return Body{"L": []any{d.nested(1), d.nested(1)}}
	}
	return d.set()
}

// item draws an item.
func (d *Drawer) item() Body {
	item := d.key()
	for range d.r.IntN(6) {
		name := pick(d, attributes)
		item[name] = d.attribute(name)
	}
	// A key of an index must have its type, unless the request is to be refused.
	for _, name := range slices.Sorted(maps.Keys(d.t.kinds)) {
		kind := d.t.kinds[name]
		if v, ok := item[name].(Body); ok && d.t.secondary(name) && d.chance(0.95) {
			if s, ok := v[kind]; !ok || s == "" {
				delete(item, name)
			}
		}
	}
	return item
}

// secondary says that an attribute is a key of an index alone.
func (t *Table) secondary(name string) bool {
	return t.kinds[name] != "" && name != t.hash && name != t.sort
}

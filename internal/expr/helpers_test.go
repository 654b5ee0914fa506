package expr

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Values in tests are written as Go values: 5 or num("1e3"), "text", []byte("b"),
// true, nil, list{1, 2}, obj{"a": 1}, set{"a", "b"}.
type (
	list []any
	obj  map[string]any
	set  []any
	num  string
)

func value(v any) attr.Value {
	switch v := v.(type) {
	case attr.Value:
		return v
	case nil:
		return attr.Value{Kind: attr.Null}
	case bool:
		return attr.Boolean(v)
	case string:
		return attr.String(v)
	case []byte:
		return attr.Binary(string(v))
	case int:
		return value(num(strconv.Itoa(v)))
	case num:
		n, err := attr.ParseNumber(string(v))
		if err != nil {
			panic(err)
		}
		return attr.Num(n)
	case list:
		return attr.List(values(v)...)
	case set:
		elems := values(v)
		return attr.Set(elems[0].Kind.SetOf(), elems)
	case obj:
		return attr.Map(item(v))
	}
	panic(fmt.Sprintf("no value: %T", v))
}

func values(list []any) []attr.Value {
	out := make([]attr.Value, len(list))
	for i, v := range list {
		out[i] = value(v)
	}
	return out
}

func item(fields obj) attr.Item {
	var out []attr.Field
	for name, v := range fields {
		out = append(out, attr.Field{Name: name, Value: value(v)})
	}
	return attr.NewItem(out...)
}

// without returns a copy of an item that has no field of that name.
func without(it attr.Item, name string) attr.Item {
	return slices.DeleteFunc(slices.Clone(it), func(f attr.Field) bool { return f.Name == name })
}

// show writes an item for a person to read.
func show(it attr.Item) string {
	var parts []string
	for _, f := range it {
		parts = append(parts, f.Name+": "+showValue(f.Value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func showValue(v attr.Value) string {
	switch v.Kind {
	case attr.M:
		return show(v.Map)
	case attr.L, attr.SS, attr.NS, attr.BS:
		var parts []string
		for _, e := range v.List {
			parts = append(parts, showValue(e))
		}
		return v.Kind.String() + "[" + strings.Join(parts, ", ") + "]"
	case attr.N:
		return v.Number().String()
	case attr.Bool:
		return strconv.FormatBool(v.Bool)
	case attr.Null:
		return "null"
	}
	return strconv.Quote(v.Str)
}

// scope gives every test the same placeholders, so that its tables only hold
// what they are about.
func scope() *Scope {
	return NewScope(
		map[string]string{"#n": "n", "#a": "a", "#s": "status", "#dot": "m.a", "#index": "[3]", "#m": "m"},
		item(obj{
			":one": 1, ":two": 2, ":five": 5, ":nine": 9,
			":a": "a", ":b": "b", ":he": "hé", ":hello": "héllo", ":empty": "",
			":bin": []byte("\x01"), ":bin2": []byte("\x02"), ":true": true, ":null": nil,
			":list": list{1}, ":none": list{}, ":map": obj{"x": 1},
			":ss": set{"a"}, ":ns": set{1}, ":bs": set{[]byte("x")}, ":ba": set{"b", "a"},
			":N": "N", ":S": "S", ":SS": "SS", ":NULL": "NULL", ":X": "X",
		}))
}

// checkFault compares an error with the text of a fault, "" for none.
func checkFault(t *testing.T, src string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		if _, ok := err.(attr.Fault); !ok {
			t.Errorf("%s\n got an error of type %T, want an attr.Fault", src, err)
		}
		got = err.Error()
	}
	if got != want {
		t.Errorf("%.200s\n got  %s\n want %s", src, got, want)
	}
}

// checkAttributes compares what TopLevelAttributes returns, written a, b*, with
// a star for those looked into.
func checkAttributes(t *testing.T, src string, seq func(func(string, bool) bool), want string) {
	t.Helper()
	var got []string
	for name, nested := range seq {
		if nested {
			name += "*"
		}
		got = append(got, name)
	}
	if g := strings.Join(got, " "); g != want {
		t.Errorf("%s\n got  attributes %s\n want %s", src, g, want)
	}
}

// sorted lets tables be maps and still run in a fixed order.
func sorted[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each operator makes exactly these breaks of a small function, at these lines.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"less", "var x = a < b", []string{"3 compare: var x = a <= b"}},
		{"at most", "var x = a <= b", []string{"3 compare: var x = a < b"}},
		{"more", "var x = a > b", []string{"3 compare: var x = a >= b"}},
		{"at least", "var x = a >= b", []string{"3 compare: var x = a > b"}},
		{"equal", "var x = a == b", []string{"3 compare: var x = a != b"}},
		{"unequal", "var x = a != b", []string{"3 compare: var x = a == b"}},
		{"and", "var x = a && b", []string{"3 logic: var x = a || b"}},
		{"or", "var x = a || b", []string{"3 logic: var x = a && b"}},
		{"plus", "var x = a + b", []string{"3 arithmetic: var x = a - b"}},
		{"minus", "var x = a - b", []string{"3 arithmetic: var x = a + b"}},
		{"times", "var x = a * b", []string{"3 arithmetic: var x = a / b"}},
		{"by", "var x = a / b", []string{"3 arithmetic: var x = a * b"}},
		{"remainder", "var x = a % b", []string{"3 arithmetic: var x = a * b"}},
		{"not", "var x = !a", []string{"3 not: var x = a"}},
		{"true", "var x = true", []string{"3 bool: var x = false"}},
		{"false", "var x = false", []string{"3 bool: var x = true"}},
		{"least", "var x = min(a, b)", []string{"3 extreme: var x = max(a, b)"}},
		{"zero", "var x = 0", []string{"3 constant: var x = 1"}},
		{"number", "var x = 1_000", []string{"3 constant: var x = 1001", "3 constant: var x = 999"}},
		{"hexadecimal", "var x = 0x10", []string{"3 constant: var x = 17", "3 constant: var x = 15"}},
		{"fraction", "var x = 1.5", []string{"3 constant: var x = (1.5 + 1)"}},
		{"string", `var x = "a"`, []string{`3 string: var x = ""`}},
		{"empty string", `var x = ""`, nil},
		{"lines of text", "var x = `a\nb`", nil},
		{"tag", "type x struct {\n\ta [2]int `json:\"a\"`\n}", []string{
			"4 constant: a [3]int `json:\"a\"`", "4 constant: a [1]int `json:\"a\"`",
		}},
		{"import", `import "fmt"`, nil},
		{"increment", "func f() {\n\ta++\n}", []string{"4 drop: ", "4 arithmetic: a--"}},
		{"sum", "func f() {\n\ta += b\n}", []string{"4 drop: ", "4 arithmetic: a -= b"}},
		{"assignment", "func f() {\n\ta = b\n}", []string{"4 drop: "}},
		{"declaration", "func f() {\n\ta := b\n}", nil},
		{"call", "func f() {\n\tg(a) // why\n}", []string{"4 drop: // why"}},
		{"long call", "func f() {\n\tg(\n\t\ta)\n}", nil},
		{"send", "func f() {\n\ta <- b\n}", []string{"4 drop: "}},
		{"defer", "func f() {\n\tdefer a()\n}", []string{"4 drop: "}},
		{"if", "func f() {\n\tif a {\n\t}\n}", []string{"4 never: if false && (a) {", "4 negate: if !(a) {"}},
		{"if equal", "func f() {\n\tif a == b {\n\t}\n}", []string{"4 never: if false && (a == b) {", "4 compare: if a != b {"}},
		{"if not", "func f() {\n\tif !a {\n\t}\n}", []string{"4 never: if false && (!a) {", "4 not: if a {"}},
		{"loop", "func f() {\n\tfor a {\n\t\tcontinue\n\t}\n}", []string{
			"4 never: for false && (a) {", "4 negate: for !(a) {", "5 drop: ",
		}},
		{"endless loop", "func f() {\n\tfor {\n\t\tbreak\n\t}\n}", []string{"5 drop: "}},
		{"case", "func f() {\n\tswitch a {\n\tcase b:\n\t\tg()\n\t}\n}", []string{"6 drop: "}},
		{"select", "func f() {\n\tselect {\n\tcase <-a:\n\t\tg()\n\t}\n}", []string{"6 drop: "}},
		{"error", "func f() error {\n\treturn err\n}", []string{"4 error: return nil"}},
		{"no error", "func f() error {\n\treturn nil\n}", nil},
		{"value and error", "func f() (n int, err error) {\n\treturn a, err\n}", []string{"4 error: return a, nil", "4 zero: return 0, nil"}},
		{"several of a type", "func f() (a, b T) {\n\treturn x, y\n}", []string{"4 zero: return *new(T), *new(T)"}},
		{"zero already", "func f() (T, error) {\n\treturn T{}, nil\n}", nil},
		{"several from a call", "func f() (a, b T) {\n\treturn g()\n}", nil},
		{"bare return", "func f() (a T) {\n\treturn\n}", nil},
		{"nothing to return", "func f() {\n\treturn\n}", nil},
		{"function in a function", "func f() {\n\tg = func() *T { return a }\n}", []string{"4 drop: ", "4 zero: g = func() *T { return nil }"}},
		{"function behind a function", "func f() error {\n\tg := func() T { return a }\n\treturn b\n}", []string{
			"4 zero: g := func() T { return *new(T) }", "5 error: return nil",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := []byte("package p\n\n" + c.source + "\n")
			changes, err := changesOf("p.go", src)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range changes {
				got = append(got, fmt.Sprintf("%d %s: %s", change.line, change.operator, change.after))
				broken := strings.Split(string(change.apply(src)), "\n")
				if line := strings.TrimSpace(broken[change.line-1]); line != change.after {
					t.Errorf("got the broken line %q, want %q", line, change.after)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestGenericFunctions(t *testing.T) {
	for source, want := range map[string]bool{
		"func f[T any]() { g() }":      true,
		"func (x *c[T]) f() { g() }":   true,
		"func (x c[K, V]) f() { g() }": true,
		"func (x *c) f() { g() }":      false,
		"func f() { g() }":             false,
	} {
		changes, err := changesOf("p.go", []byte("package p\n"+source))
		if err != nil || len(changes) != 1 {
			t.Fatalf("%s: got %v, %v, want one change", source, changes, err)
		}
		if changes[0].generic != want {
			t.Errorf("%s: got %v, want %v", source, changes[0].generic, want)
		}
	}
}

func TestChangesOfNoProgram(t *testing.T) {
	if changes, err := changesOf("p.go", []byte("package")); err == nil {
		t.Errorf("got %v and no error", changes)
	}
}

package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/expr/token"
)

var clauses = map[token.Kind]string{token.Set: "SET", token.Remove: "REMOVE", token.Add: "ADD", token.Delete: "DELETE"}

// show writes what was read of an expression: clause, path, value, and ? with a path that must not exist.
func show(expression string) string {
	var all []string
	u := ReadUpdate(expression)
	for a, ok := u.Next(); ok; a, ok = u.Next() {
		text := clauses[a.Clause] + " " + a.Path.Text
		if a.Path.Nested {
			text += fmt.Sprintf(" (in %s)", a.Path.Name)
		}
		if a.Value != "" {
			text += " " + a.Value
		}
		if a.Unless.Text != "" {
			text += " ? " + a.Unless.Text
		}
		all = append(all, text)
	}
	if u.Broken() {
		all = append(all, "broken")
	}
	return strings.Join(all, ", ")
}

func TestReadUpdate(t *testing.T) {
	for expression, want := range map[string]string{
		"":                                                "",
		"SET a = :v":                                      "SET a :v",
		"set\n\t#a=:v,x=((:w))":                           "SET #a :v, SET x :w",
		"SET a = if_not_exists(a, :v)":                    "SET a :v ? a",
		"SET a = ( if_not_exists ( b.c , :v ) )":          "SET a :v ? b.c",
		"SET a = if_not_exists(a, :v) + :w":               "SET a",
		"SET a = if_not_exists(a, b)":                     "SET a",
		"SET a = if_not_exists(a)":                        "SET a",
		"SET a = if_not_exists(a, :v":                     "SET a",
		"SET a = list_append(a, :v), b = :w":              "SET a, SET b :w",
		"SET a = :v + :w, b = :v -, c = b":                "SET a, SET b, SET c",
		"SET a.b[0] . c = :v":                             "SET a.b[0] . c (in a) :v",
		"REMOVE a, b.c SET d = e[1] ADD f :v DELETE g :w": "REMOVE a, REMOVE b.c (in b), SET d, ADD f, DELETE g",
		"SET remove = add REMOVE set, m.delete":           "SET remove, REMOVE set, REMOVE m.delete (in m)",

		// Names that DynamoDB wants placeholders for, should it ever not.
		"SET _id = :v, 2fa = :v, größe = :v, 0x_ = :_v": "SET _id :v, SET 2fa :v, SET größe :v, SET 0x_ :_v",

		// What DynamoDB refuses.
		"SET":                            "SET ",
		"SET a":                          "SET a",
		"SET a[":                         "SET a[ (in a)",
		"PUT a = :v SET b = :w":          "SET b :w, broken",
		"SET a = :v REMOVE b c ADD d :v": "SET a :v, REMOVE b, ADD d, broken",
	} {
		if got := show(expression); got != want {
			t.Errorf("%q: got %s, want %s", expression, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a.b[1]", " a . b [ 1 ]", true},
		{"#a.b", "#a.b", true},
		{"a", "#a", false},
		{"a", "a.b", false},
		{"a.b", "a", false},
		{"a[1]", "a[11]", false},
	} {
		if got := (Path{Text: c.a}).Same(Path{Text: c.b}); got != c.want {
			t.Errorf("%q and %q: got %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

func TestAddToSet(t *testing.T) {
	for expression, want := range map[string]string{
		"":                          "SET x",
		" \n":                       "SET x",
		"SET a = :a":                "SET x, a = :a",
		"set\ta = :a":               "set x,\ta = :a",
		"REMOVE b SET a = :a":       "REMOVE b SET x, a = :a",
		"REMOVE b":                  "REMOVE b SET x",
		"ADD n :one":                "ADD n :one SET x",
		"REMOVE m.set":              "REMOVE m.set SET x",
		"REMOVE #set, offset":       "REMOVE #set, offset SET x",
		"DELETE s :set SET a = :a":  "DELETE s :set SET x, a = :a",
		"ADD settings :s":           "ADD settings :s SET x",
		"SET a=if_not_exists(a,:a)": "SET x, a=if_not_exists(a,:a)",
	} {
		if got := AddToSet(expression, "x"); got != want {
			t.Errorf("%q: got %q, want %q", expression, got, want)
		}
	}
}

func TestAddToRemove(t *testing.T) {
	for expression, want := range map[string]string{
		"":                           "REMOVE x",
		"SET a = :a":                 "SET a = :a REMOVE x",
		"REMOVE b SET a = :a":        "REMOVE x, b SET a = :a",
		"SET remove = :a, b = c":     "SET remove = :a, b = c REMOVE x",
		"SET a = remove remove\tb":   "SET a = remove remove x,\tb",
		"DELETE removed :s ADD n :n": "DELETE removed :s ADD n :n REMOVE x",
	} {
		if got := AddToRemove(expression, "x"); got != want {
			t.Errorf("%q: got %q, want %q", expression, got, want)
		}
	}
}

func TestReadUpdateAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		u := ReadUpdate("SET #s = :s, n = if_not_exists(n, :zero), a.b = a.b + :one REMOVE x ADD y :one")
		for a, ok := u.Next(); ok; a, ok = u.Next() {
			a.Path.Same(a.Unless)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Any text is read to its end, and what was read of it is in it.
func FuzzReadUpdate(f *testing.F) {
	for _, seed := range []string{
		"SET a = :a", "ADD n :one REMOVE l[0]", "SET #x.y = if_not_exists(#x.y, :z), é=:e", "(((", "set set=:set", "=,()[].",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		end := 0
		u := ReadUpdate(expression)
		for a, ok := u.Next(); ok; a, ok = u.Next() {
			if a.ClauseEnd < end || !strings.EqualFold(expression[a.ClauseEnd-len(clauses[a.Clause]):a.ClauseEnd], clauses[a.Clause]) {
				t.Fatalf("%q: %s does not end at %d", expression, clauses[a.Clause], a.ClauseEnd)
			}
			end = a.ClauseEnd
			for _, text := range []string{a.Path.Text, a.Value, a.Unless.Text} {
				if !strings.Contains(expression, text) {
					t.Fatalf("%q has no %q", expression, text)
				}
			}
			if !a.Path.Same(a.Path) {
				t.Fatalf("%q: the path %q is not itself", expression, a.Path.Text)
			}
		}
		for range Equalities(expression) {
		}
		AddToSet(expression, "#hs_0 = :hs_0")
		AddToRemove(expression, "#hs_0")
	})
}

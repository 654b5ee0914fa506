package expr

import (
	"strings"
	"testing"
)

func TestUpdateFaults(t *testing.T) {
	const overlap = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
	const conflict = "Two document paths conflict with each other; must remove or rewrite one of these paths; "
	for _, group := range []struct {
		about string
		text  string // what all of them have in common
		cases map[string]string
	}{
		{"grammar", "", map[string]string{
			"":                                "The expression can not be empty;",
			strings.Repeat("x", 5000):         "Expression size has exceeded the maximum allowed size; expression size: 5000",
			"INVALID SYNTAX HERE":             `Syntax error; token: "INVALID", near: "INVALID SYNTAX"`,
			"a = :one":                        `Syntax error; token: "a", near: "a ="`,
			"SET":                             `Syntax error; token: "<EOF>", near: "SET"`,
			"SET a":                           `Syntax error; token: "<EOF>", near: "a"`,
			"SET a = ":                        `Syntax error; token: "<EOF>", near: "= "`,
			"SET a = :one,":                   `Syntax error; token: "<EOF>", near: ","`,
			"SET a = :one, SET b = :two":      `Syntax error; token: "SET", near: ", SET b"`,
			"SET a = :one b = :two":           `Syntax error; token: "b", near: ":one b ="`,
			"SET a = set":                     `Syntax error; token: "set", near: "= set"`,
			"SET :one = a":                    `Syntax error; token: ":one", near: "SET :one ="`,
			"SET if_not_exists(a, b) = a":     `Syntax error; token: "(", near: "if_not_exists(a"`,
			"SET (a = (b + c))":               `Syntax error; token: "(", near: "SET (a"`,
			"SET a = b + c + d":               `Syntax error; token: "+", near: "c + d"`,
			"SET a = b - :one - :one":         `Syntax error; token: "-", near: ":one - :one"`,
			"SET a = (b + c) + d":             `Syntax error; token: "+", near: ") + d"`,
			"SET a = b + (c + d)":             `Syntax error; token: "+", near: "c + d"`,
			"SET a = :one +":                  `Syntax error; token: "<EOF>", near: "+"`,
			"SET a = b * :two":                `Syntax error; token: "*", near: "b * :two"`,
			"SET a = (b.c).d + e":             `Syntax error; token: ".", near: ").d"`,
			"SET a = if_not_exists(a, b + c)": `Syntax error; token: "+", near: "b + c"`,
			"SET a = f()":                     `Syntax error; token: ")", near: "()"`,
			"SET a = _f(b)":                   `Syntax error; token: "_", near: "= _f"`,
			"SET a[1] = 1":                    `Syntax error; token: "1", near: "= 1"`,
			"SET a[:one] = :one":              `Syntax error; token: ":one", near: "[:one]"`,
			"REMOVE a = b":                    `Syntax error; token: "=", near: "a = b"`,
			"REMOVE a b":                      `Syntax error; token: "b", near: "a b"`,
			"REMOVE :one":                     `Syntax error; token: ":one", near: "REMOVE :one"`,
			"ADD hits : incr":                 `Syntax error; token: ":", near: "hits : incr"`,
			"ADD a":                           `Syntax error; token: "<EOF>", near: "a"`,
			"ADD a = :one":                    `Syntax error; token: "=", near: "a = :one"`,
			"ADD a b":                         `Syntax error; token: "b", near: "a b"`,
			"ADD a 1":                         `Syntax error; token: "1", near: "a 1"`,
			"ADD a #n":                        `Syntax error; token: "#n", near: "a #n"`,
			"ADD a (:one)":                    `Syntax error; token: "(", near: "a (:one"`,
			"DELETE a if_not_exists(b)":       `Syntax error; token: "if_not_exists", near: "a if_not_exists("`,
			"SET a = ((b))":                   "The expression has redundant parentheses;",
			"SET a = ((b + c))":               "The expression has redundant parentheses;",
			"SET a = list_append(((b)), c)":   "The expression has redundant parentheses;",
		}},
		{"reserved words", "Attribute name is a reserved keyword; reserved keyword: ", map[string]string{
			"SET status = :one":                  "status",
			"REMOVE Absolute":                    "Absolute",
			"SET a = b.name":                     "name",
			"SET #nope = :nope SET abOrt = b":    "abOrt", // before the second SET
			"ADD counter :nope":                  "counter",
			"SET a = if_not_exists(timestamp,b)": "timestamp",
		}},
		{"functions", "", map[string]string{
			"SET a = if_not_exist(a, :nope)":                             "Invalid function name; function: if_not_exist",
			"SET a = LIST_APPEND(l, :nope) SET b = c":                    "Invalid function name; function: LIST_APPEND",
			"SET a = size(s)":                                            "The function is not allowed in an update expression; function: size",
			"SET a = contains(s, :a)":                                    "The function is not allowed in an update expression; function: contains",
			"SET a = b + attribute_exists(s)":                            "The function is not allowed in an update expression; function: attribute_exists",
			"SET a = list_append(list_append(l, :list), :list)":          "The function is not allowed to be used this way in an expression; function: list_append",
			"SET a = if_not_exists(l, list_append(l, :list))":            "The function is not allowed to be used this way in an expression; function: list_append",
			"SET a = list_append(l, :list) + :one":                       "The function is not allowed to be used this way in an expression; function: list_append",
			"SET a = if_not_exists(c)":                                   "Incorrect number of operands for operator or function; operator or function: if_not_exists, number of operands: 1",
			"SET a = list_append(c)":                                     "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1",
			"SET a = list_append(:list, :list, :list)":                   "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 3",
			"SET a = if_not_exists(:one, c)":                             "Operator or function requires a document path; operator or function: if_not_exists",
			"SET a = if_not_exists(if_not_exists(a, b), c)":              "Operator or function requires a document path; operator or function: if_not_exists",
			"SET a = if_not_exists(b, b)":                                "The first operand must be distinct from the remaining operands for this operator or function; operator: if_not_exists, first operand: [b]",
			"SET a = n" + strings.Repeat(", a = n + :one", 291):          overlap + "path one: [a], path two: [a]",
			"SET a" + strings.Repeat("=n-n,a", 301) + " = :one REMOVE b": "The expression contains too many operators; operator count: 301",
		}},
		{"sections", " section can only be used once in an update expression;", map[string]string{
			"SET a = #nope SET c = :nope":             `The "SET"`,
			"REMOVE #nope SET a = b REMOVE e":         `The "REMOVE"`,
			"ADD #nope :one SET a = b ADD e :two":     `The "ADD"`,
			"DELETE n :ss SET a = b delete #nope :ss": `The "DELETE"`,
		}},
		{"placeholders", "", map[string]string{
			"SET #nope = :nope":                     "An expression attribute name used in the document path is not defined; attribute name: #nope",
			"SET a = :nope":                         "An expression attribute value used in expression is not defined; attribute value: :nope",
			"SET a = :nope, b = #nope":              "An expression attribute name used in the document path is not defined; attribute name: #nope",
			"SET #nope = if_not_exists(:nope)":      "An expression attribute name used in the document path is not defined; attribute name: #nope",
			"SET a = if_not_exists(:nope)":          "An expression attribute value used in expression is not defined; attribute value: :nope",
			"SET a = :first, b = :second":           "An expression attribute value used in expression is not defined; attribute value: :second",
			"REMOVE m" + strings.Repeat(".m", 32):   "The document path has too many nesting levels; nesting levels: 33",
			"REMOVE l[2147483648], #nope":           "List index is not within the allowable range; index: [2147483648]",
			"SET a = :nope REMOVE #nope, a.b, l[0]": "An expression attribute name used in the document path is not defined; attribute name: #nope",
		}},
		{"places", "", map[string]string{
			"SET a = :nope, a = :two":                             overlap + "path one: [a], path two: [a]",
			"SET m = :one, m.a = :two":                            overlap + "path one: [m], path two: [m, a]",
			"SET l[0] = :one REMOVE l[0]":                         overlap + "path one: [l, [0]], path two: [l, [0]]",
			"SET #a = :one, a = :one":                             overlap + "path one: [a], path two: [a]",
			"SET d[1] = a, d.b = a, c[1].a = a, c = a":            overlap + "path one: [c, [1], a], path two: [c]",
			"SET m[3].#index = a, m[3] = a":                       overlap + "path one: [m, [3], [3]], path two: [m, [3]]",
			"REMOVE m.x, m[1]":                                    conflict + "path one: [m, x], path two: [m, [1]]",
			"SET m[3].#index = a, m.#index[3] = if_not_exists(a)": conflict + "path one: [m, [3], [3]], path two: [m, [3], [3]]",
			"REMOVE a.#n SET a[1] = #index":                       conflict + "path one: [a, n], path two: [a, [1]]",
		}},
		{"operands", "Incorrect operand type for operator or function; ", map[string]string{
			"SET a = a + :a":                "operator or function: +, operand type: S",
			"SET a = :bin + :a":             "operator or function: +, operand type: B",
			"SET a = a - :list":             "operator or function: -, operand type: L",
			"SET a = :null - a":             "operator or function: -, operand type: NULL",
			"SET a = list_append(:a, a)":    "operator or function: list_append, operand type: S",
			"SET a = list_append(a, :ss)":   "operator or function: list_append, operand type: SS",
			"SET a = list_append(a, :true)": "operator or function: list_append, operand type: BOOL",
			"ADD a.b :a":                    "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"ADD a :bin":                    "operator: ADD, operand type: BINARY, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"ADD a :null":                   "operator: ADD, operand type: NULL, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"ADD a :true":                   "operator: ADD, operand type: BOOL, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"ADD a :list":                   "operator: ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"DELETE a :map":                 "operator: DELETE, operand type: MAP, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"DELETE a :one":                 "operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_ADD_OPERAND",
			// The last one first.
			"ADD a :a DELETE b :one": "operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_ADD_OPERAND",
			"SET b = list_append(:a, a), c = if_not_exists(a) ADD a.b :a": "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
		}},
	} {
		t.Run(group.about, func(t *testing.T) {
			for _, src := range sorted(group.cases) {
				want := group.text + group.cases[src]
				if group.about == "sections" {
					want = group.cases[src] + group.text
				}
				_, err := ParseUpdate(src, scope())
				checkFault(t, src, err, "Invalid UpdateExpression: "+want)
			}
		})
	}
}

func TestUpdateParts(t *testing.T) {
	for _, c := range []struct {
		src, targets string
		sets         int
	}{
		{"SET a = :one", "a", 1},
		{"set #n = a + b.c, m.x = if_not_exists(l[0], s) REMOVE s, l[1]", "l* m* n s", 2},
		{"ADD n :one DELETE ss :ss, m.s :ss", "m* n ss", 1},
	} {
		u, err := ParseUpdate(c.src, scope())
		if err != nil {
			t.Fatal(err)
		}
		checkAttributes(t, c.src, u.TopLevelAttributes(), c.targets)
		if got := u.Sets(); got != c.sets {
			t.Errorf("%s\n got  %d sets\n want %d", c.src, got, c.sets)
		}
	}
}

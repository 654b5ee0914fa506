package expr

import (
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// The item that conditions are tried on.
var sample = item(obj{
	"pk": "k", "n": 5, "s": "héllo", "emoji": "😀", "blank": "", "b": []byte{0xFF, 0}, "t": true, "z": nil,
	"ss": set{"a", "b"}, "ns": set{1, 2}, "bs": set{[]byte("x")},
	"l": list{1, 2, 3}, "m": obj{"a": 1, "inner_": obj{"x": "y"}}, "m.a": "dotted", "[3]": "bracketed",
	"same": 5, "l0": list{},
})

func TestConditionEval(t *testing.T) {
	for _, group := range []struct {
		about string
		cases map[string]bool
	}{
		{"comparisons", map[string]bool{
			"n = :five":        true,
			"n = :one":         false,
			"n <> :one":        true,
			"n < :nine":        true,
			"n < :five":        false,
			"n <= :five":       true,
			"n > :one":         true,
			"n > :five":        false,
			"n >= :five":       true,
			":five = n":        true,
			":one < :two":      true,
			"n = same":         true,
			"s > :a":           true,
			"blank = :empty":   true,
			"blank < :a":       true,
			"b > :bin":         true,
			"t = :true":        true,
			"z = :null":        true,
			"ss = :ba":         true, // sets have no order
			"ss <> :ss":        true,
			"l <> :list":       true,
			"l0 = :none":       true,
			"m.inner_ <> :map": true,
			"n = (:five)":      true,
			"(n) = :five":      true,
		}},
		{"what is missing or of another type", map[string]bool{
			"nope = :one":                false,
			"nope <> :one":               true,
			"nope < :one":                false,
			"nope = nope2":               false,
			"nope <> nope2":              true,
			"n = :a":                     false,
			"n <> :a":                    true,
			"n < :a":                     false,
			"n >= :a":                    false,
			"NOT n >= :a":                true,
			"t > m":                      false,
			"nope BETWEEN :one AND :two": false,
			"nope IN (:one)":             false,
		}},
		{"BETWEEN and IN", map[string]bool{
			"n BETWEEN :one AND :nine":       true,
			"n BETWEEN :five AND :five":      true,
			"n BETWEEN :one AND :two":        false,
			"n between :one and :nine":       true,
			":five BETWEEN l[0] AND :nine":   true,
			"s BETWEEN :a AND :hello":        true,
			"n BETWEEN :a AND :b":            false,
			"n IN (:one, :five)":             true,
			"n IN (:one)":                    false,
			"n IN (:a, same)":                true,
			"n IN (nope, (:five))":           true,
			"ss IN (:ba)":                    true,
			"size(l) IN (:one, size(blank))": false,
		}},
		{"AND, OR, NOT, from what binds most to what binds least: NOT, AND, OR", map[string]bool{
			"n = :one OR n = :five AND s = :a":   false,
			"n = :five OR n = :one AND s = :a":   true,
			"(n = :five OR n = :one) AND s = :a": false,
			"NOT n = :one AND n = :one":          false,
			"NOT (n = :one AND n = :one)":        true,
			"NOT NOT n = :five":                  true,
			"not n = :one or n = :one":           true,
			"n = :one Or n = :five":              true,
			"(NOT (n = :one))":                   true,
		}},
		{"attribute_exists and attribute_not_exists", map[string]bool{
			"attribute_exists(n)":                true,
			"attribute_exists(z)":                true,
			"attribute_exists(nope)":             false,
			"attribute_exists(m.a)":              true,
			"attribute_exists(m.b)":              false,
			"attribute_exists(l[2])":             true,
			"attribute_exists(l[3])":             false,
			"attribute_exists(m[0])":             false,
			"attribute_exists(l.a)":              false,
			"attribute_exists(n.a)":              false,
			"attribute_not_exists(nope)":         true,
			"attribute_not_exists(n)":            false,
			"attribute_not_exists(m.b)":          true,
			"(attribute_exists(n))":              true,
			"(attribute_exists(n)) AND (n = n2)": false,
		}},
		{"attribute_type", map[string]bool{
			"attribute_type(n, :N)":    true,
			"attribute_type(:one, :N)": true, // the documentation wants a path, the service does not
			"attribute_type(:one, :S)": false,
			"attribute_type(s, :N)":    false,
			"attribute_type(ss, :SS)":  true,
			"attribute_type(z, :NULL)": true,
			"attribute_type(nope, :S)": false,
			"attribute_type(l[0], :N)": true,
		}},
		{"begins_with", map[string]bool{
			"begins_with(s, :he)":      true,
			"begins_with(s, :empty)":   true,
			"begins_with(s, :a)":       false,
			"begins_with(n, :a)":       false,
			"begins_with(nope, :a)":    false,
			"begins_with(b, :bin)":     false,
			"begins_with(:hello, :he)": true,
			"begins_with(s, b)":        false,
		}},
		{"contains", map[string]bool{
			"contains(s, :he)":      true,
			"contains(s, :b)":       false,
			"contains(s, :one)":     false,
			"contains(ss, :a)":      true,
			"contains(ss, :he)":     false,
			"contains(ss, :ss)":     false,
			"contains(ns, :two)":    true,
			"contains(ns, :a)":      false,
			"contains(l, :two)":     true,
			"contains(l, :a)":       false,
			"contains(m, :a)":       false,
			"contains(:ba, :b)":     true,
			"NOT contains(ss, :he)": true,
			"contains(nope, :a)":    false,
		}},
		{"size", map[string]bool{
			"size(s) = :five":                true,
			"size(emoji) = :two":             true, // two UTF-16 units
			"size(b) = :two":                 true,
			"size(ss) = :two":                true,
			"size(l) > :two":                 true,
			"size(m) = :two":                 true,
			"size(l0) < :one":                true,
			"size(n) = :one":                 false, // a number has no size
			"size(n) <> :one":                true,
			"size(nope) = :one":              false,
			"size(:hello) = n":               true,
			"(size(s)) = :five":              true,
			"((size(s)) = :five)":            true,
			"size(ss) = size(b)":             true,
			"size(s) BETWEEN :one AND :nine": true,
		}},
		{"paths", map[string]bool{
			"m.a = :one":                true,
			"m.inner_.x > :b":           true,
			"l[1] = :two":               true,
			"#m.#a = :one":              true,
			"#n = :five":                true,
			"#dot > :b":                 true, // one name with a dot in it, no path
			"#index > :b":               true,
			"l[2147483647] = :one":      false,
			"attribute_exists(#s)":      false,
			"attribute_exists(m.#s.a)":  false,
			"attribute_exists(a_1B.c2)": false,
		}},
	} {
		t.Run(group.about, func(t *testing.T) {
			for _, src := range sorted(group.cases) {
				c, err := ParseCondition(ConditionExpression, src, scope())
				if err != nil {
					t.Errorf("%s: %v", src, err)
					continue
				}
				if got := c.Eval(sample); got != group.cases[src] {
					t.Errorf("%s is %v, want %v", src, got, group.cases[src])
				}
			}
		})
	}
}

func TestConditionOnNoItem(t *testing.T) {
	for src, want := range map[string]bool{
		"attribute_not_exists(pk)": true, "attribute_exists(pk)": false, "pk <> :a": true, "pk = :a": false,
	} {
		c, err := ParseCondition(ConditionExpression, src, scope())
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Eval(nil); got != want {
			t.Errorf("%s is %v, want %v", src, got, want)
		}
	}
}

func TestConditionFaults(t *testing.T) {
	for _, group := range []struct {
		about string
		text  string // what all of them have in common
		cases map[string]string
	}{
		{"the expression as a whole", "", map[string]string{
			"": "The expression can not be empty;",
			"n = :one" + strings.Repeat(" ", maxSize): "Expression size has exceeded the maximum allowed size; expression size: 4104",
			strings.Repeat("(", maxSize+1):            "Expression size has exceeded the maximum allowed size; expression size: 4097",
		}},
		{"redundant parentheses", "The expression has redundant parentheses;", map[string]string{
			"((n = :one))":                          "",
			"n = :one AND (s = :a OR ((n = :one)))": "",
			"((n)) = :one":                          "",
			"n = ((:one))":                          "",
			"n IN (((:one)))":                       "",
			"a > whatever((:one), ((a)))":           "",
			"(a)between(((b.c)).d)and(c)":           "",
			"((attribute_exists(n)))":               "",
			"((size(s))) = :one":                    "",
			"((n = :one)) =":                        "", // before what comes after them
			strings.Repeat("(", 2000) + "n = :one" + strings.Repeat(")", 2000): "",
		}},
		{"operators", "The expression contains too many operators; operator count: ", map[string]string{
			"n=s" + strings.Repeat(" or n=s", 150):                              "301",
			"n=s" + strings.Repeat(" or n=s", 400):                              "301",
			strings.Repeat("not ", 300) + "n=s":                                 "301",
			"a<b " + strings.Repeat("or (a<b ", 454) + strings.Repeat(")", 454): "301",
		}},
		{"reserved words", "Attribute name is a reserved keyword; reserved keyword: ", map[string]string{
			"status = :one":                             "status",
			"Status = :one":                             "Status",
			":one < abOrT":                              "abOrT",
			"m.name = :one":                             "name",
			"l[0].COMMENT = :one":                       "COMMENT",
			"attribute_exists(views, #nope)":            "views",
			"status = :one AND foo(n) = :one":           "status",
			"n[0].b = :nope AND contains(l, timestamp)": "timestamp",
		}},
		{"functions that do not exist", "Invalid function name; function: ", map[string]string{
			"foo(n)":                          "foo",
			"Attribute_Exists(n)":             "Attribute_Exists",
			"SIZE(n) = :one":                  "SIZE",
			"foo(n) = :one AND status = :one": "foo",
			"#nope = :one AND foo(n)":         "foo",
			"attRIbute_exIsts((views), #a)":   "attRIbute_exIsts",
			"n < " + strings.Repeat("f(", 1355) + "b" + strings.Repeat(")", 1355): "f",
		}},
		{"functions of updates", "The function is not allowed in a condition expression; function: ", map[string]string{
			"n = if_not_exists(n, :one)":   "if_not_exists",
			"list_append(l, :list) = :one": "list_append",
		}},
		{"functions in the wrong place", "The function is not allowed to be used this way in an expression; function: ", map[string]string{
			"size(s)":                                   "size",
			"(size(s))":                                 "size",
			"n = :nope AND size(n)":                     "size",
			"NOT size(s)":                               "size",
			"attribute_exists(n) = :one":                "attribute_exists",
			"size(contains(a, b)) > a":                  "contains",
			"a between b and attribute_exists(n)":       "attribute_exists",
			"a in (b, attribute_exists(n))":             "attribute_exists",
			"n = s and attribute_exists((views)) > n":   "attribute_exists",
			"contains(n, begins_with(s, :a))":           "begins_with",
			"attribute_type(n, :a, status) > :one":      "attribute_type",
			"attribute_not_exists(attribute_exists(n))": "attribute_exists",
		}},
		{"list indexes", "List index is not within the allowable range; index: ", map[string]string{
			"l[2147483648] = :one":            "[2147483648]",
			"l[99999999999999999999] = :nope": "[99999999999999999999]",
		}},
		{"names", "An expression attribute name used in the document path is not defined; attribute name: ", map[string]string{
			"#nope = :one":                          "#nope",
			"m.#nope = :one":                        "#nope",
			"#4g > a":                               "#4g",
			"(a)between(b.c[45].#d)and(:a)":         "#d",
			"attribute_exists(#x.RearView, :nope)":  "#x",
			"begins_with(Pictures.#RearView)":       "#RearView",
			"(#P between :lo and :hi) and (n = :a)": "#P",
		}},
		{"values", "An expression attribute value used in expression is not defined; attribute value: ", map[string]string{
			"n = :nope":                     ":nope",
			"n = :nope AND contains(s, s)":  ":nope",
			"begins_with(:nope, #x, #y)":    ":nope",
			":x < :y":                       ":x",
			"n IN (:one, :nope)":            ":nope",
			"n BETWEEN :one AND (:nope)":    ":nope",
			"attribute_exists(:nope)":       ":nope",
			"size(:nope) > :one":            ":nope",
			"NOT attribute_type(n, :nope)":  ":nope",
			"n = :one AND NOT (n = :onee)":  ":onee",
			"contains(n, :one) OR n = :ONE": ":ONE",
		}},
		{"too few or too many operands", "Incorrect number of operands for operator or function; operator or function: ", map[string]string{
			"attribute_exists(n, m)":                "attribute_exists, number of operands: 2",
			"attribute_not_exists(n, m)":            "attribute_not_exists, number of operands: 2",
			"attribute_type(n)":                     "attribute_type, number of operands: 1",
			"begins_with(s)":                        "begins_with, number of operands: 1",
			"begins_with(s, :a, :b)":                "begins_with, number of operands: 3",
			"contains(s)":                           "contains, number of operands: 1",
			"size(s, m) = :one":                     "size, number of operands: 2",
			"attribute_exists(things, n) AND n = n": "attribute_exists, number of operands: 2",
		}},
		{"operands that must be paths", "Operator or function requires a document path; operator or function: ", map[string]string{
			"attribute_exists(:a)":           "attribute_exists",
			"attribute_not_exists(size(:a))": "attribute_not_exists",
		}},
		{"a path compared with itself", "The first operand must be distinct from the remaining operands for this operator or function; operator: ", map[string]string{
			"n = n":                              "=, first operand: [n]",
			"#a <> a":                            "<>, first operand: [a]",
			"(a) > (#a)":                         ">, first operand: [a]",
			"n IN (:one, n)":                     "IN, first operand: [n]",
			"n BETWEEN :one AND n":               "BETWEEN, first operand: [n]",
			"contains(ab.bc[1].a, ab.bc[1].#a)":  "contains, first operand: [ab, bc, [1], a]",
			"begins_with(l[0], l[0])":            "begins_with, first operand: [l, [0]]",
			"attribute_type(n, n)":               "attribute_type, first operand: [n]",
			"contains(s, s) AND n = :nope":       "contains, first operand: [s]",
			"n = :one OR ((n = n) AND (n = :a))": "=, first operand: [n]",
		}},
		{"operands of the wrong type", "Incorrect operand type for operator or function; operator or function: ", map[string]string{
			"ss < :ss":                         "<, operand type: SS",
			"t >= :true":                       ">=, operand type: BOOL",
			":null > n":                        ">, operand type: NULL",
			"n <= :map":                        "<=, operand type: M",
			"n BETWEEN :list AND :list":        "BETWEEN, operand type: L",
			":ns BETWEEN :one AND :two":        "BETWEEN, operand type: NS",
			"begins_with(s, :one)":             "begins_with, operand type: N",
			"begins_with(:bs, s)":              "begins_with, operand type: BS",
			"begins_with(size(n), :a)":         "begins_with, operand type: N",
			"size(:one) = :one":                "size, operand type: N",
			"size(:true) = :one":               "size, operand type: BOOL",
			"size(size(n)) = :one":             "size, operand type: N",
			"attribute_not_exists(size(:one))": "size, operand type: N",
			"attribute_type(n, :one)":          "attribute_type, operand type: N",
			"attribute_type(n, size(s))":       "attribute_type, operand type: N",
			"attribute_type(n, m)":             "attribute_type, operand type: {S,SS,N,NS,B,BS,BOOL,NULL,L,M,HD,DOUBLE,FLOAT,HDS,FS,DOUBLESET,DICT,DECIMAL,INT,DECIMALSET,INTSET}",
			"n = :one AND contains(l, :map) AND size(:null) > n": "size, operand type: NULL",
		}},
		{"types that do not exist", "Invalid attribute type name found; type: ", map[string]string{
			"attribute_type(n, :X)":     "X, valid types: {S,SS,N,NS,B,BS,BOOL,NULL,L,M}",
			"attribute_type(n, :empty)": ", valid types: {S,SS,N,NS,B,BS,BOOL,NULL,L,M}",
		}},
		{"bounds", "The BETWEEN operator requires ", map[string]string{
			"n BETWEEN :nine AND :one": "upper bound to be greater than or equal to lower bound; " +
				"lower bound operand: AttributeValue: {N:9}, upper bound operand: AttributeValue: {N:1}",
			"n BETWEEN :b AND :a": "upper bound to be greater than or equal to lower bound; " +
				"lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
			"n BETWEEN :bin2 AND :bin": "upper bound to be greater than or equal to lower bound; " +
				"lower bound operand: AttributeValue: {B:Ag==}, upper bound operand: AttributeValue: {B:AQ==}",
			"n BETWEEN :b AND (:one)": "same data type for lower and upper bounds; " +
				"lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {N:1}",
		}},
		{"limits", "", map[string]string{
			"n IN (:one" + strings.Repeat(",:one", 100) + ")": "The IN operator is provided with too many operands; number of operands: 101",
			"m" + strings.Repeat(".m", 32) + " = :one":        "The document path has too many nesting levels; nesting levels: 33",
		}},
	} {
		t.Run(group.about, func(t *testing.T) {
			for _, src := range sorted(group.cases) {
				_, err := ParseCondition(ConditionExpression, src, scope())
				checkFault(t, src, err, "Invalid ConditionExpression: "+group.text+group.cases[src])
			}
		})
	}
}

func TestConditionLimits(t *testing.T) {
	for _, src := range []string{
		"n = :one" + strings.Repeat(" ", maxSize-8),
		"n IN (:one" + strings.Repeat(",:one", 99) + ")",
		"m" + strings.Repeat(".m", 31) + " = :one",
		"a<b " + strings.Repeat("or (a<b ", 149) + strings.Repeat(")", 149),
		strings.Repeat("not ", 299) + "n=s",
		"size(n) = size(n)", // not compared with itself: only paths are
		":one = :one",
	} {
		_, err := ParseCondition(ConditionExpression, src, scope())
		checkFault(t, src, err, "")
	}
}

func TestConditionAttributes(t *testing.T) {
	for src, want := range map[string]string{
		"n = :one":                                      "n",
		"#n = m.a AND NOT l[0] IN (s, :one)":            "n m* l* s",
		"attribute_exists(a.b) OR size(ss) > size(a)":   "a* ss a",
		":one < :two":                                   "",
		"begins_with(#dot, :a) AND n BETWEEN a AND t.z": "m.a n a t*",
	} {
		c, err := ParseCondition(FilterExpression, src, scope())
		if err != nil {
			t.Fatal(err)
		}
		checkAttributes(t, src, c.TopLevelAttributes(), want)
		for range c.TopLevelAttributes() {
			break // must not go on
		}
	}
}

func TestConditionKeepsValuesOfItsScope(t *testing.T) {
	s := NewScope(nil, item(obj{":v": "x"}))
	c, err := ParseCondition(ConditionExpression, "a = :v", s)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Eval(attr.NewItem(attr.Field{Name: "a", Value: attr.String("x")})) {
		t.Error("got false, want true")
	}
}

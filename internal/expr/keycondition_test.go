package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

var keyOpNames = [...]string{"=", "<", "<=", ">", ">=", "between", "begins with"}

func (t KeyTerm) String() string {
	text := fmt.Sprintf("%s %s %s", t.Name, keyOpNames[t.Op], showValue(t.Value))
	if t.Op == Between {
		text += " and " + showValue(t.Upper)
	}
	return text
}

func (terms KeyTerms) String() string {
	var parts []string
	for _, t := range terms {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, "; ")
}

func TestKeyConditionTerms(t *testing.T) {
	for src, want := range map[string]string{
		"pk = :a":                                `pk = "a"`,
		":a = pk":                                `pk = "a"`,
		"(pk = :a)":                              `pk = "a"`,
		"(pk) = (:a)":                            `pk = "a"`,
		"pk = :a AND sk < :one":                  `pk = "a"; sk < 1`,
		"pk = :a and sk <= :one":                 `pk = "a"; sk <= 1`,
		"sk > :one AND pk = :a":                  `sk > 1; pk = "a"`,
		"pk = :a AND :one < sk":                  `pk = "a"; sk > 1`,
		"pk = :a AND :one <= sk":                 `pk = "a"; sk >= 1`,
		"pk = :a AND :one > sk":                  `pk = "a"; sk < 1`,
		"pk = :a AND :one >= sk":                 `pk = "a"; sk <= 1`,
		"pk = :a AND sk BETWEEN :one AND :two":   `pk = "a"; sk between 1 and 2`,
		"pk = :a AND begins_with(sk, :he)":       `pk = "a"; sk begins with "hé"`,
		"(pk = :a) AND (sk >= :one)":             `pk = "a"; sk >= 1`,
		"(pk = :a AND (sk >= :one))":             `pk = "a"; sk >= 1`,
		"#a = :a AND #dot = :b":                  `a = "a"; m.a = "b"`,
		"a=:a and (b=:a and (c=:a and d>:one))":  `a = "a"; b = "a"; c = "a"; d > 1`,
		"(a=:a and b=:b) and (c=:a and pk=:one)": `a = "a"; b = "b"; c = "a"; pk = 1`,
	} {
		k, err := ParseKeyCondition(src, scope())
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		terms, err := k.Terms()
		if got := terms.String(); err != nil || got != want {
			t.Errorf("%s\n got  %s, %v\n want %s", src, got, err, want)
		}
	}
}

// What is wrong with a key condition as a condition.
func TestKeyConditionFaults(t *testing.T) {
	for src, want := range map[string]string{
		"":                        "The expression can not be empty;",
		"pk = ":                   `Syntax error; token: "<EOF>", near: "= "`,
		"things are not ok":       `Syntax error; token: "are", near: "things are not"`,
		"((pk = :a))":             "The expression has redundant parentheses;",
		"pk = :nope":              "An expression attribute value used in expression is not defined; attribute value: :nope",
		"name = :a":               "Attribute name is a reserved keyword; reserved keyword: name",
		"begins_with(sk, :one)":   "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
		"attribute_type(a, :one)": "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N",
		"sk BETWEEN :b AND :a": "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; " +
			"lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
	} {
		_, err := ParseKeyCondition(src, scope())
		checkFault(t, src, err, "Invalid KeyConditionExpression: "+want)
	}
}

// What is wrong with a condition as a key condition.
func TestKeyConditionTermFaults(t *testing.T) {
	const (
		operator = "Invalid operator used in KeyConditionExpression: "
		first    = " operator must have the key attribute as its first operand"
		invalid  = "Invalid condition in KeyConditionExpression: "
		multiple = invalid + "Multiple attribute names used in one condition"
		noKey    = invalid + "No key attribute specified"
		calls    = "KeyConditionExpressions cannot contain nested operations"
		nested   = "KeyConditionExpressions cannot have conditions on nested attributes"
		twice    = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
	)
	for src, want := range map[string]string{
		"pk = :a OR sk = :b":                           operator + "OR",
		"a > b and size(b) > c or a > c":               operator + "OR",
		"NOT pk = :a":                                  operator + "NOT",
		"pk = :a AND NOT sk = :b":                      operator + "NOT",
		"pk <> :a":                                     operator + "<>",
		"pk in (:a, size(c))":                          operator + "IN",
		"attribute_exists(pk)":                         operator + "attribute_exists",
		"attribute_not_exists(pk)":                     operator + "attribute_not_exists",
		"attribute_type(pk, :S)":                       operator + "attribute_type",
		"contains(a.d, b)":                             operator + "contains",
		":a between size(b) and size(a) and b > :b":    invalid + "BETWEEN" + first,
		"begins_with(:a, b) and a > :b":                invalid + "begins_with" + first,
		"size(b) > a AND a.b > b AND b > c":            calls,
		"a > size(b.d)":                                calls,
		"a between size(b) and size(a)":                calls,
		"a between b and size(a)":                      multiple,
		"b > a.b":                                      multiple,
		"b between c[1] and d":                         multiple,
		"begins_with(a, b)":                            multiple,
		"b.d > a AND c.d > e.f":                        nested,
		"a.d > c":                                      nested,
		"b[0] > a":                                     nested,
		":b > :a AND a < :b":                           noKey,
		":a > b AND :a < :b":                           noKey,
		"b > :a AND b < :a and c = :a":                 twice,
		"(a > :a and b > :a) and (b > :a and c > :a)":  twice,
		"#a = :a AND a = :a":                           twice,
		"pk = :a AND (sk = :a AND (n = :a AND sk=:a))": twice,
	} {
		k, err := ParseKeyCondition(src, scope())
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		_, err = k.Terms()
		checkFault(t, src, err, want)
	}
}

func TestKeyTermsMatch(t *testing.T) {
	s := func(names string) (parts []KeyPart) {
		for name := range strings.FieldsSeq(names) {
			parts = append(parts, KeyPart{name, attr.S})
		}
		return parts
	}
	const (
		missed      = "Query condition missed key schema element: "
		unsupported = "Query key condition not supported"
		equal       = " must have equality conditions specified in the query"
		because     = " because a condition is present on key attribute "
		tooMany     = "The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)"
		kind        = "One or more parameter values were invalid: Condition parameter type does not match schema type"
	)
	for _, c := range []struct{ src, hash, ranges, want string }{
		{"a = :a", "a", "", `a = "a" | `},
		{"a = :a", "a", "b", `a = "a" | `},
		{"b > :b AND a = :a", "a", "b", `a = "a" | b > "b"`},
		{"a = :a AND begins_with(b, :b)", "a", "b", `a = "a" | b begins with "b"`},

		{"a > :a", "a", "", unsupported},
		{"begins_with(a, :a)", "a", "b", unsupported},
		{"a between :a and :a", "a", "", unsupported},
		{"a = :a AND b = :a", "a", "", unsupported},
		{"y = :a AND z = :a", "a", "", unsupported},
		{"z = :a", "a", "", missed + "a"},
		{"b = :a", "a", "b", missed + "a"},
		{"a = :a AND c = :a", "a", "b", missed + "b"},
		{"a = :a AND b = :a AND c = :a", "a", "b", fmt.Sprintf(tooMany, 3, 2)},
		{"a = :a AND b = :a AND c = :a", "a", "", fmt.Sprintf(tooMany, 3, 1)},
		{":one > a", "a", "", kind}, // before its operator
		{"a = :a AND b = :one", "a", "b", kind},
		{"a = :a AND b BETWEEN :one AND :two", "a", "b", kind},

		// Keys of several attributes.
		{"a = :a AND b = :b", "a b", "c d", `a = "a"; b = "b" | `},
		{"c = :a AND b = :b AND a = :a", "a b", "c d", `a = "a"; b = "b" | c = "a"`},
		{"d < :b AND c = :a AND b = :b AND a = :a", "a b", "c d", `a = "a"; b = "b" | c = "a"; d < "b"`},
		{"a = :a", "a b", "", "HASH key attributes b" + equal},
		{"a = :a AND b > :a", "a b", "", "HASH key attributes b" + equal},
		{"c = :a", "a b", "c d", "HASH key attributes a, b" + equal},
		{"a = :a AND b = :one", "a b", "c d", kind},
		{"a = :a AND b = :a AND c = :a", "a b", "", fmt.Sprintf(tooMany, 3, 2)},
		{"a = :a AND b = :b AND d = :b", "a b", "c d", "RANGE key attributes c" + equal + because + "d"},
		{"a = :a AND b = :b AND e = :b", "a b", "c d e", "RANGE key attributes c, d" + equal + because + "e"},
		{"a = :a AND b = :b AND c > :a AND d = :b", "a b", "c d", "RANGE key attributes c" + equal + because + "d"},
		{"a = :a AND b = :b AND c > :a AND d > :b", "a b", "c d", "RANGE key attributes c" + equal + because + "d"},
		{"a = :a AND b = :b AND x = :b", "a b", "c d", missed + "c"},
		{"a = :a AND b = :b AND c = :a AND d = :b AND e = :a", "a b", "c d", fmt.Sprintf(tooMany, 5, 4)},
	} {
		k, err := ParseKeyCondition(c.src, scope())
		if err != nil {
			t.Fatal(err)
		}
		terms, err := k.Terms()
		if err != nil {
			t.Fatal(err)
		}
		hash, ranges, err := terms.Match(s(c.hash), s(c.ranges))
		got := hash.String() + " | " + ranges.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s on (%s; %s)\n got  %s\n want %s", c.src, c.hash, c.ranges, got, c.want)
		}
	}
}

package expr

import (
	"strings"
	"testing"
)

func TestSyntaxFaults(t *testing.T) {
	const eof = "<EOF>"
	for _, c := range []struct{ src, token, near string }{
		// The text near a token runs from the token before it to the one after it.
		{"a b c", "b", "a b c"},
		{"a  b  c", "b", "a  b  c"},
		{"n == :one", "=", "== :one"},
		{"n => :one", ">", "=> :one"},
		{"n != :one", "!", "n !="},
		{"n = :one = ((n = :one))", "=", ":one = ("},
		{"INVALID SYNTAX HERE", "SYNTAX", "INVALID SYNTAX HERE"},
		{"!!!", "!", "!!"},

		// It starts with the text if there is no token before, and ends with it if
		// there is none after.
		{"  1abc = :one", "1", "  1abc"},
		{"n = :one)  ", ")", ":one)  "},
		{"n = :one AND", eof, "AND"},
		{"n = :one AND  ", eof, "AND  "},
		{"   ", eof, "   "},
		{"(n = :one", eof, ":one"},
		{"n", eof, "n"},
		{"(n)", eof, ")"},

		// Names start with a letter and go on with letters, digits and _.
		{"_a = :one", "_", "_a"},
		{"a-b = :one", "-", "a-b"},
		{"aé = :one", "é", "aé ="},
		{"ü > a", "ü", "ü >"},
		{"# = :one", "#", "# ="},
		{"n = : one", ":", "= : one"},
		{"a.#", "#", ".#"},

		// Spaces are blanks, tabs and ends of lines.
		{"n\f= :one", "\f", "n\f="},
		{"n\u00a0= :one", "\u00a0", "n\u00a0="},

		// Indexes are decimal numbers.
		{"l[] = :one", "]", "[] ="},
		{"l[a] = :one", "a", "[a]"},
		{"l[-1] = :one", "-", "[-1"},
		{"l[01] = :one", "1", "01]"},
		{"l[:one] = :one", ":one", "[:one]"},
		{"l[#n] = :one", "#n", "[#n]"},
		{"l[1.5] = :one", ".", "1.5"},
		{"l[0.a = :one", ".", "0.a"},
		{"[5] = :one", "[", "[5"},
		{"a..b = :one", ".", "..b"},
		{"a.:one = :one", ":one", ".:one ="},
		{"a = 5", "5", "= 5"},

		// Keywords are no names, whatever the expression.
		{"a > between", "between", "> between"},
		{"a.and = :one", "and", ".and ="},
		{"Set = :one", "Set", "Set ="},
		{"remove = :one", "remove", "remove ="},

		// Conditions.
		{"a in b", "b", "in b"},
		{"a in (b,)", ")", ",)"},
		{"a in ()", ")", "()"},
		{"attribute_exists()", ")", "()"},
		{"attribute_not_exists(", eof, "("},
		{"size(a).b > a", ".", ").b"},
		{"(size(a))[0] > a", "[", ")[0"},
		{"(a.b).c = :one", ".", ").c"},
		{"a = (b = c)", "=", "b = c"},
		{"(a = b) = c", "=", ") = c"},
		{"(a) between (b) or (c)", "or", ") or ("},
		{"a AND b = :one", "AND", "a AND b"},
		{"(a = b AND c)", ")", "c)"},
		{"(a = b OR c)", ")", "c)"},
		{"#n(a) = :one", "(", "#n(a"},
		{"NOT (a)", eof, ")"},
		{"(NOT a)", ")", "a)"},
		{"a = b c", "c", "b c"},
		{`attribute_exists("a")`, `"`, `("a`},
		{strings.Repeat("(", maxSize), eof, "("},
	} {
		_, err := ParseCondition(FilterExpression, c.src, scope())
		checkFault(t, c.src, err, `Invalid FilterExpression: Syntax error; token: "`+c.token+`", near: "`+c.near+`"`)
	}
}

func TestSpacesBetweenTokens(t *testing.T) {
	for _, src := range []string{
		"n\t=\r\n:one", "n=:one", "l[ 1 ] = :one", "m . a = :one", "attribute_exists (n)", "n IN(:one)",
		"NOT(n=:one)AND(n=:two)",
	} {
		_, err := ParseCondition(ConditionExpression, src, scope())
		checkFault(t, src, err, "")
	}
}

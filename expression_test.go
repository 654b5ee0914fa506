package heatsink

import "testing"

func TestIdempotentExpression(t *testing.T) {
	for expression, want := range map[string]bool{
		"":                                      true,
		"SET a = :a":                            true,
		"set #a=:a,b.c=:b":                      true,
		"SET a = (:a)":                          true,
		"SET a = if_not_exists(a, :a)":          true,
		"SET a.#b = if_not_exists( a . #b ,:a)": true,
		"REMOVE a, b.c":                         true,
		"DELETE tags :t":                        true,
		"REMOVE a SET b = :b DELETE c :c":       true,
		"SET adds = :a, #set = :b":              true,

		"ADD n :one":                         false,
		"add n :one":                         false,
		"SET a = :a ADD n :one":              false,
		"SET n = n + :one":                   false,
		"SET n=n-:one":                       false,
		"SET n = :a + :b":                    false, // it is, but arithmetic is seldom on constants
		"SET l = list_append(l, :x)":         false,
		"SET n = if_not_exists(n, :z) + :o":  false,
		"SET a = if_not_exists(b, :z)":       false, // b may be set as well
		"SET a = b":                          false,
		"SET previous = current, current=:c": false,
		"SET a = :a, b = b + :one":           false,
		"SET b = b + :one, a = :a":           false,
		"SET l[9] = :x":                      false, // appends if the list is shorter
		"REMOVE l[0]":                        false, // the next one moves up
		"SET a = :a REMOVE l[0]":             false,
		"SET a = if_not_exists(a, b)":        false,
	} {
		if got := idempotentExpression(expression); got != want {
			t.Errorf("%q: got %t, want %t", expression, got, want)
		}
	}
}

func FuzzLexemes(f *testing.F) {
	for _, seed := range []string{"SET a = :a", "ADD n :one REMOVE l[0]", "SET #x.y = if_not_exists(#x.y, :z), é=:e", "(((", "set set=:set"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		last := 0
		for _, l := range lexemes(expression) {
			if l.at < last || expression[l.at:l.at+len(l.text)] != l.text {
				t.Fatalf("lexeme %q is not at %d of %q", l.text, l.at, expression)
			}
			last = l.at + len(l.text)
		}
		idempotentExpression(expression)
		mergeSet(expression, "#hs_0 = :hs_0")
	})
}

func TestMergeSet(t *testing.T) {
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
		if got := mergeSet(expression, "x"); got != want {
			t.Errorf("%q: got %q, want %q", expression, got, want)
		}
	}
}

package compose

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
		if got := Idempotent(expression); got != want {
			t.Errorf("%q: got %t, want %t", expression, got, want)
		}
	}
}

package compose

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Set adds to copies: the maps of a request may be shared.
func TestSet(t *testing.T) {
	x := Item{"x": &types.AttributeValueMemberS{Value: "1"}, "y": &types.AttributeValueMemberS{Value: "2"}}
	for _, c := range []struct {
		name       string
		expression *string
		want       string
	}{
		{"no expression", nil, "SET #hs_0 = :hs_0, #hs_1 = :hs_1"},
		{"no clause", aws.String("REMOVE a"), "REMOVE a SET #hs_0 = :hs_0, #hs_1 = :hs_1"},
		{"a clause", aws.String("SET a = :a"), "SET #hs_0 = :hs_0, #hs_1 = :hs_1, a = :a"},
	} {
		names, values := map[string]string{"#a": "a"}, Item{":a": nil}
		expression, ns, vs := c.expression, names, values
		if err := Set(x, &expression, &ns, &vs); err != nil || *expression != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, *expression, err, c.want)
		}
		if ns["#hs_0"] != "x" || ns["#hs_1"] != "y" || vs[":hs_0"] != x["x"] || vs[":hs_1"] != x["y"] || ns["#a"] != "a" {
			t.Errorf("%s: got names %v and values %v", c.name, ns, vs)
		}
		if len(names) != 1 || len(values) != 1 {
			t.Errorf("%s: the caller's names are %v and values %v", c.name, names, values)
		}
	}
	names := map[string]string{"#hs_0": "a"}
	if err := Set(x, new(*string), &names, new(Item)); err == nil {
		t.Error("a name of heatsink's own was accepted")
	}
}

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
		"SET a = :a x":                       false, // not an expression
		"REMOVE a b":                         false,
	} {
		if got := Idempotent(expression); got != want {
			t.Errorf("%q: got %t, want %t", expression, got, want)
		}
	}
}

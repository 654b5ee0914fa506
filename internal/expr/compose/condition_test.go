package compose

import "testing"

func TestGroup(t *testing.T) {
	for condition, want := range map[string]string{
		"a = :b":                        "(a = :b)",
		"(a = :b)":                      "(a = :b)",
		" ( a = :b )\n":                 " ( a = :b )\n",
		"(a = :b) OR (c = :d)":          "((a = :b) OR (c = :d))",
		"((a = :b) OR (c = :d))":        "((a = :b) OR (c = :d))",
		"(a) = :b":                      "((a) = :b)",
		"NOT (a = :b)":                  "(NOT (a = :b))",
		"attribute_exists(a)":           "(attribute_exists(a))",
		"(attribute_exists(a)) AND (b)": "((attribute_exists(a)) AND (b))",
		"":                              "()",
		"(a":                            "((a)",
		"a)":                            "(a))",
	} {
		if got := Group(condition); got != want {
			t.Errorf("%q: got %q, want %q", condition, got, want)
		}
	}
}

func TestBalanced(t *testing.T) {
	for expression, want := range map[string]bool{
		"":                  true,
		"a = :b":            true,
		"(a = :b) OR (c)":   true,
		"size(a) > (:b)":    true,
		"a = :b)":           false,
		"(a = :b":           false,
		"a = :b) OR (c = d": false,
		")(":                false,
	} {
		if got := Balanced(expression); got != want {
			t.Errorf("%q: got %t, want %t", expression, got, want)
		}
		if err := CheckCondition(&expression); (err == nil) != want {
			t.Errorf("%q: got %v, want it to be accepted: %t", expression, err, want)
		}
	}
	if err := CheckCondition(nil); err != nil {
		t.Errorf("no condition: got %v", err)
	}
}

package compose

import "testing"

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

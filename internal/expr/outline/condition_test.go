package outline

import (
	"strings"
	"testing"
)

func TestEqualities(t *testing.T) {
	for condition, want := range map[string]string{
		"":                                   "",
		"pk = :pk":                           "pk :pk",
		"#pk=:pk AND sk BETWEEN :a AND :b":   "#pk :pk",
		"(pk = :pk) AND (sk = (:sk))":        "pk :pk, sk :sk",
		"(pk) = :pk AND begins_with(sk, :s)": "pk :pk",
		"pk = :pk AND sk <= :s":              "pk :pk",
		"pk <> :pk":                          "",
		"_pk = :_pk":                         "_pk :_pk",
	} {
		var all []string
		for name, value := range Equalities(condition) {
			all = append(all, name+" "+value)
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%q: got %s, want %s", condition, got, want)
		}
	}
	for range Equalities("a = :a AND b = :b") {
		break // leaving early is fine
	}
}

package compose

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestAssignments(t *testing.T) {
	names := map[string]string{"#a": "a", "#s": "SET"}
	values := Item{":v": &types.AttributeValueMemberN{Value: "1"}, ":w": &types.AttributeValueMemberN{Value: "2"}}
	show := func(all []Assignment) string {
		var parts []string
		for _, a := range all {
			text := a.Clause + " " + a.Attribute
			if a.Inside {
				text += "…"
			}
			if a.Value != nil {
				text += " " + a.Value.(*types.AttributeValueMemberN).Value
			}
			if a.IfAbsent {
				text += "?"
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ", ")
	}
	for expression, want := range map[string]string{
		"":                        "",
		"SET a = :v":              "SET a 1",
		"set #a=:v":               "SET a 1",
		"SET a = (:v)":            "SET a 1",
		"SET #s = :v, b = b + :w": "SET SET 1, SET b",
		"SET a = if_not_exists(a, :v), b = if_not_exists(a, :w)":  "SET a 1?, SET b",
		"SET #a = if_not_exists(a, :v)":                           "SET a 1?",
		"SET a = if_not_exists(a, :v) + :w":                       "SET a",
		"SET a.b = :v, #a[0] = :v, c = list_append(c, :v)":        "SET a…, SET a…, SET c",
		"SET a.b = if_not_exists(a.b, :v), c = :w":                "SET a…, SET c 2",
		"REMOVE a, #a.b, c[1] ADD n :v DELETE tags :w SET x = :w": "REMOVE a, REMOVE a…, REMOVE c…, ADD n, DELETE tags, SET x 2",
		"ADD a :v, #a.b :w":                                       "ADD a, ADD a…",
		"SET a = :missing":                                        "SET a",
		"SET a = b, b = :v\nREMOVE\tc":                            "SET a, SET b 1, REMOVE c",
	} {
		if got := show(Assignments(expression, names, values)); got != want {
			t.Errorf("%q: got %s, want %s", expression, got, want)
		}
	}
}

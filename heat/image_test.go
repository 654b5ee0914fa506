package heat

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// What an attribute is after a write, and what it was before, as far as the request and the answer tell.
func TestImage(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	type item = map[string]types.AttributeValue
	updated := &changes{list: []change{{"status", set, text("new")}, {"owner", removed, nil}, {"n", unclear, nil}}}
	for _, test := range []struct {
		name      string
		image     image
		attribute string
		now, then string // "?" if it is not known, "" if there is none
	}{
		{"set", image{key: item{"pk": text("A")}, changes: updated}, "status", "new", "?"},
		{"removed", image{key: item{"pk": text("A")}, changes: updated}, "owner", "", "?"},
		{"changed", image{key: item{"pk": text("A")}, changes: updated}, "n", "?", "?"},
		{"untouched", image{key: item{"pk": text("A")}, changes: updated}, "other", "?", "?"},
		{"the key", image{key: item{"pk": text("A")}, changes: updated}, "pk", "A", "A"},
		{"the old item is known", image{changes: updated, before: item{"status": text("old"), "other": text("x")}, wholeBefore: true}, "status", "new", "old"},
		{"untouched, of an old item", image{changes: updated, before: item{"other": text("x")}, wholeBefore: true}, "other", "x", "x"},
		{"missing, of an old item", image{changes: updated, before: item{"other": text("x")}, wholeBefore: true}, "none", "", ""},
		{"the new item is known", image{changes: updated, after: item{"n": text("7")}, wholeAfter: true}, "n", "7", "?"},
		{"untouched, of a new item", image{changes: updated, after: item{"other": text("y")}, wholeAfter: true}, "other", "y", "y"},
		{"missing, of a new item", image{changes: updated, after: item{}, wholeAfter: true}, "none", "", ""},
		{"some of the new item", image{changes: updated, after: item{"n": text("7")}}, "n", "7", "?"},
		{"a deletion", image{key: item{"pk": text("A")}, wholeAfter: true}, "status", "", "?"},
		{"a deletion whose item is known", image{wholeAfter: true, before: item{"status": text("old")}, wholeBefore: true}, "status", "", "old"},
		{"an update that nobody understands", image{changes: &changes{unclear: true}}, "status", "?", "?"},
	} {
		says := func(value types.AttributeValue, known bool) string {
			if !known {
				return "?"
			}
			if value == nil {
				return ""
			}
			return value.(*types.AttributeValueMemberS).Value
		}
		if got := says(test.image.then(test.attribute)); got != test.then {
			t.Errorf("%s: %s was %q, want %q", test.name, test.attribute, got, test.then)
		}
		if got := says(test.image.now(test.attribute)); got != test.now {
			t.Errorf("%s: %s is %q, want %q", test.name, test.attribute, got, test.now)
		}
	}
}

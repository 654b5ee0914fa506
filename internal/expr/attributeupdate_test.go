package expr

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// AttributeUpdates do what the expression does that says the same, and fail where
// it fails.
func TestAttributeUpdatesAreExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := randomItem(1).Draw(t, "item")
		var list []AttributeUpdate
		var given []attr.Field
		clauses := map[string]string{}
		for _, name := range rapid.SliceOfNDistinct(someNames, 1, 3, rapid.ID).Draw(t, "names") {
			u := AttributeUpdate{Name: name, Action: rapid.SampledFrom([]string{"PUT", "ADD", "DELETE"}).Draw(t, "action")}
			clause, src := "REMOVE", name
			if u.Action != "DELETE" || rapid.Bool().Draw(t, "valued") {
				v := randomValue(1).Draw(t, "value")
				u.Value = &v
				given = append(given, attr.Field{Name: ":" + name, Value: v})
				switch {
				case u.Action == "PUT":
					clause, src = "SET", name+" = :"+name
				case u.Action == "ADD" && v.Kind == attr.L:
					clause, src = "SET", name+" = list_append(if_not_exists("+name+", :none), :"+name+")"
				default:
					clause, src = u.Action, name+" :"+name
				}
			}
			if u.Check() != nil {
				t.Skip("not an update")
			}
			list = append(list, u)
			if clauses[clause] != "" {
				src = ", " + src
			}
			clauses[clause] += src
		}
		var src strings.Builder
		for _, clause := range sorted(clauses) {
			src.WriteString(clause + " " + clauses[clause] + " ")
		}
		given = append(given, attr.Field{Name: ":none", Value: attr.List()})
		want, err := ParseUpdate(src.String(), NewScope(nil, attr.NewItem(given...)))
		if err != nil {
			t.Fatalf("%s: %v", src.String(), err)
		}
		updated, wantErr := want.Apply(it)
		got := UpdateAttributes(list)
		out, gotErr := got.Apply(it)
		if wantErr == errType {
			wantErr = errUpdateType
		}
		if gotErr != wantErr || show(out) != show(updated) || show(got.Touched(it)) != show(want.Touched(it)) {
			t.Fatalf("%s of %s: got %s, %v, want %s, %v", src.String(), show(it), show(out), gotErr, show(updated), wantErr)
		}
	})
}

func TestProjectAttributes(t *testing.T) {
	it := item(obj{"a": 1, "a.b": 2, "c[0]": 3, "d": 4})
	p := ProjectAttributes([]string{"d", "c[0]", "a.b", "none"})
	if got := show(p.Apply(it)); got != `{a.b: 2, c[0]: 3, d: 4}` {
		t.Errorf("got %s", got)
	}
	checkAttributes(t, "AttributesToGet", p.TopLevelAttributes(), "a.b c[0] d none")
}

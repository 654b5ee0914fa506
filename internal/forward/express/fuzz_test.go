package express

import (
	"errors"
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// Whatever the user writes, it is refused, or it is sent behind the fence: the condition is false for items that have moved on, and the
// update changes no mark but that of a dead item.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{
		"attribute_exists(a)", "(a = :v)", "(a = :v) OR (b = :v)", "a = :v) OR (b = :v", "_hs_f = :v", "#n = :v", "NOT a.#n[0] IN (:v)", "NOT b = :v OR attribute_not_exists(#n)", "(",
	} {
		for _, update := range []string{"SET a = :v REMOVE b", "remove remove", "REMOVE #n", "SET #n = :v", "ADD a :v DELETE _hs_d :v"} {
			f.Add(seed, update, "_hs_f")
			f.Add(seed, update, "b")
		}
	}
	f.Fuzz(func(t *testing.T, condition, update, name string) {
		in := &dynamodb.UpdateItemInput{
			Key: anyKey, ConditionExpression: &condition, UpdateExpression: &update,
			ExpressionAttributeNames: map[string]string{"#n": name}, ExpressionAttributeValues: Item{":v": text("v")},
		}
		u, err := tab.Update(in)
		switch {
		case errors.Is(err, ErrRequest):
			return
		case err != nil:
			t.Fatalf("%q %q: %v", condition, update, err)
		case isMark(name):
			t.Fatalf("%q %q: a request with the name %q is taken", condition, update, name)
		}
		for _, act := range []forward.Act{forward.Write, forward.WriteExisting} {
			h := Homes{Table: tab, Old: anyKey, New: Item{"pk": text("k#1"), "sk": text("id")}}
			r, err := h.Express(forward.Request[Item]{Act: act}, u)
			if err != nil {
				t.Fatalf("%q %q: %v", condition, update, err)
			}
			checkFence(t, r.Update)
		}
		if len(in.ExpressionAttributeNames) != 1 || len(in.ExpressionAttributeValues) != 1 {
			t.Fatal("the user's maps were changed")
		}
	})
}

// checkFence evaluates what would be sent, as the engine does.
func checkFence(t *testing.T, in *dynamodb.UpdateItemInput) {
	scope := func() *expr.Scope {
		return expr.NewScope(in.ExpressionAttributeNames, canonical(t, in.ExpressionAttributeValues))
	}
	condition, err := expr.ParseCondition(expr.ConditionExpression, *in.ConditionExpression, scope())
	if err != nil {
		t.Fatalf("%q: %v", *in.ConditionExpression, err)
	}
	for _, state := range []string{stub, frozen, leaving, left} {
		item := maps.Clone(anyKey)
		item["a"], item["b"], item[forwarded] = text("v"), text("v"), text(state)
		if condition.Eval(canonical(t, item)) {
			t.Fatalf("%q holds for %s", *in.ConditionExpression, show(item))
		}
	}
	update, err := expr.ParseUpdate(*in.UpdateExpression, scope())
	if err != nil {
		t.Fatalf("%q: %v", *in.UpdateExpression, err)
	}
	for name, inside := range update.TopLevelAttributes() {
		if isMark(name) && (name != dead || inside) {
			t.Fatalf("%q changes %s", *in.UpdateExpression, name)
		}
	}
	changed, err := update.Apply(canonical(t, Item{"pk": text("k"), dead: text("x")}))
	if err == nil && changed.Get(dead).Kind != attr.Invalid && condition.Eval(canonical(t, Item{"pk": text("k"), dead: text("x")})) {
		t.Fatalf("%q leaves a dead item dead", *in.UpdateExpression)
	}
}

func canonical(t *testing.T, item Item) attr.Item {
	fields := make([]attr.Field, 0, len(item))
	for name, value := range item {
		v, err := attribute.Canonical(value)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
	}
	return attr.NewItem(fields...)
}

package heat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (c *changes) String() string {
	var all []string
	for _, made := range c.list {
		text := fmt.Sprintf("%s %s", []string{"untouched", "set", "removed", "unclear"}[made.fate], made.attribute)
		if value, ok := made.value.(*types.AttributeValueMemberS); ok {
			text += "=" + value.Value
		}
		all = append(all, text)
	}
	if slices.Sort(all); c.unclear {
		all = append(all, "unclear")
	}
	return strings.Join(all, ", ")
}

// What an expression does to attributes of the top level: nothing but a value alone is a plain value.
func TestChangesOfExpressions(t *testing.T) {
	names := map[string]string{"#s": "status", "#dot": "a.b", "#set": "SET"}
	values := map[string]types.AttributeValue{
		":v": &types.AttributeValueMemberS{Value: "v"}, ":w": &types.AttributeValueMemberS{Value: "w"},
	}
	for expression, want := range map[string]string{
		"":                                     "",
		"SET status = :v":                      "set status=v",
		"set\n\t#s=:v,x=:w":                    "set status=v, set x=w",
		"SET a = (:v)":                         "set a=v",
		"SET a = if_not_exists(a, :v), b = :w": "set b=w, unclear a",
		"SET a = list_append(:v, a) , b = :w":  "set b=w, unclear a",
		"SET a=:v+:w, b=:v - :w, c=b+:v":       "unclear a, unclear b, unclear c",
		"SET a = b, c = :missing":              "unclear a, unclear c",
		"SET a.b = :v, c[1] = :v, d . e = :v":  "unclear a, unclear c, unclear d",
		"SET #dot = :v":                        "set a.b=v",
		"SET a = b[0] REMOVE c":                "removed c, unclear a",
		"SET a = b.c REMOVE d, e[0], f.g":      "removed d, unclear a, unclear e, unclear f",
		"REMOVE a, b SET c = :v":               "removed a, removed b, set c=v",
		"ADD a :v, b :w DELETE c :v SET d=:v":  "set d=v, unclear a, unclear b, unclear c",
		"SET #set = :v REMOVE x":               "removed x, set SET=v",
		"SET remove = :v REMOVE x":             "removed x, set remove=v",
		"SET a = remove REMOVE x":              "removed x, unclear a",
		"SET a = :v sEt b = :w":                "set a=v, set b=w", // DynamoDB refuses it
		"PUT a = :v":                           "unclear",
		"SET a = :v :w":                        "unclear a",
		"SET a = ((:v)":                        "set a=v",
		"SET":                                  "unclear ",
		"SET a":                                "unclear a",
		"SET a =":                              "unclear a",
		"SET a[":                               "unclear a",
		"SET a = b) REMOVE c":                  "unclear a",
	} {
		var c changes
		c.expression(expression, names, values)
		if got := c.String(); got != want {
			t.Errorf("%q: got %q, want %q", expression, got, want)
		}
	}
}

// What came before expressions: PUT, also if nothing else is said, gives a value.
func TestChangesOfAttributeUpdates(t *testing.T) {
	v := &types.AttributeValueMemberS{Value: "v"}
	var c changes
	c.legacy(map[string]types.AttributeValueUpdate{
		"a": {Action: types.AttributeActionPut, Value: v}, "b": {Value: v}, "c": {Action: types.AttributeActionAdd, Value: v},
		"d": {Action: types.AttributeActionDelete}, "e": {Action: types.AttributeActionDelete, Value: v}, "f": {Action: types.AttributeActionPut},
	})
	if got, want := c.String(), "removed d, set a=v, set b=v, unclear c, unclear e, unclear f"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.reset()
	if got := c.String(); got != "" {
		t.Errorf("after a reset: %q", got)
	}
}

// Whatever the text, it is read to its end, and a value is only taken for plain if the text has "= :v".
func FuzzChangesOfExpressions(f *testing.F) {
	for _, seed := range []string{"SET a = :v", "SET a.b[0]=:v+:v,c=f(:v, d) REMOVE e ADD f :v", "REMOVE", "=,()[].", "SET a = (:v"} {
		f.Add(seed)
	}
	values := map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: "v"}}
	f.Fuzz(func(t *testing.T, text string) {
		var c changes
		c.expression(text, nil, values)
		for _, made := range c.list {
			if made.fate == set && (!strings.Contains(text, made.attribute) || !strings.Contains(text, ":v")) {
				t.Errorf("%q: %s is set", text, made.attribute)
			}
		}
	})
}

// Looking at an update allocates nothing, whether or not its table has indexes.
func TestDescribingAnUpdateAllocatesNothing(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for _, indexes := range []int{0, 5} {
		orders := newTable("orders")
		orders.setKey("", []string{"pk"})
		for i := range indexes {
			orders.setKey(fmt.Sprint("index-", i), []string{"status"})
		}
		view := orders.view.Load()
		in := &dynamodb.UpdateItemInput{
			Key: map[string]types.AttributeValue{"pk": text("a")}, UpdateExpression: aws.String("SET #s = :s, n = n + :one REMOVE x"),
			ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: map[string]types.AttributeValue{":s": text("OPEN")},
			ReturnValues: types.ReturnValueAllOld,
		}
		old := map[string]types.AttributeValue{"pk": text("a"), "status": text("DONE")}
		c := new(call)
		if n := testing.AllocsPerRun(100, func() {
			c.parts, c.texts = c.parts[:0], c.texts[:0]
			c.addUpdate(view, in.Key, in.UpdateExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues, nil)
			c.revealUpdate(view, in, old)
		}); n != 0 {
			t.Errorf("%d indexes: %v allocations", indexes, n)
		}
		if want := 1 + 2*indexes; len(c.parts) != want {
			t.Errorf("%d indexes: %d parts, want %d", indexes, len(c.parts), want)
		}
	}
}

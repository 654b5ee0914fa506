package express

import (
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// asked is a request of a user for any key.
type asked struct {
	text     string
	plain    func(key Item) Request // as DynamoDB takes it without heatsink
	user     func(Table, Item) (*User, error)
	transact bool
	remove   bool

	onFailure types.ReturnValuesOnConditionCheckFailure
}

var states = []forward.State{
	forward.Absent, forward.Live, forward.Frozen, forward.Stub, forward.Dead, forward.Leaving, forward.Left,
}

var usersActs = []forward.Act{forward.Write, forward.WriteExisting, forward.Kill, forward.WriteOwn}

func drawValue(t *rapid.T, label string) types.AttributeValue {
	switch rapid.IntRange(0, 5).Draw(t, label) {
	case 0:
		return &types.AttributeValueMemberN{Value: fmt.Sprint(rapid.IntRange(0, 2).Draw(t, label+" number"))}
	case 1:
		return text(rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, label+" text"))
	case 2:
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{number(1)}}
	case 3:
		return &types.AttributeValueMemberSS{Value: []string{"x"}}
	case 4:
		return &types.AttributeValueMemberM{Value: Item{"a": number(1)}}
	}
	return number(1)
}

func drawContent(t *rapid.T, label string) Item {
	content := Item{}
	for _, name := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, label+" has "+name) {
			content[name] = drawValue(t, label+" "+name)
		}
	}
	return content
}

// stored returns the item of a slot, as heatsink may have stored it.
func stored(t *rapid.T, s forward.Slot[Item], key Item) Item {
	item := maps.Clone(s.Content)
	if item == nil {
		item = Item{}
	}
	maps.Copy(item, key)
	pads := strings.Repeat(padding, rapid.IntRange(0, 3).Draw(t, "padding"))
	switch s.State {
	case forward.Absent:
		return nil
	case forward.Frozen:
		item[forwarded] = text(frozen + pads)
	case forward.Stub:
		item[forwarded] = text(stub)
	case forward.Dead:
		item[dead] = &types.AttributeValueMemberBOOL{Value: true}
	case forward.Leaving:
		item[forwarded] = text(leaving + pads)
	case forward.Left:
		item[forwarded] = text(left)
	}
	if s.Copied > 0 {
		item[moved] = number(s.Copied)
	}
	return item
}

// drawCondition returns a condition, and the values that it uses. It is nil one time in four.
func drawCondition(t *rapid.T) *string {
	if rapid.IntRange(0, 3).Draw(t, "unconditional") == 0 {
		return nil
	}
	var draw func(depth int) string
	draw = func(depth int) string {
		path := rapid.SampledFrom([]string{"#a", "b", "c", "sk", "#m.a", "c[0]"}).Draw(t, "path")
		choice := rapid.IntRange(0, 9).Draw(t, "condition")
		if depth == 0 {
			choice %= 7
		}
		switch choice {
		case 0:
			return "attribute_not_exists(pk)"
		case 1:
			return "attribute_exists(#pk)"
		case 2:
			return "attribute_not_exists(" + path + ")"
		case 3:
			return "attribute_exists(" + path + ")"
		case 4:
			return path + " = :one"
		case 5:
			return "size(" + path + ") < :one"
		case 6:
			return path + " <> :x"
		case 7:
			return "NOT " + draw(depth-1)
		case 8:
			return draw(depth-1) + " OR " + draw(depth-1)
		}
		return "(" + draw(depth-1) + ") AND (" + draw(depth-1) + ")"
	}
	condition := draw(2)
	if rapid.IntRange(0, 3).Draw(t, "in parentheses") == 0 {
		condition = "(" + condition + ")"
	}
	return &condition
}

// drawUpdate returns an update expression.
func drawUpdate(t *rapid.T) *string {
	var clauses []string
	for _, c := range []struct {
		word    string
		actions []string
	}{
		{"SET", []string{
			"#a = :one", "b = if_not_exists(b, :x)", "c = list_append(if_not_exists(c, :list), :list)", "b = b + :one",
			"c[1] = :x", "#a = if_not_exists(sk, :x)", "d = sk", "c.a = :one", "d = list_append(c, :list)",
		}},
		{"REMOVE", []string{"#a", "b", "c.a", "c[0]", "e"}},
		{"add", []string{"n :one", "b :one", "s :set", "c :set"}},
		{"DELETE", []string{"s :set", "c :set"}},
	} {
		if rapid.Bool().Draw(t, "has "+c.word) {
			clauses = append(clauses, c.word+" "+rapid.SampledFrom(c.actions).Draw(t, c.word))
		}
	}
	if len(clauses) == 0 {
		clauses = []string{"SET #a = :one"}
	}
	return aws.String(strings.Join(clauses, " "))
}

// used returns the names and values that expressions use.
func used(expressions ...*string) (map[string]string, Item) {
	names := map[string]string{"#a": "a", "#m": "c", "#pk": "pk"}
	values := Item{
		":one": number(1), ":x": text("x"), ":set": &types.AttributeValueMemberSS{Value: []string{"x", "z"}},
		":list": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("l")}},
	}
	var all strings.Builder
	for _, e := range expressions {
		all.WriteString(" " + aws.ToString(e))
	}
	maps.DeleteFunc(names, func(name, _ string) bool { return !strings.Contains(all.String(), name) })
	maps.DeleteFunc(values, func(name string, _ types.AttributeValue) bool { return !strings.Contains(all.String(), name) })
	if len(names) == 0 {
		names = nil
	}
	if len(values) == 0 {
		values = nil
	}
	return names, values
}

func drawAsked(t *rapid.T) asked {
	a := asked{transact: rapid.IntRange(0, 3).Draw(t, "transaction") == 0}
	condition := drawCondition(t)
	onFailure := types.ReturnValuesOnConditionCheckFailureNone
	if rapid.Bool().Draw(t, "wants the item on failure") {
		onFailure = allOld
	}
	returns := rapid.SampledFrom([]types.ReturnValue{"", types.ReturnValueNone, types.ReturnValueAllOld}).Draw(t, "return values")
	switch rapid.SampledFrom([]string{"put", "update", "update", "delete", "check"}).Draw(t, "operation") {
	case "put":
		content := drawContent(t, "put")
		names, values := used(condition)
		a.text = fmt.Sprint("put ", aws.ToString(condition))
		in := func(key Item) *dynamodb.PutItemInput {
			item := maps.Clone(content)
			maps.Copy(item, key)
			return &dynamodb.PutItemInput{
				TableName: aws.String("tab"), Item: item, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValues: returns, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Put: in(key)} }
		a.user = func(t Table, key Item) (*User, error) { return t.Put(in(key)) }
	case "update":
		update := drawUpdate(t)
		names, values := used(condition, update)
		returns := rapid.SampledFrom(types.ReturnValueNone.Values()).Draw(t, "return values of the update")
		a.text = fmt.Sprint("update ", *update, " if ", aws.ToString(condition), " returning ", returns)
		in := func(key Item) *dynamodb.UpdateItemInput {
			return &dynamodb.UpdateItemInput{
				TableName: aws.String("tab"), Key: key, UpdateExpression: update, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValues: returns, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Update: in(key)} }
		a.user = func(t Table, key Item) (*User, error) { return t.Update(in(key)) }
	case "delete":
		names, values := used(condition)
		a.text, a.remove = fmt.Sprint("delete ", aws.ToString(condition)), true
		in := func(key Item) *dynamodb.DeleteItemInput {
			return &dynamodb.DeleteItemInput{
				TableName: aws.String("tab"), Key: key, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValues: returns, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Delete: in(key)} }
		a.user = func(t Table, key Item) (*User, error) { return t.Delete(in(key)) }
	case "check":
		if condition == nil {
			condition = aws.String("attribute_exists(b)")
		}
		names, values := used(condition)
		a.text = fmt.Sprint("check ", *condition)
		in := func(key Item) *types.ConditionCheck {
			return &types.ConditionCheck{
				TableName: aws.String("tab"), Key: key, ConditionExpression: condition, ExpressionAttributeNames: names,
				ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: onFailure,
			}
		}
		a.plain = func(key Item) Request { return Request{Check: in(key)} }
		a.user = func(t Table, key Item) (*User, error) {
			return t.Part(types.TransactWriteItem{ConditionCheck: in(key)})
		}
	}
	if a.transact && a.plain(nil).Check == nil {
		a.user = func(t Table, key Item) (*User, error) { return t.Part(partOf(a.plain(key), onFailure)) }
	}
	a.onFailure = onFailure
	return a
}

package express

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/forward"
)

var (
	tab    = Table{"tab", "pk", "sk"}
	anyKey = Item{"pk": text("k"), "sk": text("id")}
)

// given returns the expression, or nil for "".
func given(expression string) *string {
	if expression == "" {
		return nil
	}
	return &expression
}

func TestKinds(t *testing.T) {
	names := map[string]string{"#k": "sk", "#v": "v"}
	values := Item{":v": number(1)}
	for _, c := range []struct {
		operation, update, condition string
		returns                      types.ReturnValue
		want                         forward.Kind
	}{
		{operation: "put", want: forward.Put},
		{operation: "put", returns: types.ReturnValueNone, want: forward.Put},
		{operation: "put", returns: types.ReturnValueAllOld, want: forward.Upsert},
		{operation: "put", condition: "attribute_not_exists(pk)", want: forward.Create},
		{operation: "put", condition: " ( attribute_not_exists( #k ))", want: forward.Create},
		{operation: "put", condition: "NOT NOT attribute_not_exists(pk)", want: forward.Create},
		{operation: "put", condition: "NOT attribute_not_exists(pk)", want: forward.Swap},
		{operation: "put", condition: "NOT attribute_exists(pk)", want: forward.Upsert},
		{operation: "put", condition: "attribute_not_exists(v)", want: forward.Upsert},
		{operation: "put", condition: "attribute_not_exists(pk) OR #v < :v", want: forward.Upsert},
		{operation: "put", condition: "attribute_not_exists(pk) AND attribute_not_exists(v)", want: forward.Upsert},
		{operation: "put", condition: "attribute_not_exists(pk) OR :v = :v", want: forward.Upsert},
		{operation: "put", condition: "attribute_exists(pk)", want: forward.Swap},
		{operation: "put", condition: "v = :v", returns: types.ReturnValueAllOld, want: forward.Swap},
		{operation: "update", update: "SET v = :v", want: forward.Upsert},
		{operation: "update", update: "ADD v :v", want: forward.Upsert},
		{operation: "update", update: "SET v = :v", condition: "attribute_not_exists(pk)", want: forward.Create},
		{operation: "update", update: "SET v = :v", condition: "attribute_not_exists(v) OR v < :v", want: forward.Upsert},
		{operation: "update", update: "SET v = :v", condition: "v < :v", want: forward.Swap},
		{operation: "update", update: "REMOVE v", want: forward.Update},
		{operation: "update", update: "DELETE v :s", want: forward.Update},
		{operation: "update", update: "REMOVE v", condition: "attribute_not_exists(w)", want: forward.Swap},
		{operation: "update", update: "REMOVE v", condition: "attribute_exists(w)", want: forward.Swap},
		{operation: "delete", want: forward.Delete},
		{operation: "delete", condition: "attribute_exists(pk)", want: forward.Delete},
		{operation: "delete", condition: "attribute_not_exists(v)", want: forward.Delete},
		{operation: "check", condition: "attribute_not_exists(pk)", want: forward.Create},
		{operation: "check", condition: "attribute_exists(pk)", want: forward.Swap},
		{operation: "get", want: forward.Get},
	} {
		var u *User
		var err error
		values := values
		if strings.Contains(c.update, ":s") {
			values = Item{":s": &types.AttributeValueMemberSS{Value: []string{"x"}}}
		}
		switch c.operation {
		case "put":
			u, err = tab.Put(&dynamodb.PutItemInput{
				Item: anyKey, ConditionExpression: given(c.condition), ReturnValues: c.returns,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
		case "update":
			u, err = tab.Update(&dynamodb.UpdateItemInput{
				Key: anyKey, UpdateExpression: given(c.update), ConditionExpression: given(c.condition),
				ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
		case "delete":
			u, err = tab.Delete(&dynamodb.DeleteItemInput{Key: anyKey, ConditionExpression: given(c.condition)})
		case "check":
			u, err = tab.Part(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{Key: anyKey, ConditionExpression: given(c.condition)}})
		case "get":
			u, err = tab.Get(&dynamodb.GetItemInput{Key: anyKey})
		}
		if err != nil || u.Kind() != c.want {
			t.Errorf("%+v: got %v, %v", c, u.Kind(), err)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	put := func(edit func(*dynamodb.PutItemInput)) func() (*User, error) {
		in := &dynamodb.PutItemInput{Item: Item{"pk": text("k"), "sk": text("id")}}
		edit(in)
		return func() (*User, error) { return tab.Put(in) }
	}
	update := func(expression string, edit func(*dynamodb.UpdateItemInput)) func() (*User, error) {
		in := &dynamodb.UpdateItemInput{Key: anyKey, UpdateExpression: given(expression)}
		if edit != nil {
			edit(in)
		}
		return func() (*User, error) { return tab.Update(in) }
	}
	remove := func(condition string, names map[string]string, values Item) func() (*User, error) {
		return func() (*User, error) {
			return tab.Delete(&dynamodb.DeleteItemInput{
				Key: anyKey, ConditionExpression: given(condition), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			})
		}
	}
	get := func(in dynamodb.GetItemInput) func() (*User, error) {
		return func() (*User, error) { return tab.Get(&in) }
	}
	for name, c := range map[string]struct {
		request func() (*User, error)
		want    string
	}{
		"a mark in the item": {put(func(in *dynamodb.PutItemInput) { in.Item["_hs_f"] = text("z") }), `attribute "_hs_f"`},
		"Expected":           {put(func(in *dynamodb.PutItemInput) { in.Expected = map[string]types.ExpectedAttributeValue{"a": {}} }), "use expressions"},
		"ConditionalOperator": {
			put(func(in *dynamodb.PutItemInput) { in.ConditionalOperator = types.ConditionalOperatorAnd }),
			"use expressions",
		},
		"AttributeUpdates": {
			update("", func(in *dynamodb.UpdateItemInput) {
				in.AttributeUpdates = map[string]types.AttributeValueUpdate{"a": {}}
			}),
			"use expressions",
		},
		"no update expression":            {update("", nil), "no UpdateExpression"},
		"a blank update expression":       {update(" ", nil), "no UpdateExpression"},
		"an update that DynamoDB refuses": {update("SET a = = b", nil), "Syntax error"},
		"an update of a mark": {
			update("REMOVE #f", func(in *dynamodb.UpdateItemInput) { in.ExpressionAttributeNames = map[string]string{"#f": "_hs_d"} }),
			`#f stands for "_hs_d"`,
		},
		"an update of a bare mark":           {update("REMOVE _hs_m", nil), `names "_hs_m"`},
		"an update that copies the shard":    {update("SET a = pk", nil), `partition key "pk"`},
		"an update that looks for the shard": {update("SET a = if_not_exists(pk, b)", nil), `partition key "pk"`},
		"an alias of a mark":                 {remove("attribute_exists(#x)", map[string]string{"#x": "_hs_f"}, nil), `#x stands for "_hs_f"`},
		"an alias of a mark, not used":       {remove("", map[string]string{"#x": "_hs_f"}, nil), `#x stands for "_hs_f"`},
		"a mark without an alias":            {remove("attribute_exists(_hs_f)", nil, nil), `names "_hs_f"`},
		"a name of this package":             {remove("attribute_exists(#hs_fk)", map[string]string{"#hs_fk": "a"}, nil), "begins with #hs_f"},
		"a value of this package":            {remove("a = :hs_fz", nil, Item{":hs_fz": text("a")}), "begins with :hs_f"},
		"a condition on the shard":           {remove("#p = :v", map[string]string{"#p": "pk"}, Item{":v": text("k")}), `compares the partition key "pk"`},
		"the size of the shard":              {remove("size(pk) > :v", nil, Item{":v": number(1)}), `compares the partition key "pk"`},
		"parentheses that end the fence":     {remove("attribute_exists(a)) OR (attribute_exists(b)", nil, nil), "Syntax error"},
		"a value that is missing":            {remove("a = :v", nil, nil), ":v"},
		"a value that is no number":          {remove("a = :v", nil, Item{":v": &types.AttributeValueMemberN{Value: "one"}}), ":v"},
		"a blank condition": {func() (*User, error) {
			return tab.Delete(&dynamodb.DeleteItemInput{Key: anyKey, ConditionExpression: aws.String("")})
		}, "empty"},
		"a projection of a mark": {get(dynamodb.GetItemInput{Key: anyKey, ProjectionExpression: aws.String("a, _hs_f")}), `names "_hs_f"`},
		"a projection of an alias": {
			get(dynamodb.GetItemInput{Key: anyKey, ProjectionExpression: aws.String("#a"), ExpressionAttributeNames: map[string]string{"#a": "_hs_d"}}),
			`stands for "_hs_d"`,
		},
		"AttributesToGet of a mark": {get(dynamodb.GetItemInput{Key: anyKey, AttributesToGet: []string{"_hs_m"}}), `"_hs_m"`},
		"a query's filter": {
			func() (*User, error) {
				return nil, tab.CheckQuery(&dynamodb.QueryInput{FilterExpression: aws.String("attribute_exists(_hs_d)")})
			},
			`names "_hs_d"`,
		},
		"a query's key condition": {
			func() (*User, error) {
				return nil, tab.CheckQuery(&dynamodb.QueryInput{KeyConditionExpression: aws.String("_hs_m = :v")})
			},
			`names "_hs_m"`,
		},
		"a query's projection": {
			func() (*User, error) {
				return nil, tab.CheckQuery(&dynamodb.QueryInput{
					ProjectionExpression: aws.String("#a"), ExpressionAttributeNames: map[string]string{"#a": "_hs_f"},
				})
			},
			`stands for "_hs_f"`,
		},
		"a query's old filter": {
			func() (*User, error) {
				return nil, tab.CheckQuery(&dynamodb.QueryInput{QueryFilter: map[string]types.Condition{"_hs_f": {}}})
			},
			`"_hs_f"`,
		},
		"an action of nothing": {func() (*User, error) { return tab.Part(types.TransactWriteItem{}) }, "none of Put"},
		"a check of nothing": {
			func() (*User, error) {
				return tab.Part(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{Key: anyKey}})
			},
			"no ConditionExpression",
		},
	} {
		if _, err := c.request(); !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// What only looks like a mark or the partition key is taken.
func TestTakenRequests(t *testing.T) {
	for _, c := range []struct {
		condition string
		names     map[string]string
	}{
		{"attribute_exists(a.pk)", nil},
		{"attribute_exists(a.#p)", map[string]string{"#p": "pk"}},
		{"attribute_exists(hs_f) AND attribute_exists(#g)", map[string]string{"#g": "_hs_g"}},
		{"attribute_exists(pk) AND attribute_exists(#hs_v)", map[string]string{"#hs_v": "v"}},
	} {
		_, err := tab.Delete(&dynamodb.DeleteItemInput{Key: anyKey, ConditionExpression: &c.condition, ExpressionAttributeNames: c.names})
		if err != nil {
			t.Errorf("%q: %v", c.condition, err)
		}
	}
	if err := tab.CheckQuery(&dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :v"), ProjectionExpression: aws.String("a, #b"), ExpressionAttributeNames: map[string]string{"#b": "b"},
	}); err != nil {
		t.Error(err)
	}
	sized := Table{"tab", "size", ""} // a key with the name of a function
	if _, err := sized.Delete(&dynamodb.DeleteItemInput{
		Key: Item{"size": text("k")}, ConditionExpression: aws.String("size(a) > :v"), ExpressionAttributeValues: Item{":v": number(1)},
	}); err != nil {
		t.Error(err)
	}
}

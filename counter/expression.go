package counter

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// expression is an update and its condition. Every name has a placeholder, as any may be one of DynamoDB's reserved
// words.
type expression struct {
	update, condition string
	names             map[string]string
	aliases           map[string]string // the other way round
	values            heatsink.Item
}

func newExpression() *expression {
	return &expression{names: map[string]string{}, aliases: map[string]string{}, values: heatsink.Item{}}
}

// name returns the placeholder of an attribute's name.
func (x *expression) name(name string) string {
	alias, ok := x.aliases[name]
	if !ok {
		alias = "#n" + strconv.Itoa(len(x.names))
		x.names[alias], x.aliases[name] = name, alias
	}
	return alias
}

// value returns a placeholder of a value.
func (x *expression) value(v types.AttributeValue) string {
	alias := ":v" + strconv.Itoa(len(x.values))
	x.values[alias] = v
	return alias
}

func (x *expression) number(n int64) string { return x.value(number(wideOf(n))) }

// sum returns what adds a sum to the base.
func (x *expression) sum(s sum) string {
	return fmt.Sprintf("%s %s, %s %s, %s %s", x.name(attrUp), x.value(number(s.up)),
		x.name(attrDown), x.value(number(s.down)), x.name(attrAdds), x.value(number(s.adds)))
}

// version returns the condition that the base has this version. 0 is not stored.
func (x *expression) version(n int64) string {
	if n == 0 {
		return fmt.Sprintf("attribute_not_exists(%s)", x.name(attrVersion))
	}
	return fmt.Sprintf("%s = %s", x.name(attrVersion), x.number(n))
}

// apply makes a request of the expression. If its condition fails, the error has the item.
func (x *expression) apply(returned types.ReturnValue) func(*dynamodb.UpdateItemInput) {
	return func(in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = &x.update
		if x.condition != "" {
			in.ConditionExpression = &x.condition
			in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		}
		in.ReturnValues = returned
		in.ExpressionAttributeNames, in.ExpressionAttributeValues = x.names, x.values
	}
}

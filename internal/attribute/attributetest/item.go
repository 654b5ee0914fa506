// Package attributetest makes items for tests.
package attributetest

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Text returns a string attribute.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Int returns a number attribute.
func Int(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

// Item returns an item from pairs of a name and a value, which is a string, an int or an attribute value:
// Item("pk", "a", "n", 1). Anything else is a mistake in the test, and panics.
func Item(pairs ...any) map[string]types.AttributeValue {
	item := make(map[string]types.AttributeValue, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			item[pairs[i].(string)] = Text(v)
		case int:
			item[pairs[i].(string)] = Int(v)
		case types.AttributeValue:
			item[pairs[i].(string)] = v
		default:
			panic(fmt.Sprintf("no attribute value of a %T", v))
		}
	}
	return item
}

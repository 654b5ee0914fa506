package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expr/outline"
)

// queryKey returns the key that a Query asks for, as far as its condition tells; nil if it does not. names is the
// partition key, empty if it is not known: then a condition with a single equality says it.
func queryKey(expression string, names map[string]string, values map[string]types.AttributeValue,
	partition []string,
) map[string]types.AttributeValue {
	key := make(map[string]types.AttributeValue, 1)
	for attribute, value := range outline.Equalities(expression) {
		if name, ok := names[attribute]; ok {
			attribute = name
		}
		key[attribute] = values[value]
	}
	if len(partition) == 0 && len(key) != 1 {
		return nil
	}
	return key
}

// legacyKey is queryKey for the KeyConditions that came before expressions.
func legacyKey(conditions map[string]types.Condition) map[string]types.AttributeValue {
	key := make(map[string]types.AttributeValue, 1)
	for attribute, condition := range conditions {
		if condition.ComparisonOperator == types.ComparisonOperatorEq && len(condition.AttributeValueList) == 1 {
			key[attribute] = condition.AttributeValueList[0]
		}
	}
	return key
}

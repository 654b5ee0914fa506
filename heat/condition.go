package heat

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// equalities yields the attributes that a key condition compares with '=', and the placeholders of their values. It is
// no parser: DynamoDB refuses what is wrong, so it is enough to look for name, '=' and value among the words.
func equalities(expression string, names map[string]string, yield func(attribute, value string) bool) {
	var before, last string // the words before the current one
	for word := range words(expression) {
		if last == "=" && strings.HasPrefix(word, ":") {
			attribute := before
			if named, ok := names[attribute]; ok {
				attribute = named
			}
			if !yield(attribute, word) {
				return
			}
		}
		before, last = last, word
	}
}

// words yields names, placeholders and comparison operators; brackets and commas part words.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			begin := i
			switch class(text[i]) {
			case space:
				i++
				continue
			case sign:
				for i < len(text) && class(text[i]) == sign {
					i++
				}
			default:
				for i < len(text) && class(text[i]) == letter {
					i++
				}
			}
			if !yield(text[begin:i]) {
				return
			}
		}
	}
}

type characterClass int

const (
	letter characterClass = iota
	space
	sign
)

func class(c byte) characterClass {
	switch c {
	case ' ', '\t', '\n', '\r', '(', ')', ',':
		return space
	case '=', '<', '>':
		return sign
	}
	return letter
}

// queryKey returns the key that a Query asks for, as far as its condition tells; nil if it does not. names is the
// partition key, empty if it is not known: then a condition with a single equality says it.
func queryKey(expression string, names map[string]string, values map[string]types.AttributeValue,
	partition []string,
) map[string]types.AttributeValue {
	key := make(map[string]types.AttributeValue, 1)
	for attribute, value := range func(yield func(string, string) bool) { equalities(expression, names, yield) } {
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

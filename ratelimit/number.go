package ratelimit

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// number returns a number as an attribute.
func number[T ~int | ~int64](n T) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

// numbers returns a list of numbers as an attribute.
func numbers(all []int64) types.AttributeValue {
	list := make([]types.AttributeValue, len(all))
	for i, n := range all {
		list[i] = number(n)
	}
	return &types.AttributeValueMemberL{Value: list}
}

// numberIn returns a number of an item.
func numberIn(item heatsink.Item, name string) (int64, error) {
	n, err := parseNumber(item[name])
	if err != nil {
		return 0, fmt.Errorf("%w: attribute %q: %w", errForeign, name, err)
	}
	return n, nil
}

// numbersIn returns a list of numbers of an item.
func numbersIn(item heatsink.Item, name string) ([]int64, error) {
	list, ok := item[name].(*types.AttributeValueMemberL)
	if !ok {
		return nil, fmt.Errorf("%w: attribute %q is a %T, want a list", errForeign, name, item[name])
	}
	all := make([]int64, len(list.Value))
	for i, element := range list.Value {
		var err error
		if all[i], err = parseNumber(element); err != nil {
			return nil, fmt.Errorf("%w: attribute %q, element %d: %w", errForeign, name, i, err)
		}
	}
	return all, nil
}

func parseNumber(v types.AttributeValue) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("got a %T, want a number", v)
	}
	return strconv.ParseInt(n.Value, 10, 64)
}

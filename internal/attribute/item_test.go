package attribute

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func sv(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func nv(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

func ov(pairs ...any) Item {
	item := Item{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			item[pairs[i].(string)] = sv(v)
		case int:
			item[pairs[i].(string)] = nv(v)
		case types.AttributeValue:
			item[pairs[i].(string)] = v
		default:
			panic(fmt.Sprintf("no attribute value of a %T", v))
		}
	}
	return item
}

package attribute

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute/attributetest"
)

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

var (
	sv = attributetest.Text
	nv = attributetest.Int
	ov = attributetest.Item
)

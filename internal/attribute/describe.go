package attribute

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Describe tells what an attribute is, for errors.
func Describe(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "missing"
	case *types.AttributeValueMemberS:
		return "the string " + quote.Text(v.Value)
	case *types.AttributeValueMemberN:
		return "the number " + quote.Text(v.Value)
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("a binary of %d bytes", len(v.Value))
	}
	return "a " + strings.TrimPrefix(fmt.Sprintf("%T", v), "*types.AttributeValueMember")
}

// DescribeKey tells which item an error is about.
func DescribeKey(like Item, name string) string {
	return strings.TrimPrefix(Describe(like[name]), "the string ")
}

// Empty reports whether an attribute is missing, or is what a struct's field has that was not set.
func Empty(v types.AttributeValue) bool {
	switch v := v.(type) {
	case nil, *types.AttributeValueMemberNULL:
		return true
	case *types.AttributeValueMemberS:
		return v.Value == ""
	}
	return false
}

// Pick returns the attributes with these names that an item has.
func Pick(item Item, names []string) Item {
	picked := make(Item, len(names)+2)
	for _, name := range names {
		if v := item[name]; v != nil {
			picked[name] = v
		}
	}
	return picked
}

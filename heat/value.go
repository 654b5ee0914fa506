package heat

import (
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// appendKey appends the text of a key attribute: strings and numbers as they are, bytes as base64. Nothing else can be
// one.
func appendKey(dst []byte, value types.AttributeValue) ([]byte, bool) {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return append(dst, value.Value...), true
	case *types.AttributeValueMemberN:
		return append(dst, value.Value...), true
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.AppendEncode(dst, value.Value), true
	}
	return dst, false
}

// itemSize returns about how many bytes an item has, as DynamoDB counts them.
func itemSize(item map[string]types.AttributeValue) int {
	n := 0
	for name, value := range item {
		n += len(name) + valueSize(value)
	}
	return max(1, n)
}

func valueSize(value types.AttributeValue) int {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return len(value.Value)
	case *types.AttributeValueMemberN:
		return numberSize(value.Value)
	case *types.AttributeValueMemberB:
		return len(value.Value)
	case *types.AttributeValueMemberM:
		n := 3
		for name, member := range value.Value {
			n += len(name) + 1 + valueSize(member)
		}
		return n
	case *types.AttributeValueMemberL:
		n := 3
		for _, member := range value.Value {
			n += 1 + valueSize(member)
		}
		return n
	case *types.AttributeValueMemberSS:
		n := 0
		for _, member := range value.Value {
			n += len(member)
		}
		return n
	case *types.AttributeValueMemberNS:
		n := 0
		for _, member := range value.Value {
			n += numberSize(member)
		}
		return n
	case *types.AttributeValueMemberBS:
		n := 0
		for _, member := range value.Value {
			n += len(member)
		}
		return n
	}
	return 1
}

// numberSize returns about a byte for two digits, and one more.
func numberSize(text string) int { return (len(text)+1)/2 + 1 }

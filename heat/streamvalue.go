package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamMap converts an item of a stream, whose types are the same as the table's under other names.
func streamMap(item map[string]streamtypes.AttributeValue) map[string]types.AttributeValue {
	converted := make(map[string]types.AttributeValue, len(item))
	for name, value := range item {
		converted[name] = streamValue(value)
	}
	return converted
}

func streamValue(value streamtypes.AttributeValue) types.AttributeValue {
	switch value := value.(type) {
	case *streamtypes.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: value.Value}
	case *streamtypes.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: value.Value}
	case *streamtypes.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: value.Value}
	case *streamtypes.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: value.Value}
	case *streamtypes.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: value.Value}
	case *streamtypes.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: value.Value}
	case *streamtypes.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: streamMap(value.Value)}
	case *streamtypes.AttributeValueMemberL:
		list := make([]types.AttributeValue, len(value.Value))
		for i, member := range value.Value {
			list[i] = streamValue(member)
		}
		return &types.AttributeValueMemberL{Value: list}
	case *streamtypes.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: value.Value}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

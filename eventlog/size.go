package eventlog

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

const (
	maxItem         = 400 << 10 // bytes of an item
	maxPartitionKey = 2048      // bytes of a partition key
)

// itemSize returns how many bytes an item takes in DynamoDB, or a few less: one item that is too large fails the whole
// request it is in, so it is to be found before. Of what is only just too large DynamoDB has the say.
func itemSize(item heatsink.Item) int {
	size := 0
	for name, value := range item {
		size += len(name) + valueSize(value)
	}
	return size
}

func valueSize(value types.AttributeValue) int {
	const nested = 3 // bytes of a list or map beside its elements, which take one more each
	size := 0
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			size += len(s)
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			size += len(b)
		}
	case *types.AttributeValueMemberNS:
		return len(v.Value)
	case *types.AttributeValueMemberL:
		size = nested + len(v.Value)
		for _, e := range v.Value {
			size += valueSize(e)
		}
	case *types.AttributeValueMemberM:
		size = nested + len(v.Value) + itemSize(v.Value)
	default:
		return 1 // numbers take more the more digits they have
	}
	return size
}

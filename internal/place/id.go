package place

import (
	"encoding/binary"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
)

// idOf returns what a Calculated layout works out the shard from. One attribute is its text: a string or a binary as it is,
// a number in its shortest form. Of several, each is written with its type and length, so that no two are the same
// unless their attributes are.
func idOf(item Item, shardBy []string) (string, error) {
	if len(shardBy) == 0 {
		return "", fmt.Errorf("%w: a Calculated layout needs ShardBy: there is no sort key to calculate from", ErrOptions)
	}
	var id []byte
	for _, name := range shardBy {
		var kind byte
		var text string
		switch v := item[name].(type) {
		case *types.AttributeValueMemberS:
			kind, text = 'S', v.Value
		case *types.AttributeValueMemberB:
			kind, text = 'B', string(v.Value)
		case *types.AttributeValueMemberN:
			n, err := attr.ParseNumber(v.Value)
			if err != nil {
				return "", fmt.Errorf("%w: attribute %q is the number %q: %w", ErrItem, name, v.Value, err)
			}
			kind, text = 'N', n.String()
		default:
			return "", fmt.Errorf("%w: attribute %q, which the shard is calculated from, is %s", ErrItem, name, attribute.Describe(v))
		}
		if len(shardBy) == 1 {
			if text == "" {
				return "", fmt.Errorf("%w: attribute %q, which the shard is calculated from, is empty", ErrItem, name)
			}
			return text, nil
		}
		id = append(binary.AppendUvarint(append(id, kind), uint64(len(text))), text...)
	}
	return string(id), nil
}

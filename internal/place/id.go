package place

import (
	"encoding/binary"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
)

// idOf returns the id that a Calculated layout hashes. For one attribute it is its text: a string or a binary unchanged,
// or a number in its shortest form. For several, each is written with its type and length, so that different attributes
// give different ids.
func idOf(item Item, shardBy []string) (string, error) {
	if len(shardBy) == 0 {
		return "", fmt.Errorf("%w: a Calculated layout without a sort key needs ShardBy: name the attributes to calculate the shard from", ErrOptions)
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
				return "", fmt.Errorf("%w: the shard is calculated from attribute %q, which is the number %q: %w", ErrItem, name, v.Value, err)
			}
			kind, text = 'N', n.String()
		default:
			return "", fmt.Errorf("%w: the shard is calculated from attribute %q, which is %s, want a string, a number or a binary", ErrItem, name, attribute.Describe(v))
		}
		if len(shardBy) == 1 {
			if text == "" {
				return "", fmt.Errorf("%w: the shard is calculated from attribute %q, which is empty: set it", ErrItem, name)
			}
			return text, nil
		}
		id = append(binary.AppendUvarint(append(id, kind), uint64(len(text))), text...)
	}
	return string(id), nil
}

// Package attribute has what the library asks of items as the SDK has them: whether two are the same, how large one is, and
// how to show one in an error.
package attribute

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Item is an item or a key as the AWS SDK has it.
type Item = map[string]types.AttributeValue

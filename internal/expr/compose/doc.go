// Package compose adds what heatsink needs to expressions that callers wrote: attributes to an update, names and values
// to a request, paths to a projection. It also says which attributes an update assigns. It evaluates nothing: DynamoDB
// reports what is wrong with an expression. Its errors are plain; the library says what kind they are.
package compose

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Item is an item, or the values of an expression, as the AWS SDK has them.
type Item = map[string]types.AttributeValue

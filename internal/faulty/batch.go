package faulty

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// halve returns the first half of a batch, and a function that adds the other half to the answer as what was left
// unprocessed. It returns false if there is no half to send: of a batch of one per table, and of what is no batch.
func halve(input any) (now any, leave func(output any), ok bool) {
	switch in := input.(type) {
	case *dynamodb.BatchWriteItemInput:
		part, later := *in, map[string][]types.WriteRequest{}
		part.RequestItems = map[string][]types.WriteRequest{}
		for table, writes := range in.RequestItems {
			half := len(writes) / 2
			if half > 0 {
				part.RequestItems[table] = writes[:half]
			}
			later[table] = writes[half:]
		}
		return &part, func(output any) {
			out := output.(*dynamodb.BatchWriteItemOutput)
			for table, writes := range out.UnprocessedItems { // what the engine itself did not get to
				later[table] = append(slices.Clip(later[table]), writes...)
			}
			out.UnprocessedItems = later
		}, len(part.RequestItems) > 0
	case *dynamodb.BatchGetItemInput:
		part, later := *in, map[string]types.KeysAndAttributes{}
		part.RequestItems = map[string]types.KeysAndAttributes{}
		for table, asked := range in.RequestItems {
			first, rest := asked, asked
			half := len(asked.Keys) / 2
			first.Keys, rest.Keys = asked.Keys[:half], asked.Keys[half:]
			if half > 0 {
				part.RequestItems[table] = first
			}
			later[table] = rest
		}
		return &part, func(output any) {
			out := output.(*dynamodb.BatchGetItemOutput)
			for table, unread := range out.UnprocessedKeys {
				all := later[table]
				all.Keys = append(slices.Clip(all.Keys), unread.Keys...)
				later[table] = all
			}
			out.UnprocessedKeys = later
		}, len(part.RequestItems) > 0
	}
	return nil, nil, false
}

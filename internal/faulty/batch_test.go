package faulty_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/faulty"
)

// Half of a batch is done, and the answer names the rest; of one there is no half.
func TestPartly(t *testing.T) {
	for n, done := range map[int]int{1: 0, 2: 1, 5: 2} {
		client := faulty.On(t, onItems(t), faulty.Always(faulty.Partly))
		var writes []types.WriteRequest
		var keys []map[string]types.AttributeValue
		for i := range n {
			keys = append(keys, item("pk", "a", "sk", fmt.Sprint(i)))
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: keys[i]}})
		}
		wrote, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"items": writes}})
		if throttled := is[*types.ProvisionedThroughputExceededException](err); throttled != (done == 0) || err == nil && len(wrote.UnprocessedItems["items"]) != n-done {
			t.Errorf("%d writes: got %+v, %v", n, wrote, err)
		}
		if there := len(items(t, client.Direct)); there != done {
			t.Errorf("%d writes: %d are done, want %d", n, there, done)
		}
		read, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"items": {Keys: keys, ConsistentRead: new(true)},
		}})
		if throttled := is[*types.ProvisionedThroughputExceededException](err); throttled != (done == 0) || err == nil &&
			(len(read.Responses["items"]) != done || len(read.UnprocessedKeys["items"].Keys) != n-done || !*read.UnprocessedKeys["items"].ConsistentRead) {
			t.Errorf("%d reads: got %+v, %v", n, read, err)
		}
	}
}

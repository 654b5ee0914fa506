package faulty

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// What the engine itself leaves unprocessed of a halved batch is not forgotten.
func TestHalveKeepsWhatTheEngineLeft(t *testing.T) {
	var keys []map[string]types.AttributeValue
	var writes []types.WriteRequest
	for _, sk := range []string{"1", "2", "3", "4"} {
		keys = append(keys, map[string]types.AttributeValue{"sk": &types.AttributeValueMemberS{Value: sk}})
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: keys[len(keys)-1]}})
	}
	_, leave, _ := halve(&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"t": {Keys: keys}}})
	read := &dynamodb.BatchGetItemOutput{UnprocessedKeys: map[string]types.KeysAndAttributes{"t": {Keys: keys[:1]}}}
	if leave(read); len(read.UnprocessedKeys["t"].Keys) != 3 {
		t.Errorf("got %v, want the engine's key and the half", read.UnprocessedKeys)
	}
	_, leave, _ = halve(&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"t": writes}})
	wrote := &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{"t": writes[:1]}}
	if leave(wrote); len(wrote.UnprocessedItems["t"]) != 3 {
		t.Errorf("got %v, want the engine's write and the half", wrote.UnprocessedItems)
	}
}

package faulty

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A copy is equal, and stays as it is when the original is changed anywhere.
func TestCopied(t *testing.T) {
	make := func() *dynamodb.BatchWriteItemInput {
		return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"items": {
			{PutRequest: &types.PutRequest{Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "a"},
				"l":  &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberB{Value: []byte("b")}, nil}},
			}}},
			{},
		}}}
	}
	original := make()
	same := copied(original).(*dynamodb.BatchWriteItemInput)
	if !reflect.DeepEqual(same, original) || same == original {
		t.Errorf("got %+v, want %+v", same, original)
	}
	put := original.RequestItems["items"][0].PutRequest.Item
	put["l"].(*types.AttributeValueMemberL).Value[0].(*types.AttributeValueMemberB).Value[0] = 'x'
	put["pk"].(*types.AttributeValueMemberS).Value = "x"
	put["more"] = nil
	original.RequestItems["items"][1].DeleteRequest = &types.DeleteRequest{}
	original.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	if !reflect.DeepEqual(same, make()) {
		t.Errorf("got %+v after the original was changed", same)
	}
	if got := copied((*dynamodb.PutItemInput)(nil)); got.(*dynamodb.PutItemInput) != nil {
		t.Errorf("of nil: got %v", got)
	}
}

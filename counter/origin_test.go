package counter

import (
	"context"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// updater is what an older program needs.
type updater interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// addOlder adds to a counter as an older program does.
func addOlder(t testing.TB, client updater, key string, delta int64) {
	t.Helper()
	_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("counters"), Key: heatsink.Item{"pk": text(key), "sk": text("META")},
		UpdateExpression: aws.String("ADD #v :n"), ExpressionAttributeNames: map[string]string{"#v": "views"},
		ExpressionAttributeValues: heatsink.Item{":n": &types.AttributeValueMemberN{Value: strconv.FormatInt(delta, 10)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

package lab_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/local"
)

// A query pays for the items that it reads, not for those that its filter lets pass.
func TestWatchCountsItemsThatAreRead(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "load", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	var watch lab.Watch
	client := db.Client(watch.Option)
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	for i := range 5 {
		item := map[string]types.AttributeValue{"pk": text("k"), "sk": text(fmt.Sprint(i))}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("load"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("load"), KeyConditionExpression: aws.String("pk = :k"), FilterExpression: aws.String("attribute_exists(nothing)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":k": text("k")},
	})
	if got := watch.Traffic(); err != nil || got.Items != 5 || got.Requests != 6 {
		t.Errorf("got %+v, %v, want 5 items and 6 requests", got, err)
	}
}

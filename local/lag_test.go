package local_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// A program sees its own write late unless it asks for consistency.
func TestLag(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const lag = time.Second
		client := open(t, local.Options{Lag: &local.Lag{Min: lag, Max: lag}}).Client()
		if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String("tab"), BillingMode: types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		}); err != nil {
			t.Fatal(err)
		}
		item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item}); err != nil {
			t.Fatal(err)
		}
		there := func(consistent bool) bool {
			out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: item, ConsistentRead: &consistent})
			if err != nil {
				t.Fatal(err)
			}
			return out.Item != nil
		}
		if !there(true) || there(false) {
			t.Error("the write is seen at once by a read that is not consistent, or not by one that is")
		}
		time.Sleep(lag)
		if !there(false) {
			t.Error("the write is not seen after the lag")
		}
	})
}

func TestLagIsChecked(t *testing.T) {
	_, err := local.New(local.Options{Lag: &local.Lag{Min: time.Minute, Max: time.Second}})
	if err == nil || !strings.Contains(err.Error(), "lag: Min 1m0s is longer than Max 1s") {
		t.Errorf("got %v", err)
	}
}

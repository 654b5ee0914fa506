package scale

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// getItem reads an item by its number, putItem writes it as it is, and queryItems reads its collection.
func getItem(ctx context.Context, c *dynamodb.Client, n int) error {
	out, err := c.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String("items"), Key: map[string]types.AttributeValue{"pk": text(collection(n)), "sk": text(event(n))},
	})
	if err == nil && out.Item == nil {
		err = errors.New("GetItem found no item")
	}
	return err
}

func putItem(ctx context.Context, c *dynamodb.Client, n int) error {
	_, err := c.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("items"),
		Item: map[string]types.AttributeValue{
			"pk": text(collection(n)), "sk": text(event(n)), "name": text("Ada Lovelace"), "status": text("ACTIVE"),
			"amount": &types.AttributeValueMemberN{Value: fmt.Sprintf("%d.95", n)}, "active": &types.AttributeValueMemberBOOL{Value: true}, "note": text(note(n)),
		},
	})
	return err
}

func queryItems(ctx context.Context, c *dynamodb.Client, n int) error {
	out, err := c.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String("items"),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(collection(n))},
	})
	if err == nil && len(out.Items) != perCollection {
		err = fmt.Errorf("the Query found %d items, want %d", len(out.Items), perCollection)
	}
	return err
}

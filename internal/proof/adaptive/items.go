package main

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/wholebody"
)

// table is the name of every table here. Its keys are pk and sk, both strings.
const table = "items"

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// textOf returns a string of an item, "" if it has none.
func textOf(item heatsink.Item, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

// clientOf returns an SDK client of a server on this machine. It gives up a request after a minute.
func clientOf(url string) *dynamodb.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("PROOF", "proof", ""),
		HTTPClient: wholebody.Client{HTTPClient: &http.Client{Transport: transport, Timeout: time.Minute}},
	})
}

// createTable makes the table on any engine.
func createTable(ctx context.Context, c *dynamodb.Client) error {
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	return err
}

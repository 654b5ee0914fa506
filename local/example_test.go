package local_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/local"
)

// Create a table, put items, read them back in the order of their sort key.
func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := db.Client()

	_, err = client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("orders"),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("number"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("customer"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("number"), AttributeType: types.ScalarAttributeTypeN},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, number := range []int{10, 9, 100} {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("orders"),
			Item: map[string]types.AttributeValue{
				"customer": &types.AttributeValueMemberS{Value: "ada"},
				"number":   &types.AttributeValueMemberN{Value: strconv.Itoa(number)},
			},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	page, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName:              aws.String("orders"),
		KeyConditionExpression: aws.String("customer = :customer"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":customer": &types.AttributeValueMemberS{Value: "ada"},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range page.Items {
		fmt.Println("order", item["number"].(*types.AttributeValueMemberN).Value)
	}
	// Output:
	// order 9
	// order 10
	// order 100
}

// exampleTest stands in for the *testing.T that examples do not have.
type exampleTest struct{ cleanup func() }

func (t *exampleTest) Helper()                           {}
func (t *exampleTest) Cleanup(f func())                  { t.cleanup = f }
func (t *exampleTest) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

// In a test, t is its *testing.T, and nothing has to be closed.
func ExampleStart() {
	t := &exampleTest{}

	db := local.Start(t)
	client := db.Client()

	tables, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(tables.TableNames), "tables")

	t.cleanup() // the testing package does this
	// Output: 0 tables
}

// Read a table's stream: what happened to its items, in order.
func ExampleDB_StreamsClient() {
	ctx := context.Background()
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	client := db.Client()
	table, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String("doors"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("door"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("door"), AttributeType: types.ScalarAttributeTypeS}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewImage,
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, state := range []string{"open", "closed"} {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("doors"),
			Item: map[string]types.AttributeValue{
				"door":  &types.AttributeValueMemberS{Value: "front"},
				"state": &types.AttributeValueMemberS{Value: state},
			},
		})
		if err != nil {
			log.Fatal(err)
		}
	}

	streams, arn := db.StreamsClient(), table.TableDescription.LatestStreamArn
	stream, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		log.Fatal(err)
	}
	start, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn:         arn,
		ShardId:           stream.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		log.Fatal(err)
	}
	page, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: start.ShardIterator})
	if err != nil {
		log.Fatal(err)
	}
	for _, record := range page.Records {
		fmt.Println(record.EventName, record.Dynamodb.NewImage["state"].(*streamtypes.AttributeValueMemberS).Value)
	}
	// Output:
	// INSERT open
	// MODIFY closed
}

// Open a port, for programs that are not part of the test.
func ExampleDB_Handler() {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	server := httptest.NewServer(db.Handler())
	defer server.Close()

	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(server.URL),
		Region:       "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	tables, err := client.ListTables(context.Background(), &dynamodb.ListTablesInput{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(tables.TableNames), "tables")
	// Output: 0 tables
}

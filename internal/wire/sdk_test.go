package wire

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// direct is an HTTP client that has a handler in the same process.
type direct struct{ handler http.Handler }

func (d direct) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

const (
	testKeyID  = "AKIDEXAMPLE"
	testSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

func sdk(h http.Handler) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://localhost:8000"), HTTPClient: direct{h},
		Credentials: credentials.NewStaticCredentialsProvider(testKeyID, testSecret, ""), RetryMaxAttempts: 1,
	})
}

// The SDK understands our answers, checksums included, and we its requests,
// signatures included.
func TestSDK(t *testing.T) {
	ctx := t.Context()
	opts := Options{Credentials: &Credentials{AccessKeyID: testKeyID, SecretAccessKey: testSecret}}

	tables := &stub[engine.TableInput, *engine.TableDescription]{out: aTable()}
	client := sdk(tables.serve(dynamoDB+"DescribeTable", (*request).table, (*answer).describeTable, opts))
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("t")})
	if err != nil {
		t.Fatal(err)
	}
	same(t, tables.in.TableName, new("t"))
	table := out.Table
	same(t, table.CreationDateTime.UnixMilli(), 1700000000123)
	same(t, table.TableStatus, types.TableStatusActive)
	same(t, *table.WarmThroughput.WriteUnitsPerSecond, 4000)
	same(t, table.GlobalSecondaryIndexes[0].WarmThroughput.Status, types.IndexStatusUpdating)
	same(t, table.LocalSecondaryIndexes[0].Projection.NonKeyAttributes, []string{"a"})
	same(t, *table.OnDemandThroughput.MaxReadRequestUnits, 9)
	same(t, table.TableClassSummary.TableClass, types.TableClassStandardInfrequentAccess)
	same(t, *table.StreamSpecification.StreamEnabled, true)

	put := &stub[engine.PutItemInput, *engine.WriteOutput]{err: &engine.Error{
		Type: engine.TypeConditionalCheckFailed, Message: "The conditional request failed", Item: raw(t, `{"pk":{"S":"old"}}`),
	}}
	client = sdk(put.serve(dynamoDB+"PutItem", (*request).putItem, (*answer).write, opts))
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "a"}, "b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
		"set": &types.AttributeValueMemberNS{Value: []string{"2", "1"}}, "null": &types.AttributeValueMemberNULL{Value: true},
	}})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	same(t, failed.ErrorMessage(), "The conditional request failed")
	same(t, failed.Item["pk"], types.AttributeValue(&types.AttributeValueMemberS{Value: "old"}))
	same(t, put.in.Item, item(t, `{"pk":{"S":"a"},"b":{"B":"AP8="},"set":{"NS":["1","2"]},"null":{"NULL":true}}`))

	put.err = &engine.Error{Type: engine.TypeTransactionCanceled, Message: "cancelled", Reasons: []engine.CancellationReason{
		{Code: "None"}, {Code: "ConditionalCheckFailed", Message: "m", Item: raw(t, `{"pk":{"S":"old"}}`)},
	}}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]types.AttributeValue{}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 {
		t.Fatalf("got %v", err)
	}
	same(t, cancelled.ErrorMessage(), "cancelled")
	same(t, *cancelled.CancellationReasons[1].Code, "ConditionalCheckFailed")
	same(t, cancelled.CancellationReasons[1].Item["pk"], types.AttributeValue(&types.AttributeValueMemberS{Value: "old"}))

	records := &stub[engine.GetRecordsInput, *engine.GetRecordsOutput]{out: &engine.GetRecordsOutput{Records: []engine.StreamRecord{
		{EventID: "1", EventName: "REMOVE", Keys: raw(t, `{"pk":{"S":"a"}}`), Sequence: "10", Expired: true},
	}}}
	streamClient := dynamodbstreams.New(dynamodbstreams.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://localhost:8000"),
		HTTPClient:  direct{records.serve(streams+"GetRecords", (*request).getRecords, (*answer).records, opts)},
		Credentials: credentials.NewStaticCredentialsProvider(testKeyID, testSecret, ""),
	})
	got, err := streamClient.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("i")})
	if err != nil {
		t.Fatal(err)
	}
	record := got.Records[0]
	same(t, *record.UserIdentity.PrincipalId, "dynamodb.amazonaws.com")
	same(t, *record.AwsRegion, "us-east-1")
	same(t, record.Dynamodb.Keys["pk"], streamtypes.AttributeValue(&streamtypes.AttributeValueMemberS{Value: "a"}))
}

// What the SDK sends over a port, signatures included, is for the first lane.
func TestSDKOnTheFirstLane(t *testing.T) {
	s, h := getStub(t, Options{Credentials: &testCredentials})
	rest := &counted{Handler: h}
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://" + listen(t, NewServer(h, rest))),
		Credentials: credentials.NewStaticCredentialsProvider(testKeyID, testSecret, ""), RetryMaxAttempts: 1,
	})
	for range 3 {
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("t"), Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, out.Item["pk"], types.AttributeValue(&types.AttributeValueMemberS{Value: "é"}))
		same(t, s.in.Key, item(t, `{"pk":{"S":"a"}}`))
	}
	if n := rest.requests.Load(); n != 0 {
		t.Errorf("%d requests were handed over", n)
	}
}
